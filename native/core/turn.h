/* SPDX-License-Identifier: MIT
 *
 * From joint positions to corrections: the turns of root and mid joint, with the roll that is
 * wanted.
 */
#ifndef IK2B_TURN_H
#define IK2B_TURN_H

#include "bend.h"

/* A limb seen from its root joint in the root's frame: the space of the parent's aggregate, in
 * which the root's correction turns. Lengths are scaled by a power of two to a reach near 1. */
typedef struct {
    double frame[3][3], inward[3][3];        /* root's frame to outer space, and back */
    double inner[3][3], inner_inverse[3][3]; /* mid joint's frame to the root's, and back */
    double upper[3], lower[3], end[3];       /* root to mid, mid to end, root to end */
    double hinge_root[3], hinge_mid[3];      /* the hinge in both frames; zero: none */
    double scale;
} joints;

typedef struct {
    quat root, mid;
    double end[3]; /* where the rounded turns put the end joint */
    bool singular;
} turns;

/* The shortest turn of unit vector a onto b, by half sum and half difference; every angle is as
 * good as any, tiny ones included, up to nearly opposite. */
static inline void
shortest_arc(real a[3], real b[3], quat dest)
{
    real sum[3], difference[3], axis[3];
    r3_add(a, b, sum);
    r3_sub(b, a, difference);
    real cosine = r3_norm(sum) / 2, sine = r3_norm(difference) / 2;
    bool acute = sine < cosine;
    if (acute) {
        r3_cross(a, difference, axis);
    }
    else {
        r3_cross(a, sum, axis);
    }
    r3_reject(axis, a, axis);
    r3_scale(axis, acute ? 1 / (2 * cosine) : sine / r3_norm(axis), dest);
    dest[3] = cosine;
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

/* Unit length to the last digit, so that the correction itself does not stretch. */
static inline void
quat_finish(quat q)
{
    double wide[4] = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
    double norm = d4_norm(wide);
    for (int i = 0; i < 4; i++) {
        q[i] = (real)(wide[i] / norm);
    }
}

static inline void
quat_matrix(const quat q, double dest[3][3])
{
    double wide[4] = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
    d4_matrix(wide, dest);
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
    d3_unit(axis, axis);
    to_real(axis, dest);
}

/* Roll the turned root about its new bone until the hinge, turned with it, points along the normal
 * of the new bend; part of the way for rolling < 1. True: half round at part of the way. */
static inline bool
roll_to_normal(const joints *limb, const double new_up[3], const double normal[3], double rolling,
               quat root)
{
    double turned[3][3], hinge[3], wanted[3];
    real axis[3], a[3], b[3];
    quat roll;
    quat_finish(root);
    quat_matrix(root, turned);
    d33_apply(turned, limb->hinge_root, hinge);
    if (!hinge_across(hinge, new_up, hinge) || !hinge_across(normal, new_up, wanted)) {
        return false;
    }
    d3_unit(hinge, hinge);
    d3_unit(wanted, wanted);
    to_real(new_up, axis);
    to_real(hinge, a);
    to_real(wanted, b);
    turn_about(axis, rolling * angle_about(axis, a, b), roll);
    r4_mul(roll, root, root);
    return rolling < 1.0 && are_opposite(a, b);
}

/* The turn of the lower bone about the hinge, then the shortest arc for what that cannot explain.
 */
static inline bool
bend_about_hinge(const double hinge[3], real old[3], real new[3], quat dest)
{
    real axis[3], a[3], b[3];
    quat turn, rest;
    to_real(hinge, axis);
    r3_reject(old, axis, a);
    r3_reject(new, axis, b);
    turn_about(axis, angle_about(axis, a, b), turn);
    rotate(turn, old, a);
    r3_unit(a, a);
    bool opposite = arc_about(a, new, axis, rest);
    r4_mul(rest, turn, dest);
    return opposite;
}

/* The mid joint's turn: lower bone onto its new direction, both in the mid joint's frame. */
static inline bool
turn_mid(const joints *limb, const double new_lower[3], bool rolling, quat dest)
{
    double old[3], new[3], upper[3], hinge[3];
    real from[3], to[3], axis[3];
    d33_apply(limb->inner_inverse, limb->lower, old);
    d33_apply(limb->inner_inverse, new_lower, new);
    d33_apply(limb->inner_inverse, limb->upper, upper);
    d3_unit(old, old);
    d3_unit(new, new);
    d3_unit(upper, upper);
    to_real(old, from);
    to_real(new, to);
    if (rolling && hinge_across(limb->hinge_mid, upper, hinge)) {
        d3_unit(hinge, hinge);
        return bend_about_hinge(hinge, from, to, dest);
    }
    half_turn_axis(old, limb->hinge_mid, upper, axis);
    return arc_about(from, to, axis, dest);
}

/* The corrections that bring the joints to new_mid and new_end (seen from the root, in its frame).
 * The mid joint's takes up what rounding left in the root's. normal is the hinge of the new pose,
 * zero where it has none; rolling in [0, 1] is how much of the hinge's roll is wanted, 0: roll as
 * posed. */
static inline turns
turn_bones(const joints *limb, const double new_mid[3], const double new_end[3],
           const double normal[3], double rolling)
{
    turns self;
    double up[3], new_up[3], root[3][3], mid[3][3], placed[3], lower[3];
    real from[3], to[3], axis[3];

    d3_unit(limb->upper, up);
    d3_unit(new_mid, new_up);
    to_real(up, from);
    to_real(new_up, to);
    half_turn_axis(up, limb->hinge_root, limb->lower, axis);
    self.singular = arc_about(from, to, axis, self.root) && rolling < 1.0;
    if (rolling > 0.0) {
        self.singular |= roll_to_normal(limb, new_up, normal, rolling, self.root);
    }
    quat_finish(self.root);

    quat_matrix(self.root, root);
    d33_apply(root, limb->upper, placed);
    d3_sub(new_end, placed, lower);
    d3_copy(lower, placed);
    for (int i = 0; i < 3; i++) {
        lower[i] = root[0][i] * placed[0] + root[1][i] * placed[1] + root[2][i] * placed[2];
    }
    self.singular |= turn_mid(limb, lower, rolling > 0.0, self.mid);
    quat_finish(self.mid);

    quat_matrix(self.mid, mid);
    d33_apply(limb->inner_inverse, limb->lower, lower);
    d33_apply(mid, lower, lower);
    d33_apply(limb->inner, lower, lower);
    d3_add(limb->upper, lower, lower);
    d33_apply(root, lower, self.end);
    return self;
}

#endif
