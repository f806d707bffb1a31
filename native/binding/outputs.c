/* SPDX-License-Identifier: MIT
 *
 * Outputs of a call: the caller's buffers, checked, or new numpy arrays.
 */
#include "buffers.h"

#include <stdio.h>
#include <string.h>

static const char *
kind_name(ik2b_kind kind)
{
    return kind == IK2B_F32 ? "float32" : kind == IK2B_F64 ? "float64" : "uint8";
}

/* The whole shape of an output; returns the number of dimensions. */
static int
output_shape(const call *self, const parameter *p, Py_ssize_t shape[])
{
    int ndim = self->extent.count;
    memcpy(shape, self->extent.shape, (size_t)ndim * sizeof *shape);
    if (p->joints) {
        shape[ndim++] = self->joints;
    }
    for (int d = 0; d < p->dims; d++) {
        shape[ndim++] = p->size;
    }
    return ndim;
}

/* Finds numpy's function and dtypes. While numpy is imported another thread may do the same: the
 * first to end counts. */
static int
load_maker(array_maker *self)
{
    array_maker found = {.empty = NULL};
    PyObject *numpy = PyImport_ImportModule("numpy");
    bool good = numpy != NULL;
    for (int kind = 0; good && kind < 3; kind++) {
        found.dtypes[kind] = PyObject_CallMethod(numpy, "dtype", "s", kind_name((ik2b_kind)kind));
        good = found.dtypes[kind] != NULL;
    }
    found.empty = good ? PyObject_GetAttrString(numpy, "empty") : NULL;
    Py_XDECREF(numpy);
    if (found.empty && !self->empty) {
        self->empty = found.empty;
        memcpy(self->dtypes, found.dtypes, sizeof found.dtypes);
        return 0;
    }
    good = found.empty != NULL;
    clear_maker(&found);
    return good ? 0 : -1;
}

static int
ensure_maker(array_maker *self)
{
#ifdef Py_GIL_DISABLED
    PyMutex_Lock(&self->lock);
#endif
    int done = self->empty ? 0 : load_maker(self);
#ifdef Py_GIL_DISABLED
    PyMutex_Unlock(&self->lock);
#endif
    return done;
}

void
clear_maker(array_maker *self)
{
    Py_CLEAR(self->empty);
    for (int kind = 0; kind < 3; kind++) {
        Py_CLEAR(self->dtypes[kind]);
    }
}

/* A new array for an output, of the whole extent. */
static PyObject *
new_output(const call *self, const parameter *p, ik2b_kind kind)
{
    Py_ssize_t shape[MAX_NDIM];
    int ndim = output_shape(self, p, shape);
    PyObject *array = NULL, *tuple = PyTuple_New(ndim);
    for (int d = 0; tuple && d < ndim; d++) {
        PyObject *size = PyLong_FromSsize_t(shape[d]);
        if (!size || PyTuple_SetItem(tuple, d, size) < 0) {
            goto exit;
        }
    }
    if (tuple) {
        array = PyObject_CallFunctionObjArgs(self->maker->empty, tuple, self->maker->dtypes[kind],
                                             NULL);
    }
exit:
    Py_XDECREF(tuple);
    return array;
}

static int
check_output(const call *self, int i, ik2b_kind expected, PyObject *object)
{
    const parameter *p = &self->parameters[i];
    const argument *a = &self->arguments[i];
    Py_ssize_t shape[MAX_NDIM];
    int ndim = output_shape(self, p, shape);
    ik2b_kind kind;
    char want[TEXT], got[TEXT];
    if (!kind_of_format(a->view.format, &kind) || kind != expected) {
        PyErr_Format(PyExc_TypeError, "out %s: expected a buffer of %s, got format '%s'", p->name,
                     kind_name(expected), a->view.format ? a->view.format : "B");
        return -1;
    }
    if (a->ndim != ndim || memcmp(a->shape, shape, (size_t)ndim * sizeof *shape) != 0) {
        PyErr_Format(PyExc_ValueError, "out %s: expected shape %s, got %s", p->name,
                     shape_text(want, sizeof want, shape, ndim),
                     shape_text(got, sizeof got, a->shape, a->ndim));
        return -1;
    }
    if (a->view.readonly) {
        PyObject *type = PyType_GetName(Py_TYPE(object));
        if (type) {
            PyErr_Format(PyExc_BufferError,
                         "out %s: expected a writable buffer, got a read-only %U", p->name, type);
            Py_DECREF(type);
        }
        return -1;
    }
    return 0;
}

/* The memory of a new array, whose layout is known. */
static int
acquire_new(call *self, int i, PyObject *array)
{
    const parameter *p = &self->parameters[i];
    argument *a = &self->arguments[i];
    ik2b_array *own = &self->arrays[i];
    if (PyObject_GetBuffer(array, &a->view, PyBUF_WRITABLE) < 0) {
        return -1;
    }
    a->held = true;
    own->data = a->view.buf;
    own->kind = p->flags ? IK2B_U8 : self->kind;
    ptrdiff_t stride = (ptrdiff_t)a->view.itemsize;
    for (int d = p->dims - 1; d >= 0; d--) {
        own->inner[d] = stride;
        stride *= p->size;
    }
    a->joint_stride = stride;
    stride *= p->joints ? self->joints : 1;
    for (int d = self->extent.count - 1; d >= 0; d--) {
        own->stride[d] = stride;
        stride *= self->extent.shape[d];
    }
    return 0;
}

static int
acquire_output(call *self, int i, PyObject *object)
{
    const parameter *p = &self->parameters[i];
    argument *a = &self->arguments[i];
    ik2b_kind expected = p->flags ? IK2B_U8 : self->kind;
    if (!PyObject_CheckBuffer(object)) {
        char name[64];
        snprintf(name, sizeof name, "out %s", p->name);
        wrong_type(name, "a writable buffer", object);
        return -1;
    }
    if (PyObject_GetBuffer(object, &a->view, PyBUF_RECORDS_RO) < 0) {
        return -1;
    }
    a->held = true;
    if (note_layout("out ", p->name, a) < 0 || check_output(self, i, expected, object) < 0) {
        return -1;
    }
    self->arrays[i].data = a->view.buf;
    self->arrays[i].kind = expected;
    if (split_shape(self, i) < 0) {
        return -1;
    }
    set_strides(&self->arrays[i], a, &self->extent);
    return 0;
}

/* The object that goes to this output: the caller's, or a new array. A new reference. */
static PyObject *
output_object(const call *self, int first, int i, PyObject *out)
{
    const parameter *p = &self->parameters[i];
    if (self->owns_outputs) {
        return p->needs ? Py_NewRef(Py_None) : new_output(self, p, p->flags ? IK2B_U8 : self->kind);
    }
    PyObject *object = self->count - first == 1 ? out : PyTuple_GetItem(out, i - first);
    Py_XINCREF(object);
    return object;
}

/* An output that has no input to come from: None, and None in its place of out. */
static int
refuse_absent(const parameter *p, PyObject *object)
{
    char name[64], expected[64];
    if (object == Py_None) {
        return 0;
    }
    snprintf(name, sizeof name, "out %s", p->name);
    snprintf(expected, sizeof expected, "None without %s", p->needs);
    wrong_type(name, expected, object);
    return -1;
}

int
acquire_outputs(call *self, int first, PyObject *out, PyObject *results[])
{
    int count = self->count - first;
    if (out && out != Py_None && count > 1) {
        if (!PyTuple_Check(out)) {
            wrong_type("out", "a tuple of writable buffers", out);
            return -1;
        }
        if (PyTuple_Size(out) != count) {
            PyErr_Format(PyExc_ValueError, "out: expected a tuple of %d buffers, got %zd", count,
                         PyTuple_Size(out));
            return -1;
        }
    }
    self->owns_outputs = !out || out == Py_None;
    if (self->owns_outputs && ensure_maker(self->maker) < 0) {
        return -1;
    }
    for (int i = first; i < self->count; i++) {
        const parameter *p = &self->parameters[i];
        PyObject *object = results[i - first] = output_object(self, first, i, out);
        int done = !object              ? -1
                   : p->needs           ? refuse_absent(p, object)
                   : self->owns_outputs ? acquire_new(self, i, object)
                                        : acquire_output(self, i, object);
        if (done < 0) {
            return -1;
        }
    }
    return 0;
}
