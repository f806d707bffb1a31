/* SPDX-License-Identifier: MIT */
#include "own.h"

#include "curves.h"
#include "rows.h"

/* Whether `expected` arguments are given by position; false with an exception. */
static bool
check_given(const char *caller, Py_ssize_t given, Py_ssize_t expected)
{
    if (given != expected) {
        PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, got %zd", caller, expected, given);
    }
    return given == expected;
}

/* Acquires a contiguous buffer of this kind, where IK2B_I64 stands for integers of any size.
 * Returns false with an exception. `view` must be empty before the call and released after it in
 * either case. */
static bool
acquire(PyObject *object, const char *name, ik2b_kind kind, int ndim, bool written, Py_buffer *view)
{
    int flags = written ? PyBUF_WRITABLE : PyBUF_SIMPLE;
    if (PyObject_GetBuffer(object, view, flags | PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
        view->obj = NULL;
        return false;
    }
    bool integers = kind == IK2B_I64;
    bool good = integers ? holds_integers(view) : kind_of(view) == kind;
    if (!good || view->ndim != ndim) {
        PyErr_Format(PyExc_ValueError,
                     "%s: expected %s of %d dimensions, got %d dimensions of '%s'", name,
                     integers ? "integers" : kind_name(kind), ndim, view->ndim,
                     view->format ? view->format : "B");
    }
    return good && view->ndim == ndim;
}

/* Meshes */

static bool
check_columns(const char *name, const Py_buffer *view)
{
    if (view->shape[1] != 3) {
        PyErr_Format(PyExc_ValueError, "%s: expected rows of 3 numbers, got %zd", name,
                     view->shape[1]);
    }
    return view->shape[1] == 3;
}

static const char capsule_name[] = "ik2bone mesh";

static void
free_mesh(PyObject *capsule)
{
    ik2b_mesh_free(PyCapsule_GetPointer(capsule, capsule_name));
}

/* A copy of the triangles' indices in memory of PyMem. NULL with an exception if there is no
 * memory, or if an index is not one of a vertex. */
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

static bool
check_vertices(const Py_buffer *vertices)
{
    const double *numbers = vertices->buf;
    for (Py_ssize_t v = 0; v < vertices->shape[0]; v++) {
        if (!d3_finite(numbers + 3 * v)) {
            PyErr_Format(PyExc_ValueError,
                         "vertices[%zd]: expected finite coordinates, got NaN or infinity", v);
            return false;
        }
    }
    return true;
}

PyObject *
core_build_mesh(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    Py_buffer vertices = {.obj = NULL}, triangles = {.obj = NULL};
    ptrdiff_t *indices = NULL;
    PyObject *answer = NULL;
    (void)module;
    if (check_given("build_mesh", given, 2) &&
        acquire(args[0], "vertices", IK2B_F64, 2, false, &vertices) &&
        acquire(args[1], "triangles", IK2B_I64, 2, false, &triangles) &&
        check_columns("vertices", &vertices) && check_columns("triangles", &triangles) &&
        check_vertices(&vertices) && (indices = copy_triangles(&triangles, vertices.shape[0]))) {
        ik2b_mesh *mesh;
        Py_BEGIN_ALLOW_THREADS
            mesh = ik2b_mesh_build(vertices.buf, indices, triangles.shape[0]);
        Py_END_ALLOW_THREADS
        answer = mesh ? PyCapsule_New(mesh, capsule_name, free_mesh) : PyErr_NoMemory();
        if (!answer) {
            ik2b_mesh_free(mesh);
        }
    }
    PyMem_Free(indices);
    PyBuffer_Release(&vertices);
    PyBuffer_Release(&triangles);
    return answer;
}

PyObject *
core_measure_mesh(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    const ik2b_mesh *mesh =
        check_given("measure_mesh", given, 1) ? PyCapsule_GetPointer(args[0], capsule_name) : NULL;
    Py_ssize_t numbers = mesh ? 6 + 3 * ik2b_mesh_size(mesh) : 0;
    PyObject *answer =
        mesh ? PyBytes_FromStringAndSize(NULL, numbers * (Py_ssize_t)sizeof(double)) : NULL;
    (void)module;
    if (answer) {
        double *dest = (double *)(void *)PyBytes_AsString(answer);
        Py_BEGIN_ALLOW_THREADS
            ik2b_mesh_measure(mesh, dest);
        Py_END_ALLOW_THREADS
    }
    return answer;
}

const ik2b_mesh *
mesh_of(const char *caller, PyObject *const *args, Py_ssize_t given)
{
    return check_given(caller, given > 1 ? 1 : given, 1)
               ? PyCapsule_GetPointer(args[0], capsule_name)
               : NULL;
}

/* Curves */

/* Whether the rows are curves (4, C, F) or a path (F, 15 + 4 P); false with an exception. */
static bool
check_rows(const Py_buffer *rows)
{
    bool curves = rows->ndim == 3;
    bool good = curves ? rows->shape[0] == 4 : rows->shape[1] >= 15 && rows->shape[1] % 4 == 3;
    if (!good) {
        PyErr_Format(PyExc_ValueError, "rows: expected shape %s, got %s",
                     curves ? "(4, C, F)" : "(F, 15 + 4 P)",
                     text_of_shape(rows->shape, rows->ndim).text);
    }
    return good;
}

/* Fills the dips of values (F,), or finds a path or curves. Returns less than 0 as those functions
 * do. */
static int
change_rows(const Py_buffer *rows, double number)
{
    double *first = rows->buf;
    size_t count = (size_t)rows->shape[rows->ndim == 3 ? 2 : 0];
    if (rows->ndim == 1) {
        return ik2b_fill_dips(count, first, number);
    }
    if (rows->ndim == 2) {
        return ik2b_smooth_path(count, ((size_t)rows->shape[1] - 15) / 4, first, number);
    }
    size_t all = (size_t)rows->shape[1] * count;
    int done = 0;
    for (double *wish = first; done >= 0 && wish < first + all; wish += count) {
        done = ik2b_smooth_within(count, wish, wish + all, wish + 2 * all, wish + 3 * all, number);
    }
    return done;
}

/* Changes the first argument, a float64 buffer of `ndim` dimensions, by the second, a number. */
static PyObject *
change(const char *caller, const char *name, int ndim, PyObject *const *args, Py_ssize_t given)
{
    Py_buffer rows = {.obj = NULL};
    double number;
    int done = IK2B_NO_OPTIMUM;
    if (check_given(caller, given, 2) && acquire(args[0], name, IK2B_F64, ndim, true, &rows) &&
        !((number = PyFloat_AsDouble(args[1])) == -1.0 && PyErr_Occurred()) &&
        (ndim == 1 || check_rows(&rows))) {
        Py_BEGIN_ALLOW_THREADS
            done = change_rows(&rows, number);
        Py_END_ALLOW_THREADS
        if (done == IK2B_NO_MEMORY) {
            PyErr_NoMemory();
        }
        else if (done < 0) {
            PyErr_Format(PyExc_ArithmeticError,
                         "%s: expected curves that have an optimum, got none", caller);
        }
    }
    PyBuffer_Release(&rows);
    return done < 0 ? NULL : Py_NewRef(Py_None);
}

#define CURVES(name, rows, ndim)                                                                   \
    PyObject *core_##name(PyObject *module, PyObject *const *args, Py_ssize_t given)               \
    {                                                                                              \
        (void)module;                                                                              \
        return change(#name, rows, ndim, args, given);                                             \
    }

CURVES(smooth_within, "rows", 3)
CURVES(smooth_path, "rows", 2)
CURVES(fill_dips, "values", 1)
