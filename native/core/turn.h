/* SPDX-License-Identifier: MIT
 *
 * From joint positions to corrections: the turns of root and mid joint, with the roll that is
 * wanted.
 */
#ifndef IK2B_TURN_H
#define IK2B_TURN_H

#include "bend.h"

/* A limb seen from its root joint in the root's frame: the space of the parent's aggregate, in
 * which the root's correction turns. Lengths in it are scaled by a power of two; the mid joint's
 * frame is as large as it is given. */
typedef struct {
    double frame[3][3], inward[3][3];         /* root's frame to outer space, and back */
    double mid_frame[3][3], mid_inward[3][3]; /* mid joint's frame to outer space, and back */
    double upper[3], lower[3], end[3];        /* root to mid, mid to end, root to end */
    double upper_mid[3], lower_mid[3];        /* the bones in the mid joint's frame */
    double hinge_root[3], hinge_mid[3];       /* the hinge in both frames; zero: none */
    double scale;
} joints;

typedef struct {
    quat root, mid;
    double end[3]; /* where the rounded turns put the end joint */
    bool singular;
} turns;

/* The shortest turn of unit vector a onto b, by half sum and half difference; every angle is as
 * good as any, tiny ones included, up to nearly opposite. */
IK2B_IN_LINE void
shortest_arc(real a[3], real b[3], quat dest)
{
    real sum[3], difference[3], across[3], axis[3];
    r3_add(a, b, sum);
    r3_sub(b, a, difference);
    real cosine = real_root(r3_dot(sum, sum)) / 2;
    real sine = real_root(r3_dot(difference, difference)) / 2;
    for (int i = 0; i < 3; i++) {
        across[i] = sine < cosine ? difference[i] : sum[i];
    }
    r3_cross(a, across, axis);
    r3_reject(axis, a, axis);
    real square = r3_dot(axis, axis), inverse = real_inverse_root(square);
    r3_scale(axis, square >= (real)IK2B_LEAST_SQUARE ? sine * inverse : 0, dest);
    dest[3] = cosine;
}

/* The turn about a unit axis of a onto b, both unit and perpendicular to it. */
IK2B_IN_LINE void
turn_onto(real axis[3], real a[3], real b[3], quat dest)
{
    real sum[3], difference[3], normal[3];
    r3_add(a, b, sum);
    r3_sub(b, a, difference);
    r3_cross(a, b, normal);
    real sine = real_root(r3_dot(difference, difference)) / 2;
    r3_scale(axis, r3_dot(axis, normal) < 0 ? -sine : sine, dest);
    dest[3] = real_root(r3_dot(sum, sum)) / 2;
}

/* The shortest turn, where opposite vectors turn about the axis (a unit vector perpendicular to a);
 * true tells that they were. */
static inline bool
arc_about(real a[3], real b[3], real axis[3], quat dest)
{
    if (!are_opposite(a, b)) {
        shortest_arc(a, b, dest);
        return false;
    }
    quat half_turn = {axis[0], axis[1], axis[2], 0}, rest;
    real opposite[3];
    r3_scale(a, (real)-1, opposite);
    shortest_arc(opposite, b, rest);
    r4_mul(rest, half_turn, dest);
    return true;
}

/* Unit length to the last digit, so that the correction itself does not stretch; of a length near
 * 1. */
IK2B_IN_LINE void
quat_finish(quat q)
{
    double wide[4] = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
    double inverse = 1.5 - 0.5 * (d3_dot(wide, wide) + wide[3] * wide[3]);
    for (int i = 0; i < 4; i++) {
        q[i] = (real)(wide[i] * inverse);
    }
}

/* Takes up the small turn that still is between the turned `from` and `to`, both unit: what single
 * precision lost on the way to q. */
IK2B_IN_LINE void
quat_settle(const double from[3], const double to[3], quat q)
{
    double wide[4] = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
    double once[3], twice[3], turned[3], rest[3], change[3];
    if (sizeof(real) == sizeof(double)) {
        return;
    }
    d3_cross(wide, from, once);
    d3_cross(wide, once, twice);
    for (int i = 0; i < 3; i++) {
        turned[i] = from[i] + 2.0 * (wide[3] * once[i] + twice[i]);
    }
    d3_cross(turned, to, rest);
    d3_cross(rest, wide, change);
    for (int i = 0; i < 3; i++) {
        q[i] = (real)(wide[i] + 0.5 * (wide[3] * rest[i] + change[i]));
    }
    q[3] = (real)(wide[3] - 0.5 * d3_dot(rest, wide));
}

/* The matrix of a rounded unit quaternion, itself unit. */
IK2B_IN_LINE void
quat_matrix(const quat q, double dest[3][3])
{
    double x = (double)q[0], y = (double)q[1], z = (double)q[2], w = (double)q[3];
    double s = 4.0 - 2.0 * (x * x + y * y + z * z + w * w); /* 2 / square, for a square near 1 */
    dest[0][0] = 1.0 - s * (y * y + z * z);
    dest[0][1] = s * (x * y - w * z);
    dest[0][2] = s * (x * z + w * y);
    dest[1][0] = s * (x * y + w * z);
    dest[1][1] = 1.0 - s * (x * x + z * z);
    dest[1][2] = s * (y * z - w * x);
    dest[2][0] = s * (x * z - w * y);
    dest[2][1] = s * (y * z + w * x);
    dest[2][2] = 1.0 - s * (x * x + y * y);
}

/* v turned by a rounded unit quaternion. */
IK2B_IN_LINE void
quat_rotate(const quat q, const double v[3], double dest[3])
{
    double axis[3] = {(double)q[0], (double)q[1], (double)q[2]}, w = (double)q[3];
    double once[3], twice[3], s = 4.0 - 2.0 * (d3_dot(axis, axis) + w * w); /* as quat_matrix */
    d3_cross(axis, v, once);
    d3_cross(axis, once, twice);
    for (int i = 0; i < 3; i++) {
        dest[i] = v[i] + s * (w * once[i] + twice[i]);
    }
}

static inline void
quat_identity(quat q)
{
    q[0] = q[1] = q[2] = 0;
    q[3] = 1;
}

/* The axis about which a bone turns half round: the hinge, else the normal of the present bend,
 * else a well-defined perpendicular. Unit, and perpendicular to the unit bone. */
static inline void
half_turn_axis(const double bone[3], const double hinge[3], const double other[3], real dest[3])
{
    double axis[3], across[3];
    if (!hinge_across(hinge, bone, axis)) {
        d3_unit(other, across);
        d3_cross(across, bone, axis);
        if (d3_norm(axis) <= IK2B_STRAIGHT) {
            d3_perpendicular(bone, axis);
        }
    }
    d3_unit_across(axis, bone, axis);
    to_real(axis, dest);
}

/* What is left of v across the unit axis, as a unit vector; 0: nothing. */
IK2B_IN_LINE int
r3_across(real v[3], real axis[3], real dest[3])
{
    r3_reject(v, axis, dest);
    real square = r3_dot(dest, dest);
    r3_scale(dest, real_inverse_root(square), dest);
    return (double)square > IK2B_PARALLEL * IK2B_PARALLEL;
}

/* A unit vector, also in `real`; 0: its square is not between `least` and the inverse, void. */
IK2B_IN_LINE int
direction(const double v[3], double least, double unit[3], real dest[3])
{
    double square = d3_dot(v, v);
    d3_scale(v, inverse_root(square), unit);
    to_real(unit, dest);
    return is_between(square, least);
}

/* The root's turn of the upper bone from `up` to `new_up`, both unit. Rolling, it goes on about the
 * new bone until the hinge, turned with it, points along the unit normal of the new bend. 0: not
 * plain, dest is void. */
IK2B_IN_LINE int
turn_root_plainly(const joints *limb, const double new_mid[3], const double normal[3], bool rolling,
                  double least, quat dest)
{
    double from[3], to[3], wide[3];
    real up[3], new_up[3];
    int good = direction(limb->upper, least, from, up) & direction(new_mid, least, to, new_up);
    good &= !are_opposite(up, new_up);
    shortest_arc(up, new_up, dest);
    if (rolling) {
        real hinge[3], wanted[3];
        quat roll;
        good &= direction(limb->hinge_root, least, wide, hinge);
        rotate(dest, hinge, hinge);
        to_real(normal, wanted);
        good &= r3_across(hinge, new_up, hinge) & r3_across(wanted, new_up, wanted);
        turn_onto(new_up, hinge, wanted, roll);
        r4_mul(roll, dest, dest);
    }
    quat_finish(dest);
    return good;
}

/* The turn of the lower bone about the unit hinge, as far as that goes. */
IK2B_IN_LINE int
bend_about_hinge(real hinge[3], real old[3], real new[3], quat dest)
{
    real a[3], b[3];
    int good = r3_across(old, hinge, a) & r3_across(new, hinge, b);
    turn_onto(hinge, a, b, dest);
    return good;
}

/* The mid joint's turn of the lower bone, in the mid joint's frame. Rolling, it bends about the
 * hinge, and by the shortest arc for what that cannot explain. 0: not plain, dest is void. */
IK2B_IN_LINE int
turn_mid_plainly(const joints *limb, const double new_lower[3], bool rolling, double least,
                 quat dest)
{
    double from[3], to[3], wide[3];
    real old[3], new[3];
    int good = direction(limb->lower_mid, least, from, old) & direction(new_lower, least, to, new);
    if (rolling) {
        real upper[3], hinge[3], bent[3];
        quat bend, rest;
        good &= direction(limb->upper_mid, least, wide, upper) &
                direction(limb->hinge_mid, least, wide, hinge);
        good &= r3_across(hinge, upper, hinge) & bend_about_hinge(hinge, old, new, bend);
        rotate(bend, old, bent);
        r3_unit(bent, bent);
        good &= !are_opposite(bent, new);
        shortest_arc(bent, new, rest);
        r4_mul(rest, bend, dest);
        quat_finish(dest);
        quat_settle(from, to, dest);
    }
    else {
        good &= !are_opposite(old, new);
        shortest_arc(old, new, dest);
        quat_finish(dest);
    }
    return good;
}

/* The root's turn in all cases; true: something arbitrary decided it. */
static inline bool
turn_root(const joints *limb, const double new_mid[3], const double normal[3], double rolling,
          quat dest)
{
    double up[3], new_up[3], turned[3][3], hinge[3], wanted[3];
    real from[3], to[3], axis[3], a[3], b[3];
    quat roll;
    if ((rolling == 0.0 || rolling == 1.0) &&
        turn_root_plainly(limb, new_mid, normal, rolling == 1.0, IK2B_LEAST_SQUARE, dest)) {
        return false;
    }
    d3_unit(limb->upper, up);
    d3_unit(new_mid, new_up);
    to_real(up, from);
    to_real(new_up, to);
    half_turn_axis(up, limb->hinge_root, limb->lower, axis);
    bool singular = arc_about(from, to, axis, dest) && rolling < 1.0;
    quat_finish(dest);
    quat_matrix(dest, turned);
    d33_apply(turned, limb->hinge_root, hinge);
    if (rolling == 0.0 || !hinge_across(hinge, new_up, hinge) ||
        !hinge_across(normal, new_up, wanted)) {
        return singular;
    }
    d3_unit(hinge, hinge);
    d3_unit(wanted, wanted);
    to_real(hinge, a);
    to_real(wanted, b);
    turn_about(to, rolling * angle_about(to, a, b), roll);
    r4_mul(roll, dest, dest);
    quat_finish(dest);
    return singular || (rolling < 1.0 && are_opposite(a, b));
}

/* The mid joint's turn in all cases; true: something arbitrary decided it. */
static inline bool
turn_mid(const joints *limb, const double new_lower[3], bool rolling, quat dest)
{
    double old[3], new[3], upper[3], side[3];
    real from[3], to[3], hinge[3];
    quat turn, rest;
    if (turn_mid_plainly(limb, new_lower, rolling, IK2B_LEAST_SQUARE, dest)) {
        return false;
    }
    quat_identity(turn);
    d3_unit(limb->lower_mid, old);
    d3_unit(new_lower, new);
    d3_unit(limb->upper_mid, upper);
    to_real(old, from);
    to_real(new, to);
    if (rolling && hinge_across(limb->hinge_mid, upper, side)) {
        d3_unit(side, side);
        to_real(side, hinge);
        if (!bend_about_hinge(hinge, from, to, turn)) {
            quat_identity(turn);
        }
        rotate(turn, from, from);
        r3_unit(from, from);
    }
    else {
        half_turn_axis(old, limb->hinge_mid, upper, hinge);
    }
    bool opposite = arc_about(from, to, hinge, rest);
    r4_mul(rest, turn, dest);
    quat_finish(dest);
    return opposite;
}

/* The lower bone that leads from the turned mid joint to new_end, back in the mid joint's frame
 * before both turns: it takes up what rounding left in the root's. */
IK2B_IN_LINE void
lower_before_turn(const joints *limb, const double root[3][3], const double new_end[3],
                  double dest[3])
{
    double back[3];
    for (int i = 0; i < 3; i++) {
        back[i] = root[0][i] * new_end[0] + root[1][i] * new_end[1] + root[2][i] * new_end[2] -
                  limb->upper[i];
    }
    d33_apply(limb->frame, back, back);
    d33_apply(limb->mid_inward, back, dest);
}

/* Where the rounded turns put the end joint. */
IK2B_IN_LINE void
end_after_turn(const joints *limb, const double root[3][3], const quat mid_turn, double dest[3])
{
    double lower[3];
    quat_rotate(mid_turn, limb->lower_mid, lower);
    d33_apply(limb->mid_frame, lower, lower);
    d33_apply(limb->inward, lower, lower);
    d3_add(limb->upper, lower, lower);
    d33_apply(root, lower, dest);
}

/* The corrections that bring the joints to new_mid and new_end (seen from the root, in its frame).
 * normal is the unit hinge of the new pose, zero where it has none; rolling in [0, 1] is how much
 * of the hinge's roll is wanted, 0: roll as posed. */
static inline turns
turn_bones(const joints *limb, const double new_mid[3], const double new_end[3],
           const double normal[3], double rolling)
{
    turns self;
    double root[3][3], lower[3];
    self.singular = turn_root(limb, new_mid, normal, rolling, self.root);
    quat_matrix(self.root, root);
    lower_before_turn(limb, root, new_end, lower);
    if (d3_is_zero(lower)) {
        d3_copy(limb->lower_mid, lower); /* a bone that is nothing beside the upper one stays */
    }
    self.singular |= turn_mid(limb, lower, rolling > 0.0, self.mid);
    end_after_turn(limb, root, self.mid, self.end);
    return self;
}

/* Squares in a tile lie between this and its inverse, so that they stay ordinary where the same
 * limb is scaled to a reach near 1. */
#define IK2B_TILE_SQUARE 0x1p-80

/* The same without a branch, for bones whose lengths lie within 2^20; 0: not plain, *self is void.
 */
IK2B_IN_LINE int
turn_bones_plainly(const joints *limb, const double new_mid[3], const double new_end[3],
                   const double normal[3], bool rolling, turns *self)
{
    double root[3][3], lower[3];
    int good = turn_root_plainly(limb, new_mid, normal, rolling, IK2B_TILE_SQUARE, self->root);
    quat_matrix(self->root, root);
    lower_before_turn(limb, root, new_end, lower);
    good &= turn_mid_plainly(limb, lower, rolling, IK2B_TILE_SQUARE, self->mid);
    end_after_turn(limb, root, self->mid, self->end);
    self->singular = false;
    return good;
}

#endif
