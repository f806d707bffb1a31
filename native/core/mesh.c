/* SPDX-License-Identifier: MIT
 *
 * Building a mesh: triangles without area are left out. The others, neighbours in the list
 * together, are sorted into a tree of boxes by the surface area heuristic over bins (Wald 2007, "On
 * fast Construction of SAH-based Bounding Volume Hierarchies").
 */
#include "tree.h"

#include <stdlib.h>

/* A node of at most this many triangles is a leaf: testing them costs about as much as testing two
 * more boxes. */
#define LEAF_SIZE 4
/* Wald's number; more bins gain nothing. Nor do more bins than items. */
#define BINS 16
/* A triangle joins the item before it if the box of both is at most this many times as large as the
 * smaller of their boxes: on a grid, two quads side by side have twice the box of one, more if they
 * lie aslant. Joining halves the time of building. It leaves the cost of the tree as it is on
 * grids, and raises it by 4 % on a sphere. */
#define JOINED 3.0
/* A triangle whose height is less than this many roundings of its coordinates counts as a line. */
#define ROUNDINGS 4.0

/* At most LEAF_SIZE triangles that stay together while the tree is built: their box, the index of
 * the first and their number. */
typedef struct {
    double bounds[6];
    ptrdiff_t index, count;
} item;

/* `nodes` and `placed` are the numbers of nodes and triangles of the mesh so far. */
typedef struct {
    const double *vertices;
    const ptrdiff_t *triangles;
    ik2b_mesh *mesh;
    ptrdiff_t nodes, placed;
} builder;

typedef struct {
    double bounds[6];
    ptrdiff_t count;
} bin;

/* How items are divided into two parts: by the bins into which their middles along an axis fall. */
typedef struct {
    int axis, bins;
    double start, scale;
    int last; /* the last bin of the first part */
} split;

static void
clear_bounds(double bounds[6])
{
    for (int i = 0; i < 3; i++) {
        bounds[i] = INFINITY;
        bounds[i + 3] = -INFINITY;
    }
}

static inline void
widen_bounds(double bounds[6], const double least[3], const double most[3])
{
    for (int i = 0; i < 3; i++) {
        bounds[i] = smaller(bounds[i], least[i]);
        bounds[i + 3] = larger(bounds[i + 3], most[i]);
    }
}

static inline double
width_of(const double bounds[6], int axis)
{
    return bounds[axis + 3] - bounds[axis];
}

/* Half the surface of a box. */
static double
box_area(const double bounds[6])
{
    double x = width_of(bounds, 0), y = width_of(bounds, 1), z = width_of(bounds, 2);
    return x * y + y * z + z * x;
}

/* Twice the middle of an item along an axis. */
static inline double
middle(const item *it, int axis)
{
    return it->bounds[axis] + it->bounds[axis + 3];
}

static inline int
bin_of(const split *s, const item *it)
{
    double place = (middle(it, s->axis) - s->start) * s->scale;
    return !(place > 0.0) ? 0 : place < s->bins ? (int)place : s->bins - 1;
}

/* Puts the items of one box into bins along the axis on which their middles lie farthest apart.
 * Sets the axis and the bins' places in `s`. */
static void
fill_bins(const item *items, ptrdiff_t count, split *s, bin bins[BINS])
{
    double middles[6];
    clear_bounds(middles);
    for (ptrdiff_t k = 0; k < count; k++) {
        double place[3] = {middle(&items[k], 0), middle(&items[k], 1), middle(&items[k], 2)};
        widen_bounds(middles, place, place);
    }
    s->axis = 0;
    for (int i = 1; i < 3; i++) {
        s->axis = width_of(middles, i) > width_of(middles, s->axis) ? i : s->axis;
    }
    s->start = middles[s->axis];
    s->bins = count < BINS ? (int)count : BINS;
    s->scale = s->bins / width_of(middles, s->axis);
    for (int b = 0; b < s->bins; b++) {
        clear_bounds(bins[b].bounds);
        bins[b].count = 0;
    }
    for (ptrdiff_t k = 0; k < count; k++) {
        bin *own = &bins[bin_of(s, &items[k])];
        widen_bounds(own->bounds, items[k].bounds, items[k].bounds + 3);
        own->count += items[k].count;
    }
}

/* The last bin of the first part in the division of least cost, or -1 if one bin holds all
 * items. */
static int
cheapest(const bin *bins, int number)
{
    double after[BINS], bounds[6], least = INFINITY;
    ptrdiff_t count = 0;
    int best = -1;
    clear_bounds(bounds);
    for (int b = number - 1; b > 0; b--) {
        widen_bounds(bounds, bins[b].bounds, bins[b].bounds + 3);
        count += bins[b].count;
        after[b] = count ? box_area(bounds) * (double)count : -1.0;
    }
    clear_bounds(bounds);
    count = 0;
    for (int b = 0; b < number - 1; b++) {
        widen_bounds(bounds, bins[b].bounds, bins[b].bounds + 3);
        count += bins[b].count;
        double cost = count ? box_area(bounds) * (double)count + after[b + 1] : INFINITY;
        if (after[b + 1] >= 0.0 && cost < least) {
            least = cost;
            best = b;
        }
    }
    return best;
}

/* Moves the items of the first part to the front and returns their number. */
static ptrdiff_t
part_items(item *items, ptrdiff_t count, const split *s)
{
    ptrdiff_t low = 0, high = count;
    while (low < high) {
        if (bin_of(s, &items[low]) <= s->last) {
            low++;
            continue;
        }
        item kept = items[low];
        items[low] = items[--high];
        items[high] = kept;
    }
    return low;
}

static ptrdiff_t
split_items(item *items, ptrdiff_t count, int depth)
{
    split s;
    bin bins[BINS];
    if (depth >= IK2B_SPLIT_DEPTH) {
        return count / 2;
    }
    fill_bins(items, count, &s, bins);
    s.last = cheapest(bins, s.bins);
    return s.last < 0 ? count / 2 : part_items(items, count, &s);
}

/* Whether a triangle's corners lie on one line to within their rounding. */
static bool
is_flat(double corners[3][3])
{
    double ab[3], bc[3], ca[3], across[3], most = 0.0;
    d3_sub(corners[1], corners[0], ab);
    d3_sub(corners[2], corners[1], bc);
    d3_sub(corners[0], corners[2], ca);
    d3_cross(ab, ca, across);
    double length = sqrt(larger(d3_dot(ab, ab), larger(d3_dot(bc, bc), d3_dot(ca, ca))));
    for (int i = 0; i < 9; i++) {
        most = larger(most, fabs(corners[i / 3][i % 3]));
    }
    return !(d3_norm(across) > ROUNDINGS * DBL_EPSILON * most * length);
}

static void
load_triangle(const double *vertices, const ptrdiff_t *indices, tree_triangle *triangle)
{
    for (int k = 0; k < 3; k++) {
        d3_copy(vertices + 3 * indices[k], triangle->corners[k]);
    }
}

/* Adds a triangle to an item if it is the next one and lies near by. */
static bool
join(item *it, const item *next)
{
    double bounds[6];
    memcpy(bounds, it->bounds, sizeof bounds);
    widen_bounds(bounds, next->bounds, next->bounds + 3);
    double least = smaller(box_area(it->bounds), box_area(next->bounds));
    if (it->count == LEAF_SIZE || it->index + it->count != next->index ||
        box_area(bounds) > JOINED * least) {
        return false;
    }
    memcpy(it->bounds, bounds, sizeof bounds);
    it->count++;
    return true;
}

/* Lists the triangles with area and returns the number of items. */
static ptrdiff_t
list_items(const builder *b, item *items)
{
    ptrdiff_t used = 0;
    for (ptrdiff_t t = 0; t < b->mesh->size; t++) {
        tree_triangle triangle;
        load_triangle(b->vertices, b->triangles + 3 * t, &triangle);
        if (is_flat(triangle.corners)) {
            continue;
        }
        item own = {.index = t, .count = 1};
        clear_bounds(own.bounds);
        for (int k = 0; k < 3; k++) {
            widen_bounds(own.bounds, triangle.corners[k], triangle.corners[k]);
        }
        b->mesh->count++;
        if (!used || !join(&items[used - 1], &own)) {
            items[used++] = own;
        }
    }
    return used;
}

static void
fill_leaf(builder *b, tree_node *leaf, const item *items, ptrdiff_t count)
{
    leaf->first = b->placed;
    for (ptrdiff_t k = 0; k < count; k++) {
        for (ptrdiff_t t = items[k].index; t < items[k].index + items[k].count; t++) {
            tree_triangle *triangle = &b->mesh->triangles[b->placed++];
            triangle->index = t;
            load_triangle(b->vertices, b->triangles + 3 * t, triangle);
        }
    }
    leaf->count = b->placed - leaf->first;
}

static void
build_node(builder *b, tree_node *node, item *items, ptrdiff_t count, int depth)
{
    ptrdiff_t size = 0;
    clear_bounds(node->bounds);
    for (ptrdiff_t k = 0; k < count; k++) {
        widen_bounds(node->bounds, items[k].bounds, items[k].bounds + 3);
        size += items[k].count;
    }
    if (size <= LEAF_SIZE) {
        fill_leaf(b, node, items, count);
        return;
    }
    ptrdiff_t part = split_items(items, count, depth);
    tree_node *children = b->mesh->nodes + b->nodes;
    node->first = b->nodes;
    b->nodes += 2;
    build_node(b, children, items, part, depth + 1);
    build_node(b, children + 1, items + part, count - part, depth + 1);
}

/* Zeroed memory for `count` elements, at least for one. */
static void *
allocate(ptrdiff_t count, size_t size)
{
    return calloc((size_t)(count > 0 ? count : 1), size);
}

/* Builds the tree over the triangles with area. Returns false if there is no memory. */
static bool
build_tree(builder *b, item *items)
{
    ik2b_mesh *mesh = b->mesh;
    ptrdiff_t count = list_items(b, items);
    mesh->triangles = allocate(mesh->count, sizeof *mesh->triangles);
    mesh->nodes = allocate(2 * count, sizeof *mesh->nodes);
    if (!mesh->triangles || !mesh->nodes) {
        return false;
    }
    build_node(b, mesh->nodes, items, count, 0);
    tree_node *nodes = realloc(mesh->nodes, (size_t)b->nodes * sizeof *nodes);
    mesh->nodes = nodes ? nodes : mesh->nodes;
    return true;
}

ik2b_mesh *
ik2b_mesh_build(const double *vertices, const ptrdiff_t *triangles, ptrdiff_t count)
{
    ik2b_mesh *mesh = calloc(1, sizeof *mesh);
    item *items = allocate(count, sizeof *items);
    bool done = mesh && items;
    if (done) {
        builder b = {.vertices = vertices, .triangles = triangles, .mesh = mesh, .nodes = 1};
        mesh->size = count;
        done = build_tree(&b, items);
    }
    free(items);
    if (!done) {
        ik2b_mesh_free(mesh);
        return NULL;
    }
    return mesh;
}

void
ik2b_mesh_free(ik2b_mesh *mesh)
{
    if (mesh) {
        free(mesh->triangles);
        free(mesh->nodes);
        free(mesh);
    }
}

ptrdiff_t
ik2b_mesh_size(const ik2b_mesh *mesh)
{
    return mesh->size;
}

void
ik2b_mesh_measure(const ik2b_mesh *mesh, double *dest)
{
    memset(dest, 0, (6 + 3 * (size_t)mesh->size) * sizeof *dest);
    for (int i = 0; i < 6; i++) {
        dest[i] = mesh->count ? mesh->nodes->bounds[i] : NAN;
    }
    for (ptrdiff_t k = 0; k < mesh->count; k++) {
        triangle_normal(&mesh->triangles[k], dest + 6 + 3 * mesh->triangles[k].index);
    }
}
