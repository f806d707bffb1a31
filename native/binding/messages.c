/* SPDX-License-Identifier: MIT
 *
 * Errors that name the argument, what was expected and what came.
 */
#include "buffers.h"

#include <stdio.h>

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

void
wrong_type(const char *name, const char *expected, PyObject *got)
{
    PyObject *type = PyType_GetName(Py_TYPE(got));
    if (type) {
        PyErr_Format(PyExc_TypeError, "%s: expected %s, got %U", name, expected, type);
        Py_DECREF(type);
    }
}

const char *
row_text(const parameter *p)
{
    if (p->dims == 0) {
        return "a number or an array of numbers";
    }
    if (p->joints) {
        return p->dims == 2   ? "an array of shape (..., joints, 4, 4)"
               : p->size == 4 ? "an array of shape (..., joints, 4)"
                              : "an array of shape (..., joints, 3)";
    }
    return p->dims == 2   ? "an array of shape (..., 4, 4)"
           : p->size == 4 ? "an array of shape (..., 4)"
                          : "an array of shape (..., 3)";
}

int
wrong_shape(const parameter *p, const argument *a)
{
    char got[TEXT];
    PyErr_Format(PyExc_ValueError, "%s: expected %s, got shape %s", p->name, row_text(p),
                 shape_text(got, sizeof got, a->shape, a->ndim));
    return -1;
}
