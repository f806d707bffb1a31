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
    static const ik2b_stage *const stages[] = {&multiply_stage, NULL};
    IK2B_RUN(MULTIPLY, stages, NULL);
}
