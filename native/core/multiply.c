/* SPDX-License-Identifier: MIT
 *
 * Products of quaternions.
 */
#include "tile.h"

/* Sixteen rows, w, x, y, z. */
typedef struct {
    _Alignas(64) lane q[4];
    lane r[4];
} pairs;

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
run_multiply(void *tile, int rows)
{
    (void)rows;
    multiplier()(tile);
}

void
ik2b_multiply(const ik2b_extent *extent, ik2b_array *args, const ik2b_call *call)
{
    static const ik2b_move moves[] = {
        {IK2B_MULTIPLY_Q, 4, 0}, {IK2B_MULTIPLY_R, 4, 4}, {IK2B_MULTIPLY_OUT, 4, 0}};
    pairs t;
    ik2b_tiling tiling = {
        .arguments = IK2B_MULTIPLY_COUNT,
        .inputs = 2,
        .moves = 3,
        .move = moves,
        .tile = t.q,
        .context = &t,
        .run = run_multiply,
    };
    (void)call;
    ik2b_run_tiles(extent, args, &tiling);
}
