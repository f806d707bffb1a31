/* SPDX-License-Identifier: MIT
 *
 * Access to the numbers of one object in place, and the texts about them in messages.
 */
#ifndef IK2B_BUFFERS_H
#define IK2B_BUFFERS_H

#include "numpy.h"

/* Acquires the object's buffer. Returns 1; 0 if the object has no buffer or does not lend it; -1
 * with an exception that is not about the buffer. *kind is IK2B_KINDS if the core cannot read the
 * elements in place. `room` may be used for the shape and strides, if `numpy` is given. The caller
 * must hold the object until PyBuffer_Release. */
int acquire_view(const numpy_parts *numpy, PyObject *object, Py_buffer *view,
                 Py_ssize_t room[2 * MAX_NDIM], ik2b_kind *kind);

/* Whether a buffer's elements are integers that can be read in place; booleans are not. */
bool holds_integers(const Py_buffer *view);

/* The integer at a place in such a buffer, clamped to the range of Py_ssize_t. */
Py_ssize_t integer_at(const Py_buffer *view, const char *place);

/* The kind of a buffer's elements, with IK2B_KINDS as for acquire_view. */
ik2b_kind kind_of(const Py_buffer *view);

/* The text of a shape in messages, with up to PyBUF_MAX_NDIM dimensions. */
typedef struct {
    char text[PyBUF_MAX_NDIM * 22 + 4];
} shape_text;
shape_text text_of_shape(const Py_ssize_t *shape, int ndim);

/* Raises the exception and returns -1. The message is the formatted text and the name of the type
 * of `got`. */
int refuse(PyObject *exception, PyObject *got, const char *format, ...);

#endif
