/* SPDX-License-Identifier: MIT
 *
 * Products of quaternions.
 */
#include "tile.h"

/* Sixteen rows, w, x, y, z. */
typedef struct {
    _Alignas(64) double q[4][IK2B_LANES], r[4][IK2B_LANES];
    int good[IK2B_LANES];
} multiply_tile;

static void
load_multiply_tile(const ik2b_array *args, int last, int rows, void *dest)
{
    multiply_tile *tile = dest;
    gather_quaternions(&args[IK2B_MULTIPLY_Q], last, rows, tile->q);
    gather_quaternions(&args[IK2B_MULTIPLY_R], last, rows, tile->r);
}

static void
store_multiply_tile(const ik2b_array *args, int last, int lane, int rows, const void *source)
{
    const multiply_tile *tile = source;
    scatter_quaternions(&args[IK2B_MULTIPLY_OUT], last, lane, rows, tile->q);
}

/* Any row is plain; q becomes the product. */
IK2B_IN_LINE void
run_multiply_tile(multiply_tile *tile, int rows)
{
    IK2B_LANE_LOOP
    for (int k = 0; k < rows; k++) {
        double w = tile->q[0][k], x = tile->q[1][k], y = tile->q[2][k], z = tile->q[3][k];
        double a = tile->r[0][k], b = tile->r[1][k], c = tile->r[2][k], d = tile->r[3][k];
        tile->q[0][k] = w * a - (x * b + y * c + z * d);
        tile->q[1][k] = y * d - z * c + b * w + x * a;
        tile->q[2][k] = z * b - x * d + c * w + y * a;
        tile->q[3][k] = x * c - y * b + d * w + z * a;
        tile->good[k] = 1;
    }
}

IK2B_TILE_RUNNERS(multiply_tile_runner, run_multiply_tile, multiply_tile)

void
ik2b_multiply(const ik2b_extent *extent, ik2b_array *args, ik2b_kind kind)
{
    (void)kind;
    multiply_tile tile;
    ik2b_tiling tiling = {
        .arguments = IK2B_MULTIPLY_COUNT,
        .hinge = IK2B_NO_HINGE,
        .tile = &tile,
        .good = tile.good,
        .load = load_multiply_tile,
        .run = multiply_tile_runner(),
        .store = store_multiply_tile,
    };
    ik2b_run_tiles(extent, args, &tiling, true);
}
