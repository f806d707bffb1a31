/* SPDX-License-Identifier: MIT
 *
 * Docstrings; the first line is the signature that inspect reads.
 */
#ifndef IK2B_DOCSTRINGS_H
#define IK2B_DOCSTRINGS_H

#include <Python.h>

/* clang-format off */
PyDoc_STRVAR(solve_doc,
"solve(root, mid, end, target, *, bend='carried', pole=None, pole_weight=1.0, twist=0.0, hinge=None,\n"
"      soften=1.0, weight=1.0, min_angle=0.0, max_angle=3.141592653589793, cone_axis=None,\n"
"      cone_angle=3.141592653589793, out=None)\n"
"--\n\n"
"Move the end of a two-bone chain to the target: Solution(mid, end, miss, status).\n\n"
"Points (..., 3) in one space, of any length unit. Leading dimensions broadcast, options included.");

PyDoc_STRVAR(orient_doc,
"orient(root_matrix, mid_matrix, end, new_mid, new_end, *, roll='pose', hinge=None, root_scale=None,\n"
"       mid_scale=None, out=None)\n"
"--\n\n"
"Corrections that turn the present bones into new positions: Rotations(root, mid).\n\n"
"Each is multiplied on the right of its joint's present local rotation.");

PyDoc_STRVAR(solve_pose_doc,
"solve_pose(root_matrix, mid_matrix, end, target, *, bend='carried', roll='pose', pole=None,\n"
"           pole_weight=1.0, twist=0.0, hinge=None, soften=1.0, weight=1.0, min_angle=0.0,\n"
"           max_angle=3.141592653589793, cone_axis=None, cone_angle=3.141592653589793,\n"
"           root_scale=None, mid_scale=None, end_matrix=None, end_goal=None, out=None)\n"
"--\n\n"
"solve and orient in one pass, in the root's own frame:\n"
"PoseSolution(root, mid, end, position, miss, status).\n\n"
"Target, pole and cone axis are in the space of the matrices, the hinge in mid-joint space.\n"
"With end_matrix, end is the end joint's correction: it keeps its orientation or takes that of\n"
"end_goal, the rotation nearest to it; where end_matrix is mirrored, the negatives of both count.");

PyDoc_STRVAR(pole_of_doc,
"pole_of(root, mid, end, *, hinge=None, out=None)\n"
"--\n\n"
"The pole that keeps the pose: unit directions from the line root-end to the mid joint (..., 3).\n\n"
"A straight limb is told by its hinge; without one its pole is zero.");

PyDoc_STRVAR(hinge_of_doc,
"hinge_of(root_matrix, mid_matrix, end, *, out=None)\n"
"--\n\n"
"The hinge of a bent pose: unit cross(root - mid, end - mid) in mid-joint space (..., 3).\n\n"
"Zero for a straight limb.");

PyDoc_STRVAR(multiply_doc,
"multiply(q, r, *, out=None)\n"
"--\n\n"
"The quaternion product q r (..., 4), w first: the rotation r followed by q.");

PyDoc_STRVAR(aggregate_doc,
"aggregate(parents, translation, rotation, scale=None, *, rest=None, base=None, out=None)\n"
"--\n\n"
"Aggregate transforms (..., joints, 4, 4) of a skeleton from local ones, parents before children:\n"
"A[j] = A[parents[j]] * rest[j] * T(translation) * R(rotation) * S(scale), with base above the roots.");
/* clang-format on */

#endif
