/* SPDX-License-Identifier: MIT
 *
 * Lines and rays through a mesh.
 *
 * A shear makes the line the z axis of a space of its own, in which z is the coordinate of the
 * line's longest component. The line meets a triangle if the triangle's shadow, its projection on
 * the plane z = 0, contains the origin (Woop, Benthin and Wald 2013, "Watertight Ray/Triangle
 * Intersection"). All decisions are exact, so that neighbouring triangles agree:
 * - Each corner is sheared by itself, so it has one shadow in all triangles that share it.
 * - The side of an edge's shadow on which the origin lies is the sign of a difference of two
 *   products. Rounding never reverses the order of two products; if the rounded products are
 *   equal, their rounding errors decide.
 * - Boxes are sheared with the same roundings, and each step of the shear is monotone. The shadow
 *   of a box therefore contains the shadows of its triangles without any margin.
 * - If the origin lies on the shadow of an edge or a corner, the distance is computed from that
 *   edge or corner alone. It has the same last bit in all triangles that share the edge or
 *   corner: equal distances are one place.
 */
#include "tree.h"

#include <stdlib.h>

/* A weighted sum of three distances is off by at most this many roundings: each shadow counts 3
 * halves, each area 7. */
#define ROUNDINGS 21.0

/* A line in its own space. `axes` are the coordinates that serve as x, y and z; z is that of the
 * direction's longest component. `enter` and `leave` are indices of the bounds of a box: [0] and
 * [1] the ends in z where the box's shadow reaches least and most in x and y, [2] those where the
 * line comes in and goes out. */
typedef struct {
    int axes[3];
    int enter[3], leave[3];
    double origin[3];        /* in the order of `axes` */
    double shear[2], length; /* x, y and signed length of the line for each unit of z */
} line;

/* The place where a line meets a triangle. */
typedef struct {
    double distance;
    bool shared; /* on an edge or a corner */
} meeting;

/* Returns false if a number is not finite or the direction is zero. */
static bool
set_line(line *l, const double origin[3], const double direction[3])
{
    int z = 0;
    for (int i = 1; i < 3; i++) {
        z = fabs(direction[i]) > fabs(direction[z]) ? i : z;
    }
    if (direction[z] == 0.0 || !d3_finite(direction) || !d3_finite(origin)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        l->axes[i] = (z + 1 + i) % 3;
        l->origin[i] = origin[l->axes[i]];
    }
    for (int i = 0; i < 2; i++) {
        l->shear[i] = direction[l->axes[i]] / direction[z];
        l->enter[i] = l->shear[i] > 0.0 ? z + 3 : z;
        l->leave[i] = l->shear[i] > 0.0 ? z : z + 3;
    }
    l->enter[2] = direction[z] > 0.0 ? z : z + 3;
    l->leave[2] = direction[z] > 0.0 ? z + 3 : z;
    double square = l->shear[0] * l->shear[0] + l->shear[1] * l->shear[1];
    l->length = copysign(sqrt(1.0 + square), direction[z]);
    return true;
}

/* x (i = 0) or y (i = 1) of the shadow of a point, whose coordinate on that axis is `place`. */
static inline double
shadow(const line *l, int i, double place, double z)
{
    return (place - l->origin[i]) - l->shear[i] * (z - l->origin[2]);
}

/* The distance along the line of a point with this z. */
static inline double
distance_of(const line *l, double z)
{
    return (z - l->origin[2]) * l->length;
}

static inline bool
meets_box(const line *l, const double bounds[6])
{
    for (int i = 0; i < 2; i++) {
        double low = bounds[l->axes[i]], high = bounds[l->axes[i] + 3];
        if (!(shadow(l, i, low, bounds[l->enter[i]]) <= 0.0 &&
              shadow(l, i, high, bounds[l->leave[i]]) >= 0.0)) {
            return false;
        }
    }
    return true;
}

/* The exact sign of the z component of cross(a, b). */
static inline int
turn_of(const double a[3], const double b[3])
{
    double left = a[0] * b[1], right = a[1] * b[0];
    if (left == right) {
        double error = fma(a[0], b[1], -left);
        right = fma(a[1], b[0], -right);
        left = error;
    }
    return (left > right) - (left < right);
}

/* Whether `a` comes before `b`, in an order that does not depend on how a triangle lists an
 * edge. */
static bool
comes_first(const double a[3], const double b[3])
{
    return a[0] != b[0] ? a[0] < b[0] : a[1] != b[1] ? a[1] < b[1] : a[2] < b[2];
}

/* The distance sum / whole, clamped to the range from a to b. It is 0 if `sum` is not greater than
 * its rounding error, so that rays that start on a mesh meet it. */
static inline double
settle(double sum, double whole, double error, double a, double b)
{
    double distance = fabs(sum) > error ? sum / whole : 0.0;
    return larger(smaller(a, b), smaller(larger(a, b), distance));
}

/* The distance of an edge whose shadow contains the origin: the distances of the two ends, each
 * weighted by the length of the shadow between the origin and the other end. */
static double
distance_on_edge(const double a[3], const double b[3])
{
    if (!comes_first(a, b)) {
        const double *kept = a;
        a = b;
        b = kept;
    }
    int longer = fabs(b[0] - a[0]) >= fabs(b[1] - a[1]) ? 0 : 1;
    double far = larger(fabs(a[2]), fabs(b[2])), wide = larger(fabs(a[longer]), fabs(b[longer]));
    double error = ROUNDINGS * DBL_EPSILON * (wide + far) * far;
    return settle(a[longer] * b[2] - b[longer] * a[2], a[longer] - b[longer], error, a[2], b[2]);
}

/* The distance of a triangle whose shadow contains the origin: the distances of the corners, each
 * weighted by the area of the shadow between the origin and the edge opposite the corner. */
static double
distance_inside(double corners[3][3])
{
    double sum = 0.0, areas = 0.0, wide = 0.0, least = INFINITY, most = -INFINITY;
    for (int k = 0; k < 3; k++) {
        const double *a = corners[(k + 1) % 3], *b = corners[(k + 2) % 3];
        double area = a[0] * b[1] - a[1] * b[0], own = corners[k][2];
        sum += area * own;
        areas += area;
        wide = larger(wide, larger(fabs(a[0]), fabs(a[1])));
        least = smaller(least, own);
        most = larger(most, own);
    }
    bool near = least <= 0.0 && most >= 0.0;
    double far = larger(-least, most);
    double error = near ? ROUNDINGS * DBL_EPSILON * (wide + far) * wide * far : 0.0;
    return settle(sum, areas, error, least, most);
}

static inline bool
meet_triangle(const line *l, const tree_triangle *triangle, meeting *found)
{
    double corners[3][3];
    int sides[3], zeros = 0, zero = 0, other = 0;
    for (int k = 0; k < 3; k++) {
        const double *corner = triangle->corners[k];
        double z = corner[l->axes[2]];
        corners[k][0] = shadow(l, 0, corner[l->axes[0]], z);
        corners[k][1] = shadow(l, 1, corner[l->axes[1]], z);
        corners[k][2] = distance_of(l, z);
    }
    for (int k = 0; k < 3; k++) {
        sides[k] = turn_of(corners[(k + 1) % 3], corners[(k + 2) % 3]);
        zeros += sides[k] == 0;
        zero = sides[k] == 0 ? k : zero;
        other = sides[k] != 0 ? k : other;
    }
    if (zeros == 3 || sides[0] * sides[1] < 0 || sides[1] * sides[2] < 0 ||
        sides[2] * sides[0] < 0) {
        return false;
    }
    found->shared = zeros > 0;
    found->distance = zeros == 0 ? distance_inside(corners)
                      : zeros == 1
                          ? distance_on_edge(corners[(zero + 1) % 3], corners[(zero + 2) % 3])
                          : corners[other][2];
    return true;
}

/* Crossings */

/* The line of a row and its crossings, in which shared places are not joined yet. */
typedef struct {
    line line;
    ptrdiff_t row;
    ik2b_crossings *found;
    double reach; /* INFINITY; -INFINITY, which ends the search, if there is no memory */
} line_query;

static inline double
start_on_line(const void *asked, const double bounds[6])
{
    const line_query *self = asked;
    return meets_box(&self->line, bounds) ? 0.0 : NAN;
}

/* Adds a crossing if the line meets the triangle. A shared place has the row -1 - row until
 * join_crossings. */
static inline void
add_crossing(void *asked, const tree_triangle *triangle)
{
    line_query *self = asked;
    ik2b_crossings *list = self->found;
    meeting met;
    if (self->reach < 0.0 || !meet_triangle(&self->line, triangle, &met)) {
        return;
    }
    if (list->count == list->room) {
        ptrdiff_t room = 2 * list->room + 64;
        ik2b_crossing *all = realloc(list->all, (size_t)room * sizeof *all);
        if (!all) {
            self->reach = -INFINITY;
            return;
        }
        list->all = all;
        list->room = room;
    }
    ik2b_crossing *own = &list->all[list->count++];
    own->row = met.shared ? -1 - self->row : self->row;
    own->triangle = triangle->index;
    own->distance = met.distance;
    triangle_normal(triangle, own->normal);
}

/* Orders crossings by distance. At one distance, shared places come first; then triangles
 * decide. */
static int
compare(const void *a, const void *b)
{
    const ik2b_crossing *left = a, *right = b;
    if (left->distance != right->distance) {
        return left->distance < right->distance ? -1 : 1;
    }
    if (left->row != right->row) {
        return left->row < right->row ? -1 : 1;
    }
    return left->triangle < right->triangle ? -1 : left->triangle > right->triangle;
}

/* Sorts the crossings of a row, which are those from `first` on, and joins shared places. */
static void
join_crossings(ik2b_crossings *list, ptrdiff_t first, ptrdiff_t row)
{
    ptrdiff_t kept = first;
    bool shared = false; /* whether the last crossing kept is a shared place */
    if (list->count - first > 1) {
        qsort(list->all + first, (size_t)(list->count - first), sizeof *list->all, compare);
    }
    for (ptrdiff_t k = first; k < list->count; k++) {
        ik2b_crossing own = list->all[k];
        if (own.row < 0 && shared && own.distance == list->all[kept - 1].distance) {
            continue;
        }
        shared = own.row < 0;
        own.row = row;
        list->all[kept++] = own;
    }
    list->count = kept;
}

/* Moves a line from the space of its row into that of the mesh. */
static void
move_line(const double into[16], double origin[3], double direction[3])
{
    double moved[2][3];
    for (int i = 0; i < 3; i++) {
        moved[0][i] = d3_dot(into + 4 * i, origin) + into[4 * i + 3];
        moved[1][i] = d3_dot(into + 4 * i, direction);
    }
    d3_copy(moved[0], origin);
    d3_copy(moved[1], direction);
}

/* Brings a crossing back into the space of its line, in which normals turn by the transpose. */
static void
move_back(const double into[16], double stretch, ik2b_crossing *own)
{
    double normal[3];
    for (int i = 0; i < 3; i++) {
        normal[i] =
            into[i] * own->normal[0] + into[4 + i] * own->normal[1] + into[8 + i] * own->normal[2];
    }
    d3_scale(normal, 1.0 / d3_norm(normal), own->normal);
    own->distance /= stretch;
}

/* Finds the crossings of the row to which the arguments point. */
static void
cross_row(const ik2b_mesh *mesh, const ik2b_array *args, line_query *self)
{
    double origin[3], direction[3], along[3], into[16] = {0.0};
    const ik2b_array *given = &args[IK2B_CROSSINGS_INTO];
    ptrdiff_t first = self->found->count;
    load_row(&args[IK2B_CROSSINGS_POINT], args[IK2B_CROSSINGS_POINT].data, 3, origin);
    load_row(&args[IK2B_CROSSINGS_DIRECTION], args[IK2B_CROSSINGS_DIRECTION].data, 3, direction);
    d3_copy(direction, along);
    if (given->data) {
        load_row(given, given->data, 16, into);
        move_line(into, origin, direction);
    }
    if (!set_line(&self->line, origin, direction)) {
        return;
    }
    search_tree(mesh, self, &self->reach, start_on_line, add_crossing);
    join_crossings(self->found, first, self->row);
    for (ptrdiff_t k = first; k < self->found->count; k++) {
        ik2b_crossing *own = &self->found->all[k];
        if (given->data) {
            move_back(into, d3_norm(direction) / d3_norm(along), own);
        }
        own->against = d3_dot(own->normal, along) <= 0.0;
        d3_scale(own->normal, own->against ? 1.0 : -1.0, own->normal);
    }
}

void
ik2b_mesh_crossings(const ik2b_extent *extent, ik2b_array *args, const ik2b_call *call)
{
    line_query self = {.found = call->found, .reach = INFINITY};
    ik2b_walk walk;
    bool more = ik2b_walk_start(&walk, extent, args, IK2B_CROSSINGS_COUNT);
    for (; more && self.reach > 0.0; more = ik2b_walk_next(&walk)) {
        cross_row(call->mesh, args, &self);
        self.row++;
    }
    call->found->count = self.reach > 0.0 ? call->found->count : -1;
}

/* The first hit */

typedef struct {
    line line;
    tree_hit best;
} ray_query;

static inline double
start_on_ray(const void *asked, const double bounds[6])
{
    const ray_query *self = asked;
    const line *l = &self->line;
    double start = distance_of(l, bounds[l->enter[2]]);
    bool meets = start <= self->best.far && distance_of(l, bounds[l->leave[2]]) >= 0.0 &&
                 meets_box(l, bounds);
    return meets ? start : NAN;
}

static inline void
offer(void *asked, const tree_triangle *triangle)
{
    ray_query *self = asked;
    meeting met;
    if (meet_triangle(&self->line, triangle, &met) && met.distance >= 0.0 &&
        is_next(&self->best, met.distance, triangle)) {
        self->best.far = met.distance;
        self->best.triangle = triangle;
    }
}

/* The point at a distance along the line. */
static void
point_at(const line *l, double distance, double dest[3])
{
    double z = distance / l->length;
    dest[l->axes[0]] = l->origin[0] + l->shear[0] * z;
    dest[l->axes[1]] = l->origin[1] + l->shear[1] * z;
    dest[l->axes[2]] = l->origin[2] + z;
}

void
ik2b_mesh_cast(const ik2b_extent *extent, ik2b_array *args, const ik2b_call *call)
{
    ik2b_walk walk;
    bool more = ik2b_walk_start(&walk, extent, args, IK2B_CAST_COUNT);
    for (; more; more = ik2b_walk_next(&walk)) {
        ray_query self = {.best = {.far = INFINITY}};
        double origin[3], direction[3];
        load_row(&args[IK2B_CAST_ORIGIN], args[IK2B_CAST_ORIGIN].data, 3, origin);
        load_row(&args[IK2B_CAST_DIRECTION], args[IK2B_CAST_DIRECTION].data, 3, direction);
        if (set_line(&self.line, origin, direction)) {
            search_tree(call->mesh, &self, &self.best.far, start_on_ray, offer);
            point_at(&self.line, self.best.far, self.best.point);
        }
        store_hit(&args[IK2B_CAST_OUT_POINT], &self.best);
    }
}
