/* SPDX-License-Identifier: MIT
 *
 * The inputs of a call: acquire, check, broadcast.
 */
#include "buffers.h"
#include "call.h"

/* Gives contiguous strides to a view that has none, such as those of ctypes. */
static void
give_strides(argument *a)
{
    Py_ssize_t stride = a->view.itemsize;
    for (int d = a->view.ndim - 1; d >= 0; d--) {
        a->room[d] = stride;
        stride *= a->view.shape[d];
    }
    a->view.strides = a->room;
}

int
note_argument(call *self, int i, ik2b_kind kind)
{
    const parameter *p = &self->function->parameters[i];
    const row_shape *row = p->row;
    argument *a = &self->arguments[i];
    ik2b_array *array = &self->arrays[i];

    array->data = a->view.buf;
    array->kind = kind;
    self->places[self->acquired++] = i; /* from here on finish releases the view */
    a->leading = a->view.ndim - row->dims - row->joints;
    if (a->leading > IK2B_MAX_DIMS) {
        PyErr_Format(PyExc_ValueError, "%s: expected at most %d leading dimensions, got %d",
                     p->name, IK2B_MAX_DIMS, a->leading);
        return -1;
    }
    if (!a->view.strides) {
        give_strides(a);
    }
    bool fits = a->leading >= 0;
    for (int d = 0, own = a->leading + row->joints; fits && d < row->dims; d++, own++) {
        fits = a->view.shape[own] == row->size;
        array->inner[d] = a->view.strides[own];
    }
    if (!fits) {
        PyErr_Format(PyExc_ValueError, "%s: expected %s, got shape %s", p->name, row->text,
                     text_of_shape(a->view.shape, a->view.ndim).text);
        return -1;
    }
    if (row->joints && a->view.shape[a->leading] != self->joints.count) {
        PyErr_Format(PyExc_ValueError,
                     "%s: expected %s with %zd joints as in parents, got shape %s", p->name,
                     row->text, self->joints.count,
                     text_of_shape(a->view.shape, a->view.ndim).text);
        return -1;
    }
    if (row->joints) {
        self->joints.stride[i] = a->view.strides[a->leading];
    }
    return 0;
}

static int
acquire_number(call *self, int i, PyObject *object)
{
    argument *a = &self->arguments[i];
    a->number = PyFloat_AsDouble(object);
    if (a->number == -1.0 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
            PyErr_Format(PyExc_ValueError,
                         "%s: expected a number that fits float64, got a larger one",
                         self->function->parameters[i].name);
        }
        return -1;
    }
    a->view = (Py_buffer){.buf = &a->number, .itemsize = sizeof a->number};
    return 0;
}

/* Acquires the array that ik2bone.convert makes of the object, or raises the error that it
 * returns. */
static int
acquire_converted(call *self, int i, PyObject *object)
{
    const parameter *p = &self->function->parameters[i];
    PyObject *lends = PyObject_CheckBuffer(object) ? Py_True : Py_False;
    PyObject *numbers = PyObject_CallFunctionObjArgs(self->state->numbers_of, object, lends, NULL);
    int done = -1;
    if (numbers && PyTuple_Check(numbers)) {
        PyErr_Format(PyTuple_GetItem(numbers, 0), "%s: expected %s, got %U", p->name, p->row->text,
                     PyTuple_GetItem(numbers, 1));
    }
    else if (numbers) {
        done = PyObject_GetBuffer(numbers, &self->arguments[i].view, PyBUF_RECORDS_RO);
    }
    Py_XDECREF(numbers); /* the view holds a reference */
    return done;
}

static int
acquire_input(call *self, int i)
{
    const function *f = self->function;
    PyObject *object = self->objects[i];
    argument *a = &self->arguments[i];
    ik2b_kind kind;

    /* None stands for an option that is a vector or a matrix, but for no number. */
    bool may_be_none = i >= f->positional - f->optional && f->parameters[i].row->dims > 0;
    self->arrays[i].data = NULL;
    if (!object || (object == Py_None && may_be_none)) {
        return 0;
    }
    int found = acquire_view(self->numpy, object, &a->view, a->room, &kind);
    if (found > 0 && kind > IK2B_F64) {
        PyBuffer_Release(&a->view);
    }
    if (found <= 0 || kind > IK2B_F64) {
        bool number = PyFloat_Check(object) || PyLong_Check(object);
        if (found < 0 ||
            (number ? acquire_number(self, i, object) : acquire_converted(self, i, object)) < 0) {
            return -1;
        }
        kind = number ? IK2B_F64 : kind_of(&a->view);
    }
    if (i < f->positional && PyObject_CheckBuffer(object)) {
        self->any_array = true;
        self->all_single &= kind == IK2B_F32;
    }
    return note_argument(self, i, kind);
}

/* Broadcasting */

/* Broadcasts the extent with the leading dimensions of one argument. Returns false if they do not
 * fit. */
static bool
widen_extent(ik2b_extent *extent, const argument *a)
{
    const ik2b_extent before = *extent;
    extent->count = a->leading > before.count ? a->leading : before.count;
    for (int d = 1; d <= extent->count; d++) {
        ptrdiff_t whole = d <= before.count ? before.shape[before.count - d] : 1;
        ptrdiff_t own = d <= a->leading ? a->view.shape[a->leading - d] : 1;
        if (own != whole && own != 1 && whole != 1) {
            *extent = before;
            return false;
        }
        extent->shape[extent->count - d] = whole == 1 ? own : whole;
    }
    return true;
}

static int
broadcast(call *self)
{
    for (int k = 0; k < self->acquired; k++) {
        const argument *a = &self->arguments[self->places[k]];
        if (a->leading > 0 && !widen_extent(&self->extent, a)) {
            PyErr_Format(PyExc_ValueError,
                         "%s: expected leading dimensions that broadcast with %s, got %s",
                         self->function->parameters[self->places[k]].name,
                         text_of_shape(self->extent.shape, self->extent.count).text,
                         text_of_shape(a->view.shape, a->leading).text);
            return -1;
        }
    }
    return 0;
}

int
acquire_inputs(call *self)
{
    self->any_array = false;
    self->all_single = true;
    for (int i = 0; i < self->function->inputs; i++) {
        if (acquire_input(self, i) < 0) {
            return -1;
        }
    }
    self->kind = self->any_array && self->all_single ? IK2B_F32 : IK2B_F64;
    return broadcast(self);
}
