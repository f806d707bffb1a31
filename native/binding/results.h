/* SPDX-License-Identifier: MIT
 *
 * A call's way from its checks to its results.
 */
#ifndef IK2B_RESULTS_H
#define IK2B_RESULTS_H

#include "arguments.h"

/* Acquires inputs and outputs and checks their memory: 0, or -1 with an exception; first is the
 * index of the first output. */
int prepare(call *self, PyObject *const objects[], int first, PyObject *out, PyObject *results[]);

/* Releases the call and the results. The answer, if it is done: the results by name, or the only
 * one itself where type is NULL. out is the caller's tuple of the same, or NULL or None: where it
 * has the names it is returned itself. */
PyObject *finish(call *self, PyObject *type, PyObject *out, PyObject *results[], int count,
                 bool done);

/* A named tuple of the items, or NULL with an exception. */
PyObject *name_items(PyObject *type, PyObject *items[], int count);

/* One row is no loop, and keeps the GIL: to give it away and take it back takes half as long as to
 * solve it (45 of 85 ns). NULL: kept. */
static inline PyThreadState *
release_gil(const call *self)
{
    return self->extent.count > 0 ? PyEval_SaveThread() : NULL;
}

static inline void
restore_gil(PyThreadState *thread)
{
    if (thread) {
        PyEval_RestoreThread(thread);
    }
}

#endif
