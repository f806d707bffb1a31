/* SPDX-License-Identifier: MIT
 *
 * ik2b_pole_of and ik2b_hinge_of: reading pole and hinge from a pose.
 */
#include "joints.h"
#include "plain.h"

/* Squares of the upper bone's, the lower bone's and the line's length, and of their cross product.
 * 0: straight perhaps, by (u + l)^2 <= 2 (u^2 + l^2) and as much again for rounding; or of no
 * ordinary size. */
IK2B_IN_LINE int
is_surely_bent(double upper, double lower, double line, double normal)
{
    double least = 4.0 * IK2B_STRAIGHT * IK2B_STRAIGHT * (upper + lower) * line;
    return is_between(upper, IK2B_PLAIN_SQUARE) & is_between(lower, IK2B_PLAIN_SQUARE) &
           is_between(line, IK2B_PLAIN_SQUARE) & (int)(normal > least);
}

/* Unit vector of one that is made of a limb. 0: of no ordinary length, and void. */
IK2B_IN_LINE int
unit_plainly(double v[3])
{
    double square = d3_dot(v, v);
    d3_scale(v, inverse_root(square), v);
    d3_finish(v, v);
    return is_ordinary(square);
}

/* The pole that keeps the mid joint where it is; zero where nothing tells it. */
static void
pole_of_row(ik2b_array *args, const void *words)
{
    (void)words;
    double root[3], mid[3], end[3], hinge[3], upper[3], lower[3], line[3], pole[3];
    load_vector(&args[IK2B_POLE_OF_ROOT], 3, root);
    load_vector(&args[IK2B_POLE_OF_MID], 3, mid);
    load_vector(&args[IK2B_POLE_OF_END], 3, end);
    load_vector_or(&args[IK2B_POLE_OF_HINGE], 0.0, hinge);
    d3_sub(mid, root, upper);
    d3_sub(end, mid, lower);
    d3_sub(end, root, line);
    d3_zero(pole);
    if (d3_finite(upper) && d3_finite(lower) && d3_finite(line) && d3_finite(hinge) &&
        !d3_is_zero(upper) && !d3_is_zero(lower)) {
        double scale = power_of_two_under(larger(d3_largest(upper), d3_largest(lower)));
        d3_scale(upper, scale, upper);
        d3_scale(lower, scale, lower);
        d3_scale(line, scale, line);
        limb present = limb_measure(upper, lower, line, hinge, line);
        if (!present.singular || present.distance == 0.0) {
            d3_finish(present.bend, pole);
        }
    }
    store_vector(&args[IK2B_POLE_OF_OUT], pole);
}

/* Sixteen rows of bent limbs. */
typedef struct {
    _Alignas(64) double root[3][IK2B_LANES], mid[3][IK2B_LANES], end[3][IK2B_LANES],
        hinge[3][IK2B_LANES];
    double pole[3][IK2B_LANES];
    int good[IK2B_LANES];
} pole_of_tile;

static void
load_pole_of_tile(const ik2b_array *args, int last, int rows, void *dest)
{
    pole_of_tile *tile = dest;
    gather_vectors(&args[IK2B_POLE_OF_ROOT], last, rows, tile->root);
    gather_vectors(&args[IK2B_POLE_OF_MID], last, rows, tile->mid);
    gather_vectors(&args[IK2B_POLE_OF_END], last, rows, tile->end);
    gather_vectors_or_zero(&args[IK2B_POLE_OF_HINGE], last, rows, tile->hinge);
}

static void
store_pole_of_tile(const ik2b_array *args, int last, int lane, int rows, const void *source)
{
    const pole_of_tile *tile = source;
    scatter_vectors(&args[IK2B_POLE_OF_OUT], last, lane, rows, tile->pole);
}

/* Mid and end are seen from the root. 0: not surely bent, and pole is void. */
IK2B_IN_LINE int
pole_of_plainly(const double mid[3], const double lower[3], const double end[3], double pole[3])
{
    double normal[3], lower_square = d3_dot(lower, lower), line_square = d3_dot(end, end);
    limb_normal(mid, lower, lower_square, end, line_square, normal);
    d3_cross(end, normal, pole);
    return unit_plainly(pole) &
           is_surely_bent(d3_dot(mid, mid), lower_square, line_square, d3_dot(normal, normal));
}

IK2B_IN_LINE void
run_pole_of_tile(pole_of_tile *tile, int rows)
{
    IK2B_LANE_LOOP
    for (int k = 0; k < rows; k++) {
        double upper[3], lower[3], line[3], hinge[3], pole[3];
        for (int i = 0; i < 3; i++) {
            upper[i] = tile->mid[i][k] - tile->root[i][k];
            lower[i] = tile->end[i][k] - tile->mid[i][k];
            line[i] = tile->end[i][k] - tile->root[i][k];
            hinge[i] = tile->hinge[i][k];
        }
        tile->good[k] = pole_of_plainly(upper, lower, line, pole) & is_finite_plainly(hinge);
        for (int i = 0; i < 3; i++) {
            tile->pole[i][k] = pole[i];
        }
    }
}

IK2B_TILE_RUNNERS(pole_of_tile_runner, run_pole_of_tile, pole_of_tile)

void
IK2B_NAME(pole_of)(const ik2b_extent *extent, ik2b_array *args)
{
    pole_of_tile tile;
    ik2b_tiling tiling = {
        .arguments = IK2B_POLE_OF_COUNT,
        .hinge = IK2B_NO_HINGE, /* the tile looks at it */
        .tile = &tile,
        .good = tile.good,
        .load = load_pole_of_tile,
        .run = pole_of_tile_runner(),
        .store = store_pole_of_tile,
        .row = pole_of_row,
    };
    ik2b_run_tiles(extent, args, &tiling, true);
}

/* cross(root - mid, end - mid) in mid-joint space; zero for a straight limb. */
static void
hinge_of_row(ik2b_array *args, const void *words)
{
    (void)words;
    double linear[3][3], root[3], mid_linear[3][3], mid[3], end[3], line[3], inward[3][3], hinge[3];
    double determinant;
    bool finite = load_matrix(&args[IK2B_HINGE_OF_ROOT], linear, root);
    finite &= load_matrix(&args[IK2B_HINGE_OF_MID], mid_linear, mid);
    load_vector(&args[IK2B_HINGE_OF_END], 3, end);
    d3_sub(end, root, line);
    d3_sub(root, mid, root);
    d3_sub(end, mid, end);
    d3_zero(hinge);
    if (finite && d3_finite(root) && d3_finite(end) && d3_finite(line) && !d3_is_zero(root) &&
        !d3_is_zero(end) && invert(mid_linear, inward, &determinant)) {
        d33_apply(inward, root, root);
        d33_apply(inward, end, end);
        d33_apply(inward, line, line);
        double scale = power_of_two_under(larger(d3_largest(root), d3_largest(end)));
        d3_scale(root, scale, root);
        d3_scale(end, scale, end);
        d3_scale(line, scale, line);
        double upper = d3_norm(root), lower = d3_norm(end), distance = d3_norm(line);
        limb_normal(root, end, lower, line, distance, hinge);
        if (d3_norm(hinge) > IK2B_STRAIGHT * (upper + lower) * distance) {
            d3_unit(hinge, hinge);
        }
        else {
            d3_zero(hinge);
        }
    }
    store_vector(&args[IK2B_HINGE_OF_OUT], hinge);
}

/* Sixteen rows of bent limbs. */
typedef struct {
    matrices root, mid;
    double end[3][IK2B_LANES], hinge[3][IK2B_LANES];
    int good[IK2B_LANES];
} hinge_of_tile;

static void
load_hinge_of_tile(const ik2b_array *args, int last, int rows, void *dest)
{
    hinge_of_tile *tile = dest;
    load_matrices(&args[IK2B_HINGE_OF_ROOT], last, rows, &tile->root);
    load_matrices(&args[IK2B_HINGE_OF_MID], last, rows, &tile->mid);
    gather_vectors(&args[IK2B_HINGE_OF_END], last, rows, tile->end);
}

static void
store_hinge_of_tile(const ik2b_array *args, int last, int lane, int rows, const void *source)
{
    const hinge_of_tile *tile = source;
    scatter_vectors(&args[IK2B_HINGE_OF_OUT], last, lane, rows, tile->hinge);
}

/* 0: not surely bent, and hinge is void. */
IK2B_IN_LINE int
hinge_of_plainly(const pose *given, double hinge[3])
{
    double root[3], end[3], line[3], inward[3][3], determinant;
    int good = invert_plainly(given->mid, inward, &determinant);
    d3_sub(given->root_at, given->mid_at, root);
    d3_sub(given->end, given->mid_at, end);
    d3_sub(given->end, given->root_at, line);
    d33_apply(inward, root, root);
    d33_apply(inward, end, end);
    d33_apply(inward, line, line);
    double end_square = d3_dot(end, end), line_square = d3_dot(line, line);
    limb_normal(root, end, end_square, line, line_square, hinge);
    good &= is_surely_bent(d3_dot(root, root), end_square, line_square, d3_dot(hinge, hinge));
    return good & unit_plainly(hinge);
}

IK2B_IN_LINE void
run_hinge_of_tile(hinge_of_tile *tile, int rows)
{
    transpose_matrices(&tile->root);
    transpose_matrices(&tile->mid);
    IK2B_LANE_LOOP
    for (int k = 0; k < rows; k++) {
        pose given;
        double hinge[3];
        int good = pose_of_lane(&tile->root, &tile->mid, tile->end, k, &given);
        for (int i = 0; i < 3; i++) {
            good &= is_finite_plainly(given.root[i]);
        }
        tile->good[k] = good & hinge_of_plainly(&given, hinge);
        for (int i = 0; i < 3; i++) {
            tile->hinge[i][k] = hinge[i];
        }
    }
}

IK2B_TILE_RUNNERS(hinge_of_tile_runner, run_hinge_of_tile, hinge_of_tile)

void
IK2B_NAME(hinge_of)(const ik2b_extent *extent, ik2b_array *args)
{
    hinge_of_tile tile;
    ik2b_tiling tiling = {
        .arguments = IK2B_HINGE_OF_COUNT,
        .hinge = IK2B_NO_HINGE,
        .tile = &tile,
        .good = tile.good,
        .load = load_hinge_of_tile,
        .run = hinge_of_tile_runner(),
        .store = store_hinge_of_tile,
        .row = hinge_of_row,
    };
    ik2b_run_tiles(extent, args, &tiling,
                   fits_matrices(&args[IK2B_HINGE_OF_ROOT]) &&
                       fits_matrices(&args[IK2B_HINGE_OF_MID]));
}
