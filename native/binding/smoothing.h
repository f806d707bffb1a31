/* SPDX-License-Identifier: MIT
 *
 * The binding of core/curves.h, for the package's own use: it checks what keeps memory safe.
 */
#ifndef IK2B_SMOOTHING_H
#define IK2B_SMOOTHING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern const char smooth_within_doc[], fill_dips_doc[];

PyObject *core_smooth_within(PyObject *module, PyObject *const *args, Py_ssize_t given);
PyObject *core_fill_dips(PyObject *module, PyObject *const *args, Py_ssize_t given);

#endif
