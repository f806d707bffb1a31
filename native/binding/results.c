/* SPDX-License-Identifier: MIT
 *
 * Results as a named tuple.
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
pack_results(PyObject *type, PyObject *out, PyObject *results[], int count)
{
    if (out && (PyObject *)Py_TYPE(out) == type) {
        return Py_NewRef(out);
    }
    if (out && PyTuple_CheckExact(out)) {
        return name_tuple(type, out);
    }
    PyObject *named = NULL, *tuple = PyTuple_New(count);
    if (tuple) {
        for (int i = 0; i < count; i++) {
            PyTuple_SetItem(tuple, i, Py_NewRef(results[i]));
        }
        named = name_tuple(type, tuple);
        Py_DECREF(tuple);
    }
    return named;
}
