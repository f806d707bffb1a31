/* SPDX-License-Identifier: MIT */
#include "own.h"

#include "buffers.h"
#include "call.h"
#include "mesh.h"
#include "rows.h"

static const char capsule_name[] = "ik2bone mesh";

static void
free_mesh(PyObject *capsule)
{
    ik2b_mesh_free(PyCapsule_GetPointer(capsule, capsule_name));
}

/* Indices, in memory of PyMem, each of which is a vertex; NULL with an exception. */
static ptrdiff_t *
copy_triangles(const Py_buffer *triangles, Py_ssize_t vertices)
{
    Py_ssize_t count = triangles->len / triangles->itemsize;
    const char *place = triangles->buf;
    ptrdiff_t *copy = PyMem_New(ptrdiff_t, (size_t)count + 1);
    if (!copy) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        copy[k] = integer_at(triangles, place + k * triangles->itemsize);
        if (copy[k] < 0 || copy[k] >= vertices) {
            PyErr_Format(PyExc_ValueError,
                         "triangles[%zd, %zd]: expected the index of one of %zd vertices, got %zd",
                         k / 3, k % 3, vertices, copy[k]);
            PyMem_Free(copy);
            return NULL;
        }
    }
    return copy;
}

static int
check_vertices(const Py_buffer *vertices)
{
    const double *numbers = vertices->buf;
    for (Py_ssize_t v = 0; v < vertices->shape[0]; v++) {
        if (!d3_finite(numbers + 3 * v)) {
            PyErr_Format(PyExc_ValueError,
                         "vertices[%zd]: expected finite coordinates, got NaN or infinity", v);
            return -1;
        }
    }
    return 0;
}

PyObject *
core_build_mesh(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    Py_buffer vertices = {.obj = NULL}, triangles = {.obj = NULL};
    ptrdiff_t *indices = NULL;
    ik2b_mesh *mesh = NULL;
    PyObject *capsule = NULL, *answer = NULL;
    (void)module;
    if (check_given("build_mesh", given, 2) < 0 ||
        acquire_contiguous(args[0], "vertices", IK2B_F64, 2, PyBUF_SIMPLE, &vertices) < 0 ||
        acquire_contiguous(args[1], "triangles", IK2B_I64, 2, PyBUF_SIMPLE, &triangles) < 0 ||
        check_length("vertices", &vertices, 3 * vertices.shape[0]) < 0 ||
        check_length("triangles", &triangles, 3 * triangles.shape[0]) < 0 ||
        check_vertices(&vertices) < 0 ||
        !(indices = copy_triangles(&triangles, vertices.shape[0]))) {
        goto exit;
    }
    Py_BEGIN_ALLOW_THREADS
        mesh = ik2b_mesh_build(vertices.buf, indices, triangles.shape[0]);
    Py_END_ALLOW_THREADS
    capsule = mesh ? PyCapsule_New(mesh, capsule_name, free_mesh) : PyErr_NoMemory();
    if (!capsule) {
        ik2b_mesh_free(mesh);
        goto exit;
    }
    answer = Py_BuildValue("Nn", capsule, triangles.shape[0]);
exit:
    PyMem_Free(indices);
    PyBuffer_Release(&vertices);
    PyBuffer_Release(&triangles);
    return answer;
}

PyObject *
core_measure_mesh(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    Py_buffer bounds = {.obj = NULL}, normals = {.obj = NULL};
    const ik2b_mesh *mesh;
    PyObject *answer = NULL;
    (void)module;
    if (check_given("measure_mesh", given, 3) == 0 &&
        (mesh = PyCapsule_GetPointer(args[0], capsule_name)) &&
        acquire_contiguous(args[1], "bounds", IK2B_F64, 2, PyBUF_WRITABLE, &bounds) == 0 &&
        acquire_contiguous(args[2], "normals", IK2B_F64, 2, PyBUF_WRITABLE, &normals) == 0 &&
        check_length("bounds", &bounds, 6) == 0 &&
        check_length("normals", &normals, 3 * ik2b_mesh_size(mesh)) == 0) {
        double *corners = bounds.buf;
        Py_BEGIN_ALLOW_THREADS
            ik2b_mesh_bounds(mesh, corners, corners + 3);
            ik2b_mesh_normals(mesh, normals.buf);
        Py_END_ALLOW_THREADS
        answer = Py_NewRef(Py_None);
    }
    PyBuffer_Release(&bounds);
    PyBuffer_Release(&normals);
    return answer;
}

/* The mesh that is the first argument of a method's function; NULL with an exception. */
static const ik2b_mesh *
mesh_of(const char *name, PyObject *const *args, Py_ssize_t given)
{
    return check_given(name, given > 1 ? 1 : given, 1) < 0
               ? NULL
               : PyCapsule_GetPointer(args[0], capsule_name);
}

PyObject *
core_cross_mesh(PyObject *module, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    const ik2b_mesh *mesh = mesh_of("cross_mesh", args, given);
    PyObject *answer = NULL;
    ik2b_crossings found = {.all = NULL};
    call self;
    if (!mesh) {
        return NULL;
    }
    if (begin_call(&self, PyModule_GetState(module), CROSSINGS, args + 1, given - 1, keywords) ==
        0) {
        PyThreadState *thread = release_gil(&self);
        bool done = ik2b_mesh_crossings(mesh, &self.extent, self.arrays, &found);
        restore_gil(thread);
        Py_ssize_t size = found.count * (Py_ssize_t)sizeof *found.all;
        answer = done ? Py_BuildValue("y#s", found.all ? (char *)found.all : "", size,
                                      kind_name(self.kind))
                      : PyErr_NoMemory();
    }
    ik2b_crossings_free(&found);
    end_call(&self, false);
    return answer;
}

/* Hits */

typedef void hits_kernel(const ik2b_mesh *, const ik2b_extent *, ik2b_array *);

static PyObject *
find_hits(PyObject *module, function_id id, PyObject *const *args, Py_ssize_t given,
          PyObject *keywords, hits_kernel *kernel)
{
    const ik2b_mesh *mesh = mesh_of(functions[id].name, args, given);
    call self;
    if (!mesh) {
        return NULL;
    }
    bool good =
        begin_call(&self, PyModule_GetState(module), id, args + 1, given - 1, keywords) == 0;
    if (good) {
        PyThreadState *thread = release_gil(&self);
        kernel(mesh, &self.extent, self.arrays);
        restore_gil(thread);
    }
    return end_call(&self, good);
}

PyObject *
core_cast_at_mesh(PyObject *module, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    return find_hits(module, CAST, args, given, keywords, ik2b_mesh_cast);
}

PyObject *
core_nearest_of_mesh(PyObject *module, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    return find_hits(module, NEAREST, args, given, keywords, ik2b_mesh_nearest);
}
