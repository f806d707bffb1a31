/* SPDX-License-Identifier: MIT
 *
 * Inside the binding: messages, buffers, and the layout of one argument.
 */
#ifndef IK2B_BUFFERS_H
#define IK2B_BUFFERS_H

#include "arguments.h"

/* Room for one shape in a message. */
#define TEXT 160

/* Messages; each sets an exception, wrong_shape returns -1. */
const char *shape_text(char *text, size_t size, const Py_ssize_t *shape, int ndim);
const char *row_text(const parameter *p);
void wrong_type(const char *name, const char *expected, PyObject *got);
int wrong_shape(const parameter *p, const argument *a);

/* Whether None or text, which numpy would read as NaN or parse. */
bool holds_no_numbers(PyObject *object);

/* What there is at an object: an exception; nothing; a view, acquired, of elements of no kind of
 * the core's; a view of this kind. */
typedef enum { FAILED, NO_BUFFER, OTHER_KIND, KNOWN_KIND } found_view;
found_view acquire_view(const numpy_parts *numpy, PyObject *object, Py_buffer *view,
                        ik2b_kind *kind);

/* Acquires float32 or float64 where it lies; false: it has to be converted, or an exception is set.
 */
bool acquire_in_place(const numpy_parts *numpy, PyObject *object, argument *a, ik2b_kind *kind);

/* Acquires a new float64 array of anything numpy reads as numbers: 0, or -1 with an exception. */
int acquire_converted(PyObject *object, const parameter *p, argument *a);

/* From here on the argument has a value, and a view to be released. */
static inline void
note_acquired(call *self, int i, ik2b_kind kind)
{
    self->arrays[i].data = self->arguments[i].view.buf;
    self->arrays[i].kind = kind;
    self->places[self->acquired++] = i;
}

/* Finds shape and strides of the acquired view: 0, or -1 with an exception. group is "" or "out ".
 */
int note_layout(const char *group, const char *name, argument *a);

/* The row's own dimensions: checks them and leaves only the leading ones in ndim; 0 or -1. */
int split_shape(call *self, int i);

/* The strides over the extent, zero where broadcast. */
void set_strides(ik2b_array *array, const argument *a, const ik2b_extent *extent);

#endif
