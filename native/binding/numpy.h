/* SPDX-License-Identifier: MIT
 *
 * What the binding uses of numpy, without numpy's headers: new arrays, and the kind of an array,
 * which the dtype gives faster than the buffer does.
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
    PyObject *array, *empty, *asarray, *dtypes[IK2B_KINDS]; /* ndarray, functions, dtypes */
    PyObject *dtype;                                        /* ndarray.dtype, a descriptor, */
    descrgetfunc get_dtype;                                 /* and its __get__ */
} numpy_parts;

/* The parts of numpy, found once, if anyone has imported it; else NULL without an exception. */
const numpy_parts *noticed_numpy(shared_pointer *place);

/* The parts of numpy, which is imported if it has not been; NULL with an exception. */
const numpy_parts *needed_numpy(shared_pointer *place);

void free_numpy(numpy_parts *self);

/* Whether the object is an ndarray, but not of a subclass, of a kind that the core knows. */
bool is_array(const numpy_parts *self, PyObject *object, ik2b_kind *kind);

/* A new array, or NULL with an exception. */
PyObject *new_array(const numpy_parts *self, const Py_ssize_t *shape, int ndim, ik2b_kind kind);

/* numpy's name for a kind. */
const char *kind_name(ik2b_kind kind);

#endif
