/* SPDX-License-Identifier: MIT
 *
 * The nearest points of a mesh.
 */
#include <float.h>

#include "tree.h"

/* Two places count as one if their coordinates differ by less than this share of the largest one,
 * corners included: a point on an edge is computed anew for each triangle there, with a few
 * roundings. */
#define ONE_PLACE (16.0 * DBL_EPSILON)

/* The point of a query, and the nearest point of the mesh found so far; distances are squared.
 * Triangles up to `reach` away may have that same point. */
typedef struct {
    double at[3], reach;
    tree_hit best;
} nearest_place;

/* Takes the nearest point of a triangle, `square` away, if no other is nearer. Of triangles that
 * meet in the nearest place, the first is kept, whatever rounding says. */
static inline void
offer(nearest_place *self, const double point[3], double square, const tree_triangle *triangle)
{
    tree_hit *best = &self->best;
    double between[3], most = d3_largest(self->at);
    for (int k = 0; k < 3; k++) {
        most = larger(most, d3_largest(triangle->corners[k]));
    }
    double apart = ONE_PLACE * most;
    d3_sub(point, best->point, between);
    bool is_same = best->triangle && d3_largest(between) <= apart;
    bool is_nearer = is_same ? square < best->far : is_next(best, square, triangle);
    if (is_same ? triangle->index < best->triangle->index : is_nearer) {
        best->triangle = triangle;
    }
    if (is_nearer) {
        best->far = square;
        self->reach = square + apart * (2.0 * sqrt(square) + apart);
        d3_copy(point, best->point);
    }
}

/* The point of the edge from `a` to `b` that is nearest to `p`. */
static inline void
nearest_on_edge(const double p[3], const double a[3], const double b[3], double dest[3])
{
    double ab[3], ap[3];
    d3_sub(b, a, ab);
    d3_sub(p, a, ap);
    double along = d3_dot(ap, ab), square = d3_dot(ab, ab);
    if (along >= square) {
        d3_copy(b, dest);
        return;
    }
    d3_copy(a, dest);
    if (along > 0.0) {
        d3_muladds(ab, along / square, dest);
    }
}

/* Whether `p` lies over the triangle; then `dest` is the projection of `p` on it. That is the sum
 * of the corners, each weighted by the area between the projection and the opposite edge (times the
 * length of the normal, which cancels). */
static inline bool
is_over(const double p[3], const double (*corners)[3], double dest[3])
{
    double ab[3], ac[3], normal[3], weights[3], whole = 0.0;
    d3_sub(corners[1], corners[0], ab);
    d3_sub(corners[2], corners[0], ac);
    d3_cross(ab, ac, normal);
    for (int k = 0; k < 3; k++) {
        const double *a = corners[(k + 1) % 3], *b = corners[(k + 2) % 3];
        double edge[3], off[3], area[3];
        d3_sub(b, a, edge);
        d3_sub(p, a, off);
        d3_cross(edge, off, area);
        weights[k] = d3_dot(area, normal);
        whole += weights[k];
        if (!(weights[k] > 0.0)) {
            return false;
        }
    }
    d3_zero(dest);
    for (int k = 0; k < 3; k++) {
        d3_muladds(corners[k], weights[k] / whole, dest);
    }
    return true;
}

/* Keeps `point` if it is nearer to `p` than the nearest one so far, which is `square` away. */
static inline void
keep_nearer(const double p[3], const double point[3], double *square, double nearest[3])
{
    double off[3];
    d3_sub(point, p, off);
    double found = d3_dot(off, off);
    if (found < *square) {
        *square = found;
        d3_copy(point, nearest);
    }
}

/* A point over a triangle is nearest to its projection, any other point to an edge. All edges are
 * tried nevertheless: for a triangle that is nearly a line, rounding may give the wrong case. */
static inline void
see_triangle(void *asked, const tree_triangle *triangle)
{
    nearest_place *self = asked;
    const double (*corners)[3] = (const double (*)[3])triangle->corners;
    double point[3], nearest[3] = {0.0}, square = INFINITY;
    if (is_over(self->at, corners, point)) {
        keep_nearer(self->at, point, &square, nearest);
    }
    for (int k = 0; k < 3; k++) {
        nearest_on_edge(self->at, corners[k], corners[(k + 1) % 3], point);
        keep_nearer(self->at, point, &square, nearest);
    }
    if (square <= self->reach && square < INFINITY) {
        offer(self, nearest, square, triangle);
    }
}

/* The squared distance from the point to a box, 0 inside it. */
static inline double
square_to_box(const void *asked, const double bounds[6])
{
    const nearest_place *self = asked;
    double square = 0.0;
    for (int i = 0; i < 3; i++) {
        double below = bounds[i] - self->at[i], above = self->at[i] - bounds[i + 3];
        double off = larger(larger(below, above), 0.0);
        square += off * off;
    }
    return square;
}

void
ik2b_mesh_nearest(const ik2b_extent *extent, ik2b_array *args, const ik2b_call *call)
{
    const ik2b_array *point = &args[IK2B_NEAREST_POINT];
    ik2b_walk walk;
    bool more = ik2b_walk_start(&walk, extent, args, IK2B_NEAREST_COUNT);
    for (; more; more = ik2b_walk_next(&walk)) {
        nearest_place self = {.reach = INFINITY, .best = {.far = INFINITY}};
        load_row(point, point->data, 3, self.at);
        if (d3_finite(self.at)) {
            search_tree(call->mesh, &self, &self.reach, square_to_box, see_triangle);
        }
        store_hit(&args[IK2B_NEAREST_OUT_POINT], &self.best);
    }
}
