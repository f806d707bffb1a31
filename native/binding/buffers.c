/* SPDX-License-Identifier: MIT
 *
 * Access to the numbers of one object.
 */
#include "buffers.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Messages */

shape_text
text_of_shape(const Py_ssize_t *shape, int ndim)
{
    shape_text result = {"("};
    size_t used = 1, room = sizeof result.text;
    for (int d = 0; d < ndim && d < PyBUF_MAX_NDIM; d++) {
        const char *format = d > 0 ? ", %zd" : "%zd";
        used += (size_t)snprintf(result.text + used, room - used, format, shape[d]);
    }
    snprintf(result.text + used, room - used, ndim == 1 ? ",)" : ")");
    return result;
}

int
refuse(PyObject *exception, PyObject *got, const char *format, ...)
{
    va_list parts;
    va_start(parts, format);
    PyObject *text = PyUnicode_FromFormatV(format, parts);
    PyObject *type = text ? PyType_GetName(Py_TYPE(got)) : NULL;
    va_end(parts);
    if (type) {
        PyErr_Format(exception, "%U%U", text, type);
    }
    Py_XDECREF(text);
    Py_XDECREF(type);
    return -1;
}

/* Whether the exception says that an object is no number or has no buffer. Other exceptions,
 * MemoryError and KeyboardInterrupt among them, say nothing about the argument. */
static bool
is_about_kind(void)
{
    return PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError) ||
           PyErr_ExceptionMatches(PyExc_OverflowError) || PyErr_ExceptionMatches(PyExc_BufferError);
}

/* Elements */

/* Whether this machine stores the lowest byte of a number first. */
static bool
is_little_endian(void)
{
    int one = 1;
    return *(char *)&one == 1;
}

/* The letter of the elements' type; '\0' if the elements are not in this machine's byte order, or
 * if each consists of several numbers. */
static char
letter_of(const Py_buffer *view)
{
    const char *code = view->format ? view->format : "B";
    char native = is_little_endian() ? '<' : '>';
    if (*code == '@' || *code == '=' || *code == native) {
        code++;
    }
    return *code && !code[1] ? *code : '\0';
}

bool
is_swapped_single(const Py_buffer *view)
{
    const char *swapped = is_little_endian() ? ">f" : "<f";
    return view->format && strcmp(view->format, swapped) == 0;
}

bool
holds_integers(const Py_buffer *view)
{
    char letter = letter_of(view);
    Py_ssize_t size = view->itemsize;
    return letter && strchr("bBhHiIlLqQnN", letter) &&
           (size == 1 || size == 2 || size == 4 || size == 8);
}

/* Checks the item size, too, because an exporter may give one that does not fit its format. */
ik2b_kind
kind_of(const Py_buffer *view)
{
    char letter = letter_of(view);
    if (letter == 'f' && view->itemsize == sizeof(float)) {
        return IK2B_F32;
    }
    if (letter == 'd' && view->itemsize == sizeof(double)) {
        return IK2B_F64;
    }
    if (letter == 'B' && view->itemsize == 1) {
        return IK2B_U8;
    }
    return holds_integers(view) && view->itemsize == 8 && letter >= 'a' ? IK2B_I64 : IK2B_KINDS;
}

Py_ssize_t
integer_at(const Py_buffer *view, const char *place)
{
    size_t size = (size_t)view->itemsize;
    uint64_t bits = 0, sign = (uint64_t)1 << (8 * size - 1);
    memcpy((char *)&bits + (is_little_endian() ? 0 : sizeof bits - size), place, size);
    bool has_sign = letter_of(view) >= 'a';
    int64_t integer =
        has_sign ? (int64_t)((bits ^ sign) - sign) : (int64_t)(bits < INT64_MAX ? bits : INT64_MAX);
    return integer < PY_SSIZE_T_MIN   ? PY_SSIZE_T_MIN
           : integer > PY_SSIZE_T_MAX ? PY_SSIZE_T_MAX
                                      : (Py_ssize_t)integer;
}

/* In place */

int
acquire_view(const numpy_parts *numpy, PyObject *object, Py_buffer *view,
             Py_ssize_t room[2 * MAX_NDIM], ik2b_kind *kind)
{
    if (view_array(numpy, object, view, room, kind)) {
        return 1;
    }
    if (!PyObject_CheckBuffer(object)) {
        return 0;
    }
    if (PyObject_GetBuffer(object, view, PyBUF_RECORDS_RO) < 0) {
        if (!is_about_kind()) {
            return -1;
        }
        PyErr_Clear();
        return 0;
    }
    *kind = kind_of(view);
    return 1;
}

/* Conversion */

static bool
is_bytes(PyObject *object)
{
    return PyBytes_Check(object) || PyByteArray_Check(object);
}

/* Whether the object is None, text or bytes, which numpy would read as NaN or parse. A memoryview
 * of bytes counts as bytes, unless it was cast to numbers. */
static bool
holds_no_numbers(PyObject *object)
{
    if (!PyMemoryView_Check(object)) {
        return object == Py_None || PyUnicode_Check(object) || is_bytes(object);
    }
    PyObject *owner = PyObject_GetAttrString(object, "obj");
    PyObject *format = owner ? PyObject_GetAttrString(object, "format") : NULL;
    bool found = format && is_bytes(owner) && PyUnicode_CompareWithASCIIString(format, "B") == 0;
    PyErr_Clear(); /* raised by a released view */
    Py_XDECREF(format);
    Py_XDECREF(owner);
    return found;
}

/* Whether an array of objects holds nothing but numbers: 1 or 0, or -1 with an exception. */
static int
has_numbers(PyObject *array)
{
    int found = -1;
    PyObject *flat = PyObject_CallMethod(array, "ravel", NULL);
    PyObject *list = flat ? PySequence_List(flat) : NULL;
    if (list) {
        found = 1;
        for (Py_ssize_t i = 0; i < PyList_Size(list) && found; i++) {
            found = PyNumber_Check(PyList_GetItem(list, i));
        }
    }
    Py_XDECREF(list);
    Py_XDECREF(flat);
    return found;
}

/* Raises TypeError. For a sequence the message names the type of the elements, because the sequence
 * itself may be what was expected. */
static void
refuse_elements(const char *name, const char *expected, PyObject *object, PyObject *dtype)
{
    PyObject *type = PySequence_Check(object) ? PyType_GetName(Py_TYPE(object)) : NULL;
    if (type) {
        PyErr_Format(PyExc_TypeError, "%s: expected %s, got %U of %S", name, expected, type, dtype);
        Py_DECREF(type);
    }
    else if (!PyErr_Occurred()) {
        refuse(PyExc_TypeError, object, "%s: expected %s, got ", name, expected);
    }
}

/* A float64 copy or view of an array of numbers, or of objects that are numbers; NULL with an
 * exception. */
static PyObject *
converted(const numpy_parts *numpy, PyObject *object, PyObject *array, const char *name,
          const char *expected)
{
    PyObject *result = NULL, *dtype = PyObject_GetAttrString(array, "dtype");
    PyObject *kind = dtype ? PyObject_GetAttrString(dtype, "kind") : NULL;
    Py_UCS4 letter = kind ? PyUnicode_ReadChar(kind, 0) : 0;
    int fits = !kind           ? -1
               : letter == 'O' ? has_numbers(array)
                               : strchr("biuf", (int)letter) != NULL;
    if (fits > 0) {
        result = PyObject_CallFunctionObjArgs(numpy->asarray, array, numpy->dtypes[IK2B_F64], NULL);
    }
    if (fits == 0 || (fits > 0 && !result && is_about_kind())) {
        PyErr_Clear();
        refuse_elements(name, expected, object, dtype);
    }
    Py_XDECREF(kind);
    Py_XDECREF(dtype);
    return result;
}

int
acquire_converted(shared_pointer *place, PyObject *object, const char *name, const char *expected,
                  Py_buffer *view)
{
    bool has_buffer = PyObject_CheckBuffer(object);
    if (holds_no_numbers(object)) {
        return refuse(PyExc_TypeError, object, "%s: expected %s, got ", name, expected);
    }
    const numpy_parts *numpy = needed_numpy(place);
    PyObject *array = numpy ? PyObject_CallFunctionObjArgs(numpy->asarray, object, NULL) : NULL;
    if (!array) {
        if (!numpy || !PyErr_ExceptionMatches(PyExc_ValueError)) {
            return -1;
        }
        if (has_buffer) { /* its format is one that numpy does not know */
            return refuse(PyExc_TypeError, object, "%s: expected %s, got ", name, expected);
        }
        PyErr_Format(PyExc_ValueError, "%s: expected %s, got a ragged sequence", name, expected);
        return -1;
    }
    PyObject *numbers = converted(numpy, object, array, name, expected);
    int done = numbers ? PyObject_GetBuffer(numbers, view, PyBUF_RECORDS_RO) : -1;
    Py_XDECREF(numbers); /* the view holds a reference */
    Py_DECREF(array);
    return done;
}
