/* SPDX-License-Identifier: MIT */
#include "own.h"

#include "buffers.h"
#include "curves.h"

enum { WISH, WEIGHT, FLOOR, CEILING, OUT, CURVES };

static int
acquire_curves(PyObject *const *args, Py_buffer views[CURVES])
{
    static const char *const names[CURVES] = {"wish", "weight", "floor", "ceiling", "out"};
    PyObject *const objects[CURVES] = {args[0], args[1], args[2], args[3], args[5]};
    for (int i = 0; i < CURVES; i++) {
        int flags = i == OUT ? PyBUF_WRITABLE : PyBUF_SIMPLE;
        if (acquire_contiguous(objects[i], names[i], IK2B_F64, 2, flags, &views[i]) < 0 ||
            check_length(names[i], &views[i], views[WISH].shape[0] * views[WISH].shape[1]) < 0) {
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
        good = ik2b_smooth_within(
                   count, (double *)views[WISH].buf + first, (double *)views[WEIGHT].buf + first,
                   (double *)views[FLOOR].buf + first, (double *)views[CEILING].buf + first,
                   stiffness, scratch, (double *)views[OUT].buf + first) >= 0;
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
    if (check_given("smooth_within", given, 6) < 0 || (stiffness == -1.0 && PyErr_Occurred()) ||
        acquire_curves(args, views) < 0) {
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
        PyErr_SetString(PyExc_ArithmeticError,
                        "smooth_within: expected curves that have an optimum, got none");
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
    if (check_given("fill_dips", given, 3) < 0 || (most == -1.0 && PyErr_Occurred()) ||
        acquire_contiguous(args[0], "values", IK2B_F64, 1, PyBUF_SIMPLE, &values) < 0 ||
        acquire_contiguous(args[2], "out", IK2B_F64, 1, PyBUF_WRITABLE, &out) < 0 ||
        check_length("out", &out, values.shape[0]) < 0) {
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
