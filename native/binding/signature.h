/* SPDX-License-Identifier: MIT
 *
 * Arguments by position and name.
 */
#ifndef IK2B_SIGNATURE_H
#define IK2B_SIGNATURE_H

#include "arguments.h"

#define MAX_NAMES MAX_ARGUMENTS

typedef struct {
    const char *function;
    int positional; /* so many names may be given by position, */
    int required;   /* and so many must be given */
    const char *names[MAX_NAMES + 1];
} signature;

/* The names as Python has them, interned: two that are the same object need no comparing. */
typedef struct {
    int count;
    PyObject *names[MAX_NAMES];
} interned;

int intern_names(const signature *s, interned *self);
void clear_names(interned *self);

/* Objects in the order of names, borrowed; NULL where one is not given. 0, or -1 with an exception.
 */
int parse(const signature *s, const interned *known, PyObject *const args[], Py_ssize_t given,
          PyObject *keywords, PyObject *objects[]);

/* The word's place in its enum, or -1 with an exception; a roll about the hinge needs a hinge. */
int parse_bend(PyObject *word);
int parse_roll(PyObject *word, PyObject *hinge);

/* A new array of the parents' indices, to be freed with PyMem_Free, or NULL with an exception. */
ptrdiff_t *parse_parents(PyObject *object, Py_ssize_t *count);

#endif
