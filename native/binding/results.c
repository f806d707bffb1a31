/* SPDX-License-Identifier: MIT
 *
 * A call's way from its checks to its results.
 */
#include "results.h"

/* A named tuple by tuple's own function: that of the class, in Python, only names the arguments. */
static PyObject *
name_tuple(PyObject *type, PyObject *tuple)
{
    newfunc make = (newfunc)PyType_GetSlot(&PyTuple_Type, Py_tp_new);
    PyObject *named = NULL, *arguments = PyTuple_New(1);
    if (arguments) {
        PyTuple_SetItem(arguments, 0, Py_NewRef(tuple));
        named = make((PyTypeObject *)type, arguments, NULL);
        Py_DECREF(arguments);
    }
    return named;
}

PyObject *
name_items(PyObject *type, PyObject *items[], int count)
{
    PyObject *named = NULL, *tuple = PyTuple_New(count);
    if (tuple) {
        for (int i = 0; i < count; i++) {
            PyTuple_SetItem(tuple, i, Py_NewRef(items[i]));
        }
        named = name_tuple(type, tuple);
        Py_DECREF(tuple);
    }
    return named;
}

static PyObject *
pack_results(PyObject *type, PyObject *out, PyObject *results[], int count)
{
    if (out && (PyObject *)Py_TYPE(out) == type) {
        return Py_NewRef(out);
    }
    if (out && PyTuple_CheckExact(out)) {
        return name_tuple(type, out);
    }
    return name_items(type, results, count);
}

int
prepare(call *self, PyObject *const objects[], int first, PyObject *out, PyObject *results[])
{
    if (acquire_inputs(self, objects, first) < 0 ||
        acquire_outputs(self, first, out, results) < 0) {
        return -1;
    }
    return check_overlap(self, first);
}

PyObject *
finish(call *self, PyObject *type, PyObject *out, PyObject *results[], int count, bool done)
{
    PyObject *answer = NULL;
    if (done) {
        answer = type ? pack_results(type, out, results, count) : Py_NewRef(results[0]);
    }
    release_call(self);
    for (int i = 0; i < count; i++) {
        Py_XDECREF(results[i]);
    }
    return answer;
}
