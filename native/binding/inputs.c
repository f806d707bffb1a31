/* SPDX-License-Identifier: MIT
 *
 * Inputs of a call: acquire, check, broadcast.
 */
#include "buffers.h"
#include "call.h"

#include <string.h>

void
note_layout(argument *a)
{
    const Py_buffer *view = &a->view;
    Py_ssize_t stride = view->itemsize;
    a->ndim = view->ndim;
    a->shape = view->shape;
    a->strides = view->strides;
    if (!a->strides) { /* of ctypes: contiguous */
        for (int d = view->ndim - 1; d >= 0; d--) {
            a->own_strides[d] = stride;
            stride *= view->shape[d];
        }
        a->strides = a->own_strides;
    }
}

static int
wrong_shape(const parameter *p, const argument *a, const char *group)
{
    PyErr_Format(PyExc_ValueError, "%s%s: expected %s, got shape %s", group, p->name, p->row->text,
                 text_of_shape(a->view.shape, a->view.ndim).text);
    return -1;
}

static int
check_joints(const call *self, const parameter *p, const argument *a)
{
    if (a->shape[a->ndim] == self->joints.count) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "%s: expected %s with %zd joints as in parents, got shape %s",
                 p->name, p->row->text, self->joints.count,
                 text_of_shape(a->view.shape, a->view.ndim).text);
    return -1;
}

int
note_argument(call *self, int i, ik2b_kind kind, const char *group)
{
    const parameter *p = &self->function->parameters[i];
    const row_shape *row = p->row;
    argument *a = &self->arguments[i];
    ik2b_array *array = &self->arrays[i];

    array->data = a->view.buf;
    array->kind = kind;
    self->places[self->acquired++] = i; /* from here on the view is released with the call */
    int lead = a->view.ndim - row->dims - row->joints;
    if (lead > IK2B_MAX_DIMS) {
        PyErr_Format(PyExc_ValueError, "%s%s: expected at most %d leading dimensions, got %d",
                     group, p->name, IK2B_MAX_DIMS, lead);
        return -1;
    }
    if (lead < 0) {
        return wrong_shape(p, a, group);
    }
    note_layout(a);
    a->ndim = lead;
    for (int d = 0, own = lead + row->joints; d < row->dims; d++, own++) {
        if (a->shape[own] != row->size) {
            return wrong_shape(p, a, group);
        }
        array->inner[d] = a->strides[own];
    }
    if (row->joints) {
        self->joints.stride[i] = a->strides[lead];
        return check_joints(self, p, a);
    }
    return 0;
}

static int
acquire_number(call *self, int i, PyObject *object)
{
    argument *a = &self->arguments[i];
    const char *name = self->function->parameters[i].name;
    a->number = PyFloat_AsDouble(object);
    if (a->number == -1.0 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
            PyErr_Format(PyExc_ValueError,
                         "%s: expected a number that fits float64, got a larger one", name);
        }
        return -1;
    }
    a->view.buf = &a->number;
    a->view.obj = NULL;
    a->view.ndim = 0;
    a->view.shape = a->view.strides = NULL;
    return note_argument(self, i, IK2B_F64, "");
}

static int
acquire_input(call *self, int i)
{
    const parameter *p = &self->function->parameters[i];
    PyObject *object = self->objects[i];
    argument *a = &self->arguments[i];
    ik2b_kind kind;

    self->arrays[i].data = NULL;
    if (!object || (object == Py_None && p->takes_none)) {
        return 0;
    }
    int found = acquire_view(self->numpy, object, &a->view, &kind);
    if (found < 0) {
        return -1;
    }
    bool in_place = found > 0 && kind <= IK2B_F64;
    if (found > 0 && !in_place) {
        PyBuffer_Release(&a->view);
    }
    if (p->role == POSITIONAL && PyObject_CheckBuffer(object)) {
        self->any_array = true;
        self->all_single &= in_place && kind == IK2B_F32;
    }
    if (in_place) {
        return note_argument(self, i, kind, "");
    }
    if (PyFloat_Check(object) || PyLong_Check(object)) {
        return acquire_number(self, i, object);
    }
    if (acquire_converted(&self->state->numpy, object, p->name, p->row->text, &a->view) < 0) {
        return -1;
    }
    return note_argument(self, i, IK2B_F64, "");
}

/* Broadcasting */

static bool
fits_extent(const ik2b_extent *extent, const argument *a)
{
    int shared = a->ndim < extent->count ? a->ndim : extent->count;
    for (int d = 1; d <= shared; d++) {
        ptrdiff_t whole = extent->shape[extent->count - d], own = a->shape[a->ndim - d];
        if (own != whole && own != 1 && whole != 1) {
            return false;
        }
    }
    return true;
}

/* Widens the extent by the leading dimensions of one argument, which fits. */
static void
widen_extent(ik2b_extent *extent, const argument *a)
{
    int more = a->ndim - extent->count;
    if (more > 0) {
        memmove(extent->shape + more, extent->shape, (size_t)extent->count * sizeof *extent->shape);
        for (int d = 0; d < more; d++) {
            extent->shape[d] = 1;
        }
        extent->count = a->ndim;
    }
    for (int d = 0; d < a->ndim; d++) {
        ptrdiff_t *whole = &extent->shape[extent->count - a->ndim + d];
        *whole = *whole == 1 ? a->shape[d] : *whole;
    }
}

void
set_strides(call *self, int i)
{
    const argument *a = &self->arguments[i];
    int missing = self->extent.count - a->ndim;
    for (int d = 0; d < self->extent.count; d++) {
        bool own = d >= missing && a->shape[d - missing] != 1;
        self->arrays[i].stride[d] = own ? a->strides[d - missing] : 0;
    }
}

static int
broadcast(call *self)
{
    for (int k = 0; k < self->acquired; k++) {
        const argument *a = &self->arguments[self->places[k]];
        if (!fits_extent(&self->extent, a)) {
            PyErr_Format(PyExc_ValueError,
                         "%s: expected leading dimensions that broadcast with %s, got %s",
                         self->function->parameters[self->places[k]].name,
                         text_of_shape(self->extent.shape, self->extent.count).text,
                         text_of_shape(a->shape, a->ndim).text);
            return -1;
        }
        widen_extent(&self->extent, a);
    }
    for (int k = 0; k < self->acquired; k++) {
        set_strides(self, self->places[k]);
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
