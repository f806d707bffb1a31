/* SPDX-License-Identifier: MIT
 *
 * The nearest points of a mesh.
 */
#include "tree.h"

typedef struct {
    double point[3], square; /* where it is, and its distance squared */
    const tree_triangle *triangle;
} nearest_place;

/* Takes another point of a triangle where it is nearer, or as near on a triangle with a lower
 * number. */
static inline void
offer(const double p[3], const double point[3], const tree_triangle *triangle, nearest_place *best)
{
    double off[3];
    d3_sub(point, p, off);
    double square = d3_dot(off, off);
    if (square < best->square ||
        (square == best->square && best->triangle && triangle->index < best->triangle->index)) {
        best->square = square;
        best->triangle = triangle;
        d3_copy(point, best->point);
    }
}

/* The nearest point of an edge. */
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

/* The point of a triangle under p, where p lies over it: its corners weighed by the areas between
 * that point and the edges opposite, times the normal's length. */
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

/* A point over a triangle is nearest to the one under it, any other to an edge. All edges are asked
 * nevertheless: of a triangle that is nearly a line, rounding may not tell which. */
static void
see_triangle(const double p[3], const tree_triangle *triangle, nearest_place *best)
{
    const double (*corners)[3] = (const double (*)[3])triangle->corners;
    double point[3];
    if (is_over(p, corners, point)) {
        offer(p, point, triangle, best);
    }
    for (int k = 0; k < 3; k++) {
        nearest_on_edge(p, corners[k], corners[(k + 1) % 3], point);
        offer(p, point, triangle, best);
    }
}

/* The squared distance of a point from a box, 0 inside. */
static inline double
square_to_box(const double p[3], const double bounds[6])
{
    double square = 0.0;
    for (int i = 0; i < 3; i++) {
        double off = larger(larger(bounds[i] - p[i], p[i] - bounds[i + 3]), 0.0);
        square += off * off;
    }
    return square;
}

static void
find_nearest(const double p[3], const ik2b_mesh *mesh, nearest_place *best)
{
    tree_way way;
    best->square = INFINITY;
    best->triangle = NULL;
    start_way(&way, mesh);
    while (way.count && d3_finite(p)) {
        const tree_node *node = &mesh->nodes[way.nodes[--way.count]];
        if (square_to_box(p, node->bounds) > best->square) {
            continue;
        }
        if (node->count) {
            for (ptrdiff_t k = 0; k < node->count; k++) {
                see_triangle(p, &mesh->triangles[node->first + k], best);
            }
            continue;
        }
        const tree_node *pair = &mesh->nodes[node->first];
        bool swaps = square_to_box(p, pair[1].bounds) < square_to_box(p, pair[0].bounds);
        push_children(&way, node->first + swaps, node->first + !swaps);
    }
}

void
ik2b_mesh_nearest(const ik2b_extent *extent, ik2b_array *args, const ik2b_call *call)
{
    ik2b_walk walk;
    if (!ik2b_walk_start(&walk, extent, args, IK2B_NEAREST_COUNT)) {
        return;
    }
    do {
        double p[3];
        nearest_place best;
        load_row(&args[IK2B_NEAREST_POINT], args[IK2B_NEAREST_POINT].data, 3, p);
        find_nearest(p, call->mesh, &best);
        store_hit(&args[IK2B_NEAREST_OUT_POINT], &args[IK2B_NEAREST_OUT_NORMAL],
                  &args[IK2B_NEAREST_OUT_TRIANGLE], best.point, best.triangle);
    } while (ik2b_walk_next(&walk));
}
