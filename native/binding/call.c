/* SPDX-License-Identifier: MIT
 *
 * One call, from its arguments to its results.
 */
#include "call.h"

#include <stdlib.h>

_Static_assert((int)IK2B_SOLVE_COUNT - IK2B_SOLVE_OUT_MID <= MAX_RESULTS &&
                   (int)IK2B_POSE_COUNT - IK2B_POSE_OUT_ROOT <= MAX_RESULTS,
               "a function has more results than a call has room for");

bool
has_rows(const call *self)
{
    bool any = !self->function->takes_parents || self->joints.count > 0;
    for (int d = 0; d < self->extent.count; d++) {
        any &= self->extent.shape[d] != 0;
    }
    return any;
}

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

int
begin_call(call *self, module_state *state, function_id id, PyObject *const args[],
           Py_ssize_t given, PyObject *keywords)
{
    const function *f = &functions[id];
    self->function = f;
    self->state = state;
    self->extent.count = self->acquired = 0;
    self->owns_outputs = false;
    self->found = (ik2b_crossings){.all = NULL};
    self->joints = (ik2b_joints){.count = 0};
    for (int i = 0; i < f->count - f->inputs; i++) {
        self->results[i] = NULL;
    }
    self->numpy = noticed_numpy(&state->numpy);
    if ((!self->numpy && PyErr_Occurred()) || parse(self, args, given, keywords) < 0 ||
        (f->takes_parents && parse_parents(self) < 0) || acquire_inputs(self) < 0 ||
        acquire_outputs(self) < 0) {
        return -1;
    }
    set_strides(self);
    if (check_overlap(self) < 0) {
        return -1;
    }
    if (f->takes_parents && has_rows(self)) {
        ptrdiff_t size = ik2b_aggregate_scratch(&self->extent, self->joints.count);
        if (!(self->joints.scratch = PyMem_New(double, (size_t)size))) {
            PyErr_NoMemory();
            return -1;
        }
    }
    return 0;
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
    if (f->count == f->inputs) {
        return answer_of_crossings(self);
    }
    if (f->count - f->inputs == 1) {
        return Py_NewRef(self->results[0]);
    }
    if (out && (PyObject *)Py_TYPE(out) == type) {
        return Py_NewRef(out);
    }
    /* Without calling the class's __new__, which is written in Python and only names the
     * arguments. */
    PyObject *named = PyType_GenericAlloc((PyTypeObject *)type, f->count - f->inputs);
    for (int i = 0; named && i < f->count - f->inputs; i++) {
        PyTuple_SetItem(named, i, Py_NewRef(self->results[i]));
    }
    return named;
}

PyObject *
end_call(call *self, bool done)
{
    PyObject *answer = done ? answer_of(self) : NULL;
    for (int k = 0; k < self->acquired; k++) {
        PyBuffer_Release(&self->arguments[self->places[k]].view);
    }
    for (int i = 0; i < self->function->count - self->function->inputs; i++) {
        Py_XDECREF(self->results[i]);
    }
    PyMem_Free((void *)self->joints.parents);
    PyMem_Free(self->joints.scratch);
    free(self->found.all);
    return answer;
}
