/* SPDX-License-Identifier: MIT
 *
 * Parts of numpy, found once.
 */
#include "numpy.h"

const char *
kind_name(ik2b_kind kind)
{
    static const char *const names[IK2B_KINDS] = {"float32", "float64", "uint8", "int64"};
    return names[kind];
}

void
free_numpy(numpy_parts *self)
{
    if (!self) {
        return;
    }
    Py_XDECREF(self->array);
    Py_XDECREF(self->empty);
    Py_XDECREF(self->asarray);
    Py_XDECREF(self->dtype);
    for (int kind = 0; kind < IK2B_KINDS; kind++) {
        Py_XDECREF(self->dtypes[kind]);
    }
    PyMem_Free(self);
}

static bool
find_parts(numpy_parts *self, PyObject *numpy)
{
    bool good = (self->empty = PyObject_GetAttrString(numpy, "empty")) &&
                (self->asarray = PyObject_GetAttrString(numpy, "asarray")) &&
                (self->array = PyObject_GetAttrString(numpy, "ndarray")) &&
                (self->dtype = PyObject_GetAttrString(self->array, "dtype"));
    for (int kind = 0; good && kind < IK2B_KINDS; kind++) {
        self->dtypes[kind] = PyObject_CallMethod(numpy, "dtype", "s", kind_name((ik2b_kind)kind));
        good = self->dtypes[kind] != NULL;
    }
    if (good) {
        self->get_dtype =
            SLOT_CAST(descrgetfunc) PyType_GetSlot(Py_TYPE(self->dtype), Py_tp_descr_get);
    }
    return good;
}

/* Finds the parts of `numpy` and keeps them. Takes over the reference to `numpy`, which may be NULL
 * with an exception. */
static const numpy_parts *
keep_parts(shared_pointer *place, PyObject *numpy)
{
    numpy_parts *found = numpy ? PyMem_Calloc(1, sizeof *found) : NULL;
    bool good = found && find_parts(found, numpy);
    if (numpy && !found) {
        PyErr_NoMemory();
    }
    if (!good || !set_first(place, found)) {
        free_numpy(found);
    }
    Py_XDECREF(numpy);
    return good ? *place : NULL;
}

const numpy_parts *
noticed_numpy(shared_pointer *place)
{
    if (*place) {
        return *place;
    }
    PyObject *name = PyUnicode_FromString("numpy");
    PyObject *numpy = name ? PyImport_GetModule(name) : NULL;
    const numpy_parts *found = numpy ? keep_parts(place, numpy) : NULL;
    Py_XDECREF(name);
    if (!found && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear(); /* another thread is still importing numpy */
    }
    return found;
}

const numpy_parts *
needed_numpy(shared_pointer *place)
{
    return *place ? *place : keep_parts(place, PyImport_ImportModule("numpy"));
}

bool
is_array(const numpy_parts *self, PyObject *object, ik2b_kind *kind)
{
    if (!self || (PyObject *)Py_TYPE(object) != self->array || !self->get_dtype) {
        return false;
    }
    PyObject *dtype = self->get_dtype(self->dtype, object, self->array);
    if (!dtype) {
        PyErr_Clear();
        return false;
    }
    int k = 0;
    while (k < IK2B_KINDS && dtype != self->dtypes[k]) {
        k++;
    }
    *kind = (ik2b_kind)k;
    Py_DECREF(dtype);
    return k < IK2B_KINDS;
}

PyObject *
new_array(const numpy_parts *self, const Py_ssize_t *shape, int ndim, ik2b_kind kind)
{
    /* For one dimension the bare size is enough, and faster than a tuple. */
    PyObject *array = NULL, *sizes = ndim == 1 ? PyLong_FromSsize_t(shape[0]) : PyTuple_New(ndim);
    for (int d = 0; sizes && ndim != 1 && d < ndim; d++) {
        PyObject *size = PyLong_FromSsize_t(shape[d]);
        if (!size || PyTuple_SetItem(sizes, d, size) < 0) {
            Py_CLEAR(sizes);
        }
    }
    if (sizes) {
        array = PyObject_CallFunctionObjArgs(self->empty, sizes, self->dtypes[kind], NULL);
    }
    Py_XDECREF(sizes);
    return array;
}
