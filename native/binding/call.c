/* SPDX-License-Identifier: MIT
 *
 * One call, from its arguments to its results.
 */
#include "call.h"
#include "own.h"

#include <stdlib.h>

/* Sets the strides of all arguments along the leading dimensions, zero where one is broadcast. */
static void
set_strides(call *self)
{
    for (int k = 0; k < self->acquired; k++) {
        const argument *a = &self->arguments[self->places[k]];
        ik2b_array *array = &self->arrays[self->places[k]];
        int missing = self->extent.count - a->leading;
        for (int d = 0; d < self->extent.count; d++) {
            bool own = d >= missing && a->view.shape[d - missing] != 1;
            array->stride[d] = own ? a->view.strides[d - missing] : 0;
        }
    }
}

/* Parses, acquires and checks all arguments. Returns 0, or -1 with an exception. */
static int
prepare(call *self, PyObject *const args[], Py_ssize_t given, PyObject *keywords)
{
    const function *f = self->function;
    self->numpy = noticed_numpy(&self->state->numpy);
    if ((!self->numpy && PyErr_Occurred()) || parse(self, args, given, keywords) < 0 ||
        (f->takes_parents && parse_parents(self) < 0) || acquire_inputs(self) < 0 ||
        acquire_outputs(self) < 0) {
        return -1;
    }
    set_strides(self);
    self->has_rows = !f->takes_parents || self->joints.count > 0;
    for (int d = 0; d < self->extent.count; d++) {
        self->has_rows &= self->extent.shape[d] != 0;
    }
    if (f->takes_parents && self->has_rows) {
        ptrdiff_t size = ik2b_aggregate_scratch(&self->extent, self->joints.count);
        if (!(self->joints.scratch = PyMem_New(double, (size_t)size))) {
            PyErr_NoMemory();
            return -1;
        }
    }
    return check_overlap(self);
}

static void
compute(call *self, const ik2b_mesh *mesh)
{
    ik2b_call same = {self->kind,
                      (ik2b_bend)self->words[BEND],
                      (ik2b_roll)self->words[ROLL],
                      &self->joints,
                      mesh,
                      &self->found};
    /* To release the GIL and take it back takes half as long as to solve one row (45 of 85 ns). */
    bool alone = self->extent.count == 0 && self->joints.count == 0;
    PyThreadState *thread = alone ? NULL : PyEval_SaveThread();
    self->function->kernel(&self->extent, self->arrays, &same);
    if (thread) {
        PyEval_RestoreThread(thread);
    }
}

static PyObject *
answer_of_crossings(const call *self)
{
    const ik2b_crossings *found = &self->found;
    const char *records = found->all ? (const char *)found->all : "";
    Py_ssize_t size = found->count * (Py_ssize_t)sizeof *found->all;
    return size < 0 ? PyErr_NoMemory() : Py_BuildValue("y#s", records, size, kind_name(self->kind));
}

static PyObject *
answer_of(const call *self)
{
    const function *f = self->function;
    PyObject *type = self->state->types[f->type], *out = self->objects[OUT_SLOT];
    PyObject *const *results = self->results + f->inputs;
    const int count = f->count - f->inputs;
    if (count == 0) {
        return answer_of_crossings(self);
    }
    if (count == 1) {
        return Py_NewRef(results[0]);
    }
    if (out && (PyObject *)Py_TYPE(out) == type) {
        return Py_NewRef(out);
    }
    /* Without calling the class's __new__, which is written in Python and only names the
     * arguments. */
    PyObject *named = PyType_GenericAlloc((PyTypeObject *)type, count);
    for (int i = 0; named && i < count; i++) {
        PyTuple_SetItem(named, i, Py_NewRef(results[i]));
    }
    return named;
}

/* Releases everything. */
static void
finish(call *self)
{
    for (int k = 0; k < self->acquired; k++) {
        PyBuffer_Release(&self->arguments[self->places[k]].view);
    }
    for (int i = self->function->inputs; i < self->function->count; i++) {
        Py_XDECREF(self->results[i]);
    }
    PyMem_Free((void *)self->joints.parents);
    PyMem_Free(self->joints.scratch);
    free(self->found.all);
}

PyObject *
run(function_id id, PyObject *module, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    call self;
    const function *f = &functions[id];
    const ik2b_mesh *mesh = f->takes_mesh ? mesh_of(f->name, args, given) : NULL;
    PyObject *answer = NULL;
    if (f->takes_mesh && !mesh) {
        return NULL;
    }
    self.function = f;
    self.state = PyModule_GetState(module);
    self.extent.count = self.acquired = 0;
    self.owns_outputs = false;
    self.found = (ik2b_crossings){.all = NULL};
    self.joints = (ik2b_joints){.count = 0};
    for (int i = f->inputs; i < f->count; i++) {
        self.results[i] = NULL;
    }
    if (prepare(&self, args + f->takes_mesh, given - f->takes_mesh, keywords) == 0) {
        if (self.has_rows) {
            compute(&self, mesh);
        }
        answer = answer_of(&self);
    }
    finish(&self);
    return answer;
}
