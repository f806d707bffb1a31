/* SPDX-License-Identifier: MIT
 *
 * Results as a named tuple.
 */
#ifndef IK2B_RESULTS_H
#define IK2B_RESULTS_H

#include <Python.h>

/* The results by name, or NULL with an exception. out is the caller's tuple of the same, or NULL or
 * None: where it has the names it is returned itself. */
PyObject *pack_results(PyObject *type, PyObject *out, PyObject *results[], int count);

#endif
