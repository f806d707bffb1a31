/* SPDX-License-Identifier: MIT
 *
 * Outputs of a call: the caller's buffers, checked, or new numpy arrays.
 */
#include "buffers.h"

#include <stdio.h>
#include <string.h>

static ik2b_kind
output_kind(const call *self, const parameter *p)
{
    return p->holds == FLAGS ? IK2B_U8 : p->holds == INDICES ? IK2B_I64 : self->kind;
}

/* The whole shape of an output; returns the number of dimensions. */
static int
output_shape(const call *self, const parameter *p, Py_ssize_t shape[])
{
    int ndim = self->extent.count;
    for (int d = 0; d < ndim; d++) {
        shape[d] = self->extent.shape[d];
    }
    if (p->joints) {
        shape[ndim++] = self->joints;
    }
    for (int d = 0; d < p->dims; d++) {
        shape[ndim++] = p->size;
    }
    return ndim;
}

/* The format of the elements, which a view of an array of a known kind does not tell. */
static const char *
format_of(const Py_buffer *view, ik2b_kind kind)
{
    static const char *const formats[] = {"f", "d", "B", "q"};
    return view->format ? view->format : formats[kind];
}

static bool
has_shape(const argument *a, const Py_ssize_t *shape, int ndim)
{
    bool same = a->ndim == ndim;
    for (int d = 0; same && d < ndim; d++) {
        same = a->shape[d] == shape[d];
    }
    return same;
}

static int
check_output(const call *self, int i, PyObject *object)
{
    const parameter *p = &self->parameters[i];
    const argument *a = &self->arguments[i];
    Py_ssize_t shape[MAX_NDIM];
    int ndim = output_shape(self, p, shape);
    char want[TEXT], got[TEXT];
    if (!has_shape(a, shape, ndim)) {
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

/* A new array for an output, of the whole extent. */
static PyObject *
new_output(const call *self, const parameter *p)
{
    Py_ssize_t shape[MAX_NDIM];
    int ndim = output_shape(self, p, shape);
    return new_array(self->numpy, shape, ndim, output_kind(self, p));
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
    note_acquired(self, i, output_kind(self, p));
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
    ik2b_kind kind, expected = output_kind(self, p);
    found_view found = acquire_view(self->numpy, object, &a->view, &kind);
    if (found == FAILED) {
        return -1;
    }
    if (found == NO_BUFFER) {
        char name[64];
        snprintf(name, sizeof name, "out %s", p->name);
        wrong_type(name, "a writable buffer", object);
        return -1;
    }
    note_acquired(self, i, expected);
    if (found == OTHER_KIND || kind != expected) {
        PyErr_Format(PyExc_TypeError, "out %s: expected a buffer of %s, got format '%s'", p->name,
                     kind_name(expected), format_of(&a->view, kind));
        return -1;
    }
    if (note_layout("out ", p->name, a) < 0 || check_output(self, i, object) < 0 ||
        split_shape(self, i) < 0) {
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
        return p->needs ? Py_NewRef(Py_None) : new_output(self, p);
    }
    PyObject *object = self->count - first == 1 ? out : PyTuple_GetItem(out, i - first);
    Py_XINCREF(object);
    return object;
}

/* An output that has no input to come from: None, and None in its place of out. */
static int
refuse_absent(call *self, int i, PyObject *object)
{
    const parameter *p = &self->parameters[i];
    char name[64], expected[64];
    self->arrays[i].data = NULL;
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
    if (self->owns_outputs && need_numpy(self->numpy) < 0) {
        return -1;
    }
    for (int i = first; i < self->count; i++) {
        const parameter *p = &self->parameters[i];
        PyObject *object = results[i - first] = output_object(self, first, i, out);
        int done = !object              ? -1
                   : p->needs           ? refuse_absent(self, i, object)
                   : self->owns_outputs ? acquire_new(self, i, object)
                                        : acquire_output(self, i, object);
        if (done < 0) {
            return -1;
        }
    }
    return 0;
}
