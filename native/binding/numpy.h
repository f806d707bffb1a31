/* SPDX-License-Identifier: MIT
 *
 * What the binding uses of numpy, without its headers: new arrays, and the kind of an array sooner
 * than its buffer tells it.
 */
#ifndef IK2B_NUMPY_H
#define IK2B_NUMPY_H

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>
#include <stdbool.h>

#include "ik2b.h"

/* Parts of the module numpy; array is NULL until they are found. */
typedef struct {
    PyObject *array, *empty, *dtypes[IK2B_KINDS]; /* ndarray, empty, dtypes */
    PyObject *dtype;                              /* ndarray.dtype, a descriptor, and its __get__ */
    descrgetfunc get_dtype;
#ifdef Py_GIL_DISABLED
    PyMutex lock;
#endif
} numpy_parts;

const char *kind_name(ik2b_kind kind);

/* Finds the parts where numpy was imported by anyone; there is none, and no exception, before. */
void notice_numpy(numpy_parts *self);

/* Imports numpy for its parts: 0, or -1 with an exception. */
int need_numpy(numpy_parts *self);
void clear_numpy(numpy_parts *self);

/* Whether the object is an array, of no subclass, of one of our kinds. */
bool is_array(const numpy_parts *self, PyObject *object, ik2b_kind *kind);

/* Gives `made`, a new reference or NULL, a place to stay where none was there first; a new
 * reference of what is there. Threads may do so at once. */
PyObject *keep_first(numpy_parts *self, PyObject **place, PyObject *made);

/* A new array, after need_numpy, or NULL with an exception. */
PyObject *new_array(const numpy_parts *self, const Py_ssize_t *shape, int ndim, ik2b_kind kind);

#endif
