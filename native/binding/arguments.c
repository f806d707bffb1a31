/* SPDX-License-Identifier: MIT
 *
 * Inputs of a call: acquire, check, broadcast, release.
 */
#include "buffers.h"

#include <string.h>

void
begin_call(call *self, const parameter *parameters, int count, numpy_parts *numpy)
{
    self->parameters = parameters;
    self->numpy = numpy;
    self->count = count;
    self->joints = 0;
    self->kind = IK2B_F64;
    self->any_array = self->owns_outputs = false;
    self->all_single = true;
    self->extent.count = self->acquired = 0;
    notice_numpy(numpy);
}

static int
acquire_number(call *self, int i, PyObject *object)
{
    argument *a = &self->arguments[i];
    a->number = PyFloat_AsDouble(object);
    if (a->number == -1.0 && PyErr_Occurred()) {
        PyErr_Format(PyExc_ValueError, "%s: expected a number that fits float64, got a larger one",
                     self->parameters[i].name);
        return -1;
    }
    a->ndim = 0;
    a->view.buf = &a->number;
    a->view.obj = NULL;
    note_acquired(self, i, IK2B_F64);
    return 0;
}

static int
acquire_any(call *self, int i, PyObject *object)
{
    const parameter *p = &self->parameters[i];
    argument *a = &self->arguments[i];
    ik2b_kind kind = IK2B_F64;
    bool in_place = acquire_in_place(self->numpy, object, a, &kind);
    if (!in_place) {
        if (PyErr_Occurred()) {
            return -1;
        }
        if (PyFloat_Check(object) || PyLong_Check(object)) {
            return acquire_number(self, i, object);
        }
        if (holds_no_numbers(object) || PyByteArray_Check(object)) {
            wrong_type(p->name, row_text(p), object);
            return -1;
        }
        if (acquire_converted(object, p, a) < 0) {
            return -1;
        }
        kind = IK2B_F64;
    }
    if (p->role == POSITIONAL && (in_place || PyObject_CheckBuffer(object))) {
        self->any_array = true;
        self->all_single &= in_place && kind == IK2B_F32;
    }
    note_acquired(self, i, kind);
    return note_layout("", p->name, a);
}

int
split_shape(call *self, int i)
{
    const parameter *p = &self->parameters[i];
    argument *a = &self->arguments[i];
    int own = p->dims + (p->joints ? 1 : 0), lead = a->ndim - own;
    if (lead < 0) {
        return wrong_shape(p, a);
    }
    for (int d = 0; d < p->dims; d++) {
        if (a->shape[a->ndim - 1 - d] != p->size) {
            return wrong_shape(p, a);
        }
        self->arrays[i].inner[p->dims - 1 - d] = a->strides[a->ndim - 1 - d];
    }
    a->joint_stride = 0;
    if (p->joints) {
        if (a->shape[lead] != self->joints) {
            char got[TEXT];
            PyErr_Format(PyExc_ValueError,
                         "%s: expected %s with %zd joints as in parents, got shape %s", p->name,
                         row_text(p), self->joints, shape_text(got, sizeof got, a->shape, a->ndim));
            return -1;
        }
        a->joint_stride = a->strides[lead];
    }
    a->ndim = lead;
    return 0;
}

static int
acquire_input(call *self, int i, PyObject *object)
{
    const parameter *p = &self->parameters[i];
    if (object == NULL || (object == Py_None && p->takes_none)) {
        self->arrays[i].data = NULL;
        return 0;
    }
    return acquire_any(self, i, object) < 0 ? -1 : split_shape(self, i);
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
    return a->ndim <= IK2B_MAX_DIMS;
}

/* Widens the extent by the leading dimensions of one argument, which fits. */
static void
widen_extent(ik2b_extent *extent, const argument *a)
{
    if (a->ndim > extent->count) {
        int more = a->ndim - extent->count;
        memmove(extent->shape + more, extent->shape, (size_t)extent->count * sizeof *extent->shape);
        for (int d = 0; d < more; d++) {
            extent->shape[d] = 1;
        }
        extent->count = a->ndim;
    }
    for (int d = 0; d < a->ndim; d++) {
        ptrdiff_t *whole = &extent->shape[extent->count - a->ndim + d];
        if (*whole == 1) {
            *whole = a->shape[d];
        }
    }
}

void
set_strides(ik2b_array *array, const argument *a, const ik2b_extent *extent)
{
    int missing = extent->count - a->ndim;
    for (int d = 0; d < extent->count; d++) {
        bool own = d >= missing && a->shape[d - missing] != 1;
        array->stride[d] = own ? a->strides[d - missing] : 0;
    }
}

static int
broadcast(call *self)
{
    for (int k = 0; k < self->acquired; k++) {
        int i = self->places[k];
        const argument *a = &self->arguments[i];
        if (!fits_extent(&self->extent, a)) {
            char got[TEXT], others[TEXT];
            PyErr_Format(PyExc_ValueError,
                         "%s: expected leading dimensions that broadcast with %s, got %s",
                         self->parameters[i].name,
                         shape_text(others, sizeof others, self->extent.shape, self->extent.count),
                         shape_text(got, sizeof got, a->shape, a->ndim));
            return -1;
        }
        widen_extent(&self->extent, a);
    }
    for (int k = 0; k < self->acquired; k++) {
        int i = self->places[k];
        set_strides(&self->arrays[i], &self->arguments[i], &self->extent);
    }
    return 0;
}

int
acquire_inputs(call *self, PyObject *const objects[], int count)
{
    for (int i = 0; i < count; i++) {
        if (acquire_input(self, i, objects[i]) < 0) {
            return -1;
        }
    }
    self->kind = self->any_array && self->all_single ? IK2B_F32 : IK2B_F64;
    return broadcast(self);
}

void
release_call(call *self)
{
    for (int k = 0; k < self->acquired; k++) {
        PyBuffer_Release(&self->arguments[self->places[k]].view);
    }
    self->acquired = 0;
}
