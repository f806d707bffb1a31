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
        /* Other exceptions, KeyboardInterrupt among them, say nothing about the object. */
        if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError) &&
            !PyErr_ExceptionMatches(PyExc_OverflowError) &&
            !PyErr_ExceptionMatches(PyExc_BufferError)) {
            return -1;
        }
        PyErr_Clear();
        return 0;
    }
    *kind = kind_of(view);
    return 1;
}
