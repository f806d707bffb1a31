/* SPDX-License-Identifier: MIT
 *
 * A triangle mesh that answers queries by lines, rays and points for many rows, without Python.
 *
 * WHAT IS MET. A triangle is closed: its edges and corners belong to it. A line meets a mesh in
 * places. A place on an edge or a corner is one place, however many triangles share it, and no line
 * slips through between two triangles that share an edge (lines.c says how). Triangles without area
 * are never met and never nearest. A line does not meet triangles in whose plane it lies. Triangles
 * share a corner if its coordinates are equal.
 *
 * UNITS. Any one unit of length. Coordinates between 1e-75 and 1e75 have fourth powers within
 * double precision. The normal of a triangle a, b, c is the unit vector along cross(b - a, c - a).
 *
 * OWNERSHIP. A mesh copies the arrays from which it is built and does not change afterwards, so
 * several threads may query it at once. Queries allocate nothing but the list of crossings. A row
 * with a number that is not finite, or with a zero direction, meets nothing.
 */
#ifndef IK2B_MESH_H
#define IK2B_MESH_H

#include <stdbool.h>

#include "ik2b.h"

typedef struct ik2b_mesh ik2b_mesh;

/* Builds a mesh of `count` triangles, each of three indices of vertices. Vertices have three finite
 * coordinates each. Returns NULL if there is no memory. */
ik2b_mesh *ik2b_mesh_build(const double *vertices, const ptrdiff_t *triangles, ptrdiff_t count);
void ik2b_mesh_free(ik2b_mesh *mesh);

/* The number of triangles given, including those without area. */
ptrdiff_t ik2b_mesh_size(const ik2b_mesh *mesh);

/* Writes vectors of three numbers: the least and the greatest corner of the mesh, NaN if no
 * triangle has area; then the unit normals of all triangles, zero for those without area. */
void ik2b_mesh_measure(const ik2b_mesh *mesh, double *dest);

/* One place where the line of a row meets the mesh, at a signed distance along the line's unit
 * direction. `triangle` is the first of the triangles that share the place. Its unit `normal` is
 * turned against the line; `against` tells whether it is so by itself. */
typedef struct {
    ptrdiff_t row, triangle;
    double distance, normal[3];
    bool against;
} ik2b_crossing;

/* A list of `count` crossings, with memory for `room`. The caller frees `all`. */
typedef struct ik2b_crossings {
    ptrdiff_t count, room;
    ik2b_crossing *all;
} ik2b_crossings;

/* Finds all places where lines meet the mesh, sorted by row and then by distance. The matrix INTO
 * maps the lines' space, in which distances and normals are, to the mesh's; by default it is the
 * same space. The list of the call, empty before, gets the count -1 if there is no memory. */
#define IK2B_INPUTS_OF_CROSSINGS(ARGUMENT)                                                         \
    ARGUMENT(CROSSINGS_POINT, points, POINT, )                                                     \
    ARGUMENT(CROSSINGS_DIRECTION, direction, DIRECTION, )
#define IK2B_OPTIONS_OF_CROSSINGS(ARGUMENT) ARGUMENT(INTO, into, MATRIX, )
#define IK2B_OUTPUTS_OF_CROSSINGS(ARGUMENT)
#define IK2B_OF_CROSSINGS(NAME, name, KIND, more) IK2B_CROSSINGS_##NAME,
IK2B_ARGUMENTS(CROSSINGS);
ik2b_function ik2b_mesh_crossings;

/* Finds the first place that each ray meets, its origin included. Outputs: point, normal and
 * triangle (IK2B_I64); NaN and -1 if nothing is met. */
#define IK2B_INPUTS_OF_CAST(ARGUMENT)                                                              \
    ARGUMENT(CAST_ORIGIN, origins, POINT, )                                                        \
    ARGUMENT(CAST_DIRECTION, directions, DIRECTION, )
#define IK2B_OPTIONS_OF_CAST(ARGUMENT)
#define IK2B_OUTPUTS_OF_CAST(ARGUMENT)                                                             \
    ARGUMENT(CAST_OUT_POINT, point, POINT, )                                                       \
    ARGUMENT(CAST_OUT_NORMAL, normal, DIRECTION, )                                                 \
    ARGUMENT(CAST_OUT_TRIANGLE, triangle, TRIANGLE, )
IK2B_ARGUMENTS(CAST);
ik2b_function ik2b_mesh_cast;

/* Finds the point of the mesh nearest to each point. The outputs are those of ik2b_mesh_cast. */
#define IK2B_INPUTS_OF_NEAREST(ARGUMENT) ARGUMENT(NEAREST_POINT, points, POINT, )
#define IK2B_OPTIONS_OF_NEAREST(ARGUMENT)
#define IK2B_OUTPUTS_OF_NEAREST(ARGUMENT)                                                          \
    ARGUMENT(NEAREST_OUT_POINT, point, POINT, )                                                    \
    ARGUMENT(NEAREST_OUT_NORMAL, normal, DIRECTION, )                                              \
    ARGUMENT(NEAREST_OUT_TRIANGLE, triangle, TRIANGLE, )
IK2B_ARGUMENTS(NEAREST);
ik2b_function ik2b_mesh_nearest;

#endif
