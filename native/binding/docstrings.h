/* SPDX-License-Identifier: MIT
 *
 * The docstrings. The first line of each is the signature that inspect reads.
 */
#ifndef IK2B_DOCSTRINGS_H
#define IK2B_DOCSTRINGS_H

#include <Python.h>

#include "ik2b.h"

/* An option as it stands in a signature. */
#define AS_TEXT(number) #number
#define DEFAULT_NUMBER(missing) AS_TEXT(missing)
#define DEFAULT_DIRECTION(missing) "None"
#define DEFAULT_MATRIX(missing) "None"
#define SIGNED(NAME, name, KIND, missing) ", " #name "=" DEFAULT_##KIND(missing)

/* clang-format off */
PyDoc_STRVAR(solve_doc,
"solve(root, mid, end, target, *, bend='carried'" IK2B_OPTIONS_OF_SOLVE(SIGNED) ", out=None)\n"
"--\n"
"\n"
"Move the end of a two-bone limb to the target: Solution(mid, end, miss, status).\n"
"\n"
"Root, mid, end (hip, knee, ankle as they are now) and target are points (..., 3) in any one space and\n"
"unit of length. Both bones keep their lengths. A target within reach is met; one too far is pointed at\n"
"with straight bones; one too close with the longer bone towards it and the other folded back. Leading\n"
"dimensions broadcast as in numpy, those of options included.\n"
"\n"
"These options decide where the mid joint lies on its circle round the line from root to target:\n"
"\n"
"bend         'carried': the present bend, taken along by the shortest turn of root-to-end onto\n"
"             root-to-target. 'nearest': the place nearest to the present mid joint; with it, a nearly\n"
"             straight knee turns round when the target moves past the knee.\n"
"hinge        (..., 3) cross(root - mid, end - mid) as it is when the limb is bent on its natural side, in\n"
"             the space of the points. It gives the bend of a straight limb (mid joint within 1e-5 of the\n"
"             reach from the line, 1e-12 in float64). Without a hinge, such a limb gets an arbitrary bend\n"
"             and SINGULAR.\n"
"pole         (..., 3) direction, seen from the root, to which the mid joint turns the shorter way, by the\n"
"             share pole_weight in [0, 1] of the angle.\n"
"twist        radians by which the mid joint turns further, right-handed about root-to-target.\n"
"\n"
"These options decide how far the end goes:\n"
"\n"
"soften       in (0, 1], 1 is off. From this share of the greatest legal distance on, the end falls behind\n"
"             the target: its distance follows a parabola, which starts with slope 1 and reaches the greatest\n"
"             legal distance, with slope 0, when the target is 2 - soften times as far as that. Legs then\n"
"             stretch without a snap.\n"
"min_angle,   the inner angle at the mid joint, radians, pi is straight. The end stops on the line to the\n"
"max_angle    target. Where the minimum exceeds the maximum, the maximum counts.\n"
"cone_axis,   the upper bone stays within cone_angle radians of this direction (..., 3). The mid joint turns\n"
"cone_angle   on its circle to the nearest place inside, and the target is still met; where all of the circle\n"
"             is outside, the upper bone goes where the end misses least.\n"
"weight       in [0, 1]: part of the straight way from the present end; it also weakens pole_weight and\n"
"             twist. 0 gives the pose back, bit for bit.\n"
"\n"
"Limits are widened, row by row, to the present pose, so that switching them on moves nothing. Numbers out\n"
"of range are clamped; zero poles, hinges and axes are none.\n"
"\n"
"miss (...) is the distance from the returned end to the target, status (...) an ik2bone.Status a row. A row\n"
"with NaN or infinity or a bone without length gives its own mid and end, miss NaN and INVALID.\n"
"\n"
"Float32 results if all arrays among the first four are float32, else float64; lists and numbers do not\n"
"decide. out is a tuple of writable buffers of the results' shapes and types, or the Solution of an earlier\n"
"call; an output may be exactly an input, any other overlap is refused. Wrong kinds are TypeErrors, wrong\n"
"shapes ValueErrors, read-only outputs BufferErrors, and then nothing has been written.");

PyDoc_STRVAR(orient_doc,
"orient(root_matrix, mid_matrix, end, new_mid, new_end, *, roll='pose'"
IK2B_OPTIONS_OF_ORIENT(SIGNED) ", out=None)\n"
"--\n"
"\n"
"Corrections that turn the present bones into new ones: Rotations(root, mid).\n"
"\n"
"root_matrix and mid_matrix (..., 4, 4) are the joints' present aggregate transforms, any invertible affine\n"
"matrices, mirrored ones included, end (..., 3) is the end joint, all in one space. The upper bone turns to\n"
"point from root to new_mid, the lower one from new_mid to new_end (..., 3); lengths do not count, since\n"
"bones keep theirs in the root's frame.\n"
"\n"
"Corrections are unit quaternions (..., 4), w, x, y, z, to be multiplied on the right of the joints' present\n"
"local rotations: the new aggregate is M * S^-1 * R(correction) * S, with S the joint's own scale.\n"
"\n"
"roll         'pose': each joint turns by the shortest arc, and the mid joint goes along with the root.\n"
"             'hinge' (needs hinge): the same joint positions, but the root also rolls until the mid joint\n"
"             bends about its hinge, and the mid joint's shortest arc does the rest. New positions on one\n"
"             line have no hinge and leave the roll as it is.\n"
"hinge        (..., 3) in mid-joint space: cross(root - mid, end - mid) of a limb bent on its natural side.\n"
"             Bones that turn by half a turn do so about the hinge.\n"
"root_scale,  (..., 3) the joints' own scales, which stand to the right of their rotations in the matrices;\n"
"mid_scale    default one. Only uneven ones make a difference.\n"
"\n"
"Rows with NaN or infinity, a singular matrix or a bone without length get the identity. For float types,\n"
"out and errors see solve.");

PyDoc_STRVAR(solve_pose_doc,
"solve_pose(root_matrix, mid_matrix, end, target, *, bend='carried', roll='pose'"
IK2B_OPTIONS_OF_POSE(SIGNED) ", out=None)\n"
"--\n"
"\n"
"solve and orient in one pass: PoseSolution(root, mid, end, position, miss, status).\n"
"\n"
"Matrices, scales and roll are those of orient, all other options those of solve. The limb is solved in the\n"
"root's own frame (root_matrix without the root's scale): reach, angles, cone and twist are measured there,\n"
"so that ancestors with uneven scales, mirrors or shear are right. Target, pole and cone axis are given in the\n"
"space of the matrices, the hinge in mid-joint space.\n"
"\n"
"end_matrix   (..., 4, 4) the end joint's aggregate transform. If it is given, end is the correction by which\n"
"             the end joint keeps its present orientation; otherwise end is None.\n"
"end_goal     (..., 4, 4) matrix whose orientation the end joint takes instead, by the share weight of the\n"
"             way. The orientation of a matrix that is not rigid is its nearest rotation. If end_matrix is\n"
"             mirrored, the negatives of both matrices count.\n"
"weight       weakens the roll about the hinge, too.\n"
"\n"
"position (..., 3) is where the end joint comes to lie, miss (...) its distance from the target. Rows that\n"
"cannot be solved get the identity, their own end as position, miss NaN and INVALID.");

PyDoc_STRVAR(pole_of_doc,
"pole_of(root, mid, end, *" IK2B_OPTIONS_OF_POLE_OF(SIGNED) ", out=None)\n"
"--\n"
"\n"
"The pole that keeps the pose: unit directions (..., 3) from the line root-end to the mid joint.\n"
"\n"
"Points (..., 3) in any one space; solve(root, mid, end, end, pole=pole_of(root, mid, end)) gives the pose\n"
"back. The hinge (..., 3), in the space of the points, gives the pole of a straight limb. The pole is zero for\n"
"a straight limb without a hinge, and for rows with NaN, infinity or a bone without length.");

PyDoc_STRVAR(hinge_of_doc,
"hinge_of(root_matrix, mid_matrix, end, *, out=None)\n"
"--\n"
"\n"
"The hinge of a bent pose: unit cross(root - mid, end - mid) in mid-joint space (..., 3).\n"
"\n"
"root_matrix and mid_matrix (..., 4, 4) are aggregate transforms, end (..., 3) is the end joint, in one space. A\n"
"positive turn about the hinge opens the limb. The hinge is zero for a straight limb, and for rows that solve_pose\n"
"would call INVALID.");

PyDoc_STRVAR(multiply_doc,
"multiply(q, r, *, out=None)\n"
"--\n"
"\n"
"The quaternion product q r (..., 4), w first: the rotation r followed by q.\n"
"\n"
"multiply(rotation, correction) corrects a joint's local rotation. Quaternions (..., 4) of any length.");

PyDoc_STRVAR(aggregate_doc,
"aggregate(parents, translation, rotation, scale=None, *, rest=None, base=None, out=None)\n"
"--\n"
"\n"
"Aggregate transforms (..., joints, 4, 4) of a skeleton from local ones, parents before children:\n"
"A[j] = A[parents[j]] * rest[j] * T(translation) * R(rotation) * S(scale), with base above the roots.\n"
"\n"
"parents      (joints) integers: the index of each joint's parent, less than the joint's own, or -1 for roots.\n"
"translation  (..., joints, 3)\n"
"rotation     (..., joints, 4) quaternions w, x, y, z of any length; zero is the identity.\n"
"scale        (..., joints, 3), default one.\n"
"rest         (..., joints, 4, 4) the transforms to the left of the local ones, default identity.\n"
"base         (..., 4, 4) the parent of the roots, default identity.");
/* Of the package's own functions. */

PyDoc_STRVAR(build_mesh_doc,
"build_mesh($module, vertices, triangles, /)\n--\n\nA mesh, as a capsule, of contiguous float64 (V, 3) and integers (T, 3).");

PyDoc_STRVAR(measure_mesh_doc,
"measure_mesh($module, mesh, /)\n--\n\nLeast and greatest corner and the triangles' normals, as bytes of float64 (2 + T, 3).");

PyDoc_STRVAR(cross_mesh_doc, "cross_mesh($module, mesh, /, points, direction, *, into=None)\n--\n\nThe records of crossed as bytes, and the kind of the distances of Mesh.crossings.");

PyDoc_STRVAR(cast_at_mesh_doc,
"cast_at_mesh($module, mesh, /, origins, directions, *, out=None)\n--\n\nMesh.cast.");

PyDoc_STRVAR(nearest_of_mesh_doc,
"nearest_of_mesh($module, mesh, /, points, *, out=None)\n--\n\nMesh.nearest.");

PyDoc_STRVAR(smooth_within_doc,
"smooth_within($module, rows, stiffness, /)\n--\n\n"
"Overwrite the first of rows (4, C, F), wish, weight, floor and ceiling, by the curves that minimise the weighted\n"
"squares of their distance from the wish, plus stiffness times the squares of their second differences, between floor\n"
"and ceiling. Contiguous float64; floor may hold -inf, ceiling inf. ArithmeticError where there is no optimum.");

PyDoc_STRVAR(smooth_path_doc,
"smooth_path($module, rows, stiffness, /)\n--\n\n"
"Overwrite the first three columns of rows (F, 15 + 4 P), see ik2b_smooth_path, by the path. Contiguous float64.\n"
"ArithmeticError where there is no optimum.");

PyDoc_STRVAR(fill_dips_doc,
"fill_dips($module, values, most, /)\n--\n\n"
"Raise the values (F,), contiguous float64, to the lowest curve over them whose second differences are at most `most`.");

/* clang-format on */

#endif
