/* SPDX-License-Identifier: MIT
 *
 * The package's own functions, under its Python modules mesh.py and curves.py: they check what
 * keeps memory safe. A mesh is a capsule that frees it.
 */
#ifndef IK2B_OWN_H
#define IK2B_OWN_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef PyObject *given_by_place(PyObject *module, PyObject *const *args, Py_ssize_t given);
typedef PyObject *given_by_name(PyObject *module, PyObject *const *args, Py_ssize_t given,
                                PyObject *keywords);

given_by_place core_build_mesh, core_measure_mesh, core_smooth_within, core_fill_dips;
given_by_name core_cross_mesh, core_cast_at_mesh, core_nearest_of_mesh;

#endif
