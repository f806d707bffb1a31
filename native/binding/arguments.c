/* SPDX-License-Identifier: MIT
 *
 * Acquire, check, broadcast and release the arguments of a call.
 */
#include "arguments.h"

#include <stdio.h>
#include <string.h>

#define TEXT 160

/* Messages */

const char *
shape_text(char *text, size_t size, const Py_ssize_t *shape, int ndim)
{
    size_t used = 0;
    text[0] = '\0';
    for (int d = 0; d < ndim && used + 24 < size; d++) {
        used += (size_t)snprintf(text + used, size - used, d ? ", %zd" : "%zd", shape[d]);
    }
    char inner[TEXT];
    snprintf(inner, sizeof inner, "%s", text);
    snprintf(text, size, ndim == 1 ? "(%s,)" : "(%s)", inner);
    return text;
}

static void
wrong_type(const char *name, const char *expected, PyObject *got)
{
    PyObject *type = PyType_GetName(Py_TYPE(got));
    if (type) {
        PyErr_Format(PyExc_TypeError, "%s: expected %s, got %U", name, expected, type);
        Py_DECREF(type);
    }
}

static const char *
row_text(const parameter *p)
{
    if (p->dims == 0) {
        return "a number or an array of numbers";
    }
    if (p->joints) {
        return p->dims == 2    ? "an array of shape (..., joints, 4, 4)"
               : p->size == 4 ? "an array of shape (..., joints, 4)"
                              : "an array of shape (..., joints, 3)";
    }
    return p->dims == 2    ? "an array of shape (..., 4, 4)"
           : p->size == 4 ? "an array of shape (..., 4)"
                          : "an array of shape (..., 3)";
}

static int
wrong_shape(const parameter *p, const argument *a)
{
    char got[TEXT];
    PyErr_Format(PyExc_ValueError, "%s: expected %s, got shape %s", p->name, row_text(p),
                 shape_text(got, sizeof got, a->shape, a->ndim));
    return -1;
}

/* Buffers */

/* The kind of a buffer's elements where the core can read them as they lie. */
static bool
kind_of_format(const char *format, ik2b_kind *kind)
{
    const char *code = format ? format : "B";
    int one = 1;
    char native = *(char *)&one ? '<' : '>';
    if (*code == '@' || *code == '=' || *code == native) {
        code++;
    }
    if (code[0] == '\0' || code[1] != '\0') {
        return false;
    }
    switch (code[0]) {
    case 'f':
        *kind = IK2B_F32;
        return true;
    case 'd':
        *kind = IK2B_F64;
        return true;
    case 'B':
        *kind = IK2B_U8;
        return true;
    default:
        return false;
    }
}

/* Copies shape and strides; an exporter that gives no strides (ctypes) is contiguous. */
static int
note_layout(const char *name, argument *a)
{
    const Py_buffer *view = &a->view;
    if (view->ndim > MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "%s: expected at most %d dimensions, got %d", name, MAX_NDIM,
                     view->ndim);
        return -1;
    }
    a->ndim = view->ndim;
    Py_ssize_t stride = view->itemsize;
    for (int d = view->ndim - 1; d >= 0; d--) {
        a->shape[d] = view->shape ? view->shape[d] : view->len / view->itemsize;
        a->strides[d] = view->strides ? view->strides[d] : stride;
        stride *= a->shape[d];
    }
    return 0;
}

/* Acquires float32 or float64 where it lies: 1 acquired, 0 it has to be converted. */
static int
acquire_in_place(PyObject *object, argument *a, ik2b_kind *kind)
{
    if (!PyObject_CheckBuffer(object)) {
        return 0;
    }
    if (PyObject_GetBuffer(object, &a->view, PyBUF_RECORDS_RO) < 0) {
        PyErr_Clear();
        return 0;
    }
    if (kind_of_format(a->view.format, kind) && *kind != IK2B_U8) {
        a->held = true;
        return 1;
    }
    PyBuffer_Release(&a->view);
    return 0;
}

/* Conversion by numpy */

static bool
holds_no_numbers(PyObject *element)
{
    return element == Py_None || PyUnicode_Check(element) || PyBytes_Check(element);
}

/* Whether an array of objects holds None or text, which numpy would read as NaN or parse: 1, 0, -1. */
static int
has_no_numbers(PyObject *array)
{
    int found = -1;
    PyObject *flat = PyObject_CallMethod(array, "ravel", NULL);
    PyObject *list = flat ? PyObject_CallMethod(flat, "tolist", NULL) : NULL;
    if (list) {
        found = 0;
        for (Py_ssize_t i = 0; i < PyList_Size(list) && !found; i++) {
            found = holds_no_numbers(PyList_GetItem(list, i));
        }
    }
    Py_XDECREF(list);
    Py_XDECREF(flat);
    return found;
}

static int
kind_letter(PyObject *array)
{
    int letter = -1;
    PyObject *dtype = PyObject_GetAttrString(array, "dtype");
    PyObject *kind = dtype ? PyObject_GetAttrString(dtype, "kind") : NULL;
    if (kind) {
        letter = (int)PyUnicode_ReadChar(kind, 0);
    }
    Py_XDECREF(kind);
    Py_XDECREF(dtype);
    return letter;
}

/* A new float64 numpy array of a list, of integers, of anything numpy reads as numbers. */
static PyObject *
converted(PyObject *object, const parameter *p)
{
    PyObject *result = NULL, *numpy = PyImport_ImportModule("numpy");
    PyObject *array = numpy ? PyObject_CallMethod(numpy, "asarray", "(O)", object) : NULL;
    if (!array) {
        if (numpy && PyErr_ExceptionMatches(PyExc_ValueError)) {
            PyErr_Format(PyExc_ValueError, "%s: expected %s, got a ragged sequence", p->name,
                         row_text(p));
        }
        goto exit;
    }
    int letter = kind_letter(array);
    int bad = letter < 0 ? -1 : letter == 'O' ? has_no_numbers(array) : !strchr("biuf", letter);
    if (bad == 0) {
        result = PyObject_CallMethod(numpy, "asarray", "(Os)", array, "float64");
    }
    if (!result && bad >= 0) {
        PyErr_Clear();
        wrong_type(p->name, row_text(p), object);
    }
exit:
    Py_XDECREF(array);
    Py_XDECREF(numpy);
    return result;
}

static int
acquire_converted(PyObject *object, const parameter *p, argument *a)
{
    PyObject *array = converted(object, p);
    if (!array) {
        return -1;
    }
    a->held = PyObject_GetBuffer(array, &a->view, PyBUF_RECORDS_RO) == 0;
    Py_DECREF(array); /* the view keeps it */
    return a->held ? 0 : -1;
}

/* Inputs */

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
    self->arrays[i].data = (char *)&a->number;
    self->arrays[i].kind = IK2B_F64;
    return 0;
}

static int
acquire_buffer(call *self, int i, PyObject *object)
{
    const parameter *p = &self->parameters[i];
    argument *a = &self->arguments[i];
    ik2b_kind kind = IK2B_F64;
    int in_place = acquire_in_place(object, a, &kind);
    if (!in_place && acquire_converted(object, p, a) < 0) {
        return -1;
    }
    if (p->role == POSITIONAL && PyObject_CheckBuffer(object)) {
        self->any_array = true;
        self->all_single &= in_place && kind == IK2B_F32;
    }
    self->arrays[i].data = a->view.buf;
    self->arrays[i].kind = kind;
    return note_layout(p->name, a);
}

/* The row's own dimensions: checks them and leaves only the leading ones in ndim. */
static int
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
    if (p->joints) {
        if (a->shape[lead] != self->joints) {
            char got[TEXT];
            PyErr_Format(PyExc_ValueError, "%s: expected %s with %zd joints as in parents, got shape %s",
                         p->name, row_text(p), self->joints,
                         shape_text(got, sizeof got, a->shape, a->ndim));
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
        return 0;
    }
    if (holds_no_numbers(object) || PyByteArray_Check(object)) {
        wrong_type(p->name, row_text(p), object);
        return -1;
    }
    bool number = PyFloat_Check(object) || PyLong_Check(object);
    if ((number ? acquire_number : acquire_buffer)(self, i, object) < 0) {
        return -1;
    }
    return split_shape(self, i);
}

/* Broadcasting */

/* Widens the extent by the leading dimensions of one argument; false where they do not fit. */
static bool
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
        else if (a->shape[d] != 1 && a->shape[d] != *whole) {
            return false;
        }
    }
    return true;
}

static void
set_strides(ik2b_array *array, const argument *a, const ik2b_extent *extent)
{
    int missing = extent->count - a->ndim;
    for (int d = 0; d < extent->count; d++) {
        bool own = d >= missing && a->shape[d - missing] != 1;
        array->stride[d] = own ? a->strides[d - missing] : 0;
    }
}

static int
broadcast(call *self, int count)
{
    for (int i = 0; i < count; i++) {
        const argument *a = &self->arguments[i];
        ik2b_extent before = self->extent;
        if (!self->arrays[i].data) {
            continue;
        }
        if (a->ndim > IK2B_MAX_DIMS || !widen_extent(&self->extent, a)) {
            char got[TEXT], others[TEXT];
            PyErr_Format(PyExc_ValueError,
                         "%s: expected leading dimensions that broadcast with %s, got %s",
                         self->parameters[i].name,
                         shape_text(others, sizeof others, before.shape, before.count),
                         shape_text(got, sizeof got, a->shape, a->ndim));
            return -1;
        }
    }
    for (int i = 0; i < count; i++) {
        set_strides(&self->arrays[i], &self->arguments[i], &self->extent);
    }
    return 0;
}

int
acquire_inputs(call *self, PyObject *const objects[], int count)
{
    self->all_single = true;
    for (int i = 0; i < count; i++) {
        if (acquire_input(self, i, objects[i]) < 0) {
            return -1;
        }
    }
    self->kind = self->any_array && self->all_single ? IK2B_F32 : IK2B_F64;
    return broadcast(self, count);
}

/* Outputs */

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

static PyObject *
new_output(const call *self, const parameter *p, ik2b_kind kind)
{
    Py_ssize_t shape[MAX_NDIM];
    int ndim = output_shape(self, p, shape);
    PyObject *array = NULL, *numpy = NULL, *tuple = PyTuple_New(ndim);
    for (int d = 0; tuple && d < ndim; d++) {
        PyObject *size = PyLong_FromSsize_t(shape[d]);
        if (!size || PyTuple_SetItem(tuple, d, size) < 0) {
            goto exit;
        }
    }
    numpy = tuple ? PyImport_ImportModule("numpy") : NULL;
    array = numpy ? PyObject_CallMethod(numpy, "empty", "(Os)", tuple, kind_name(kind)) : NULL;
exit:
    Py_XDECREF(numpy);
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
            PyErr_Format(PyExc_BufferError, "out %s: expected a writable buffer, got a read-only %U",
                         p->name, type);
            Py_DECREF(type);
        }
        return -1;
    }
    return 0;
}

static int
acquire_output(call *self, int i, PyObject *object)
{
    const parameter *p = &self->parameters[i];
    argument *a = &self->arguments[i];
    ik2b_kind expected = p->flags ? IK2B_U8 : self->kind;
    char name[64];
    snprintf(name, sizeof name, "out %s", p->name);
    if (!PyObject_CheckBuffer(object)) {
        wrong_type(name, "a writable buffer", object);
        return -1;
    }
    if (PyObject_GetBuffer(object, &a->view, PyBUF_RECORDS_RO) < 0) {
        return -1;
    }
    a->held = true;
    if (note_layout(name, a) < 0 || check_output(self, i, expected, object) < 0) {
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
    if (!out || out == Py_None) {
        const parameter *p = &self->parameters[i];
        return new_output(self, p, p->flags ? IK2B_U8 : self->kind);
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
    for (int i = first; i < self->count; i++) {
        const parameter *p = &self->parameters[i];
        bool alone = !out || out == Py_None;
        results[i - first] = p->needs && alone ? Py_NewRef(Py_None) : output_object(self, first, i, out);
        PyObject *object = results[i - first];
        if (!object || (p->needs ? refuse_absent(p, object) : acquire_output(self, i, object)) < 0) {
            return -1;
        }
    }
    return 0;
}

void
release_call(call *self)
{
    for (int i = 0; i < self->count; i++) {
        if (self->arguments[i].held) {
            PyBuffer_Release(&self->arguments[i].view);
            self->arguments[i].held = false;
        }
    }
}
