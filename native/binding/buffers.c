/* SPDX-License-Identifier: MIT
 *
 * One object's numbers: where they lie, or converted once by numpy.
 */
#include "buffers.h"

#include <string.h>

/* The kind of a buffer's elements; false where the core cannot read them as they lie. */
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
    case 'q':
        *kind = IK2B_I64;
        return true;
    case 'l':
        *kind = IK2B_I64;
        return sizeof(long) == 8;
    default:
        return false;
    }
}

/* An exporter that gives no strides (ctypes) is contiguous. */
static void
fill_layout(argument *a)
{
    const Py_buffer *view = &a->view;
    Py_ssize_t stride = view->itemsize;
    for (int d = view->ndim - 1; d >= 0; d--) {
        a->own.shape[d] = view->shape ? view->shape[d] : view->len / view->itemsize;
        a->own.strides[d] = stride;
        stride *= a->own.shape[d];
    }
    a->shape = a->own.shape;
    a->strides = a->own.strides;
}

int
note_layout(const char *group, const char *name, argument *a)
{
    const Py_buffer *view = &a->view;
    if (view->ndim > MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "%s%s: expected at most %d dimensions, got %d", group, name,
                     MAX_NDIM, view->ndim);
        return -1;
    }
    a->ndim = view->ndim;
    a->shape = view->shape;
    a->strides = view->strides;
    if (!a->shape || !a->strides) {
        fill_layout(a);
    }
    return 0;
}

/* numpy writes the format anew for each view that asks for it, which takes half of the time (15 of
 * 30 ns); the dtype of an array tells the same at once. */
found_view
acquire_view(const numpy_parts *numpy, PyObject *object, Py_buffer *view, ik2b_kind *kind)
{
    if (is_array(numpy, object, kind)) {
        return PyObject_GetBuffer(object, view, PyBUF_STRIDED_RO) < 0 ? FAILED : KNOWN_KIND;
    }
    if (!PyObject_CheckBuffer(object)) {
        return NO_BUFFER;
    }
    if (PyObject_GetBuffer(object, view, PyBUF_RECORDS_RO) < 0) {
        return FAILED;
    }
    return kind_of_format(view->format, kind) ? KNOWN_KIND : OTHER_KIND;
}

bool
acquire_in_place(const numpy_parts *numpy, PyObject *object, argument *a, ik2b_kind *kind)
{
    found_view found = acquire_view(numpy, object, &a->view, kind);
    if (found == KNOWN_KIND && *kind <= IK2B_F64) {
        return true;
    }
    if (found == KNOWN_KIND || found == OTHER_KIND) {
        PyBuffer_Release(&a->view);
    }
    if (found == FAILED && !PyErr_ExceptionMatches(PyExc_MemoryError)) {
        PyErr_Clear();
    }
    return false;
}

bool
holds_no_numbers(PyObject *element)
{
    return element == Py_None || PyUnicode_Check(element) || PyBytes_Check(element);
}

/* Whether an array of objects holds None or text, which numpy would read as NaN or parse: 1, 0, -1.
 */
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

/* Says what kind of elements came, as the shape may well be right. */
static void
no_numbers(PyObject *array, PyObject *object, const parameter *p)
{
    PyObject *type = PyType_GetName(Py_TYPE(object));
    PyObject *dtype = type ? PyObject_GetAttrString(array, "dtype") : NULL;
    if (dtype) {
        PyErr_Format(PyExc_TypeError, "%s: expected %s, got %U of %S", p->name, row_text(p), type,
                     dtype);
    }
    Py_XDECREF(dtype);
    Py_XDECREF(type);
}

/* Whether the exception says that something is no number or does not fit; others, MemoryError among
 * them, say nothing about the argument. */
static bool
is_about_kind(void)
{
    return PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError) ||
           PyErr_ExceptionMatches(PyExc_OverflowError);
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
    if (!result && bad >= 0 && (!PyErr_Occurred() || is_about_kind())) {
        PyErr_Clear();
        if (holds_no_numbers(object) || !PySequence_Check(object)) {
            wrong_type(p->name, row_text(p), object);
        }
        else {
            no_numbers(array, object, p);
        }
    }
exit:
    Py_XDECREF(array);
    Py_XDECREF(numpy);
    return result;
}

int
acquire_converted(PyObject *object, const parameter *p, argument *a)
{
    PyObject *array = converted(object, p);
    if (!array) {
        return -1;
    }
    int done = PyObject_GetBuffer(array, &a->view, PyBUF_RECORDS_RO);
    Py_DECREF(array); /* the view keeps it */
    return done;
}
