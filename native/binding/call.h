/* SPDX-License-Identifier: MIT
 *
 * One call of a function: from Python objects to the core's arrays, and back to results. All errors
 * of arguments are raised here. Each message names the argument, what was expected and what was
 * given.
 */
#ifndef IK2B_CALL_H
#define IK2B_CALL_H

#include "functions.h"
#include "mesh.h"
#include "numpy.h"

/* Slots for what can be given by position or name: inputs by their index, words, the parents of
 * joints, out. */
enum { WORD_SLOT = IK2B_MAX_ARGUMENTS, PARENTS_SLOT = WORD_SLOT + WORDS, OUT_SLOT, SLOTS };

/* The state of the module. */
typedef struct {
    shared_pointer numpy; /* numpy_parts */
    PyObject *types[RESULT_TYPES], *numbers_of;
    PyObject *names[FUNCTIONS][SLOTS]; /* interned names of arguments */
} module_state;

/* The memory of one argument, and the number of its leading dimensions, which precede those of a
 * row. */
typedef struct {
    Py_buffer view;
    int leading;
    double number;                 /* the value of a Python number, which has no buffer */
    Py_ssize_t room[2 * MAX_NDIM]; /* for the shape and strides of a view that has none */
} argument;

typedef struct {
    const function *function;
    module_state *state;
    const numpy_parts *numpy; /* NULL if nobody has imported it */
    int words[WORDS];
    ik2b_kind kind; /* of the results */
    bool any_array, all_single;
    bool owns_outputs; /* the outputs are new arrays */
    bool has_rows;     /* no dimension is zero */
    ik2b_joints joints;
    ik2b_extent extent;
    ik2b_crossings found;
    int acquired, places[IK2B_MAX_ARGUMENTS]; /* of arguments with a value, in order */
    PyObject *objects[SLOTS];                 /* borrowed; NULL: not given */
    PyObject *results[IK2B_MAX_ARGUMENTS];    /* by the indices of the outputs */
    argument arguments[IK2B_MAX_ARGUMENTS];
    ik2b_array arrays[IK2B_MAX_ARGUMENTS];
} call;

/* Interns the names of all functions' arguments. Returns 0, or -1 with an exception. */
int intern_names(module_state *state);

/* One call of a function, from its arguments to its answer: the only result itself, the results as
 * a named tuple, the caller's own `out` if that is such a named tuple, or the records of the
 * crossings and the kind of their distances. NULL with an exception. */
PyObject *run(function_id id, PyObject *module, PyObject *const *args, Py_ssize_t given,
              PyObject *keywords);

/* The steps of a call; all return 0, or -1 with an exception. */
int parse(call *self, PyObject *const args[], Py_ssize_t given, PyObject *keywords);
int parse_parents(call *self);
int acquire_inputs(call *self);
int acquire_outputs(call *self);
int check_overlap(const call *self);

/* Notes an acquired argument, separates the dimensions of a row from the leading ones, and checks
 * the dimensions. */
int note_argument(call *self, int i, ik2b_kind kind);

#endif
