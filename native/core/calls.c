/* SPDX-License-Identifier: MIT
 *
 * The functions by the kind of their results.
 */
#include "ik2b.h"

#define BOTH(function, parameters)                                                                 \
    void ik2b_##function##_f32 parameters;                                                         \
    void ik2b_##function##_f64 parameters;

BOTH(solve, (const ik2b_extent *, ik2b_array *, ik2b_bend))
BOTH(orient, (const ik2b_extent *, ik2b_array *, ik2b_roll))
BOTH(solve_pose, (const ik2b_extent *, ik2b_array *, ik2b_bend, ik2b_roll))
BOTH(pole_of, (const ik2b_extent *, ik2b_array *))
BOTH(hinge_of, (const ik2b_extent *, ik2b_array *))

void
ik2b_solve(const ik2b_extent *extent, ik2b_array *args, ik2b_kind kind, ik2b_bend bend)
{
    (kind == IK2B_F32 ? ik2b_solve_f32 : ik2b_solve_f64)(extent, args, bend);
}

void
ik2b_orient(const ik2b_extent *extent, ik2b_array *args, ik2b_kind kind, ik2b_roll roll)
{
    (kind == IK2B_F32 ? ik2b_orient_f32 : ik2b_orient_f64)(extent, args, roll);
}

void
ik2b_solve_pose(const ik2b_extent *extent, ik2b_array *args, ik2b_kind kind, ik2b_bend bend,
                ik2b_roll roll)
{
    (kind == IK2B_F32 ? ik2b_solve_pose_f32 : ik2b_solve_pose_f64)(extent, args, bend, roll);
}

void
ik2b_pole_of(const ik2b_extent *extent, ik2b_array *args, ik2b_kind kind)
{
    (kind == IK2B_F32 ? ik2b_pole_of_f32 : ik2b_pole_of_f64)(extent, args);
}

void
ik2b_hinge_of(const ik2b_extent *extent, ik2b_array *args, ik2b_kind kind)
{
    (kind == IK2B_F32 ? ik2b_hinge_of_f32 : ik2b_hinge_of_f64)(extent, args);
}
