/* SPDX-License-Identifier: MIT
 *
 * Parts of numpy, found once.
 */
#include "numpy.h"

#include <string.h>

const char *
kind_name(ik2b_kind kind)
{
    static const char *const names[] = {"float32", "float64", "uint8", "int64"};
    return names[kind];
}

void
clear_numpy(numpy_parts *self)
{
    Py_CLEAR(self->array);
    Py_CLEAR(self->empty);
    Py_CLEAR(self->dtype);
    for (int kind = 0; kind < IK2B_KINDS; kind++) {
        Py_CLEAR(self->dtypes[kind]);
    }
}

static bool
find_parts(numpy_parts *self, PyObject *numpy)
{
    bool good = (self->empty = PyObject_GetAttrString(numpy, "empty")) &&
                (self->array = PyObject_GetAttrString(numpy, "ndarray")) &&
                (self->dtype = PyObject_GetAttrString(self->array, "dtype"));
    for (int kind = 0; good && kind < IK2B_KINDS; kind++) {
        self->dtypes[kind] = PyObject_CallMethod(numpy, "dtype", "s", kind_name((ik2b_kind)kind));
        good = self->dtypes[kind] != NULL;
    }
    if (good) {
        self->get_dtype = (descrgetfunc)PyType_GetSlot(Py_TYPE(self->dtype), Py_tp_descr_get);
    }
    return good;
}

/* While attributes are looked up another thread may do the same: the first to end counts. */
static int
keep_parts(numpy_parts *self, PyObject *numpy)
{
    numpy_parts found = {.array = NULL};
    bool good = find_parts(&found, numpy);
    if (!good || self->array) {
        clear_numpy(&found);
        return good ? 0 : -1;
    }
    self->empty = found.empty;
    self->dtype = found.dtype;
    self->get_dtype = found.get_dtype;
    memcpy(self->dtypes, found.dtypes, sizeof found.dtypes);
    self->array = found.array;
    return 0;
}

/* On a numpy that another thread is still importing attributes are missing. */
static void
notice_imported(numpy_parts *self)
{
    PyObject *name = PyUnicode_FromString("numpy");
    PyObject *numpy = name ? PyImport_GetModule(name) : NULL;
    if (numpy) {
        keep_parts(self, numpy);
    }
    PyErr_Clear();
    Py_XDECREF(numpy);
    Py_XDECREF(name);
}

static int
import_parts(numpy_parts *self)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    int done = numpy ? keep_parts(self, numpy) : -1;
    Py_XDECREF(numpy);
    return done;
}

#ifdef Py_GIL_DISABLED
#define LOCK(self) PyMutex_Lock(&(self)->lock)
#define UNLOCK(self) PyMutex_Unlock(&(self)->lock)
#else
#define LOCK(self) ((void)(self))
#define UNLOCK(self) ((void)(self))
#endif

void
notice_numpy(numpy_parts *self)
{
    LOCK(self);
    if (!self->array) {
        notice_imported(self);
    }
    UNLOCK(self);
}

int
need_numpy(numpy_parts *self)
{
    LOCK(self);
    int done = self->array ? 0 : import_parts(self);
    UNLOCK(self);
    return done;
}

PyObject *
keep_first(numpy_parts *self, PyObject **place, PyObject *made)
{
    LOCK(self);
    if (!*place) {
        *place = Py_XNewRef(made);
    }
    PyObject *kept = Py_XNewRef(*place);
    UNLOCK(self);
    Py_XDECREF(made);
    return kept;
}

bool
is_array(const numpy_parts *self, PyObject *object, ik2b_kind *kind)
{
    if ((PyObject *)Py_TYPE(object) != self->array || !self->get_dtype) {
        return false;
    }
    PyObject *dtype = self->get_dtype(self->dtype, object, self->array);
    bool found = false;
    for (int k = 0; k < IK2B_KINDS && !found; k++) {
        found = dtype == self->dtypes[k];
        *kind = (ik2b_kind)k;
    }
    if (!dtype) {
        PyErr_Clear();
    }
    Py_XDECREF(dtype);
    return found;
}

/* Of one dimension the bare size is enough for numpy. */
PyObject *
new_array(const numpy_parts *self, const Py_ssize_t *shape, int ndim, ik2b_kind kind)
{
    PyObject *array = NULL, *sizes = ndim == 1 ? PyLong_FromSsize_t(shape[0]) : PyTuple_New(ndim);
    for (int d = 0; sizes && ndim != 1 && d < ndim; d++) {
        PyObject *size = PyLong_FromSsize_t(shape[d]);
        if (!size || PyTuple_SetItem(sizes, d, size) < 0) {
            goto exit;
        }
    }
    if (sizes) {
        array = PyObject_CallFunctionObjArgs(self->empty, sizes, self->dtypes[kind], NULL);
    }
exit:
    Py_XDECREF(sizes);
    return array;
}
