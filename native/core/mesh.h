/* SPDX-License-Identifier: MIT
 *
 * A triangle mesh that answers lines, rays and nearest points for many rows, without Python.
 *
 * WHAT IS MET. A triangle is closed: its edges and corners belong to it. A line meets a mesh in
 * places; one on an edge or corner that triangles share is one place, whichever and however many
 * they are, and no line slips through between two triangles that share an edge (lines.c tells how).
 * Triangles without area are never met, nor nearest, and lines do not meet triangles that they lie
 * in. Whether triangles share a corner is told by its coordinates.
 *
 * UNITS. Any one unit of length; coordinates between 1e-75 and 1e75 keep their squares' squares in
 * double precision. A normal is the unit vector that cross(b - a, c - a) points along.
 *
 * OWNERSHIP. A mesh copies what it is built from and does not change afterwards, so threads may ask
 * it at once. Asking allocates nothing but the list of crossings. A row with a number that is not
 * finite, or without a direction, meets nothing.
 */
#ifndef IK2B_MESH_H
#define IK2B_MESH_H

#include <stdbool.h>

#include "ik2b.h"

typedef struct ik2b_mesh ik2b_mesh;

/* Builds a mesh of `count` triangles, three indices of vertices each; vertices are finite, three
 * coordinates each. NULL: no memory. */
ik2b_mesh *ik2b_mesh_build(const double *vertices, const ptrdiff_t *triangles, ptrdiff_t count);
void ik2b_mesh_free(ik2b_mesh *mesh);

/* The number of triangles given. */
ptrdiff_t ik2b_mesh_size(const ik2b_mesh *mesh);

/* Three numbers each: least and greatest corner, NaN where no triangle has area; and the unit
 * normals of all triangles, zero for those without area. */
void ik2b_mesh_measure(const ik2b_mesh *mesh, double *dest);

/* One place where the line of a row meets the mesh, at a signed distance along its unit direction.
 * Of triangles that share the place, the first. */
typedef struct {
    ptrdiff_t row, triangle;
    double distance;
} ik2b_crossing;

/* As many as were found; `all` is to be freed by ik2b_crossings_free. */
typedef struct {
    ptrdiff_t count, room;
    ik2b_crossing *all;
} ik2b_crossings;

/* All places where lines meet the mesh, by row and then by distance. false: no memory; what was
 * found up to there is in the list. */
enum { IK2B_CROSSINGS_POINT, IK2B_CROSSINGS_DIRECTION, IK2B_CROSSINGS_COUNT };
bool ik2b_mesh_crossings(const ik2b_mesh *mesh, const ik2b_extent *extent, ik2b_array *args,
                         ik2b_crossings *found);
void ik2b_crossings_free(ik2b_crossings *found);

/* The first place that a ray from its origin on meets, the origin included. Outputs: point, normal
 * and triangle (IK2B_I64); NaN and -1 where nothing is met. */
enum {
    IK2B_CAST_ORIGIN,
    IK2B_CAST_DIRECTION,
    IK2B_CAST_OUT_POINT,
    IK2B_CAST_OUT_NORMAL,
    IK2B_CAST_OUT_TRIANGLE,
    IK2B_CAST_COUNT
};
ik2b_function ik2b_mesh_cast;

/* The nearest point of the mesh. Outputs as those of ik2b_mesh_cast. */
enum {
    IK2B_NEAREST_POINT,
    IK2B_NEAREST_OUT_POINT,
    IK2B_NEAREST_OUT_NORMAL,
    IK2B_NEAREST_OUT_TRIANGLE,
    IK2B_NEAREST_COUNT
};
ik2b_function ik2b_mesh_nearest;

#endif
