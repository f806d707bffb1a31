/* SPDX-License-Identifier: MIT
 *
 * The numbers of a limb on its way through the stages of the solve, the same for sixteen limbs in
 * lanes, and how stages run.
 */
#ifndef IK2B_LIMBS_H
#define IK2B_LIMBS_H

#include "tile.h"
#include "trig.h"

/* Angles whose sine and cosine the stages need: twist times weight, the cone's angle, and half of
 * each limit of the inner angle. */
enum { IK2B_TWIST_ANGLE, IK2B_CONE_OPENING, IK2B_HALF_LEAST, IK2B_HALF_MOST, IK2B_ANGLES };

/* What is the same for all rows of a call. */
typedef struct {
    uint64_t given;    /* one bit for each option that is given and not at its default */
    uint64_t varying;  /* one bit for each of these that is not one value for all rows */
    ik2b_kind kind;    /* of the results */
    double straight;   /* a mid joint nearer to the line than this share of the reach is on it */
    double moved;      /* a stage sets no flag if it moves the end by a smaller share of reach */
    double split;      /* factor of Veltkamp's splitting, which keeps the results' digits */
    double polar_rest; /* squared differences of singular values that one Newton step corrects */
    double parallel;   /* the sine of an angle that rounding of the input alone can make */
    double opposite;   /* cosine beyond which directions are too opposite for turns in lanes */
} ik2b_task;

/* clang-format off */

/* The numbers of one limb, in groups: NUMBER(name), NUMBERS(name, count) or MATRIX(name, rows).
 * Vectors are x, y, z; quaternions are w, x, y, z. Truth values are 1 or 0, because SSE2 cannot
 * convert comparisons of doubles to integers. */
#define IK2B_INPUTS(NUMBER, NUMBERS, MATRIX)                                                       \
    NUMBERS(root_at, 3) NUMBERS(mid_at, 3) NUMBERS(end_at, 3) NUMBERS(target, 3)                   \
    MATRIX(root_matrix, 4) MATRIX(mid_matrix, 4) MATRIX(given_end_matrix, 4)                       \
    MATRIX(given_end_goal, 4)

/* The other options as they are given, and the numbers that are derived from them. */
#define IK2B_GIVEN(NUMBER, NUMBERS, MATRIX)                                                        \
    NUMBERS(given_pole, 3) NUMBER(given_pole_weight) NUMBER(given_twist) NUMBERS(given_hinge, 3)   \
    NUMBER(given_soften) NUMBER(given_weight) NUMBER(given_min_angle) NUMBER(given_max_angle)      \
    NUMBERS(given_cone_axis, 3) NUMBER(given_cone_angle) NUMBERS(given_root_scale, 3)              \
    NUMBERS(given_mid_scale, 3) NUMBER(pole_weight) NUMBER(pole_part) NUMBER(twist)                \
    NUMBER(soften) NUMBER(weight) NUMBER(cone_angle)                                               \
    NUMBERS(angle, IK2B_ANGLES) NUMBERS(sine, IK2B_ANGLES) NUMBERS(cosine, IK2B_ANGLES)            \
    NUMBER(bad_options) /* NaN if an option is not finite, else 0 */

/* Directions in the limb's space; the hinge also in the mid joint's frame. */
#define IK2B_DIRECTIONS(NUMBER, NUMBERS, MATRIX)                                                   \
    NUMBERS(pole, 3) NUMBERS(hinge, 3) NUMBERS(hinge_mid, 3) NUMBERS(cone_axis, 3)

/* The limb seen from its root: in the space of the points or, if matrices are given, in the root's
 * frame. The root's frame is the root's aggregate transform without the root's own scale; the
 * root's correction turns in it. The limb's lengths are multiplied by `scale`, a power of two. */
#define IK2B_SEEN(NUMBER, NUMBERS, MATRIX)                                                         \
    MATRIX(inward, 3) /* from outer space to the frames of root and mid joint */                   \
    MATRIX(mid_inward, 3) NUMBERS(mid, 3)                                                          \
    NUMBERS(lower, 3) /* the bone from mid to end */                                               \
    NUMBERS(end, 3) NUMBERS(aim, 3) NUMBER(aim_length)                                             \
    NUMBERS(lower_mid, 3) /* in the mid joint's frame */                                           \
    NUMBER(scale) NUMBER(upper_length) NUMBER(lower_length) NUMBER(distance) NUMBERS(line, 3)      \
    NUMBERS(bend, 3) NUMBER(along) NUMBER(height)                                                  \
    NUMBER(invalid) /* set only with care: limbs settled without it are valid */                   \
    NUMBER(determinant) NUMBER(mid_determinant) NUMBER(on_end)                                     \
    NUMBER(doubtful) /* the bend is an arbitrary choice */

#define IK2B_SOLUTION(NUMBER, NUMBERS, MATRIX)                                                     \
    NUMBER(least) NUMBER(greatest) NUMBERS(new_line, 3) NUMBER(new_distance)                       \
    NUMBERS(new_bend, 3) NUMBER(new_along) NUMBER(new_height)                                      \
    NUMBERS(new_mid, 3) NUMBERS(new_end, 3)                                                        \
    NUMBERS(normal, 3) /* the unit hinge of the new pose */                                        \
    NUMBER(still) /* nothing moves: the present pose is the answer */                              \
    NUMBER(keeps_upper) /* the end goes to the root and the upper bone stays */                    \
    NUMBER(unsure) /* the new bend is an arbitrary choice */                                       \
    NUMBER(apart) /* the circle of solutions does not meet the cone */                             \
    NUMBER(missed) /* the sum of TOO_FAR, TOO_CLOSE and SOFTENED */                                \
    NUMBER(limited) NUMBER(singular)

/* Orientations of the end joint. */
#define IK2B_ENDS(NUMBER, NUMBERS, MATRIX)                                                         \
    MATRIX(own, 3) /* that of a matrix on its way to its nearest rotation; then the joint's */     \
    MATRIX(before, 3) /* the joint's, while that after both corrections is found */                \
    MATRIX(wanted, 3)                                                                              \
    NUMBERS(carried, 4) /* x, y, z, w: the turn of the end joint by both corrections */            \
    NUMBER(sheared) /* the matrix of root, mid or end joint is not rigid */                        \
    NUMBER(goes_on) /* the polar iteration of a lane must go on */

#define IK2B_RESULTS(NUMBER, NUMBERS, MATRIX)                                                      \
    NUMBERS(root_turn, 4) NUMBERS(mid_turn, 4) NUMBERS(end_turn, 4)                                \
    NUMBER(kept) /* the corrections are the identity */                                            \
    NUMBERS(out_mid, 3) /* the mid joint in the caller's space */                                  \
    NUMBERS(position, 3) NUMBER(miss) NUMBER(status)                                               \
    NUMBERS(told, 3) /* pole or hinge of the pose */

#define IK2B_AIMS(NUMBER, NUMBERS, MATRIX) IK2B_SOLUTION(NUMBER, NUMBERS, MATRIX) NUMBER(kept)
#define IK2B_LIMB(NUMBER, NUMBERS, MATRIX)                                                         \
    IK2B_INPUTS(NUMBER, NUMBERS, MATRIX)                                                           \
    IK2B_GIVEN(NUMBER, NUMBERS, MATRIX)                                                            \
    IK2B_DIRECTIONS(NUMBER, NUMBERS, MATRIX)                                                       \
    IK2B_SEEN(NUMBER, NUMBERS, MATRIX)                                                             \
    IK2B_SOLUTION(NUMBER, NUMBERS, MATRIX)                                                         \
    IK2B_ENDS(NUMBER, NUMBERS, MATRIX)                                                             \
    IK2B_RESULTS(NUMBER, NUMBERS, MATRIX)

#define IK2B_AS_NUMBER(name) double name;
#define IK2B_AS_NUMBERS(name, count) double name[count];
#define IK2B_AS_MATRIX(name, rows) double name[rows][rows];
#define IK2B_AS_LANE(name) lane name;
#define IK2B_AS_LANES(name, count) lane name[count];
#define IK2B_AS_LANE_MATRIX(name, rows) lane name[rows][rows];

typedef struct {
    IK2B_LIMB(IK2B_AS_NUMBER, IK2B_AS_NUMBERS, IK2B_AS_MATRIX)
    ik2b_task task;
} limb;

/* Up to sixteen limbs in lanes, in the order of the numbers of a limb. */
typedef struct {
    _Alignas(64) IK2B_LIMB(IK2B_AS_LANE, IK2B_AS_LANES, IK2B_AS_LANE_MATRIX)
    lane hard; /* 1 for limbs that a pass could not settle */
    ik2b_task task;
    int lanes; /* IK2B_LANES, hidden from the compiler, which would unroll the loops */
} limbs;
/* clang-format on */

_Static_assert(offsetof(limbs, hard) == IK2B_LANES * offsetof(limb, task),
               "a limb's numbers and the lanes lie in the same order");

/* The index of a number in a limb, which is also the index of its lane in a tile. */
#define IK2B_AT(name) ((int)(offsetof(limb, name) / sizeof(double)))

#define IK2B_TAKE_NUMBER(name) one.name = part->name[k];
#define IK2B_TAKE_NUMBERS(name, count)                                                             \
    for (int i = 0; i < count; i++) {                                                              \
        one.name[i] = part->name[i][k];                                                            \
    }
#define IK2B_TAKE_MATRIX(name, rows)                                                               \
    for (int i = 0; i < rows * rows; i++) {                                                        \
        one.name[i / rows][i % rows] = part->name[i / rows][i % rows][k];                          \
    }

#define IK2B_GIVE_NUMBER(name) part->name[k] = one.name;
#define IK2B_GIVE_NUMBERS(name, count)                                                             \
    for (int i = 0; i < count; i++) {                                                              \
        part->name[i][k] = one.name[i];                                                            \
    }
#define IK2B_GIVE_MATRIX(name, rows)                                                               \
    for (int i = 0; i < rows * rows; i++) {                                                        \
        part->name[i / rows][i % rows][k] = one.name[i / rows][i % rows];                          \
    }

/* `a` if `first`, else `b`. Compilers may make a branch of a condition that is used several times;
 * these operations on bits have none. Where the condition joins two comparisons, gcc makes no
 * vectors of SSE2 of them, and `?:` does better. */
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

/* 1 if true, else 0. */
IK2B_IN_LINE double
as_number(bool truth)
{
    return chosen(truth, 1.0, 0.0);
}

/* The linear part and the translation of an aggregate transform. */
IK2B_IN_LINE void
get_linear(double matrix[4][4], double dest[3][3])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            dest[i][j] = matrix[i][j];
        }
    }
}

IK2B_IN_LINE void
get_origin(double matrix[4][4], double dest[3])
{
    for (int i = 0; i < 3; i++) {
        dest[i] = matrix[i][3];
    }
}

/* The bit of an option in `given` and `varying`. The words `bend` and `roll` have a bit, too, which
 * is set if they are not at their defaults, and so has double precision of the results. */
enum { IK2B_NEAREST_BEND = IK2B_OPTIONS, IK2B_ROLLING, IK2B_DOUBLE };
#define IK2B_BIT(option) ((uint64_t)1 << IK2B_##option)

IK2B_IN_LINE bool
is_given(const ik2b_task *task, uint64_t bits)
{
    return (task->given & bits) != 0;
}

/* Squares of lengths between this and its inverse are ordinary: their products are far from the
 * limits of double precision. */
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

/* Rounded to single precision. */
IK2B_IN_LINE double
as_single(double number)
{
    return (double)(float)number;
}

/* The same flag, by way of single precision. With doubles alone, gcc processes one vector of lanes
 * at a time in AVX2; with singles and doubles, two. The processor overlaps the two if a stage waits
 * for one root or angle after another. This costs time in a stage full of matrices, for which there
 * are too few registers. Without the added 0, gcc would compare singles, and SSE2 cannot use the
 * results of such comparisons for doubles. */
IK2B_IN_LINE double
in_pairs(double flag)
{
    return as_single(flag) + 0.0;
}

/* Replaces a quaternion w, x, y, z by the identity if `cleared`. */
IK2B_IN_LINE void
clear_turn(bool cleared, double turn[4])
{
    for (int i = 0; i < 4; i++) {
        turn[i] = chosen(cleared, i == 0 ? 1.0 : 0.0, turn[i]);
    }
}

/* `dest`, the correction w, x, y, z of a quaternion x, y, z, w, of which `square` is the square of
 * the length; the identity if the flag `stays` is set. It is rounded to the digits of the results
 * (Veltkamp 1968), so that all that is computed from it agrees with the correction that is
 * returned. */
IK2B_IN_LINE void
give_turn(const limb *t, const double q[4], double square, double stays, double dest[4])
{
    double inverse = 1.0 / sqrt(square);
    for (int i = 0; i < 4; i++) {
        double own = q[i] * inverse, far = t->task.split * own;
        dest[(i + 1) % 4] = far - (far - own);
    }
    clear_turn(stays != 0.0, dest);
}

/* Removes what rounding has left of the difference of a correction from unit length, which would
 * appear in full at a limb's end. For results in single precision their own rounding is greater. */
IK2B_IN_LINE bool
finish_turn(double turn[4])
{
    d4_scale(turn, 1.5 - 0.5 * d4_square(turn));
    return true;
}

/* 1 / sqrt(square), 0 for zero. */
IK2B_IN_LINE double
inverse_root(double square)
{
    return chosen(square > 0.0, 1.0 / sqrt(square), 0.0);
}

/* The length of v; 0 if it is so short that its inverse would overflow. Without care, v must not be
 * so long that its square overflows. */
IK2B_IN_LINE double
d3_length(const double v[3], bool careful)
{
    double square = d3_dot(v, v);
    if (careful && !is_ordinary(square)) {
        double length = d3_long_norm(v);
        return length < DBL_MIN ? 0.0 : length;
    }
    return sqrt(square);
}

/* The inverse of a length, 0 for zero. Returns false if the lane needs care. */
IK2B_IN_LINE bool
invert_length(double length, bool careful, double *inverse)
{
    *inverse = careful && length == 0.0 ? 0.0 : 1.0 / length;
    return length >= 0x1p-62; /* the root of IK2B_LEAST_SQUARE */
}

IK2B_IN_LINE bool
d3_measure(const double v[3], bool careful, double *length, double *inverse)
{
    *length = d3_length(v, careful);
    return invert_length(*length, careful, inverse);
}

/* The unit vector of v's component across the unit axis. If v is nearly along the axis, rounding
 * leaves some of the component along it. Returns false if the component across it is such a small
 * share of v that the lane needs care. */
IK2B_IN_LINE bool
d3_nearly_across(const double v[3], const double axis[3], double dest[3])
{
    d3_reject(v, axis, dest);
    double square = d3_dot(dest, dest);
    d3_scale(dest, 1.0 / sqrt(square), dest);
    return is_ordinary(square) & (square > 1e-8 * d3_dot(v, v));
}

/* The same, with the component along the axis removed once more. */
IK2B_IN_LINE bool
d3_across(const double v[3], const double axis[3], double dest[3])
{
    bool good = d3_nearly_across(v, axis, dest);
    d3_reject(dest, axis, dest);
    d3_scale(dest, 1.5 - 0.5 * d3_dot(dest, dest), dest);
    return good;
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

/* The tile `t` moved on by `first` lanes, of which only the lanes that `t` still has may be read
 * and written. */
IK2B_IN_LINE limbs *
lanes_from(limbs *t, int first)
{
    return (limbs *)(void *)((double *)(void *)t + first);
}

/* A stage, or a list of stages that ends with NULL. `settle` runs a stage with care for one limb;
 * `pass` returns the pass over all lanes in the build that runs. A call runs the stage if all of
 * the options `all` are given, any of the options `any` (or `any` is 0), and none of the options
 * `none`. */
typedef void ik2b_pass(limbs *t);
typedef struct ik2b_stage {
    void (*settle)(limb *t);
    ik2b_pass *(*pass)(void);
    const struct ik2b_stage *const *stages;
    uint64_t all, any, none;
} ik2b_stage;

/* Lists of stages: from measured limbs and their aims to the joints of the new pose; from limbs in
 * their frames and new joints to the corrections of root and mid joint; and to the position where
 * these put the end joint, with the end joint's own correction if its matrix is given. */
extern const ik2b_stage ik2b_place, ik2b_turn, ik2b_leave;

/* In the loop of a pass, clang's check for undefined behaviour would keep all loads and stores that
 * the pass does not need: end.c then takes over 12 minutes to compile instead of 12 seconds. The
 * bodies of passes are checked. */
#if defined(__clang__)
#define IK2B_UNCHECKED __attribute__((no_sanitize("undefined")))
#else
#define IK2B_UNCHECKED
#endif

/* Makes a pass over all lanes without care from name##_body(limb *t, bool careful). Without care,
 * the body has no branch and returns whether it could settle the limb. With care, it settles every
 * limb, with the same digits. The pass loads the numbers that the body reads and stores those of
 * the group `results` that the body writes; compilers leave out all others. At the end, the limbs
 * that some pass could not settle go through all stages one by one, with care. Few rows go that way
 * at once. Tiles for which `needed`, an expression in `t`, is false skip the pass. */
#define IK2B_PASS(name, needed, results)                                                           \
    IK2B_UNCHECKED IK2B_IN_LINE void name##_part(limbs *part, const ik2b_task *task, int lanes)    \
    {                                                                                              \
        IK2B_LANE_LOOP                                                                             \
        for (int k = 0; k < lanes; k++) {                                                          \
            limb one;                                                                              \
            one.task = *task;                                                                      \
            IK2B_LIMB(IK2B_TAKE_NUMBER, IK2B_TAKE_NUMBERS, IK2B_TAKE_MATRIX)                       \
            part->hard[k] = chosen(name##_body(&one, false), part->hard[k], 1.0);                  \
            results(IK2B_GIVE_NUMBER, IK2B_GIVE_NUMBERS, IK2B_GIVE_MATRIX)                         \
        }                                                                                          \
    }                                                                                              \
    IK2B_IN_LINE void name##_lanes(limbs *t, int together)                                         \
    {                                                                                              \
        if (!(needed)) {                                                                           \
            return;                                                                                \
        }                                                                                          \
        if (together == IK2B_LANES) {                                                              \
            name##_part(t, &t->task, t->lanes & ~(IK2B_LANES - 1));                                \
            return;                                                                                \
        }                                                                                          \
        limbs *part = t;                                                                           \
        for (int first = 0; first < t->lanes; first += together) {                                 \
            name##_part(part, &t->task, together);                                                 \
            part = lanes_from(part, together);                                                     \
        }                                                                                          \
    }

/* Makes name##_stage of an expression in `t` and `careful`, which writes the group `results` of a
 * limb. `needed`: as for IK2B_PASS. */
#define IK2B_STAGE_IF(name, needed, results, expression, ...)                                      \
    IK2B_IN_LINE bool name##_body(limb *t, bool careful)                                           \
    {                                                                                              \
        (void)careful;                                                                             \
        return expression;                                                                         \
    }                                                                                              \
    IK2B_PASS(name, needed, results)                                                               \
    IK2B_BUILDS(name##_pass, name##_lanes, (limbs * t), (t, IK2B_TOGETHER))                        \
    static void name##_settle(limb *t)                                                             \
    {                                                                                              \
        name##_body(t, true);                                                                      \
    }                                                                                              \
    static const ik2b_stage name##_stage = {                                                       \
        .settle = name##_settle, .pass = name##_pass, __VA_ARGS__};

#define IK2B_STAGE(name, results, expression, ...)                                                 \
    IK2B_STAGE_IF(name, true, results, expression, __VA_ARGS__)

/* The condition of a stage that every call runs. */
#define IK2B_ALWAYS .any = 0

#endif
