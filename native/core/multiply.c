/* SPDX-License-Identifier: MIT
 *
 * Products of quaternions, w, x, y, z.
 */
#include "solver.h"

IK2B_IN_LINE bool
multiply(limb *t)
{
    const double *q = t->root_turn, *r = t->mid_turn;
    double w = q[0], x = q[1], y = q[2], z = q[3], a = r[0], b = r[1], c = r[2], d = r[3];
    t->end_turn[0] = w * a - (x * b + y * c + z * d);
    t->end_turn[1] = y * d - z * c + b * w + x * a;
    t->end_turn[2] = z * b - x * d + c * w + y * a;
    t->end_turn[3] = x * c - y * b + d * w + z * a;
    return true;
}

IK2B_STAGE(multiply, IK2B_RESULTS, multiply(t), IK2B_ALWAYS)

void
ik2b_multiply(const ik2b_extent *extent, ik2b_array *args, const ik2b_call *call)
{
    static const ik2b_move moves[] = {
        {IK2B_MULTIPLY_Q, 4, IK2B_AT(root_turn)},
        {IK2B_MULTIPLY_R, 4, IK2B_AT(mid_turn)},
        {IK2B_MULTIPLY_OUT, 4, IK2B_AT(end_turn)},
    };
    static const ik2b_stage *const stages[] = {&multiply_stage, NULL};
    static const ik2b_solver solver = {moves, 2, 3, NULL, 0, stages, NULL};
    ik2b_run_solver(&solver, extent, args, call);
}
