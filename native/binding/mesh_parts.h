/* SPDX-License-Identifier: MIT
 *
 * The vertices and triangles of a mesh, as Python gives them.
 */
#ifndef IK2B_MESH_PARTS_H
#define IK2B_MESH_PARTS_H

#include "call.h"

/* What a mesh is built from, in memory of PyMem. */
typedef struct {
    double *vertices;
    ptrdiff_t *triangles;
    Py_ssize_t vertex_count, triangle_count;
} mesh_parts;

/* Copies vertices (V, 3) and triangles (T, 3), checked: 0, or -1 with an exception. Both are the
 * caller's to free. */
int read_mesh(PyObject *vertices, PyObject *triangles, module_state *state, mesh_parts *parts);

#endif
