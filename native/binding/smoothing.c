/* SPDX-License-Identifier: MIT */
#include "smoothing.h"

#include <stdbool.h>
#include <string.h>

#include "curves.h"

const char smooth_within_doc[] =
    "smooth_within($module, wish, weight, floor, ceiling, stiffness, out, /)\n--\n\n"
    "Write into each row of out (C, F) the curve that minimises the weighted squares of its distance from wish, plus\n"
    "stiffness times the squares of its second differences, between floor and ceiling. All arrays are contiguous float64\n"
    "of shape (C, F); floor may hold -inf, ceiling inf. ArithmeticError where there is no optimum.\n"
    "For the package's own use.";

const char fill_dips_doc[] =
    "fill_dips($module, values, most, out, /)\n--\n\n"
    "Write into out (F,) the lowest curve over the values (F,) whose second differences are at most `most`. Both arrays\n"
    "are contiguous float64. For the package's own use.";

enum { WISH, WEIGHT, FLOOR, CEILING, OUT, CURVES };

static const char *const names[CURVES] = {"wish", "weight", "floor", "ceiling", "out"};

static int
acquire_rows(PyObject *object, const char *name, int ndim, int flags, Py_buffer *view)
{
    if (PyObject_GetBuffer(object, view, flags | PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
        view->obj = NULL;
        return -1;
    }
    if (view->ndim != ndim || !view->format || strcmp(view->format, "d") != 0) {
        PyErr_Format(PyExc_ValueError, "%s: expected float64 of shape %s, got %d dimensions of format %s", name,
                     ndim == 1 ? "(F,)" : "(C, F)", view->ndim, view->format ? view->format : "B");
        return -1;
    }
    return 0;
}

static int
acquire_curves(PyObject *const *args, Py_buffer views[CURVES])
{
    PyObject *const objects[CURVES] = {args[0], args[1], args[2], args[3], args[5]};
    const Py_ssize_t *shape;

    for (int i = 0; i < CURVES; i++) {
        if (acquire_rows(objects[i], names[i], 2, i == OUT ? PyBUF_WRITABLE : PyBUF_SIMPLE, &views[i]) < 0) {
            return -1;
        }
        shape = views[WISH].shape;
        if (views[i].shape[0] != shape[0] || views[i].shape[1] != shape[1]) {
            PyErr_Format(PyExc_ValueError, "%s: expected shape (%zd, %zd), as wish has, got (%zd, %zd)", names[i],
                         shape[0], shape[1], views[i].shape[0], views[i].shape[1]);
            return -1;
        }
    }
    return 0;
}

/* All curves, one after the other; false where there is no optimum. */
static bool
smooth_rows(const Py_buffer views[CURVES], double stiffness, void *scratch)
{
    size_t rows = (size_t)views[WISH].shape[0], count = (size_t)views[WISH].shape[1];
    bool good = true;

    for (size_t first = 0; good && first < rows * count; first += count) {
        good = ik2b_smooth_within(count, (double *)views[WISH].buf + first, (double *)views[WEIGHT].buf + first,
                                  (double *)views[FLOOR].buf + first, (double *)views[CEILING].buf + first, stiffness,
                                  scratch, (double *)views[OUT].buf + first) >= 0;
    }
    return good;
}

PyObject *
core_smooth_within(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    Py_buffer views[CURVES] = {{.obj = NULL}};
    double stiffness = given == 6 ? PyFloat_AsDouble(args[4]) : 0.0;
    void *scratch = NULL;
    PyObject *answer = NULL;
    bool good;

    (void)module;
    if (given != 6) {
        PyErr_Format(PyExc_TypeError, "smooth_within() takes 6 arguments, got %zd", given);
        return NULL;
    }
    if ((stiffness == -1.0 && PyErr_Occurred()) || acquire_curves(args, views) < 0) {
        goto exit;
    }
    scratch = PyMem_Malloc(ik2b_smooth_scratch((size_t)views[WISH].shape[1]));
    if (!scratch) {
        PyErr_NoMemory();
        goto exit;
    }
    Py_BEGIN_ALLOW_THREADS
        good = smooth_rows(views, stiffness, scratch);
    Py_END_ALLOW_THREADS
    if (good) {
        answer = Py_NewRef(Py_None);
    }
    else {
        PyErr_SetString(PyExc_ArithmeticError, "smooth_within: expected curves that have an optimum, got none");
    }
exit:
    PyMem_Free(scratch);
    for (int i = 0; i < CURVES; i++) {
        PyBuffer_Release(&views[i]);
    }
    return answer;
}

PyObject *
core_fill_dips(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    Py_buffer values = {.obj = NULL}, out = {.obj = NULL};
    size_t *scratch = NULL;
    double most = given == 3 ? PyFloat_AsDouble(args[1]) : 0.0;
    PyObject *answer = NULL;

    (void)module;
    if (given != 3) {
        PyErr_Format(PyExc_TypeError, "fill_dips() takes 3 arguments, got %zd", given);
        return NULL;
    }
    if ((most == -1.0 && PyErr_Occurred()) || acquire_rows(args[0], "values", 1, PyBUF_SIMPLE, &values) < 0
        || acquire_rows(args[2], "out", 1, PyBUF_WRITABLE, &out) < 0) {
        goto exit;
    }
    if (out.shape[0] != values.shape[0]) {
        PyErr_Format(PyExc_ValueError, "out: expected %zd numbers, as values has, got %zd", values.shape[0],
                     out.shape[0]);
        goto exit;
    }
    scratch = PyMem_New(size_t, (size_t)values.shape[0]);
    if (!scratch) {
        PyErr_NoMemory();
        goto exit;
    }
    Py_BEGIN_ALLOW_THREADS
        ik2b_fill_dips((size_t)values.shape[0], values.buf, most, scratch, out.buf);
    Py_END_ALLOW_THREADS
    answer = Py_NewRef(Py_None);
exit:
    PyMem_Free(scratch);
    PyBuffer_Release(&values);
    PyBuffer_Release(&out);
    return answer;
}
