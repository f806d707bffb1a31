/* SPDX-License-Identifier: MIT
 *
 * Products of quaternions.
 */
#include "tile.h"

/* Sixteen rows, w, x, y, z. */
typedef struct {
    _Alignas(64) lane q[4];
    lane r[4];
    int rows;
} pairs;

static void
load_pairs(const ik2b_array *args, int last, void *tile)
{
    pairs *t = tile;
    ik2b_load(&args[IK2B_MULTIPLY_Q], last, t->rows, 4, t->q);
    ik2b_load(&args[IK2B_MULTIPLY_R], last, t->rows, 4, t->r);
}

static void
store_products(const ik2b_array *args, int last, void *tile)
{
    pairs *t = tile;
    ik2b_store(&args[IK2B_MULTIPLY_OUT], last, t->rows, 4, t->q);
}

/* q becomes the product. */
IK2B_IN_LINE void
multiply(pairs *t)
{
    IK2B_LANE_LOOP
    for (int k = 0; k < IK2B_LANES; k++) {
        double w = t->q[0][k], x = t->q[1][k], y = t->q[2][k], z = t->q[3][k];
        double a = t->r[0][k], b = t->r[1][k], c = t->r[2][k], d = t->r[3][k];
        t->q[0][k] = w * a - (x * b + y * c + z * d);
        t->q[1][k] = y * d - z * c + b * w + x * a;
        t->q[2][k] = z * b - x * d + c * w + y * a;
        t->q[3][k] = x * c - y * b + d * w + z * a;
    }
}

IK2B_BUILDS(multiplier, multiply, (pairs * t), (t))

static void
run_multiply(void *tile)
{
    multiplier()(tile);
}

void
ik2b_multiply(const ik2b_extent *extent, ik2b_array *args, ik2b_kind kind)
{
    pairs t;
    ik2b_tiling tiling = {IK2B_MULTIPLY_COUNT, &t,  &t.rows, load_pairs, run_multiply,
                          store_products,      NULL};
    (void)kind;
    ik2b_run_tiles(extent, args, &tiling);
}
