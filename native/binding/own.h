/* SPDX-License-Identifier: MIT
 *
 * Functions for the package's own Python modules mesh.py and curves.py. They check only what keeps
 * memory safe. A mesh is a capsule, which frees the mesh.
 */
#ifndef IK2B_OWN_H
#define IK2B_OWN_H

#include "buffers.h"
#include "mesh.h"

/* The mesh in the first argument of a function; NULL with an exception. */
const ik2b_mesh *mesh_of(const char *caller, PyObject *const *args, Py_ssize_t given);

typedef PyObject *given_by_place(PyObject *module, PyObject *const *args, Py_ssize_t given);

given_by_place core_build_mesh, core_measure_mesh, core_smooth_within, core_smooth_path,
    core_fill_dips;

#endif
