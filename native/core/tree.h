/* SPDX-License-Identifier: MIT
 *
 * The inside of a mesh: a binary tree of boxes over its triangles (bounding volume hierarchy), in
 * flat arrays.
 */
#ifndef IK2B_TREE_H
#define IK2B_TREE_H

#include "mesh.h"
#include "rows.h"

/* From this depth on nodes are split into halves instead of by cost, at most once for each bit of a
 * count. */
#define IK2B_SPLIT_DEPTH 64
/* The most nodes that a search keeps: one for each level of the tree, and two new children. */
#define IK2B_STACK (IK2B_SPLIT_DEPTH + 8 * (int)sizeof(ptrdiff_t) + 2)

/* A node. Its bounds are the least corner, then the greatest corner: x, y, z each. */
typedef struct {
    double bounds[6];
    ptrdiff_t first; /* the first of its triangles, or of its two children, which are neighbours */
    ptrdiff_t count; /* number of its triangles; 0: it has children */
} tree_node;

typedef struct {
    double corners[3][3];
    ptrdiff_t index; /* among the triangles given */
} tree_triangle;

/* `size` triangles were given. The `count` triangles with area are in the tree, whose root, if
 * there are any, is the first node. */
struct ik2b_mesh {
    ptrdiff_t size, count;
    tree_triangle *triangles;
    tree_node *nodes;
};

/* The unit normal. The cross product is divided by its longest component first, because squares of
 * small areas vanish. */
static inline void
triangle_normal(const tree_triangle *triangle, double dest[3])
{
    double ab[3], ac[3];
    d3_sub(triangle->corners[1], triangle->corners[0], ab);
    d3_sub(triangle->corners[2], triangle->corners[0], ac);
    d3_cross(ab, ac, dest);
    double most = larger(fabs(dest[0]), larger(fabs(dest[1]), fabs(dest[2])));
    for (int i = 0; i < 3; i++) {
        dest[i] /= most;
    }
    d3_scale(dest, 1.0 / d3_norm(dest), dest);
}

/* A node that a search has still to visit, and where its box begins. */
typedef struct {
    const tree_node *node;
    double start;
} tree_step;

/* Calls `see` for the triangles of all boxes that begin within reach, near boxes first. start_of
 * returns where a box begins, NaN if nothing in the box can be met. `see` may shorten the reach.
 * Inlined: callers pass constant functions. */
IK2B_IN_LINE void
search_tree(const ik2b_mesh *mesh, void *asked, const double *reach,
            double (*start_of)(const void *asked, const double bounds[6]),
            void (*see)(void *asked, const tree_triangle *triangle))
{
    tree_step way[IK2B_STACK];
    int left = mesh->count > 0;
    way[0] = (tree_step){mesh->nodes, -INFINITY};
    while (left) {
        const tree_step here = way[--left];
        const ptrdiff_t first = here.node->first, count = here.node->count;
        if (here.start > *reach) {
            continue;
        }
        for (ptrdiff_t k = first; k < first + count; k++) {
            see(asked, &mesh->triangles[k]);
        }
        if (count) {
            continue;
        }
        const tree_node *a = &mesh->nodes[first], *b = a + 1;
        tree_step near = {a, start_of(asked, a->bounds)}, far = {b, start_of(asked, b->bounds)};
        if (far.start < near.start) {
            tree_step kept = near;
            near = far;
            far = kept;
        }
        if (far.start <= *reach) {
            way[left++] = far;
        }
        if (near.start <= *reach) {
            way[left++] = near;
        }
    }
}

/* The nearest place found. */
typedef struct {
    double far; /* its distance, in any measure */
    double point[3];
    const tree_triangle *triangle; /* NULL: none */
} tree_hit;

/* Whether a place at the distance `far` replaces the best one. Of two equally near places, the one
 * on the first triangle is the best. */
static inline bool
is_next(const tree_hit *best, double far, const tree_triangle *triangle)
{
    return far < best->far ||
           (far == best->far && best->triangle && triangle->index < best->triangle->index);
}

/* Stores point, normal and index of a hit in three outputs; NaN and -1 if there is no hit. */
static inline void
store_hit(const ik2b_array out[3], const tree_hit *hit)
{
    double normal[3] = {NAN, NAN, NAN};
    int64_t index = -1;
    if (hit->triangle) {
        triangle_normal(hit->triangle, normal);
        index = hit->triangle->index;
    }
    store_row(&out[0], out[0].data, 3, hit->triangle ? hit->point : normal);
    store_row(&out[1], out[1].data, 3, normal);
    memcpy(out[2].data, &index, sizeof index);
}

#endif
