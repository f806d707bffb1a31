/* SPDX-License-Identifier: MIT
 *
 * The core of ik2bone: two-bone inverse kinematics over strided arrays, without Python.
 *
 * SPACES AND UNITS. Points, directions and matrices of one row are in one space of the caller's
 * choice and in one unit of length of the caller's choice; every tolerance is relative to the
 * reach, the upper plus the lower length of that row. Angles are radians. Quaternions are w, x, y,
 * z. Matrices have four rows and columns and map column vectors: element [i][3] is translation; the
 * last row is checked for NaN, else ignored. "Mid-joint space" is what the mid joint's aggregate
 * transform maps to the outer space. ik2b_solve_pose solves in the root's frame: its aggregate
 * without its own scale.
 *
 * OWNERSHIP. The caller owns all memory. Inputs are only read. A row is read whole before it is
 * written, so an output may be exactly the same memory as an input; any other overlap is the
 * caller's to refuse. Nothing is allocated, nothing is kept between calls, and no function fails: a
 * row of bad numbers gives its own pose back and IK2B_INVALID.
 *
 * WHAT IS SOLVED. With upper bone a, lower bone b and the end at distance d from the root, the mid
 * joint lies (d^2 + a^2 - b^2) / 2d along the line to the end and the height of that triangle off
 * it (law of cosines; limb.h has it in Kahan's factored form). The stages, in their order, and
 * where their formulas are:
 *   frames.h  the limb seen from its root, in the root's frame where there are matrices
 *   limb.h    its lengths, line and bend
 *   goal.h    the least and greatest legal d by the angle limits (law of cosines), both widened to
 *             the present one; softening, a parabola from soften * greatest on; clamping; weight
 *   bend.h    where on its circle the mid joint lies: carried, nearest, pole, twist
 *   cone.h    the legal arc of the circle, or the legal upper bone that misses least
 *   turn.c    the two bones' turns: shortest arcs, and the roll about the hinge
 *   end.c     the end joint's rotation nearest to a matrix
 * place.c, points.c and transforms.c have their order and the functions below. Sixteen rows go
 * through a stage at once, see limbs.h; solver.c has how rows come to them, options.c options.
 */
#ifndef IK2B_H
#define IK2B_H

#include <stddef.h>

/* Leading dimensions; more are the caller's to refuse. */
#define IK2B_MAX_DIMS 32

typedef enum { IK2B_F32, IK2B_F64, IK2B_U8, IK2B_I64, IK2B_KINDS } ik2b_kind;

/* One argument over all rows. Strides are bytes, of any sign; data need not be aligned. */
typedef struct {
    char *data;                      /* first row; NULL: the argument is not given */
    ptrdiff_t stride[IK2B_MAX_DIMS]; /* from row to row, a dimension each; 0 where broadcast */
    ptrdiff_t inner[2];              /* from element to element of a vector, or row and column */
    ik2b_kind kind;
} ik2b_array;

/* The leading dimensions that all arguments were broadcast to; count may be 0: a single row. */
typedef struct {
    int count;
    ptrdiff_t shape[IK2B_MAX_DIMS];
} ik2b_extent;

/* Status of a row. The first four say that this stage moved the end, by more than 1e-6 of the reach
 * (1e-12 in double precision). */
enum {
    IK2B_TOO_FAR = 1,   /* the target is farther than both bones are long */
    IK2B_TOO_CLOSE = 2, /* or nearer than the difference of their lengths */
    IK2B_SOFTENED = 4,  /* softening holds the end back */
    IK2B_LIMITED = 8,   /* an angle limit stands between the bones and the target, or the cone */
    IK2B_SINGULAR = 16, /* something arbitrary decided; the target may be reached */
    IK2B_INVALID = 32,  /* alone */
};

/* The bend before pole and twist: the present one carried along by the shortest turn of root-to-end
 * onto root-to-target, or the point of the circle nearest to the present mid joint. */
typedef enum { IK2B_CARRIED, IK2B_NEAREST } ik2b_bend;

/* The bones' roll: that of the pose, by shortest arcs, or such that the mid joint bends about its
 * hinge. */
typedef enum { IK2B_ROLL_POSE, IK2B_ROLL_HINGE } ik2b_roll;

/* What is the same for all rows of a call; a function reads what it needs. */
typedef struct {
    ik2b_kind kind;                   /* of the results */
    ik2b_bend bend;                   /* of solve and solve_pose */
    ik2b_roll roll;                   /* of orient and solve_pose */
    const struct ik2b_joints *joints; /* of aggregate */
    const struct ik2b_mesh *mesh;     /* of those that ask one, see mesh.h */
} ik2b_call;

typedef void ik2b_function(const ik2b_extent *extent, ik2b_array *args, const ik2b_call *call);

/* Every option: what it is, and in what order a function takes it. A missing number counts as the
 * default; a missing direction or matrix is all zero, which means none, but for the scales, whose
 * default is uniform. Numbers out of range are clamped.
 *
 * OPTION(NAME, name, KIND, default); KIND is NUMBER, DIRECTION (3) or MATRIX (4 x 4).
 *
 * POLE         from the root to where the mid joint should point; zero: none
 * POLE_WEIGHT  [0, 1]
 * TWIST        radians, right-handed about root-to-target
 * HINGE        cross(root - mid, end - mid) of a limb bent on its natural side: space of the points
 *              in solve and pole_of, mid-joint space elsewhere; zero: none
 * SOFTEN       (0, 1], 1: off; from this share of the greatest legal distance on the end falls
 *              behind the target
 * WEIGHT       [0, 1], part of the straight way from the present end; weakens pole, twist, the
 *              hinge's roll and the end goal, too
 * MIN_ANGLE    inner angle at the mid joint, [0, pi]
 * MAX_ANGLE    [0, pi]; it wins where the minimum exceeds it
 * CONE_AXIS    the upper bone stays within the cone's angle of this direction; zero: none
 * CONE_ANGLE   [0, pi]
 * ROOT_SCALE   the joint's own scale; a zero makes the row invalid
 * MID_SCALE
 * END_MATRIX   the end joint's aggregate transform: then its correction is given, too
 * END_GOAL     whose nearest rotation the end joint takes, or that of its negative where the end
 *              matrix is mirrored; default its present one */
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

/* Members of the enums of options and of functions' arguments. */
#define IK2B_OF_ALL(NAME, name, KIND, missing) IK2B_##NAME,
#define IK2B_OF_SOLVE(NAME, name, KIND, missing) IK2B_SOLVE_##NAME,
#define IK2B_OF_ORIENT(NAME, name, KIND, missing) IK2B_ORIENT_##NAME,
#define IK2B_OF_POSE(NAME, name, KIND, missing) IK2B_POSE_##NAME,
#define IK2B_OF_POLE_OF(NAME, name, KIND, missing) IK2B_POLE_OF_##NAME,

enum { IK2B_OPTIONS_OF_POSE(IK2B_OF_ALL) IK2B_OPTIONS };

/* Arguments of ik2b_solve: inputs (3) each, options, outputs. Outputs are of the function's kind,
 * status is IK2B_U8. */
enum {
    IK2B_SOLVE_ROOT,
    IK2B_SOLVE_MID,
    IK2B_SOLVE_END,
    IK2B_SOLVE_TARGET,
    IK2B_OPTIONS_OF_SOLVE(IK2B_OF_SOLVE) IK2B_SOLVE_OUT_MID,
    IK2B_SOLVE_OUT_END,
    IK2B_SOLVE_OUT_MISS,
    IK2B_SOLVE_OUT_STATUS,
    IK2B_SOLVE_COUNT
};
ik2b_function ik2b_solve;

/* Arguments of ik2b_orient: aggregate transforms (4 x 4), points (3), options, corrections (4).
 * The bones turn to point from root to new mid and from new mid to new end; with S the joint's own
 * scale, its new aggregate is M * S^-1 * R(correction) * S. */
enum {
    IK2B_ORIENT_ROOT,
    IK2B_ORIENT_MID,
    IK2B_ORIENT_END,
    IK2B_ORIENT_NEW_MID,
    IK2B_ORIENT_NEW_END,
    IK2B_OPTIONS_OF_ORIENT(IK2B_OF_ORIENT) IK2B_ORIENT_OUT_ROOT,
    IK2B_ORIENT_OUT_MID,
    IK2B_ORIENT_COUNT
};
ik2b_function ik2b_orient;

/* Arguments of ik2b_solve_pose; the end joint's correction is missing without its matrix. */
enum {
    IK2B_POSE_ROOT,
    IK2B_POSE_MID,
    IK2B_POSE_END,
    IK2B_POSE_TARGET,
    IK2B_OPTIONS_OF_POSE(IK2B_OF_POSE) IK2B_POSE_OUT_ROOT,
    IK2B_POSE_OUT_MID,
    IK2B_POSE_OUT_END,
    IK2B_POSE_OUT_POSITION,
    IK2B_POSE_OUT_MISS,
    IK2B_POSE_OUT_STATUS,
    IK2B_POSE_COUNT
};
ik2b_function ik2b_solve_pose;

/* No function takes more arguments. */
#define IK2B_MAX_ARGUMENTS IK2B_POSE_COUNT
_Static_assert((int)IK2B_SOLVE_COUNT <= (int)IK2B_MAX_ARGUMENTS &&
                   (int)IK2B_ORIENT_COUNT <= (int)IK2B_MAX_ARGUMENTS,
               "a function takes more arguments than there is room for");

/* Arguments of ik2b_pole_of: points, a hinge in their space, unit poles (zero: none). */
enum {
    IK2B_POLE_OF_ROOT,
    IK2B_POLE_OF_MID,
    IK2B_POLE_OF_END,
    IK2B_OPTIONS_OF_POLE_OF(IK2B_OF_POLE_OF) IK2B_POLE_OF_OUT,
    IK2B_POLE_OF_COUNT
};
ik2b_function ik2b_pole_of;

/* Arguments of ik2b_hinge_of: matrices, end point, unit hinges in mid-joint space (zero: straight).
 */
enum {
    IK2B_HINGE_OF_ROOT,
    IK2B_HINGE_OF_MID,
    IK2B_HINGE_OF_END,
    IK2B_HINGE_OF_OUT,
    IK2B_HINGE_OF_COUNT
};
ik2b_function ik2b_hinge_of;

/* Quaternion product q r, in double precision whatever the kind. */
enum { IK2B_MULTIPLY_Q, IK2B_MULTIPLY_R, IK2B_MULTIPLY_OUT, IK2B_MULTIPLY_COUNT };
ik2b_function ik2b_multiply;

/* Aggregate transforms. A row is one whole skeleton; the joints are a dimension of their own, whose
 * stride each array holds in `stride`. parents[j] is -1 (then base) or less than j. */
enum {
    IK2B_AGGREGATE_TRANSLATION,
    IK2B_AGGREGATE_ROTATION, /* (4) of any length; zero: identity */
    IK2B_AGGREGATE_SCALE,    /* (3), default one */
    IK2B_AGGREGATE_REST,     /* (4 x 4), default identity */
    IK2B_AGGREGATE_BASE,     /* (4 x 4), one a row, default identity */
    IK2B_AGGREGATE_OUT,
    IK2B_AGGREGATE_COUNT
};
typedef struct ik2b_joints {
    ptrdiff_t count;
    const ptrdiff_t *parents;
    ptrdiff_t stride[IK2B_AGGREGATE_COUNT];
    double *scratch; /* the caller's, as many as ik2b_aggregate_scratch tells; overwritten */
} ik2b_joints;
ptrdiff_t ik2b_aggregate_scratch(const ik2b_extent *extent, ptrdiff_t joints);
ik2b_function ik2b_aggregate;

#endif
