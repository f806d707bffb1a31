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

#include "call.h"
#include "docstrings.h"
#include "mesh.h"
#include "mesh_parts.h"
#include "rows.h"

typedef struct {
    PyObject_HEAD ik2b_mesh *mesh;
    module_state *state;    /* of the module, which lives as long as the type */
    shared_pointer normals; /* NULL until they are asked for */
} mesh_object;

/* The object */

static ik2b_mesh *
build(PyObject *vertices, PyObject *triangles, module_state *state)
{
    mesh_parts parts = {.vertices = NULL};
    ik2b_mesh *mesh = NULL;
    if (read_mesh(vertices, triangles, state, &parts) == 0) {
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
    static char *names[] = {"vertices", "triangles", NULL};
    PyObject *vertices, *triangles;
    module_state *state = PyType_GetModuleState(type);
    if (!state ||
        !PyArg_ParseTupleAndKeywords(args, keywords, "OO:Mesh", names, &vertices, &triangles)) {
        return NULL;
    }
    ik2b_mesh *mesh = build(vertices, triangles, state);
    allocfunc allocate = SLOT_CAST(allocfunc) PyType_GetSlot(type, Py_tp_alloc);
    mesh_object *self = mesh ? (mesh_object *)allocate(type, 0) : NULL;
    if (!self) {
        ik2b_mesh_free(mesh);
        return NULL;
    }
    self->mesh = mesh;
    self->state = state;
    return (PyObject *)self;
}

static void
mesh_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = SLOT_CAST(freefunc) PyType_GetSlot(type, Py_tp_free);
    ik2b_mesh_free(((mesh_object *)object)->mesh);
    Py_XDECREF((PyObject *)((mesh_object *)object)->normals);
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
new_points(const mesh_object *self, Py_ssize_t rows, Py_buffer *view)
{
    Py_ssize_t shape[2] = {rows, 3};
    const numpy_parts *numpy = needed_numpy(&self->state->numpy);
    PyObject *array = numpy ? new_array(numpy, shape, 2, IK2B_F64) : NULL;
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
    PyObject *array = new_points(self, 2, &view);
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
    PyObject *array = new_points(self, ik2b_mesh_size(self->mesh), &view);
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
    PyObject *made = self->normals ? NULL : new_normals(self);
    (void)closure;
    if (made && !set_first(&self->normals, made)) {
        Py_DECREF(made); /* another thread was first */
    }
    return Py_XNewRef((PyObject *)self->normals);
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
pack_crossings(const call *self, const ik2b_crossings *found)
{
    PyObject *answer = NULL,
             *columns[3] = {
                 new_column(self, found, offsetof(ik2b_crossing, row), IK2B_I64),
                 new_column(self, found, offsetof(ik2b_crossing, distance), self->kind),
                 new_column(self, found, offsetof(ik2b_crossing, triangle), IK2B_I64),
             };
    if (columns[0] && columns[1] && columns[2]) {
        answer = name_items(self->state->types[CROSSINGS_FOUND], columns, 3);
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
    PyObject *answer = NULL;
    ik2b_crossings found = {.all = NULL};
    call self;
    if (begin_call(&self, own->state, CROSSINGS, args, given, keywords) == 0 &&
        (self.numpy = needed_numpy(&own->state->numpy))) {
        PyThreadState *thread = release_gil(&self);
        bool done = ik2b_mesh_crossings(own->mesh, &self.extent, self.arrays, &found);
        restore_gil(thread);
        answer = done ? pack_crossings(&self, &found) : PyErr_NoMemory();
    }
    ik2b_crossings_free(&found);
    end_call(&self, false);
    return answer;
}

/* Hits */

typedef void hits_kernel(const ik2b_mesh *, const ik2b_extent *, ik2b_array *);

static PyObject *
find_hits(PyObject *object, function_id id, PyObject *const *args, Py_ssize_t given,
          PyObject *keywords, hits_kernel *kernel)
{
    mesh_object *own = (mesh_object *)object;
    call self;
    bool good = begin_call(&self, own->state, id, args, given, keywords) == 0;
    if (good) {
        PyThreadState *thread = release_gil(&self);
        kernel(own->mesh, &self.extent, self.arrays);
        restore_gil(thread);
    }
    return end_call(&self, good);
}

static PyObject *
mesh_cast(PyObject *object, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    return find_hits(object, CAST, args, given, keywords, ik2b_mesh_cast);
}

static PyObject *
mesh_nearest(PyObject *object, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    return find_hits(object, NEAREST, args, given, keywords, ik2b_mesh_nearest);
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
    {Py_tp_new, SLOT_CAST(void *) mesh_new},
    {Py_tp_dealloc, SLOT_CAST(void *) mesh_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_sq_length, SLOT_CAST(void *) mesh_length},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "ik2bone.Mesh",
    .basicsize = (int)sizeof(mesh_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

int
add_mesh_type(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    if (!type && !PyErr_Occurred()) {
        PyErr_NoMemory(); /* Python 3.11 does not say so where there is none for the name */
    }
    int done = type ? PyModule_AddType(module, (PyTypeObject *)type) : -1;
    Py_XDECREF(type);
    return done;
}
