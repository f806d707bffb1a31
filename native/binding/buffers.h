/* SPDX-License-Identifier: MIT
 *
 * The numbers of one object: where they lie, or converted once by numpy; and how messages tell of
 * them.
 */
#ifndef IK2B_BUFFERS_H
#define IK2B_BUFFERS_H

#include "numpy.h"

/* Acquires the object's buffer: 1, 0 where it has none or does not lend it, -1 with an exception
 * that is not about it. The kind of its elements is IK2B_KINDS where the core cannot read them as
 * they lie. */
int acquire_view(const numpy_parts *numpy, PyObject *object, Py_buffer *view, ik2b_kind *kind);

/* Acquires a new float64 array of what numpy reads as numbers: 0, or -1 with an exception. */
int acquire_converted(shared_pointer *numpy, PyObject *object, const char *name,
                      const char *expected, Py_buffer *view);

/* Whether a buffer's elements are integers that can be read as they lie; truth values are none. */
bool holds_integers(const Py_buffer *view);

/* The integer at a place in such a buffer, clamped to what fits. */
Py_ssize_t integer_at(const Py_buffer *view, const char *place);

/* The kind of a buffer's elements, as acquire_view tells it. */
ik2b_kind kind_of(const Py_buffer *view);

/* A shape in a message, of up to PyBUF_MAX_NDIM dimensions. */
typedef struct {
    char text[PyBUF_MAX_NDIM * 22 + 4];
} shape_text;
shape_text text_of_shape(const Py_ssize_t *shape, int ndim);

/* Raises the exception and returns -1; what the format gives is followed by the type of `got`. */
int refuse(PyObject *exception, PyObject *got, const char *format, ...);

#endif
