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

/* The members of an ndarray, which its C interface has kept in place since numpy 1.7: extensions
 * that are compiled with numpy's headers read them there. */
typedef struct {
    PyObject head;
    char *data;
    int ndim;
    Py_ssize_t *shape, *strides;
    PyObject *base, *dtype;
    int flags;
} ndarray;

/* The version of the C interface by major version of numpy, and places in its table. */
enum { OF_NUMPY_1 = 0x01000009, OF_NUMPY_2 = 0x02000000 };
enum { GET_VERSION = 0, NDARRAY_TYPE = 2, NEW_EMPTY = 184 };
typedef unsigned version_getter(void);
typedef PyObject *array_maker(int ndim, const Py_ssize_t *shape, PyObject *dtype, int by_columns);

/* Flags. The highest bit, which makes the sum negative, warns of results of broadcast_arrays, which
 * numpy's buffers call read-only. */
enum { WRITEABLE = 0x400 };

void
free_numpy(numpy_parts *self)
{
    if (!self) {
        return;
    }
    Py_XDECREF(self->empty);
    for (int kind = 0; kind < IK2B_KINDS; kind++) {
        Py_XDECREF(self->dtypes[kind]);
    }
    PyMem_Free(self);
}

/* The table of numpy's C interface; NULL without an exception if there is none of a known
 * version. */
static void **
find_interface(void)
{
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
    PyObject *module = PyMapping_GetItemString(modules, "numpy._core._multiarray_umath");
    if (!module) { /* numpy 1 */
        PyErr_Clear();
        module = PyMapping_GetItemString(modules, "numpy.core._multiarray_umath");
    }
    PyObject *capsule = module ? PyObject_GetAttrString(module, "_ARRAY_API") : NULL;
    void **table = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    unsigned version = table ? (SLOT_CAST(version_getter *) table[GET_VERSION])() : 0;
    PyErr_Clear();
    Py_XDECREF(capsule);
    Py_XDECREF(module);
    return version == OF_NUMPY_1 || version == OF_NUMPY_2 ? table : NULL;
}

/* Finds the parts of `numpy` and keeps them. Takes over the reference to `numpy`, which may be NULL
 * with an exception. */
static const numpy_parts *
keep_parts(shared_pointer *place, PyObject *numpy)
{
    numpy_parts *found = numpy ? PyMem_Calloc(1, sizeof *found) : NULL;
    bool good = found && (found->empty = PyObject_GetAttrString(numpy, "empty"));
    if (numpy && !found) {
        PyErr_NoMemory();
    }
    for (int kind = 0; good && kind < IK2B_KINDS; kind++) {
        found->dtypes[kind] = PyObject_CallMethod(numpy, "dtype", "s", kind_name((ik2b_kind)kind));
        good = found->dtypes[kind] != NULL;
    }
    if (good) {
        found->interface = find_interface();
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
view_array(const numpy_parts *self, PyObject *object, Py_buffer *view,
           Py_ssize_t room[2 * MAX_NDIM], ik2b_kind *kind)
{
    static const struct {
        Py_ssize_t size;
        char format[2];
    } elements[IK2B_KINDS] = {{4, "f"}, {8, "d"}, {1, "B"}, {8, "q"}};
    const ndarray *array = (const ndarray *)object;
    int k = 0;
    if (!self || !self->interface || (void *)Py_TYPE(object) != self->interface[NDARRAY_TYPE] ||
        array->ndim > MAX_NDIM) {
        return false;
    }
    while (k < IK2B_KINDS && array->dtype != self->dtypes[k]) {
        k++;
    }
    if (k == IK2B_KINDS) {
        return false;
    }
    *kind = (ik2b_kind)k;
    *view = (Py_buffer){.buf = array->data,
                        .itemsize = elements[k].size,
                        .readonly = !(array->flags & WRITEABLE) || array->flags < 0,
                        .ndim = array->ndim,
                        .format = (char *)elements[k].format,
                        .shape = room,
                        .strides = room + MAX_NDIM};
    for (int d = 0; d < array->ndim; d++) {
        view->shape[d] = array->shape[d];
        view->strides[d] = array->strides[d];
    }
    return true;
}

PyObject *
new_array(const numpy_parts *self, const Py_ssize_t *shape, int ndim, ik2b_kind kind)
{
    PyObject *array = NULL, *dtype = self->dtypes[kind];
    if (self->interface) {
        array_maker *make = SLOT_CAST(array_maker *) self->interface[NEW_EMPTY];
        return make(ndim, shape, Py_NewRef(dtype), 0); /* takes over the reference */
    }
    PyObject *sizes = PyTuple_New(ndim);
    for (int d = 0; sizes && d < ndim; d++) {
        PyObject *size = PyLong_FromSsize_t(shape[d]);
        if (!size || PyTuple_SetItem(sizes, d, size) < 0) {
            Py_CLEAR(sizes);
        }
    }
    if (sizes) {
        array = PyObject_CallFunctionObjArgs(self->empty, sizes, dtype, NULL);
    }
    Py_XDECREF(sizes);
    return array;
}
