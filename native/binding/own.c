/* SPDX-License-Identifier: MIT */
#include "own.h"

#include "call.h"
#include "curves.h"
#include "rows.h"

/* A contiguous buffer that a function is to be given, IK2B_I64 for integers of any size; without
 * dimensions something else, which the function reads itself. */
typedef struct {
    const char *name;
    ik2b_kind kind;
    int ndim;
    bool written;
} own_argument;

/* So many arguments by position. */
static int
check_given(const char *caller, Py_ssize_t given, Py_ssize_t expected)
{
    if (given == expected) {
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, got %zd", caller, expected, given);
    return -1;
}

static int
acquire_contiguous(PyObject *object, const own_argument *expected, Py_buffer *view)
{
    int flags = expected->written ? PyBUF_WRITABLE : PyBUF_SIMPLE;
    if (PyObject_GetBuffer(object, view, flags | PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
        view->obj = NULL;
        return -1;
    }
    bool integers = expected->kind == IK2B_I64;
    bool good = integers ? holds_integers(view) : kind_of(view) == expected->kind;
    if (good && view->ndim == expected->ndim) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "%s: expected %s of %d dimensions, got %d dimensions of '%s'",
                 expected->name, integers ? "integers" : kind_name(expected->kind), expected->ndim,
                 view->ndim, view->format ? view->format : "B");
    return -1;
}

/* The buffers of all arguments, which come by position: 0, or -1 with an exception. */
static int
acquire_buffers(const char *caller, PyObject *const *args, Py_ssize_t given,
                const own_argument *expected, int count, Py_buffer views[])
{
    if (check_given(caller, given, count) < 0) {
        return -1;
    }
    for (int i = 0; i < count; i++) {
        if (expected[i].ndim && acquire_contiguous(args[i], &expected[i], &views[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static void
release_buffers(Py_buffer views[], int count)
{
    for (int i = 0; i < count; i++) {
        PyBuffer_Release(&views[i]);
    }
}

/* A buffer of so many elements. */
static int
check_length(const char *name, const Py_buffer *view, Py_ssize_t expected)
{
    Py_ssize_t got = view->len / view->itemsize;
    if (got == expected) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "%s: expected %zd numbers, got %zd", name, expected, got);
    return -1;
}

/* Meshes */

static int
check_columns(const char *name, const Py_buffer *view)
{
    if (view->shape[1] == 3) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "%s: expected rows of 3 numbers, got %zd", name, view->shape[1]);
    return -1;
}

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
    static const own_argument expected[] = {{"vertices", IK2B_F64, 2, false},
                                            {"triangles", IK2B_I64, 2, false}};
    Py_buffer views[2] = {{.obj = NULL}}, *vertices = &views[0], *triangles = &views[1];
    ptrdiff_t *indices = NULL;
    PyObject *capsule = NULL, *answer = NULL;
    (void)module;
    if (acquire_buffers("build_mesh", args, given, expected, 2, views) == 0 &&
        check_columns("vertices", vertices) == 0 && check_columns("triangles", triangles) == 0 &&
        check_vertices(vertices) == 0 &&
        (indices = copy_triangles(triangles, vertices->shape[0]))) {
        ik2b_mesh *mesh;
        Py_BEGIN_ALLOW_THREADS
            mesh = ik2b_mesh_build(vertices->buf, indices, triangles->shape[0]);
        Py_END_ALLOW_THREADS
        capsule = mesh ? PyCapsule_New(mesh, capsule_name, free_mesh) : PyErr_NoMemory();
        if (capsule) {
            answer = Py_BuildValue("Nn", capsule, triangles->shape[0]);
        }
        else {
            ik2b_mesh_free(mesh);
        }
    }
    PyMem_Free(indices);
    release_buffers(views, 2);
    return answer;
}

PyObject *
core_measure_mesh(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    static const own_argument expected[] = {
        {.name = "mesh"}, {"bounds", IK2B_F64, 2, true}, {"normals", IK2B_F64, 2, true}};
    Py_buffer views[3] = {{.obj = NULL}};
    const ik2b_mesh *mesh = NULL;
    (void)module;
    bool good = acquire_buffers("measure_mesh", args, given, expected, 3, views) == 0 &&
                (mesh = PyCapsule_GetPointer(args[0], capsule_name)) &&
                check_length("bounds", &views[1], 6) == 0 &&
                check_length("normals", &views[2], 3 * ik2b_mesh_size(mesh)) == 0;
    if (good) {
        double *corners = views[1].buf;
        Py_BEGIN_ALLOW_THREADS
            ik2b_mesh_bounds(mesh, corners, corners + 3);
            ik2b_mesh_normals(mesh, views[2].buf);
        Py_END_ALLOW_THREADS
    }
    release_buffers(views, 3);
    return good ? Py_NewRef(Py_None) : NULL;
}

const ik2b_mesh *
mesh_of(const char *caller, PyObject *const *args, Py_ssize_t given)
{
    return check_given(caller, given > 1 ? 1 : given, 1) < 0
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

/* Curves */

enum { WISH, WEIGHT, FLOOR, CEILING, STIFFNESS, OUT, CURVES };

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

/* The curves, all of one length, and the number among them: 0, or -1 with an exception. */
static int
acquire_curves(const char *caller, PyObject *const *args, Py_ssize_t given,
               const own_argument *expected, int count, Py_buffer views[], double *number)
{
    if (acquire_buffers(caller, args, given, expected, count, views) < 0) {
        return -1;
    }
    for (int i = 0; i < count; i++) {
        if (!expected[i].ndim) {
            *number = PyFloat_AsDouble(args[i]);
        }
        else if (check_length(expected[i].name, &views[i], views[0].len / views[0].itemsize) < 0) {
            return -1;
        }
    }
    return PyErr_Occurred() ? -1 : 0;
}

PyObject *
core_smooth_within(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    static const own_argument expected[CURVES] = {
        {"wish", IK2B_F64, 2, false},  {"weight", IK2B_F64, 2, false},
        {"floor", IK2B_F64, 2, false}, {"ceiling", IK2B_F64, 2, false},
        {.name = "stiffness"},         {"out", IK2B_F64, 2, true}};
    Py_buffer views[CURVES] = {{.obj = NULL}};
    double stiffness;
    void *scratch = NULL;
    bool good =
        acquire_curves("smooth_within", args, given, expected, CURVES, views, &stiffness) == 0;
    (void)module;
    if (good && !(scratch = PyMem_Malloc(ik2b_smooth_scratch((size_t)views[WISH].shape[1])))) {
        PyErr_NoMemory();
    }
    if (scratch) {
        Py_BEGIN_ALLOW_THREADS
            good = smooth_rows(views, stiffness, scratch);
        Py_END_ALLOW_THREADS
        if (!good) {
            PyErr_SetString(PyExc_ArithmeticError,
                            "smooth_within: expected curves that have an optimum, got none");
        }
    }
    PyMem_Free(scratch);
    release_buffers(views, CURVES);
    return good && scratch ? Py_NewRef(Py_None) : NULL;
}

PyObject *
core_fill_dips(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    static const own_argument expected[] = {
        {"values", IK2B_F64, 1, false}, {.name = "most"}, {"out", IK2B_F64, 1, true}};
    Py_buffer views[3] = {{.obj = NULL}};
    size_t *scratch = NULL;
    double most;
    bool good = acquire_curves("fill_dips", args, given, expected, 3, views, &most) == 0;
    (void)module;
    if (good && !(scratch = PyMem_New(size_t, (size_t)views[0].shape[0]))) {
        PyErr_NoMemory();
    }
    if (scratch) {
        Py_BEGIN_ALLOW_THREADS
            ik2b_fill_dips((size_t)views[0].shape[0], views[0].buf, most, scratch, views[2].buf);
        Py_END_ALLOW_THREADS
    }
    PyMem_Free(scratch);
    release_buffers(views, 3);
    return scratch ? Py_NewRef(Py_None) : NULL;
}
