/* SPDX-License-Identifier: MIT
 *
 * Products of quaternions.
 */
#include "rows.h"

void
ik2b_multiply(const ik2b_extent *extent, ik2b_array *args)
{
    ik2b_walk walk;
    if (!ik2b_walk_start(&walk, extent, args, IK2B_MULTIPLY_COUNT)) {
        return;
    }
    do {
        double q[4], r[4], product[4];
        load_vector(&args[IK2B_MULTIPLY_Q], 4, q);
        load_vector(&args[IK2B_MULTIPLY_R], 4, r);
        double p[4] = {q[1], q[2], q[3], q[0]}, s[4] = {r[1], r[2], r[3], r[0]};
        d4_mul(p, s, product);
        store_quaternion(&args[IK2B_MULTIPLY_OUT], product);
    } while (ik2b_walk_next(&walk));
}
