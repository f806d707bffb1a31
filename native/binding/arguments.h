/* SPDX-License-Identifier: MIT
 *
 * From Python objects to the core's arrays: acquire, check, broadcast, release. All argument errors
 * are raised here; each names the argument, what was expected and what came.
 */
#ifndef IK2B_ARGUMENTS_H
#define IK2B_ARGUMENTS_H

#include "numpy.h"

#define MAX_ARGUMENTS 24
_Static_assert(IK2B_MAX_ARGUMENTS <= MAX_ARGUMENTS, "a function takes more arguments than a call has room for");
#define MAX_NDIM (IK2B_MAX_DIMS + 3)

/* Who may be left out, and who decides the kind of the result. */
typedef enum { POSITIONAL, OPTION, OUTPUT } role;

/* Numbers of the result's kind, uint8, int64. */
typedef enum { NUMBERS, FLAGS, INDICES } contents;

/* What one row of an argument looks like: dims 0 is a number, 1 a vector, 2 a matrix, of this size;
 * joints: one of them for each joint. */
typedef struct {
    const char *name;
    role role;
    int dims;
    int size;
    bool joints;
    bool takes_none;   /* None means not given */
    contents holds;    /* of an output */
    const char *needs; /* the input without which this output is None, set where it is missing */
} parameter;

/* shape and strides are the view's own; where it gives none they lie in own. */
typedef struct {
    Py_buffer view;
    double number; /* storage of a Python number, which has no buffer */
    int ndim;
    const Py_ssize_t *shape, *strides;
    ptrdiff_t joint_stride;
    struct {
        Py_ssize_t shape[MAX_NDIM], strides[MAX_NDIM];
    } own;
} argument;

/* One call in progress: begin_call first, release_call on every way out. */
typedef struct {
    const parameter *parameters;
    numpy_parts *numpy;
    int count;
    Py_ssize_t joints; /* -1 until known */
    ik2b_kind kind;    /* of the results */
    bool any_array, all_single;
    bool owns_outputs; /* they are new arrays */
    ik2b_extent extent;
    int acquired, places[MAX_ARGUMENTS]; /* of arguments that have a value, in their order */
    argument arguments[MAX_ARGUMENTS];
    ik2b_array arrays[MAX_ARGUMENTS];
} call;

/* Sets what must not be left unset; arguments and arrays are large and get values one by one. */
void begin_call(call *self, const parameter *parameters, int count, numpy_parts *numpy);

/* All return 0, or -1 with an exception set. acquire_outputs fills results with new references. */
int acquire_inputs(call *self, PyObject *const objects[], int count);
int acquire_outputs(call *self, int first, PyObject *out, PyObject *results[]);
int check_overlap(const call *self, int first_output);
void release_call(call *self);

#endif
