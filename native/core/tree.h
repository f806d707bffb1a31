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

/* The way into a tree: the nodes still to be seen. */
typedef struct {
    int count;
    ptrdiff_t nodes[IK2B_STACK];
} tree_way;

static inline void
start_way(tree_way *way, const ik2b_mesh *mesh)
{
    way->count = mesh->count > 0;
    way->nodes[0] = 0;
}

/* Both children, so that the near one is seen first. */
static inline void
push_children(tree_way *way, ptrdiff_t near, ptrdiff_t far)
{
    way->nodes[way->count++] = far;
    way->nodes[way->count++] = near;
}

/* What a ray or a point found: NaN and -1 for nothing. */
static inline void
store_hit(const ik2b_array *point, const ik2b_array *normal, const ik2b_array *index,
          const double place[3], const tree_triangle *triangle)
{
    double across[3] = {NAN, NAN, NAN};
    int64_t number = -1;
    if (triangle) {
        triangle_normal(triangle, across);
        number = triangle->index;
    }
    store_row(point, point->data, 3, triangle ? place : across);
    store_row(normal, normal->data, 3, across);
    memcpy(index->data, &number, sizeof number);
}

#endif
