/* SPDX-License-Identifier: MIT
 *
 * Inside of a mesh: a binary tree of boxes over its triangles (bounding volume hierarchy), as flat
 * arrays.
 */
#ifndef IK2B_TREE_H
#define IK2B_TREE_H

#include "mesh.h"
#include "rows.h"

/* Splits by cost end at this depth; halves follow, at most one a bit of a count. */
#define IK2B_SPLIT_DEPTH 64
/* A way through the tree keeps at most one node a level, and the two that it comes to. */
#define IK2B_STACK (IK2B_SPLIT_DEPTH + 8 * (int)sizeof(ptrdiff_t) + 2)

/* Least corner, then greatest corner: x, y, z each. */
typedef struct {
    double bounds[6];
    ptrdiff_t first; /* of its triangles, or the first of its two children, which are neighbours */
    ptrdiff_t count; /* of triangles; 0: it has children */
} tree_node;

typedef struct {
    double corners[3][3];
    ptrdiff_t index; /* among the triangles given */
} tree_triangle;

/* Only triangles with area are in the tree; the first node is its root, where there are any. */
struct ik2b_mesh {
    ptrdiff_t size, count;
    tree_triangle *triangles;
    tree_node *nodes;
};

/* The unit normal. The longest component is divided out first, as squares of small areas vanish. */
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

/* A node still to be seen, and where its box begins. */
typedef struct {
    const tree_node *node;
    double start;
} tree_step;

/* Sees the triangles of all boxes that begin within reach, near boxes first. Where a box begins is
 * told by start_of, NaN where nothing in it can be met; see may shorten the reach. In line, with
 * constant functions. */
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
    double far; /* any measure of its distance */
    double point[3];
    const tree_triangle *triangle; /* NULL: none */
} tree_hit;

/* Whether a place so far away is the next: of two that are as near, that on the first triangle. */
static inline bool
is_next(const tree_hit *best, double far, const tree_triangle *triangle)
{
    return far < best->far ||
           (far == best->far && best->triangle && triangle->index < best->triangle->index);
}

/* Point, normal and index into the first of three outputs and on; NaN and -1 for nothing. */
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
