/* SPDX-License-Identifier: MIT
 *
 * The core of ik2bone: two-bone inverse kinematics over strided arrays, without Python.
 *
 * SPACES AND UNITS. The points, directions and matrices of one row are in one space and one unit of
 * length, both of the caller's choice; only the hinge may be in mid-joint space (see HINGE). Every
 * tolerance is relative to the reach, which is the upper plus the lower bone length of the row.
 * Angles are in radians. Quaternions are w, x, y, z. Matrices are 4 x 4 and map column vectors: the
 * elements [i][3] are the translation. The last row of a matrix is not used; ik2b_aggregate ignores
 * it, the other functions only check that it is finite. Mid-joint space is the space from which the
 * mid joint's aggregate transform maps to the space of the matrices. ik2b_solve_pose solves in the
 * root's frame, which is the root's aggregate transform without the root's own scale.
 *
 * OWNERSHIP. The caller owns all memory. Inputs are only read. The core reads a whole row before it
 * writes that row, so an output may be exactly the memory of an input; the caller must refuse any
 * other overlap. The functions allocate nothing, keep nothing between calls and never fail: a limb
 * with bad numbers keeps its pose and gets the status IK2B_INVALID.
 *
 * WHAT IS SOLVED. Let a be the length of the upper bone, b that of the lower bone and d the
 * distance of the end from the root. The mid joint then lies (d^2 + a^2 - b^2) / 2d from the root
 * along the line to the end. Its distance from that line is the height of the triangle with the
 * sides a, b and d (law of cosines; limb.h has it in Kahan's factored form). These are the stages
 * in their order, with the files that hold their formulas:
 *   frames.h  the limb seen from its root; if matrices are given, in the root's frame
 *   limb.h    the limb's lengths, line and bend
 *   goal.h    the least and greatest legal d by the angle limits (law of cosines), both widened to
 *             the present d; softening, a parabola from soften * greatest on; clamping; weight
 *   bend.h    where the mid joint lies on its circle: carried or nearest bend, pole, twist
 *   cone.h    the legal arc of the circle, or the legal upper bone with the least miss
 *   turn.c    the turns of the two bones: shortest arcs, and the roll about the hinge
 *   end.c     the end joint's turn, between the rotations that are nearest to matrices (polar.h)
 * place.c, points.c, transforms.c, turn.c and end.c list the stages of each function. A stage
 * processes sixteen rows at once (limbs.h). solver.c brings the rows to the stages, options.c
 * prepares the options.
 */
#ifndef IK2B_H
#define IK2B_H

#include <stddef.h>

/* The most leading dimensions; the caller must refuse more. */
#define IK2B_MAX_DIMS 32

typedef enum { IK2B_F32, IK2B_F64, IK2B_U8, IK2B_I64, IK2B_KINDS } ik2b_kind;

/* One argument of all rows. Strides are in bytes and may be negative; data need not be aligned. */
typedef struct {
    char *data;                      /* the first row; NULL: the argument is not given */
    ptrdiff_t stride[IK2B_MAX_DIMS]; /* from row to row, by dimension; 0 where broadcast */
    ptrdiff_t inner[2];              /* between elements of a vector; between rows and columns */
    ik2b_kind kind;
} ik2b_array;

/* The leading dimensions to which all arguments were broadcast. A count of 0 means a single row. */
typedef struct {
    int count;
    ptrdiff_t shape[IK2B_MAX_DIMS];
} ik2b_extent;

/* Status of a row: a sum of flags. Each of the first four says that its stage moved the end by more
 * than 1e-6 of the reach (1e-12 in double precision). */
enum {
    IK2B_TOO_FAR = 1,   /* the target is farther away than both bones are long */
    IK2B_TOO_CLOSE = 2, /* the target is nearer than the difference of their lengths */
    IK2B_SOFTENED = 4,  /* softening holds the end back */
    IK2B_LIMITED = 8,   /* an angle limit or the cone keeps the end off the target */
    IK2B_SINGULAR = 16, /* the pose rests on an arbitrary choice; the target may be met */
    IK2B_INVALID = 32,  /* the row has bad numbers; no other flag is set */
};

/* The bend before pole and twist. IK2B_CARRIED: the present bend, carried along by the shortest
 * turn of root-to-end onto root-to-target. IK2B_NEAREST: towards the point of the circle that is
 * nearest to the present mid joint. */
typedef enum { IK2B_CARRIED, IK2B_NEAREST } ik2b_bend;

/* The bones' roll. IK2B_ROLL_POSE: that of the pose, turned by shortest arcs. IK2B_ROLL_HINGE: the
 * roll with which the mid joint bends about its hinge. */
typedef enum { IK2B_ROLL_POSE, IK2B_ROLL_HINGE } ik2b_roll;

/* What is the same for all rows of a call. Each function reads only the members that it needs. */
typedef struct {
    ik2b_kind kind;                   /* of the results */
    ik2b_bend bend;                   /* for ik2b_solve and ik2b_solve_pose */
    ik2b_roll roll;                   /* for ik2b_orient and ik2b_solve_pose */
    const struct ik2b_joints *joints; /* for ik2b_aggregate */
    const struct ik2b_mesh *mesh;     /* for the functions of mesh.h */
    struct ik2b_crossings *found;     /* for ik2b_mesh_crossings */
} ik2b_call;

typedef void ik2b_function(const ik2b_extent *extent, ik2b_array *args, const ik2b_call *call);

/* All options: their meaning, and lists of them in the order in which the functions take them. A
 * number that is not given has its default. A direction or matrix that is not given is all zero,
 * which means none; only the scales default to 1, 1, 1. Numbers out of range are clamped.
 *
 * OPTION(NAME, name, KIND, default); KIND is NUMBER, DIRECTION (3) or MATRIX (4 x 4).
 *
 * POLE         direction to which the mid joint should point, seen from the line root-target; zero:
 *              none
 * POLE_WEIGHT  [0, 1], share of the angle to the pole by which the mid joint turns
 * TWIST        radians, right-handed about root-to-target
 * HINGE        cross(root - mid, end - mid) of a limb bent on its natural side; in the space of the
 *              points in solve and pole_of, in mid-joint space elsewhere; zero: none
 * SOFTEN       (0, 1], 1: off; from this share of the greatest legal distance on, the end falls
 *              behind the target
 * WEIGHT       [0, 1], share of the straight way from the present end to the goal; it also weakens
 *              pole, twist, the roll about the hinge and the turn to the end goal
 * MIN_ANGLE    least inner angle at the mid joint, [0, pi]
 * MAX_ANGLE    greatest inner angle, [0, pi]; it wins if the minimum exceeds it
 * CONE_AXIS    direction from which the upper bone differs by CONE_ANGLE at most; zero: none
 * CONE_ANGLE   [0, pi]
 * ROOT_SCALE   the root joint's own scale; a zero in it makes the row invalid
 * MID_SCALE    the mid joint's own scale; likewise
 * END_MATRIX   the end joint's aggregate transform; if it is given, the joint's correction is an
 *              output, too
 * END_GOAL     matrix whose nearest rotation the end joint takes; if END_MATRIX is mirrored, the
 *              rotation nearest to the matrix's negative; default: the present orientation */
#define IK2B_PI 3.14159265358979323846
#define IK2B_OPTIONS_OF_POLE_OF(OPTION) OPTION(HINGE, hinge, DIRECTION, 0.0)
#define IK2B_OPTIONS_OF_SOLVE(OPTION)                                                              \
    OPTION(POLE, pole, DIRECTION, 0.0)                                                             \
    OPTION(POLE_WEIGHT, pole_weight, NUMBER, 1.0)                                                  \
    OPTION(TWIST, twist, NUMBER, 0.0)                                                              \
    IK2B_OPTIONS_OF_POLE_OF(OPTION)                                                                \
    OPTION(SOFTEN, soften, NUMBER, 1.0)                                                            \
    OPTION(WEIGHT, weight, NUMBER, 1.0)                                                            \
    OPTION(MIN_ANGLE, min_angle, NUMBER, 0.0)                                                      \
    OPTION(MAX_ANGLE, max_angle, NUMBER, IK2B_PI)                                                  \
    OPTION(CONE_AXIS, cone_axis, DIRECTION, 0.0)                                                   \
    OPTION(CONE_ANGLE, cone_angle, NUMBER, IK2B_PI)
#define IK2B_SCALES(OPTION)                                                                        \
    OPTION(ROOT_SCALE, root_scale, DIRECTION, 1.0)                                                 \
    OPTION(MID_SCALE, mid_scale, DIRECTION, 1.0)
#define IK2B_OPTIONS_OF_ORIENT(OPTION) IK2B_OPTIONS_OF_POLE_OF(OPTION) IK2B_SCALES(OPTION)
#define IK2B_OPTIONS_OF_POSE(OPTION) /* all */                                                     \
    IK2B_OPTIONS_OF_SOLVE(OPTION)                                                                  \
    IK2B_SCALES(OPTION)                                                                            \
    OPTION(END_MATRIX, end_matrix, MATRIX, 0.0)                                                    \
    OPTION(END_GOAL, end_goal, MATRIX, 0.0)

/* The arguments of each function are its inputs, options and outputs, in this order. Inputs and
 * outputs: ARGUMENT(NAME, name, KIND, place), where `place` is the number of limbs.h that an
 * argument of a limb goes to or comes from. Outputs are of the call's kind, but a STATUS is of
 * IK2B_U8 and a TRIANGLE of IK2B_I64. */
#define IK2B_OF_ALL(NAME, name, KIND, more) IK2B_##NAME,
#define IK2B_OF_SOLVE(NAME, name, KIND, more) IK2B_SOLVE_##NAME,
#define IK2B_OF_ORIENT(NAME, name, KIND, more) IK2B_ORIENT_##NAME,
#define IK2B_OF_POSE(NAME, name, KIND, more) IK2B_POSE_##NAME,
#define IK2B_OF_POLE_OF(NAME, name, KIND, more) IK2B_POLE_OF_##NAME,
#define IK2B_ARGUMENTS(FUNCTION)                                                                   \
    enum {                                                                                         \
        IK2B_INPUTS_OF_##FUNCTION(IK2B_OF_ALL) IK2B_OPTIONS_OF_##FUNCTION(IK2B_OF_##FUNCTION)      \
            IK2B_OUTPUTS_OF_##FUNCTION(IK2B_OF_ALL) IK2B_##FUNCTION##_COUNT                        \
    }

enum { IK2B_OPTIONS_OF_POSE(IK2B_OF_ALL) IK2B_OPTIONS };

/* Elements of a row by KIND. */
enum {
    IK2B_NUMBER = 1,
    IK2B_STATUS = 1,
    IK2B_POINT = 3,
    IK2B_DIRECTION = 3,
    IK2B_QUATERNION = 4,
    IK2B_MATRIX = 16
};

#define IK2B_INPUTS_OF_SOLVE(ARGUMENT)                                                             \
    ARGUMENT(SOLVE_ROOT, root, POINT, root_at)                                                     \
    ARGUMENT(SOLVE_MID, mid, POINT, mid_at)                                                        \
    ARGUMENT(SOLVE_END, end, POINT, end_at)                                                        \
    ARGUMENT(SOLVE_TARGET, target, POINT, target)
#define IK2B_OUTPUTS_OF_SOLVE(ARGUMENT)                                                            \
    ARGUMENT(SOLVE_OUT_MID, mid, POINT, out_mid)                                                   \
    ARGUMENT(SOLVE_OUT_END, end, POINT, position)                                                  \
    ARGUMENT(SOLVE_OUT_MISS, miss, NUMBER, miss)                                                   \
    ARGUMENT(SOLVE_OUT_STATUS, status, STATUS, status)
IK2B_ARGUMENTS(SOLVE);
ik2b_function ik2b_solve;

/* The corrections of ik2b_orient: the upper bone turns to point from the root to the new mid joint,
 * the lower bone to point from the new mid joint to the new end. With S the joint's own scale, the
 * correction of a joint takes its aggregate transform M to M * S^-1 * R(correction) * S. */
#define IK2B_INPUTS_OF_ORIENT(ARGUMENT)                                                            \
    ARGUMENT(ORIENT_ROOT, root_matrix, MATRIX, root_matrix)                                        \
    ARGUMENT(ORIENT_MID, mid_matrix, MATRIX, mid_matrix)                                           \
    ARGUMENT(ORIENT_END, end, POINT, end_at)                                                       \
    ARGUMENT(ORIENT_NEW_MID, new_mid, POINT, mid_at)                                               \
    ARGUMENT(ORIENT_NEW_END, new_end, POINT, target)
#define IK2B_OUTPUTS_OF_ORIENT(ARGUMENT)                                                           \
    ARGUMENT(ORIENT_OUT_ROOT, root, QUATERNION, root_turn)                                         \
    ARGUMENT(ORIENT_OUT_MID, mid, QUATERNION, mid_turn)
IK2B_ARGUMENTS(ORIENT);
ik2b_function ik2b_orient;

/* Without END_MATRIX, the end joint's correction must be missing. */
#define IK2B_INPUTS_OF_POSE(ARGUMENT)                                                              \
    ARGUMENT(POSE_ROOT, root_matrix, MATRIX, root_matrix)                                          \
    ARGUMENT(POSE_MID, mid_matrix, MATRIX, mid_matrix)                                             \
    ARGUMENT(POSE_END, end, POINT, end_at)                                                         \
    ARGUMENT(POSE_TARGET, target, POINT, target)
#define IK2B_OUTPUTS_OF_POSE(ARGUMENT)                                                             \
    ARGUMENT(POSE_OUT_ROOT, root, QUATERNION, root_turn)                                           \
    ARGUMENT(POSE_OUT_MID, mid, QUATERNION, mid_turn)                                              \
    ARGUMENT(POSE_OUT_END, end, QUATERNION, end_turn)                                              \
    ARGUMENT(POSE_OUT_POSITION, position, POINT, position)                                         \
    ARGUMENT(POSE_OUT_MISS, miss, NUMBER, miss)                                                    \
    ARGUMENT(POSE_OUT_STATUS, status, STATUS, status)
IK2B_ARGUMENTS(POSE);
ik2b_function ik2b_solve_pose;

/* The most arguments of any function. */
#define IK2B_MAX_ARGUMENTS IK2B_POSE_COUNT
_Static_assert((int)IK2B_SOLVE_COUNT <= (int)IK2B_MAX_ARGUMENTS &&
                   (int)IK2B_ORIENT_COUNT <= (int)IK2B_MAX_ARGUMENTS,
               "a function takes more arguments than there is room for");

/* A hinge in the space of the points; unit poles (zero: none). */
#define IK2B_INPUTS_OF_POLE_OF(ARGUMENT)                                                           \
    ARGUMENT(POLE_OF_ROOT, root, POINT, root_at)                                                   \
    ARGUMENT(POLE_OF_MID, mid, POINT, mid_at)                                                      \
    ARGUMENT(POLE_OF_END, end, POINT, end_at)
#define IK2B_OUTPUTS_OF_POLE_OF(ARGUMENT) ARGUMENT(POLE_OF_OUT, pole, DIRECTION, told)
IK2B_ARGUMENTS(POLE_OF);
ik2b_function ik2b_pole_of;

/* Unit hinges in mid-joint space (zero: the limb is straight). */
#define IK2B_INPUTS_OF_HINGE_OF(ARGUMENT)                                                          \
    ARGUMENT(HINGE_OF_ROOT, root_matrix, MATRIX, root_matrix)                                      \
    ARGUMENT(HINGE_OF_MID, mid_matrix, MATRIX, mid_matrix)                                         \
    ARGUMENT(HINGE_OF_END, end, POINT, end_at)
#define IK2B_OPTIONS_OF_HINGE_OF(OPTION)
#define IK2B_OUTPUTS_OF_HINGE_OF(ARGUMENT) ARGUMENT(HINGE_OF_OUT, hinge, DIRECTION, told)
IK2B_ARGUMENTS(HINGE_OF);
ik2b_function ik2b_hinge_of;

/* The quaternion product q r, computed in double precision whatever the kind. */
#define IK2B_INPUTS_OF_MULTIPLY(ARGUMENT)                                                          \
    ARGUMENT(MULTIPLY_Q, q, QUATERNION, root_turn)                                                 \
    ARGUMENT(MULTIPLY_R, r, QUATERNION, mid_turn)
#define IK2B_OPTIONS_OF_MULTIPLY(OPTION)
#define IK2B_OUTPUTS_OF_MULTIPLY(ARGUMENT) ARGUMENT(MULTIPLY_OUT, product, QUATERNION, end_turn)
IK2B_ARGUMENTS(MULTIPLY);
ik2b_function ik2b_multiply;

/* Arguments of ik2b_aggregate, which computes the aggregate transforms of skeletons. A row is one
 * whole skeleton. The joints are one more dimension, whose stride in bytes is ik2b_joints.stride
 * for each argument. parents[j] is less than j, or -1 for a joint whose parent is the base. */
#define IK2B_INPUTS_OF_AGGREGATE(ARGUMENT)                                                         \
    ARGUMENT(AGGREGATE_TRANSLATION, translation, JOINT_POINT, )                                    \
    ARGUMENT(AGGREGATE_ROTATION, rotation, JOINT_QUATERNION, ) /* any length; zero: identity */    \
    ARGUMENT(AGGREGATE_SCALE, scale, JOINT_POINT, )            /* default one */
#define IK2B_OPTIONS_OF_AGGREGATE(ARGUMENT)                                                        \
    ARGUMENT(REST, rest, JOINT_MATRIX, ) /* default identity */                                    \
    ARGUMENT(BASE, base, MATRIX, )       /* one for each row, default identity */
#define IK2B_OUTPUTS_OF_AGGREGATE(ARGUMENT) ARGUMENT(AGGREGATE_OUT, matrices, JOINT_MATRIX, )
#define IK2B_OF_AGGREGATE(NAME, name, KIND, more) IK2B_AGGREGATE_##NAME,
IK2B_ARGUMENTS(AGGREGATE);
typedef struct ik2b_joints {
    ptrdiff_t count;
    const ptrdiff_t *parents;
    ptrdiff_t stride[IK2B_AGGREGATE_COUNT];
    double *scratch; /* the caller's, as many as ik2b_aggregate_scratch returns; overwritten */
} ik2b_joints;
ptrdiff_t ik2b_aggregate_scratch(const ik2b_extent *extent, ptrdiff_t joints);
ik2b_function ik2b_aggregate;

#endif
