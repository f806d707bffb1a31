/* SPDX-License-Identifier: MIT
 *
 * The type ik2bone.Mesh.
 */
#ifndef IK2B_MESH_TYPE_H
#define IK2B_MESH_TYPE_H

#include "signature.h"

/* What its methods need of the module, which lives as long as the type: the start of its state. */
typedef struct {
    PyObject *crossings, *hits;
    interned names[3];
    numpy_parts *numpy;
} mesh_names;

/* Adds the type to the module; results is the Python module of the named tuples. 0 or -1. */
int add_mesh(PyObject *module, mesh_names *names, numpy_parts *numpy, PyObject *results);
void clear_mesh_names(mesh_names *names);

#endif
