/* SPDX-License-Identifier: MIT */
#include "mesh_parts.h"

#include "buffers.h"
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
read_vertices(PyObject *object, module_state *state, mesh_parts *parts)
{
    call self;
    if (is_empty_list(object)) {
        self.extent.shape[0] = 0;
        return copy_vertices(&self, parts);
    }
    int done = begin_call(&self, state, MESH, &object, 1, NULL);
    if (done == 0 && self.extent.count != 1) {
        const Py_buffer *view = &self.arguments[0].view;
        PyErr_Format(PyExc_ValueError, "vertices: expected an array of shape (V, 3), got shape %s",
                     text_of_shape(view->shape, view->ndim).text);
        done = -1;
    }
    done = done < 0 ? -1 : copy_vertices(&self, parts);
    end_call(&self, false);
    return done;
}

/* Integers as they lie, or those that numpy makes of lists and of another order of bytes. */
static int
acquire_triangles(PyObject *object, module_state *state, Py_buffer *view)
{
    ik2b_kind kind;
    int found = acquire_view(NULL, object, view, &kind);
    if (found < 0 || (found > 0 && holds_integers(view))) {
        return found < 0 ? -1 : 0;
    }
    if (found > 0) {
        PyBuffer_Release(view);
    }
    else if (!PySequence_Check(object)) {
        return wrong_type("", "triangles", triangles_text, object);
    }
    return acquire_converted(&state->numpy, object, IK2B_I64, "triangles", triangles_text, view);
}

static int
copy_triangles(argument *a, mesh_parts *parts)
{
    if (a->view.ndim != 2 || a->view.shape[1] != 3) {
        PyErr_Format(PyExc_ValueError, "triangles: expected %s, got shape %s", triangles_text,
                     text_of_shape(a->view.shape, a->view.ndim).text);
        return -1;
    }
    note_layout(a);
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
read_triangles(PyObject *object, module_state *state, mesh_parts *parts)
{
    argument a;
    if (is_empty_list(object)) {
        return 0;
    }
    if (acquire_triangles(object, state, &a.view) < 0) {
        return -1;
    }
    int done = copy_triangles(&a, parts);
    PyBuffer_Release(&a.view);
    return done;
}

int
read_mesh(PyObject *vertices, PyObject *triangles, module_state *state, mesh_parts *parts)
{
    return read_vertices(vertices, state, parts) < 0 ? -1 : read_triangles(triangles, state, parts);
}
