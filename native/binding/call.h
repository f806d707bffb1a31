/* SPDX-License-Identifier: MIT
 *
 * One call of a function: from Python objects to the core's arrays, and back to results. All
 * argument errors are raised here; each names the argument, what was expected and what came.
 */
#ifndef IK2B_CALL_H
#define IK2B_CALL_H

#include "functions.h"
#include "numpy.h"

#define MAX_RESULTS 6
#define MAX_NDIM (IK2B_MAX_DIMS + 3)

/* What can be given by position or name: inputs by their index, words, the parents of joints, out.
 */
enum { WORD_SLOT = IK2B_MAX_ARGUMENTS, PARENTS_SLOT = WORD_SLOT + WORDS, OUT_SLOT, SLOTS };

/* All that the module keeps. */
typedef struct {
    shared_pointer numpy; /* numpy_parts */
    PyObject *types[RESULT_TYPES];
    PyObject *names[FUNCTIONS][SLOTS]; /* as Python has them, interned */
} module_state;

/* One argument's memory, and how many of its dimensions are not the row's own. */
typedef struct {
    Py_buffer view;
    int leading;
    double number;                /* storage of a Python number, which has no buffer */
    Py_ssize_t strides[MAX_NDIM]; /* of a view without */
} argument;

typedef struct {
    const function *function;
    module_state *state;
    const numpy_parts *numpy; /* NULL where nobody has imported it */
    int words[WORDS];
    ik2b_kind kind; /* of the results */
    bool any_array, all_single;
    bool owns_outputs; /* they are new arrays */
    ik2b_joints joints;
    ik2b_extent extent;
    int acquired, places[IK2B_MAX_ARGUMENTS]; /* of arguments that have a value, in their order */
    PyObject *objects[SLOTS];                 /* borrowed; NULL: not given */
    PyObject *results[MAX_RESULTS];
    argument arguments[IK2B_MAX_ARGUMENTS];
    ik2b_array arrays[IK2B_MAX_ARGUMENTS];
} call;

/* Interns the names of all functions' arguments: 0, or -1 with an exception. */
int intern_names(module_state *state);

/* Parses, acquires and checks everything: 0, or -1 with an exception. end_call is due either way.
 */
int begin_call(call *self, module_state *state, function_id id, PyObject *const args[],
               Py_ssize_t given, PyObject *keywords);

/* Releases everything. The answer, where the call is done: the results by name, the only one
 * itself, or the caller's own named tuple of them; NULL otherwise. */
PyObject *end_call(call *self, bool done);

/* Whether there is anything to work on: no dimension is zero. */
bool has_rows(const call *self);

/* One row is no loop, and keeps the GIL: to give it away and take it back takes half as long as to
 * solve it (45 of 85 ns). NULL: kept. */
static inline PyThreadState *
release_gil(const call *self)
{
    return self->extent.count > 0 || self->joints.count > 0 ? PyEval_SaveThread() : NULL;
}

static inline void
restore_gil(PyThreadState *thread)
{
    if (thread) {
        PyEval_RestoreThread(thread);
    }
}

/* The steps of begin_call; all return 0, or -1 with an exception. */
int parse(call *self, PyObject *const args[], Py_ssize_t given, PyObject *keywords);
int parse_parents(call *self);
int acquire_inputs(call *self);
int acquire_outputs(call *self);
int check_overlap(const call *self);

/* Notes an acquired argument, splits the row's own dimensions from the leading ones and checks
 * them. */
int note_argument(call *self, int i, ik2b_kind kind);

#endif
