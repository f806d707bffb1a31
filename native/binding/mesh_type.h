/* SPDX-License-Identifier: MIT
 *
 * The type ik2bone.Mesh.
 */
#ifndef IK2B_MESH_TYPE_H
#define IK2B_MESH_TYPE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Adds the type to the module: 0, or -1 with an exception. */
int add_mesh_type(PyObject *module);

#endif
