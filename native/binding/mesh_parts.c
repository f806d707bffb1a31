/* SPDX-License-Identifier: MIT */
#include "mesh_parts.h"

#include "buffers.h"
#include "integers.h"
#include "parameters.h"
#include "rows.h"

static const char triangles_text[] = "an array of integers of shape (T, 3)";

/* Whether an object is a list or a tuple of nothing, which has no second dimension. */
static bool
is_empty_list(PyObject *object)
{
    return (PyList_Check(object) && PyList_Size(object) == 0) ||
           (PyTuple_Check(object) && PyTuple_Size(object) == 0);
}

static int
copy_vertices(const call *self, mesh_parts *parts)
{
    ik2b_array row = self->arrays[0];
    parts->vertex_count = self->extent.shape[0];
    parts->vertices = PyMem_New(double, (size_t)parts->vertex_count * 3 + 1);
    if (!parts->vertices) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t v = 0; v < parts->vertex_count; v++) {
        double *vertex = parts->vertices + 3 * v;
        load_vector(&row, 3, vertex);
        if (!d3_finite(vertex)) {
            PyErr_Format(PyExc_ValueError,
                         "vertices[%zd]: expected finite coordinates, got NaN or infinity", v);
            return -1;
        }
        row.data += row.stride[0];
    }
    return 0;
}

static int
read_vertices(PyObject *object, numpy_parts *numpy, mesh_parts *parts)
{
    call self;
    int done = -1;
    begin_call(&self, mesh_parameters, 1, numpy);
    if (is_empty_list(object)) {
        self.extent.shape[0] = 0;
        return copy_vertices(&self, parts);
    }
    if (acquire_inputs(&self, &object, 1) == 0) {
        if (self.extent.count == 1) {
            done = copy_vertices(&self, parts);
        }
        else {
            char got[TEXT];
            const argument *a = &self.arguments[0];
            PyErr_Format(PyExc_ValueError,
                         "vertices: expected an array of shape (V, 3), got shape %s",
                         shape_text(got, sizeof got, a->shape, self.extent.count + 1));
        }
    }
    release_call(&self);
    return done;
}

/* Acquires integers as they lie, or says what came instead: 0 or -1. */
static int
acquire_integers(PyObject *object, argument *a)
{
    if (PyObject_GetBuffer(object, &a->view, PyBUF_RECORDS_RO) < 0) {
        return -1;
    }
    if (!holds_integers(&a->view)) {
        PyErr_Format(PyExc_TypeError, "triangles: expected %s, got elements of format '%s'",
                     triangles_text, a->view.format ? a->view.format : "B");
        PyBuffer_Release(&a->view);
        return -1;
    }
    return 0;
}

/* Integers of what numpy reads as such, lists and arrays in another order of bytes. */
static int
acquire_converted_integers(PyObject *object, const char *dtype, argument *a)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *array = numpy ? PyObject_CallMethod(numpy, "asarray", "(Oz)", object, dtype) : NULL;
    int done = array ? acquire_integers(array, a) : -1;
    if (!array && PyErr_ExceptionMatches(PyExc_ValueError)) {
        PyErr_Format(PyExc_ValueError, "triangles: expected %s, got a ragged sequence",
                     triangles_text);
    }
    Py_XDECREF(array);
    Py_XDECREF(numpy);
    return done;
}

static int
acquire_triangles(PyObject *object, argument *a)
{
    if (PyObject_CheckBuffer(object)) {
        if (PyObject_GetBuffer(object, &a->view, PyBUF_RECORDS_RO) < 0) {
            return -1;
        }
        bool foreign = holds_foreign_integers(&a->view);
        PyBuffer_Release(&a->view);
        return foreign ? acquire_converted_integers(object, "int64", a)
                       : acquire_integers(object, a);
    }
    if (holds_no_numbers(object) || !PySequence_Check(object)) {
        wrong_type("triangles", triangles_text, object);
        return -1;
    }
    return acquire_converted_integers(object, NULL, a);
}

static int
copy_triangles(const argument *a, mesh_parts *parts)
{
    char got[TEXT];
    if (a->ndim != 2 || a->shape[1] != 3) {
        PyErr_Format(PyExc_ValueError, "triangles: expected %s, got shape %s", triangles_text,
                     shape_text(got, sizeof got, a->shape, a->ndim));
        return -1;
    }
    parts->triangle_count = a->shape[0];
    parts->triangles = PyMem_New(ptrdiff_t, (size_t)parts->triangle_count * 3 + 1);
    if (!parts->triangles) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t k = 0; k < 3 * parts->triangle_count; k++) {
        const char *place = a->view.buf;
        place += k / 3 * a->strides[0] + k % 3 * a->strides[1];
        Py_ssize_t index = parts->triangles[k] = integer_at(&a->view, place);
        if (index < 0 || index >= parts->vertex_count) {
            PyErr_Format(PyExc_ValueError,
                         "triangles[%zd, %zd]: expected the index of one of %zd vertices, got %zd",
                         k / 3, k % 3, parts->vertex_count, index);
            return -1;
        }
    }
    return 0;
}

static int
read_triangles(PyObject *object, mesh_parts *parts)
{
    argument a;
    if (is_empty_list(object)) {
        return 0;
    }
    if (acquire_triangles(object, &a) < 0) {
        return -1;
    }
    int done = note_layout("", "triangles", &a) < 0 ? -1 : copy_triangles(&a, parts);
    PyBuffer_Release(&a.view);
    return done;
}

int
read_mesh(PyObject *vertices, PyObject *triangles, numpy_parts *numpy, mesh_parts *parts)
{
    return read_vertices(vertices, numpy, parts) < 0 ? -1 : read_triangles(triangles, parts);
}
