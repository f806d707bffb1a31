/* SPDX-License-Identifier: MIT
 *
 * The package's own functions, under its Python modules mesh.py and curves.py: they check what
 * keeps memory safe. A mesh is a capsule that frees it.
 */
#ifndef IK2B_OWN_H
#define IK2B_OWN_H

#include "buffers.h"
#include "mesh.h"

/* The mesh that is the first argument of a function; NULL with an exception. */
const ik2b_mesh *mesh_of(const char *caller, PyObject *const *args, Py_ssize_t given);

typedef PyObject *given_by_place(PyObject *module, PyObject *const *args, Py_ssize_t given);

given_by_place core_build_mesh, core_measure_mesh, core_smooth_within, core_fill_dips;
PyObject *core_cross_mesh(PyObject *module, PyObject *const *args, Py_ssize_t given,
                          PyObject *keywords);

#endif
