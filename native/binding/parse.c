/* SPDX-License-Identifier: MIT
 *
 * Parsing of arguments by position and name, of words, and of the parents of joints.
 */
#include "buffers.h"
#include "call.h"

#include <string.h>

static const char *
name_of_slot(const function *f, int slot)
{
    if (slot < WORD_SLOT) {
        return slot < f->inputs ? f->parameters[slot].name : NULL;
    }
    if (slot < PARENTS_SLOT) {
        return f->takes_word[slot - WORD_SLOT] ? words[slot - WORD_SLOT].name : NULL;
    }
    bool taken = slot == OUT_SLOT ? f->count > f->inputs : f->takes_parents;
    return !taken ? NULL : slot == OUT_SLOT ? "out" : "parents";
}

int
intern_names(module_state *state)
{
    for (int id = 0; id < FUNCTIONS; id++) {
        for (int slot = 0; slot < SLOTS; slot++) {
            const char *name = name_of_slot(&functions[id], slot);
            if (name && !(state->names[id][slot] = PyUnicode_InternFromString(name))) {
                return -1;
            }
        }
    }
    return 0;
}

/* Names are nearly always interned, so most are found by comparing pointers alone. */
static int
slot_of_name(const call *self, PyObject *name)
{
    PyObject *const *known = self->state->names[self->function - functions];
    for (int slot = SLOTS - 1; slot >= 0; slot--) { /* out, the most usual, is the last */
        if (name == known[slot]) {
            return slot;
        }
    }
    for (int slot = 0; slot < SLOTS; slot++) {
        if (known[slot] && PyUnicode_Compare(name, known[slot]) == 0) {
            return slot;
        }
    }
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'",
                 self->function->name, name);
    return -1;
}

static int
slot_of_place(const function *f, Py_ssize_t place)
{
    return !f->takes_parents ? (int)place : place == 0 ? PARENTS_SLOT : (int)place - 1;
}

static int
parse_names(call *self, PyObject *const values[], PyObject *names)
{
    Py_ssize_t count = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t k = 0; k < count; k++) {
        int slot = slot_of_name(self, PyTuple_GetItem(names, k));
        if (slot < 0) {
            return -1;
        }
        if (self->objects[slot]) {
            PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%s'",
                         self->function->name, name_of_slot(self->function, slot));
            return -1;
        }
        self->objects[slot] = values[k];
    }
    return 0;
}

/* The first choice is the default. */
static int
parse_word(call *self, int w)
{
    const word *own = &words[w];
    PyObject *given = self->objects[WORD_SLOT + w];
    self->words[w] = 0;
    if (!given) {
        return 0;
    }
    for (int choice = 0; choice < 2 && PyUnicode_Check(given); choice++) {
        if (PyUnicode_CompareWithASCIIString(given, own->choices[choice]) == 0) {
            self->words[w] = choice;
            return 0;
        }
    }
    PyErr_Format(PyUnicode_Check(given) ? PyExc_ValueError : PyExc_TypeError,
                 "%s: expected '%s' or '%s', got %R", own->name, own->choices[0], own->choices[1],
                 given);
    return -1;
}

static bool
is_given(const call *self, int input)
{
    return self->objects[input] && self->objects[input] != Py_None;
}

/* Refuses an argument that means nothing without another one, if the other one is missing. */
static int
check_needs(const call *self)
{
    const function *f = self->function;
    if (self->words[ROLL] == IK2B_ROLL_HINGE && !is_given(self, f->hinge)) {
        PyErr_SetString(PyExc_ValueError, "hinge: expected a direction for roll='hinge', got None");
        return -1;
    }
    if (f->end_goal && is_given(self, f->end_goal) && !is_given(self, f->end_matrix)) {
        PyErr_Format(PyExc_ValueError, "end_matrix: expected %s for end_goal, got None",
                     f->parameters[f->end_matrix].row->text);
        return -1;
    }
    return 0;
}

int
parse(call *self, PyObject *const args[], Py_ssize_t given, PyObject *keywords)
{
    const function *f = self->function;
    const int places = f->takes_parents + f->positional;
    if (given > places) {
        PyErr_Format(PyExc_TypeError, "%s() takes %d positional arguments but %zd were given",
                     f->name, places, given);
        return -1;
    }
    memset(self->objects, 0, sizeof self->objects);
    for (Py_ssize_t place = 0; place < given; place++) {
        self->objects[slot_of_place(f, place)] = args[place];
    }
    if (parse_names(self, args + given, keywords) < 0) {
        return -1;
    }
    for (int place = 0; place < places - f->optional; place++) {
        int slot = slot_of_place(f, place);
        if (!self->objects[slot]) {
            PyErr_Format(PyExc_TypeError, "%s() missing required argument: '%s'", f->name,
                         name_of_slot(f, slot));
            return -1;
        }
    }
    for (int w = 0; w < WORDS; w++) {
        if (parse_word(self, w) < 0) {
            return -1;
        }
    }
    return check_needs(self);
}

/* Parents */

/* The index that an item is, clamped to the range of Py_ssize_t; negative with an exception if the
 * item is no integer. */
static Py_ssize_t
parse_parent(PyObject *item)
{
    if (!item) {
        return -2;
    }
    if (PySequence_Check(item) && !PyUnicode_Check(item) && !PyBytes_Check(item)) {
        PyErr_SetString(PyExc_ValueError,
                        "parents: expected shape (joints,), got a sequence of sequences");
        return -2;
    }
    Py_ssize_t parent = PyNumber_AsSsize_t(item, NULL);
    if (parent == -1 && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Format(PyExc_TypeError, "parents: expected integers, got %R", item);
    }
    return parent;
}

/* Reads the parent of joint `j`: from the buffer `integers`, without an object for each item, or
 * from `object` if `integers` is NULL. Returns 0, or -1 with an exception. */
static int
read_parent(const Py_buffer *integers, PyObject *object, Py_ssize_t j, ptrdiff_t *parent)
{
    if (integers) {
        *parent = integer_at(integers, (const char *)integers->buf + j * integers->strides[0]);
    }
    else {
        PyObject *item = PySequence_GetItem(object, j);
        *parent = parse_parent(item);
        Py_XDECREF(item);
        if (PyErr_Occurred()) {
            return -1;
        }
    }
    if (*parent >= -1 && *parent < j) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError,
                 "parents[%zd]: expected -1 or the index of an earlier joint, got %zd", j, *parent);
    return -1;
}

int
parse_parents(call *self)
{
    PyObject *object = self->objects[PARENTS_SLOT];
    Py_buffer view;
    ik2b_kind kind;
    if (PyUnicode_Check(object) || !PySequence_Check(object)) {
        return refuse(PyExc_TypeError, object, "parents: expected a sequence of integers, got ");
    }
    self->joints.count = PySequence_Size(object);
    if (self->joints.count < 0) {
        self->joints.count = 0;
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_SetString(PyExc_ValueError, "parents: expected shape (joints,), got shape ()");
        }
        return -1;
    }
    ptrdiff_t *parents = PyMem_Calloc((size_t)self->joints.count + 1, sizeof *parents);
    if (!parents) {
        PyErr_NoMemory();
        return -1;
    }
    self->joints.parents = parents; /* finish frees the memory */
    int lent = acquire_view(NULL, object, &view, NULL, &kind);
    bool good = lent >= 0;
    if (lent > 0 && view.ndim != 1) {
        PyErr_Format(PyExc_ValueError, "parents: expected shape (joints,), got shape %s",
                     text_of_shape(view.shape, view.ndim).text);
        good = false;
    }
    bool in_place = good && lent > 0 && holds_integers(&view) && view.strides &&
                    view.shape[0] == self->joints.count;
    for (Py_ssize_t j = 0; good && j < self->joints.count; j++) {
        good = read_parent(in_place ? &view : NULL, object, j, &parents[j]) == 0;
    }
    if (lent > 0) {
        PyBuffer_Release(&view);
    }
    return good ? 0 : -1;
}
