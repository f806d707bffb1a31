/* SPDX-License-Identifier: MIT
 *
 * A tile of sixteen limbs on their way through the stages of the solve, and how a stage runs.
 */
#ifndef IK2B_LIMBS_H
#define IK2B_LIMBS_H

#include "tile.h"
#include "trig.h"

/* Angles whose sine and cosine the stages need: the twist by the weight, the cone's, and half of
 * the inner angles' limits. */
enum { IK2B_TWIST_ANGLE, IK2B_CONE_OPENING, IK2B_HALF_LEAST, IK2B_HALF_MOST, IK2B_ANGLES };

/* Up to sixteen rows. Vectors are x, y, z; matrices' elements go row by row; quaternions are w, x,
 * y, z. What is true or false is 1 or 0, as SSE2 has no way from comparisons of doubles to
 * integers. A limb is seen from its root, in the root's frame where there are matrices: the space
 * of the parent's aggregate transform, in which the root's correction turns. Its lengths are then
 * multiplied by `scale`, a power of two. */
typedef struct {
    /* The whole call. */
    _Alignas(64) uint64_t given; /* a bit for each option that is given and not at its default */
    uint64_t varying;            /* a bit for each of them that is not one value for all rows */
    ik2b_kind kind;              /* of the results */
    bool nearest, rolling;
    bool framed; /* there are matrices */
    int rows;
    int lanes;
    double has_goal;     /* the end joint has one */
    double straight;     /* a mid joint so near to the line root-end, by the reach, is on it */
    double moved;        /* a stage that moves the end by less, by the reach, does not flag it */
    double polar_change; /* after a step that changes less, a rotation is as good as it gets */
    double parallel;     /* the sine of an angle that the rounding of the input alone can make */

    /* Rows as they are given. */
    _Alignas(64) lane root_at[3];
    lane mid_at[3], end_at[3], target[3];
    lane root_matrix[16], mid_matrix[16], end_matrix[16], end_goal[16], root_scale[3], mid_scale[3];

    /* Options as they are given, and what follows from them. */
    lane numbers[IK2B_SOLVE_OPTIONS];                  /* those that are numbers, by option */
    lane given_pole[3], given_hinge[3], given_axis[3]; /* in the space of the matrices, or mid's */
    lane pole[3], hinge[3], cone_axis[3];              /* in the limb's */
    lane pole_weight, pole_part, twist, soften, weight, cone_angle;
    lane angle[IK2B_ANGLES], sine[IK2B_ANGLES], cosine[IK2B_ANGLES];
    lane resolved, resolved_sine, resolved_cosine; /* one of them on its way */
    lane bad_options;                              /* not 0 where one is not finite */

    /* The limb. */
    lane inward[9], mid_inward[9];         /* outer space to the frames of root and mid joint */
    lane mid[3], lower[3], end[3], aim[3]; /* lower: the bone from mid to end */
    lane lower_mid[3], hinge_mid[3];       /* in the mid joint's frame */
    lane scale, upper_length, lower_length, distance, line[3], bend[3], along, height;
    lane hard, invalid, mirrored, on_end;

    /* The solution. */
    lane least, greatest, new_line[3], new_distance, new_bend[3], circle_bend[3], new_along,
        new_height;
    lane new_mid[3], new_end[3], normal[3]; /* the unit hinge of the new pose */
    lane out_mid[3];                        /* the mid joint in the caller's space */
    lane still;                             /* nothing moves: the pose itself is the answer */
    lane keeps_upper; /* the end goes to the root: the upper bone stays where it is */
    lane doubtful;    /* something arbitrary decided the bend */
    lane apart;       /* the circle of solutions does not meet the cone */
    lane missed;      /* the sum of TOO_FAR, TOO_CLOSE and SOFTENED */
    lane limited, singular;
    lane status;

    /* The corrections. */
    lane root_turn[4], mid_turn[4], end_turn[4], position[3], miss;
    lane rotation[9], turned[9], wanted[9], own[9]; /* orientations of the end joint */
    lane polar_goes_on;
    lane kept; /* the corrections are the identity */
} limbs;

/* a or b, without a branch that the compiler could make of a condition used several times. */
IK2B_IN_LINE double
chosen(bool first, double a, double b)
{
    const uint64_t ones = UINT64_MAX;
    double all, selected;
    uint64_t x, y, mask;
    memcpy(&all, &ones, sizeof all);
    selected = first ? all : 0.0;
    memcpy(&mask, &selected, sizeof mask);
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x = (x & mask) | (y & ~mask);
    memcpy(&a, &x, sizeof a);
    return a;
}

/* As d3_is_zero, without a branch. */
IK2B_IN_LINE bool
is_zero(const double v[3])
{
    return (v[0] == 0.0) & (v[1] == 0.0) & (v[2] == 0.0);
}

IK2B_IN_LINE void
get3(lane source[3], int k, double v[3])
{
    for (int i = 0; i < 3; i++) {
        v[i] = source[i][k];
    }
}

IK2B_IN_LINE void
put3(const double v[3], int k, lane dest[3])
{
    for (int i = 0; i < 3; i++) {
        dest[i][k] = v[i];
    }
}

IK2B_IN_LINE void
get33(lane source[9], int k, double m[3][3])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            m[i][j] = source[3 * i + j][k];
        }
    }
}

IK2B_IN_LINE void
put33(double m[3][3], int k, lane dest[9])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            dest[3 * i + j][k] = m[i][j];
        }
    }
}

/* The linear part of a 4 x 4 matrix. */
IK2B_IN_LINE void
get44(lane source[16], int k, double m[3][3])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            m[i][j] = source[4 * i + j][k];
        }
    }
}

IK2B_IN_LINE void
put4(const double q[4], int k, lane dest[4])
{
    for (int i = 0; i < 4; i++) {
        dest[(i + 1) % 4][k] = q[i];
    }
}

/* The bit of an option in `given` and `varying`. */
#define IK2B_BIT(option) ((uint64_t)1 << IK2B_##option)

IK2B_IN_LINE bool
is_given(const limbs *t, uint64_t bits)
{
    return (t->given & bits) != 0;
}

/* Squares of lengths between this and its inverse fit single precision. */
#define IK2B_LEAST_SQUARE 0x1p-124

IK2B_IN_LINE bool
is_between(double square, double least)
{
    return (square >= least) & (square <= 1.0 / least);
}

IK2B_IN_LINE bool
is_ordinary(double square)
{
    return is_between(square, IK2B_LEAST_SQUARE);
}

/* 1 / sqrt(square) of an ordinary square, else no number that means anything. By single precision
 * and two of Newton's steps, which square the error, 1e-7: square root and division in double
 * precision are what costs most in a tile. */
IK2B_IN_LINE double
inverse_root(double square)
{
    double result = (double)(float)(1.0f / sqrtf((float)square));
    double rest = 1.0 - (square * result) * result;
    return result + result * (rest * (0.5 + 0.375 * rest));
}

/* The same with care of any square; 0 for zero. */
IK2B_IN_LINE double
careful_inverse_root(double square, bool careful)
{
    if (careful && !is_ordinary(square)) {
        return square > 0.0 ? 1.0 / sqrt(square) : 0.0;
    }
    return inverse_root(square);
}

/* Square root of a square that is ordinary or as good as zero. */
IK2B_IN_LINE double
ordinary_root(double square)
{
    double root = square * inverse_root(square);
    return square >= IK2B_LEAST_SQUARE ? root : 0.0;
}

/* Length of v and its inverse, which is 0 for a zero v; false where a lane needs care. */
IK2B_IN_LINE bool
d3_measure(const double v[3], bool careful, double *length, double *inverse)
{
    double square = d3_dot(v, v);
    *inverse = inverse_root(square);
    *length = square * *inverse;
    if (careful && !is_ordinary(square)) {
        double unit[3];
        *length = d3_is_zero(v) ? 0.0 : d3_unit(v, unit);
        *inverse = *length > 0.0 ? 1.0 / *length : 0.0;
    }
    return is_ordinary(square);
}

/* v by 1 / its length, for a length near 1. */
IK2B_IN_LINE void
d3_finish(const double v[3], double dest[3])
{
    d3_scale(v, 1.5 - 0.5 * d3_dot(v, v), dest);
}

/* The unit vector of v's part across the unit axis; false where so little of v is across, by its
 * length, that a lane needs care. What is left of a v that was nearly along the axis leans towards
 * it by rounding: that part is taken away once more. */
IK2B_IN_LINE bool
d3_across(const double v[3], const double axis[3], double dest[3])
{
    double whole = d3_dot(v, v);
    d3_reject(v, axis, dest);
    double square = d3_dot(dest, dest);
    d3_scale(dest, inverse_root(square), dest);
    d3_reject(dest, axis, dest);
    d3_finish(dest, dest);
    return is_ordinary(whole) & is_ordinary(square) & (square > 1e-8 * whole);
}

IK2B_IN_LINE double
clamped(double number, double least, double greatest)
{
    return smaller(larger(number, least), greatest);
}

/* Whether any lane is not zero. */
IK2B_IN_LINE bool
any_lane(lane numbers)
{
    uint64_t bits[IK2B_LANES], any = 0;
    memcpy(bits, numbers, sizeof bits);
    for (int k = 0; k < IK2B_LANES; k++) {
        any |= bits[k];
    }
    return any != 0;
}

/* A stage is a function `name(limbs *t, int k, bool careful)` of one row. It runs over all lanes
 * without a branch and tells which of them it could not settle; these run again one by one, with
 * care: every row there is, with branches. Few rows run that way at once. Digits are the same. */
#if defined(__GNUC__)
#define IK2B_APART __attribute__((noinline)) static
#else
#define IK2B_APART static
#endif

#define IK2B_STAGE(name, call)                                                                     \
    IK2B_APART void name##_with_care(limbs *t, int k)                                              \
    {                                                                                              \
        const bool careful = true;                                                                 \
        (void)(call);                                                                              \
    }                                                                                              \
    IK2B_IN_LINE void name##_lanes(limbs *t)                                                       \
    {                                                                                              \
        const bool careful = false;                                                                \
        if (t->rows <= IK2B_FEW) {                                                                 \
            for (int k = 0; k < t->rows; k++) {                                                    \
                name##_with_care(t, k);                                                            \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        IK2B_LANE_LOOP                                                                             \
        for (int k = 0; k < (t->lanes & ~15); k++) {                                               \
            t->hard[k] = (call) ? 0.0 : 1.0;                                                       \
        }                                                                                          \
        bool any = any_lane(t->hard);                                                              \
        for (int k = 0; any && k < t->rows; k++) {                                                 \
            if (t->hard[k] != 0.0 && t->invalid[k] == 0.0) {                                       \
                name##_with_care(t, k);                                                            \
            }                                                                                      \
        }                                                                                          \
    }

#endif
