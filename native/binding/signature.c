/* SPDX-License-Identifier: MIT
 *
 * Arguments by position and name.
 */
#include "signature.h"
#include "integers.h"

#include <string.h>

int
intern_names(const signature *s, interned *self)
{
    for (int i = 0; s->names[i]; i++) {
        self->names[i] = PyUnicode_InternFromString(s->names[i]);
        if (!self->names[i]) {
            return -1;
        }
        self->count = i + 1;
    }
    return 0;
}

void
clear_names(interned *self)
{
    for (int i = 0; i < MAX_NAMES; i++) {
        Py_CLEAR(self->names[i]);
    }
}

static int
name_index(const signature *s, const interned *known, PyObject *name)
{
    for (int i = known->count - 1; i >= 0; i--) { /* out, the most usual, is the last */
        if (name == known->names[i]) {
            return i;
        }
    }
    for (int i = 0; s->names[i]; i++) {
        if (PyUnicode_CompareWithASCIIString(name, s->names[i]) == 0) {
            return i;
        }
    }
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", s->function,
                 name);
    return -1;
}

int
parse(const signature *s, const interned *known, PyObject *const args[], Py_ssize_t given,
      PyObject *keywords, PyObject *objects[])
{
    Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
    if (given > s->positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes %d positional arguments but %zd were given",
                     s->function, s->positional, given);
        return -1;
    }
    memset(objects, 0, (size_t)known->count * sizeof *objects);
    for (Py_ssize_t i = 0; i < given; i++) {
        objects[i] = args[i];
    }
    for (Py_ssize_t k = 0; k < named; k++) {
        int i = name_index(s, known, PyTuple_GetItem(keywords, k));
        if (i >= 0 && objects[i]) {
            PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%s'", s->function,
                         s->names[i]);
        }
        if (i < 0 || objects[i]) {
            return -1;
        }
        objects[i] = args[given + k];
    }
    for (int i = 0; i < s->required; i++) {
        if (!objects[i]) {
            PyErr_Format(PyExc_TypeError, "%s() missing required argument: '%s'", s->function,
                         s->names[i]);
            return -1;
        }
    }
    return 0;
}

/* 0 for the first word, which is the default, 1 for the second, -1 with an exception set. */
static int
parse_word(const char *name, PyObject *word, const char *first, const char *second)
{
    if (!word) {
        return 0;
    }
    if (!PyUnicode_Check(word)) {
        PyErr_Format(PyExc_TypeError, "%s: expected '%s' or '%s', got %R", name, first, second,
                     word);
        return -1;
    }
    if (PyUnicode_CompareWithASCIIString(word, first) == 0) {
        return 0;
    }
    if (PyUnicode_CompareWithASCIIString(word, second) == 0) {
        return 1;
    }
    PyErr_Format(PyExc_ValueError, "%s: expected '%s' or '%s', got %R", name, first, second, word);
    return -1;
}

int
parse_bend(PyObject *word)
{
    return parse_word("bend", word, "carried", "nearest");
}

/* objects[hinge] tells whether there is one. */
int
parse_roll(PyObject *word, PyObject *hinge)
{
    int roll = parse_word("roll", word, "pose", "hinge");
    if (roll == IK2B_ROLL_HINGE && (!hinge || hinge == Py_None)) {
        PyErr_SetString(PyExc_ValueError, "hinge: expected a direction for roll='hinge', got None");
        return -1;
    }
    return roll;
}

static int
check_parent(Py_ssize_t j, Py_ssize_t parent)
{
    if (parent >= -1 && parent < j) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError,
                 "parents[%zd]: expected -1 or the index of an earlier joint, got %zd", j, parent);
    return -1;
}

/* The index that an item is, clamped to what fits; -2 with an exception set where it is none. */
static Py_ssize_t
parse_parent(PyObject *item)
{
    if (PySequence_Check(item) && !PyUnicode_Check(item) && !PyBytes_Check(item)) {
        PyErr_SetString(PyExc_ValueError,
                        "parents: expected shape (joints,), got a sequence of sequences");
        return -2;
    }
    Py_ssize_t parent = PyNumber_AsSsize_t(item, NULL);
    if (parent == -1 && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Format(PyExc_TypeError, "parents: expected integers, got %R", item);
        return -2;
    }
    return parent;
}

/* Integers of a buffer as they lie, without an object for each; false where it holds none. */
static bool
read_parents(PyObject *object, ptrdiff_t *parents, Py_ssize_t count)
{
    Py_buffer view;
    if (!PyObject_CheckBuffer(object)) {
        return false;
    }
    if (PyObject_GetBuffer(object, &view, PyBUF_RECORDS_RO) < 0) {
        PyErr_Clear();
        return false;
    }
    bool good = holds_integers(&view) && view.ndim == 1 && view.strides && view.shape[0] == count;
    for (Py_ssize_t j = 0; good && j < count; j++) {
        parents[j] = integer_at(&view, (const char *)view.buf + j * view.strides[0]);
    }
    PyBuffer_Release(&view);
    return good;
}

ptrdiff_t *
parse_parents(PyObject *object, Py_ssize_t *count)
{
    ptrdiff_t *parents = NULL;
    if (PyUnicode_Check(object) || !PySequence_Check(object)) {
        PyObject *type = PyType_GetName(Py_TYPE(object));
        PyErr_Format(PyExc_TypeError, "parents: expected a sequence of integers, got %U", type);
        Py_XDECREF(type);
        return NULL;
    }
    *count = PySequence_Size(object);
    if (*count < 0) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_SetString(PyExc_ValueError, "parents: expected shape (joints,), got shape ()");
        }
        return NULL;
    }
    if (!(parents = PyMem_Calloc((size_t)*count + 1, sizeof *parents))) {
        PyErr_NoMemory();
        return NULL;
    }
    bool read = read_parents(object, parents, *count);
    for (Py_ssize_t j = 0; j < *count; j++) {
        PyObject *item = read ? NULL : PySequence_GetItem(object, j);
        if (!read) {
            parents[j] = item ? parse_parent(item) : -2;
            Py_XDECREF(item);
        }
        if (PyErr_Occurred() || check_parent(j, parents[j]) < 0) {
            PyMem_Free(parents);
            return NULL;
        }
    }
    return parents;
}
