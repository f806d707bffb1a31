/* SPDX-License-Identifier: MIT
 *
 * What the binding uses of numpy, without numpy's headers: new arrays, and views of arrays. Where
 * numpy's C interface has a version that is known here, both go by that interface, which takes a
 * fraction of the time that calls and buffers take.
 */
#ifndef IK2B_NUMPY_H
#define IK2B_NUMPY_H

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>
#include <stdbool.h>

#include "ik2b.h"

/* ISO C has no conversion between pointers to functions and to objects, which Python's slots
 * need. */
#ifdef __GNUC__
#define SLOT_CAST __extension__
#else
#define SLOT_CAST
#endif

/* A pointer that is set once, by the first thread that has a value, and then read without a
 * lock. */
#ifdef Py_GIL_DISABLED
#include <stdatomic.h>
typedef _Atomic(void *) shared_pointer;
#else
typedef void *shared_pointer;
#endif

/* Sets the pointer if it is NULL. Returns false if another thread has already set it. */
static inline bool
set_first(shared_pointer *place, void *made)
{
#ifdef Py_GIL_DISABLED
    void *none = NULL;
    return atomic_compare_exchange_strong(place, &none, made);
#else
    bool first = *place == NULL;
    *place = first ? made : *place;
    return first;
#endif
}

/* Parts of the module numpy. */
typedef struct {
    PyObject *empty, *dtypes[IK2B_KINDS]; /* function, dtypes */
    void **interface;                     /* table of the C interface, or NULL */
} numpy_parts;

/* The most dimensions of an argument: leading ones, joints, and those of a matrix. */
#define MAX_NDIM (IK2B_MAX_DIMS + 3)

/* The parts of numpy, found once, if anyone has imported it; else NULL without an exception. */
const numpy_parts *noticed_numpy(shared_pointer *place);

/* The parts of numpy, which is imported if it has not been; NULL with an exception. */
const numpy_parts *needed_numpy(shared_pointer *place);

void free_numpy(numpy_parts *self);

/* Views the object, if it is an ndarray but not of a subclass, of a kind that the core knows; else
 * returns false. The view holds no reference to the object. Its shape and strides are copied to
 * `room`. */
bool view_array(const numpy_parts *self, PyObject *object, Py_buffer *view,
                Py_ssize_t room[2 * MAX_NDIM], ik2b_kind *kind);

/* A new array, or NULL with an exception. */
PyObject *new_array(const numpy_parts *self, const Py_ssize_t *shape, int ndim, ik2b_kind kind);

/* numpy's name for a kind. */
const char *kind_name(ik2b_kind kind);

#endif
