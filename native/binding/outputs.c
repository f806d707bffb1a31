/* SPDX-License-Identifier: MIT
 *
 * The outputs of a call: the caller's buffers, which are checked, or new numpy arrays.
 */
#include "buffers.h"
#include "call.h"

/* Fills in the whole shape of an output and returns the number of its dimensions. */
static int
shape_of_output(const call *self, const parameter *p, Py_ssize_t shape[MAX_NDIM])
{
    int ndim = self->extent.count;
    for (int d = 0; d < ndim; d++) {
        shape[d] = self->extent.shape[d];
    }
    if (p->row->joints) {
        shape[ndim++] = self->joints.count;
    }
    shape[ndim] = shape[ndim + 1] = p->row->size;
    return ndim + p->row->dims;
}

static int
check_shape(const parameter *p, const Py_buffer *view, const Py_ssize_t *shape, int ndim)
{
    bool same = view->ndim == ndim;
    for (int d = 0; same && d < ndim; d++) {
        same = view->shape[d] == shape[d];
    }
    if (same) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "out %s: expected shape %s, got %s", p->name,
                 text_of_shape(shape, ndim).text, text_of_shape(view->shape, view->ndim).text);
    return -1;
}

/* Acquires the buffer of an output, which must have this kind and shape. */
static int
acquire_buffer(call *self, int i, PyObject *object, ik2b_kind expected, const Py_ssize_t *shape,
               int ndim)
{
    const parameter *p = &self->function->parameters[i];
    argument *a = &self->arguments[i];
    Py_buffer *view = &a->view;
    ik2b_kind kind;
    int found = acquire_view(self->numpy, object, view, a->room, &kind);
    if (found <= 0) {
        return found < 0 ? -1
                         : refuse(PyExc_TypeError, object,
                                  "out %s: expected a writable buffer, got ", p->name);
    }
    if (kind != expected) {
        PyErr_Format(PyExc_TypeError,
                     "out %s: expected a buffer of %s, got format '%s' of %zd bytes", p->name,
                     kind_name(expected), view->format ? view->format : "B", view->itemsize);
    }
    if (kind != expected || check_shape(p, view, shape, ndim) < 0 ||
        (view->readonly &&
         refuse(PyExc_BufferError, object, "out %s: expected a writable buffer, got a read-only ",
                p->name) < 0)) {
        PyBuffer_Release(view);
        return -1;
    }
    return 0;
}

/* Acquires the output `given`, or a new array if that is NULL. The output `end` of solve_pose is
 * None without end_matrix, and must then be None in `out`, too. */
static int
acquire_output(call *self, int i, PyObject *given)
{
    const function *f = self->function;
    const parameter *p = &f->parameters[i];
    PyObject **result = &self->results[i];
    Py_ssize_t shape[MAX_NDIM];
    if (i == f->out_end && !self->arrays[f->end_matrix].data) {
        self->arrays[i].data = NULL;
        *result = Py_NewRef(given ? given : Py_None);
        return *result == Py_None ? 0
                                  : refuse(PyExc_TypeError, given,
                                           "out end: expected None without end_matrix, got ");
    }
    int ndim = shape_of_output(self, p, shape);
    ik2b_kind kind = p->row->holds == IK2B_KINDS ? self->kind : p->row->holds;
    *result = given ? Py_NewRef(given) : new_array(self->numpy, shape, ndim, kind);
    if (!*result || acquire_buffer(self, i, *result, kind, shape, ndim) < 0) {
        return -1;
    }
    return note_argument(self, i, kind);
}

/* 0 where `out` is a tuple of the right length, or -1 with an exception. */
static int
check_tuple(PyObject *out, int count)
{
    if (!PyTuple_Check(out)) {
        return refuse(PyExc_TypeError, out, "out: expected a tuple of writable buffers, got ");
    }
    if (PyTuple_Size(out) != count) {
        PyErr_Format(PyExc_ValueError, "out: expected a tuple of %d buffers, got %zd", count,
                     PyTuple_Size(out));
        return -1;
    }
    return 0;
}

int
acquire_outputs(call *self)
{
    const function *f = self->function;
    int count = f->count - f->inputs;
    PyObject *out = self->objects[OUT_SLOT];
    if (count == 0) {
        return 0;
    }
    self->owns_outputs = !out || out == Py_None;
    if (self->owns_outputs) {
        self->numpy = needed_numpy(&self->state->numpy);
    }
    if (self->owns_outputs ? !self->numpy : count > 1 && check_tuple(out, count) < 0) {
        return -1;
    }
    for (int i = 0; i < count; i++) {
        PyObject *given = self->owns_outputs ? NULL : count > 1 ? PyTuple_GetItem(out, i) : out;
        if (acquire_output(self, f->inputs + i, given) < 0) {
            return -1;
        }
    }
    return 0;
}
