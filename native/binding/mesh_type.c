/* SPDX-License-Identifier: MIT
 *
 * The type ik2bone.Mesh. As Python:
 *
 *     class Mesh:
 *         def __new__(cls, vertices, triangles): ...  # checks, copies and builds, without the GIL
 *         def crossings(self, points, direction) -> Crossings: ...
 *         def cast(self, origins, directions, *, out=None) -> Hits: ...
 *         def nearest(self, points, *, out=None) -> Hits: ...
 *         bounds: property  # (2, 3)
 *         normals: property  # (T, 3)
 */
#include "mesh_type.h"

#include <string.h>

#include "docstrings.h"
#include "mesh_parts.h"
#include "parameters.h"
#include "results.h"
#include "rows.h"

enum { CROSSINGS, CAST, NEAREST, METHODS };

static const signature signatures[METHODS] = {
    [CROSSINGS] = {"crossings", 2, 2, {"points", "direction"}},
    [CAST] = {"cast", 2, 2, {"origins", "directions", "out"}},
    [NEAREST] = {"nearest", 1, 1, {"points", "out"}},
};

typedef struct {
    PyObject_HEAD ik2b_mesh *mesh;
    mesh_names *names;
    PyObject *normals; /* NULL until they are asked for */
} mesh_object;

/* The object */

static ik2b_mesh *
build(PyObject *vertices, PyObject *triangles, numpy_parts *numpy)
{
    mesh_parts parts = {.vertices = NULL};
    ik2b_mesh *mesh = NULL;
    if (read_mesh(vertices, triangles, numpy, &parts) == 0) {
        Py_BEGIN_ALLOW_THREADS
            mesh = ik2b_mesh_build(parts.vertices, parts.triangles, parts.triangle_count);
        Py_END_ALLOW_THREADS
        if (!mesh) {
            PyErr_NoMemory();
        }
    }
    PyMem_Free(parts.vertices);
    PyMem_Free(parts.triangles);
    return mesh;
}

static PyObject *
mesh_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"vertices", "triangles", NULL};
    PyObject *vertices, *triangles;
    mesh_names *names = PyType_GetModuleState(type);
    if (!names ||
        !PyArg_ParseTupleAndKeywords(args, keywords, "OO:Mesh", words, &vertices, &triangles)) {
        return NULL;
    }
    ik2b_mesh *mesh = build(vertices, triangles, names->numpy);
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    mesh_object *self = mesh ? (mesh_object *)allocate(type, 0) : NULL;
    if (!self) {
        ik2b_mesh_free(mesh);
        return NULL;
    }
    self->mesh = mesh;
    self->names = names;
    return (PyObject *)self;
}

static void
mesh_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    ik2b_mesh_free(((mesh_object *)object)->mesh);
    Py_XDECREF(((mesh_object *)object)->normals);
    release(object);
    Py_DECREF(type);
}

static Py_ssize_t
mesh_length(PyObject *object)
{
    return ik2b_mesh_size(((mesh_object *)object)->mesh);
}

/* A new float64 array of rows of three, and its memory to be released; NULL with an exception. */
static PyObject *
new_points(numpy_parts *numpy, Py_ssize_t rows, Py_buffer *view)
{
    Py_ssize_t shape[2] = {rows, 3};
    PyObject *array = need_numpy(numpy) < 0 ? NULL : new_array(numpy, shape, 2, IK2B_F64);
    if (array && PyObject_GetBuffer(array, view, PyBUF_WRITABLE) < 0) {
        Py_CLEAR(array);
    }
    return array;
}

static PyObject *
mesh_bounds(PyObject *object, void *closure)
{
    Py_buffer view;
    mesh_object *self = (mesh_object *)object;
    PyObject *array = new_points(self->names->numpy, 2, &view);
    if (array) {
        double *numbers = view.buf;
        ik2b_mesh_bounds(self->mesh, numbers, numbers + 3);
        PyBuffer_Release(&view);
    }
    (void)closure;
    return array;
}

/* A new array that cannot be written to, as it is shared by all who ask. */
static PyObject *
new_normals(const mesh_object *self)
{
    Py_buffer view;
    PyObject *array = new_points(self->names->numpy, ik2b_mesh_size(self->mesh), &view);
    if (!array) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
        ik2b_mesh_normals(self->mesh, view.buf);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&view);
    PyObject *done = PyObject_CallMethod(array, "setflags", "(O)", Py_False);
    if (!done) {
        Py_CLEAR(array);
    }
    Py_XDECREF(done);
    return array;
}

static PyObject *
mesh_normals(PyObject *object, void *closure)
{
    mesh_object *self = (mesh_object *)object;
    numpy_parts *numpy = self->names->numpy;
    PyObject *kept = keep_first(numpy, &self->normals, NULL);
    (void)closure;
    return kept ? kept : keep_first(numpy, &self->normals, new_normals(self));
}

/* Crossings */

/* One column of the list as a new array; offset is that of its field, of eight bytes. */
static PyObject *
new_column(const call *self, const ik2b_crossings *found, size_t offset, ik2b_kind kind)
{
    Py_ssize_t shape[1] = {found->count};
    Py_buffer view;
    PyObject *array = new_array(self->numpy, shape, 1, kind);
    if (array && PyObject_GetBuffer(array, &view, PyBUF_WRITABLE) < 0) {
        Py_CLEAR(array);
    }
    for (ptrdiff_t k = 0; array && k < found->count; k++) {
        const char *field = (const char *)&found->all[k] + offset;
        char *place = (char *)view.buf + k * view.itemsize;
        if (kind == IK2B_I64) {
            int64_t number = *(const ptrdiff_t *)(const void *)field;
            memcpy(place, &number, sizeof number);
        }
        else {
            write_number(kind, place, *(const double *)(const void *)field);
        }
    }
    if (array) {
        PyBuffer_Release(&view);
    }
    return array;
}

static PyObject *
pack_crossings(const call *self, const mesh_names *names, const ik2b_crossings *found)
{
    PyObject *answer = NULL,
             *columns[3] = {
                 new_column(self, found, offsetof(ik2b_crossing, row), IK2B_I64),
                 new_column(self, found, offsetof(ik2b_crossing, distance), self->kind),
                 new_column(self, found, offsetof(ik2b_crossing, triangle), IK2B_I64),
             };
    if (columns[0] && columns[1] && columns[2]) {
        answer = name_items(names->crossings, columns, 3);
    }
    for (int i = 0; i < 3; i++) {
        Py_XDECREF(columns[i]);
    }
    return answer;
}

static PyObject *
mesh_crossings(PyObject *object, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    mesh_object *own = (mesh_object *)object;
    mesh_names *names = own->names;
    PyObject *objects[IK2B_CROSSINGS_COUNT], *answer = NULL;
    ik2b_crossings found = {.all = NULL};
    call self;
    begin_call(&self, crossings_parameters, IK2B_CROSSINGS_COUNT, names->numpy);
    if (parse(&signatures[CROSSINGS], &names->names[CROSSINGS], args, given, keywords, objects) ==
            0 &&
        acquire_inputs(&self, objects, IK2B_CROSSINGS_COUNT) == 0 &&
        need_numpy(names->numpy) == 0) {
        PyThreadState *thread = release_gil(&self);
        bool done = ik2b_mesh_crossings(own->mesh, &self.extent, self.arrays, &found);
        restore_gil(thread);
        answer = done ? pack_crossings(&self, names, &found) : PyErr_NoMemory();
    }
    ik2b_crossings_free(&found);
    release_call(&self);
    return answer;
}

/* Hits */

typedef void hits_kernel(const ik2b_mesh *, const ik2b_extent *, ik2b_array *);

static PyObject *
find_hits(PyObject *object, int method, const parameter *parameters, int inputs,
          PyObject *const *args, Py_ssize_t given, PyObject *keywords, hits_kernel *kernel)
{
    mesh_object *own = (mesh_object *)object;
    mesh_names *names = own->names;
    PyObject *objects[IK2B_CAST_COUNT] = {NULL}, *results[3] = {NULL};
    call self;
    bool done = false;
    begin_call(&self, parameters, inputs + 3, names->numpy);
    if (parse(&signatures[method], &names->names[method], args, given, keywords, objects) == 0 &&
        prepare(&self, objects, inputs, objects[inputs], results) == 0) {
        PyThreadState *thread = release_gil(&self);
        kernel(own->mesh, &self.extent, self.arrays);
        restore_gil(thread);
        done = true;
    }
    return finish(&self, names->hits, objects[inputs], results, 3, done);
}

static PyObject *
mesh_cast(PyObject *object, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    return find_hits(object, CAST, cast_parameters, IK2B_CAST_OUT_POINT, args, given, keywords,
                     ik2b_mesh_cast);
}

static PyObject *
mesh_nearest(PyObject *object, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    return find_hits(object, NEAREST, nearest_parameters, IK2B_NEAREST_OUT_POINT, args, given,
                     keywords, ik2b_mesh_nearest);
}

/* Type */

static PyMethodDef methods[] = {
    {"crossings", (PyCFunction)(void (*)(void))mesh_crossings, METH_FASTCALL | METH_KEYWORDS,
     crossings_doc},
    {"cast", (PyCFunction)(void (*)(void))mesh_cast, METH_FASTCALL | METH_KEYWORDS, cast_doc},
    {"nearest", (PyCFunction)(void (*)(void))mesh_nearest, METH_FASTCALL | METH_KEYWORDS,
     nearest_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"bounds", mesh_bounds, NULL,
     "Least and greatest corner (2, 3); NaN where no triangle has area.", NULL},
    {"normals", mesh_normals, NULL,
     "Unit normals (T, 3) of the triangles, read-only; zero for those without area.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)mesh_doc},
    {Py_tp_new, (void *)mesh_new},
    {Py_tp_dealloc, (void *)mesh_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_sq_length, (void *)mesh_length},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "ik2bone.Mesh",
    .basicsize = (int)sizeof(mesh_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

int
add_mesh(PyObject *module, mesh_names *names, numpy_parts *numpy, PyObject *results)
{
    names->numpy = numpy;
    bool good = (names->crossings = PyObject_GetAttrString(results, "Crossings")) &&
                (names->hits = PyObject_GetAttrString(results, "Hits"));
    for (int i = 0; good && i < METHODS; i++) {
        good = intern_names(&signatures[i], &names->names[i]) == 0;
    }
    PyObject *type = good ? PyType_FromModuleAndSpec(module, &spec, NULL) : NULL;
    if (good && !type && !PyErr_Occurred()) {
        PyErr_NoMemory(); /* Python 3.11 does not say so where there is none for the name */
    }
    int done = type ? PyModule_AddType(module, (PyTypeObject *)type) : -1;
    Py_XDECREF(type);
    return done;
}

void
clear_mesh_names(mesh_names *names)
{
    Py_CLEAR(names->crossings);
    Py_CLEAR(names->hits);
    for (int i = 0; i < METHODS; i++) {
        clear_names(&names->names[i]);
    }
}
