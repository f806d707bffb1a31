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
 *   goal.h   the least and greatest legal d by the angle limits (law of cosines), both widened to
 *            the present one; softening, a parabola from soften * greatest on; clamping; weight
 *   bend.h   where on its circle the mid joint lies: carried, nearest, pole, twist
 *   cone.h   the legal arc of the circle, or the legal upper bone that misses least
 *   turn.h   the two bones' turns: shortest arcs, and the roll about the hinge
 *   polar.h  the end joint's rotation nearest to a matrix
 * place.h is their list; plain.h and the tiles do the same for many ordinary rows at once.
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

/* Options of the solve, each an ik2b_array that may be missing; numbers out of range are clamped.
 */
enum {
    IK2B_POLE, /* (3) direction from the root to where the mid joint should point; zero: none */
    IK2B_POLE_WEIGHT, /* [0, 1], default 1 */
    IK2B_TWIST,       /* radians, right-handed about root-to-target, default 0 */
    IK2B_HINGE,     /* (3) cross(root - mid, end - mid) of a limb bent on its natural side: space of
                       the points in solve and pole_of, mid-joint space elsewhere; zero: none */
    IK2B_SOFTEN,    /* (0, 1], default 1: off; from this share of the greatest legal distance on
                       the end falls behind the target */
    IK2B_WEIGHT,    /* [0, 1], default 1: part of the straight way from the present end; weakens
                       pole, twist, the hinge's roll and the end goal, too */
    IK2B_MIN_ANGLE, /* inner angle at the mid joint, [0, pi], default 0 */
    IK2B_MAX_ANGLE, /* [0, pi], default pi; it wins where the minimum exceeds it */
    IK2B_CONE_AXIS, /* (3) the upper bone stays within the cone's angle of this direction; zero:
                       none */
    IK2B_CONE_ANGLE, /* [0, pi], default pi */
    IK2B_SOLVE_OPTIONS
};

/* Arguments of ik2b_solve: inputs (3) each, options, outputs. Outputs are of the function's kind,
 * status is IK2B_U8. */
enum {
    IK2B_SOLVE_ROOT,
    IK2B_SOLVE_MID,
    IK2B_SOLVE_END,
    IK2B_SOLVE_TARGET,
    IK2B_SOLVE_OPTION,
    IK2B_SOLVE_OUT_MID = IK2B_SOLVE_OPTION + IK2B_SOLVE_OPTIONS,
    IK2B_SOLVE_OUT_END,
    IK2B_SOLVE_OUT_MISS,
    IK2B_SOLVE_OUT_STATUS,
    IK2B_SOLVE_COUNT
};
void ik2b_solve_f32(const ik2b_extent *extent, ik2b_array *args, ik2b_bend bend);
void ik2b_solve_f64(const ik2b_extent *extent, ik2b_array *args, ik2b_bend bend);

/* Arguments of ik2b_orient: aggregate transforms (4 x 4), points (3), scales (3), corrections (4).
 * The bones turn to point from root to new mid and from new mid to new end; with S the joint's own
 * scale, its new aggregate is M * S^-1 * R(correction) * S. */
enum {
    IK2B_ORIENT_ROOT,
    IK2B_ORIENT_MID,
    IK2B_ORIENT_END,
    IK2B_ORIENT_NEW_MID,
    IK2B_ORIENT_NEW_END,
    IK2B_ORIENT_HINGE,
    IK2B_ORIENT_ROOT_SCALE, /* the joint's own scale, default uniform; a zero makes the row invalid
                             */
    IK2B_ORIENT_MID_SCALE,
    IK2B_ORIENT_OUT_ROOT,
    IK2B_ORIENT_OUT_MID,
    IK2B_ORIENT_COUNT
};
void ik2b_orient_f32(const ik2b_extent *extent, ik2b_array *args, ik2b_roll roll);
void ik2b_orient_f64(const ik2b_extent *extent, ik2b_array *args, ik2b_roll roll);

/* Arguments of ik2b_solve_pose. */
enum {
    IK2B_POSE_ROOT,
    IK2B_POSE_MID,
    IK2B_POSE_END,
    IK2B_POSE_TARGET,
    IK2B_POSE_OPTION,
    IK2B_POSE_ROOT_SCALE = IK2B_POSE_OPTION + IK2B_SOLVE_OPTIONS,
    IK2B_POSE_MID_SCALE,
    IK2B_POSE_END_MATRIX, /* the end joint's aggregate transform: then its correction is given, too
                           */
    IK2B_POSE_END_GOAL,   /* (4 x 4) whose nearest rotation the end joint takes, or that of its
                             negative where the end matrix is mirrored; default its present one */
    IK2B_POSE_OUT_ROOT,
    IK2B_POSE_OUT_MID,
    IK2B_POSE_OUT_END, /* missing without IK2B_POSE_END_MATRIX */
    IK2B_POSE_OUT_POSITION,
    IK2B_POSE_OUT_MISS,
    IK2B_POSE_OUT_STATUS,
    IK2B_POSE_COUNT
};
void ik2b_solve_pose_f32(const ik2b_extent *extent, ik2b_array *args, ik2b_bend bend,
                         ik2b_roll roll);
void ik2b_solve_pose_f64(const ik2b_extent *extent, ik2b_array *args, ik2b_bend bend,
                         ik2b_roll roll);

/* Arguments of ik2b_pole_of: points, a hinge in their space, unit poles (zero: none). */
enum {
    IK2B_POLE_OF_ROOT,
    IK2B_POLE_OF_MID,
    IK2B_POLE_OF_END,
    IK2B_POLE_OF_HINGE,
    IK2B_POLE_OF_OUT,
    IK2B_POLE_OF_COUNT
};
void ik2b_pole_of_f32(const ik2b_extent *extent, ik2b_array *args);
void ik2b_pole_of_f64(const ik2b_extent *extent, ik2b_array *args);

/* Arguments of ik2b_hinge_of: matrices, end point, unit hinges in mid-joint space (zero: straight).
 */
enum {
    IK2B_HINGE_OF_ROOT,
    IK2B_HINGE_OF_MID,
    IK2B_HINGE_OF_END,
    IK2B_HINGE_OF_OUT,
    IK2B_HINGE_OF_COUNT
};
void ik2b_hinge_of_f32(const ik2b_extent *extent, ik2b_array *args);
void ik2b_hinge_of_f64(const ik2b_extent *extent, ik2b_array *args);

/* Quaternion product q r. */
enum { IK2B_MULTIPLY_Q, IK2B_MULTIPLY_R, IK2B_MULTIPLY_OUT, IK2B_MULTIPLY_COUNT };
void ik2b_multiply(const ik2b_extent *extent, ik2b_array *args);

/* Aggregate transforms. A row is one whole skeleton; the joints are a dimension of their own, whose
 * stride each array holds in joint_stride. parents[j] is -1 (then base) or less than j. */
enum {
    IK2B_AGGREGATE_TRANSLATION,
    IK2B_AGGREGATE_ROTATION, /* (4) of any length; zero: identity */
    IK2B_AGGREGATE_SCALE,    /* (3), default one */
    IK2B_AGGREGATE_REST,     /* (4 x 4), default identity */
    IK2B_AGGREGATE_BASE,     /* (4 x 4), one a row, default identity */
    IK2B_AGGREGATE_OUT,
    IK2B_AGGREGATE_COUNT
};
typedef struct {
    ptrdiff_t count;
    const ptrdiff_t *parents;
    ptrdiff_t stride[IK2B_AGGREGATE_COUNT];
    double *scratch; /* the caller's, as many as ik2b_aggregate_scratch tells; overwritten */
} ik2b_joints;
ptrdiff_t ik2b_aggregate_scratch(const ik2b_extent *extent, ptrdiff_t joints);
void ik2b_aggregate(const ik2b_extent *extent, ik2b_array *args, const ik2b_joints *joints);

#endif
