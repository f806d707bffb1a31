/* SPDX-License-Identifier: MIT
 *
 * From joint positions to corrections: the turns of root and mid joint, with the roll that is
 * wanted. Quaternions are x, y, z, w here. Only those that are returned have unit length: most of
 * the time of a lane goes into square roots of which one waits for another.
 */
#include "limb.h"

/* v turned by the quaternion q of any length, and multiplied by the square of that length. */
IK2B_IN_LINE void
d4_rotate(const double q[4], const double v[3], double dest[3])
{
    double once[3], twice[3], square = d4_square(q);
    d3_cross(q, v, once);
    d3_cross(q, once, twice);
    for (int i = 0; i < 3; i++) {
        dest[i] = v[i] * square + 2.0 * (q[3] * once[i] + twice[i]);
    }
}

/* The shortest turn of vector a onto b; `product` is that of their lengths. The square of
 * the length of q is 2 * product * q[3]. Returns false if they are nearly opposite. At an obtuse
 * angle the axis is the cross product of a and the sum of both, which has more exact digits, but
 * only if the lengths are `alike`: else the sum has fewer. */
IK2B_IN_LINE bool
shortest_turn(const double a[3], const double b[3], double product, bool alike, double opposite,
              double q[4])
{
    double along = d3_dot(a, b), other[3];
    for (int i = 0; i < 3; i++) {
        other[i] = b[i] + ((alike & (along < 0.0)) ? a[i] : 0.0);
    }
    d3_cross(a, other, q);
    q[3] = product + along;
    return along > opposite * product;
}

/* The turn about an axis of any length, of which `square` is the square. `sine` is that of the
 * angle times the length, `cosine` that of the angle times the square; both may have another common
 * factor. Returns the length of the vector (sine * length, cosine), and the square of the length of
 * q in *q_square. Small and large angles are halved in different ways, so that both keep their
 * digits. */
IK2B_IN_LINE double
turn_about(const double axis[3], double square, double sine, double cosine, double q[4],
           double *q_square)
{
    double size = sqrt(square * (sine * sine) + cosine * cosine);
    bool obtuse = cosine < 0.0;
    double other = sine < 0.0 ? cosine - size : size - cosine;
    d3_scale(axis, obtuse ? other : sine, q);
    q[3] = obtuse ? square * fabs(sine) : size + cosine;
    *q_square = 2.0 * size * (size + fabs(cosine)) * (obtuse ? square : 1.0);
    return size;
}

static inline bool
are_opposite(const limb *t, const double a[3], const double b[3])
{
    double sum[3];
    d3_add(a, b, sum);
    return d3_dot(sum, sum) <= t->task.parallel * t->task.parallel;
}

/* The shortest turn of unit vector a onto unit vector b, by half their sum and half their
 * difference. Opposite vectors turn about `axis`, a unit vector perpendicular to a; then true is
 * returned. */
IK2B_APART bool
arc_about(const limb *t, const double a[3], const double b[3], const double axis[3], double q[4])
{
    double sum[3], difference[3], across[3], from[3], rest[4], half_turn[4] = {0.0};
    bool opposite = are_opposite(t, a, b);
    d3_scale(a, opposite ? -1.0 : 1.0, from);
    d3_add(from, b, sum);
    d3_sub(b, from, difference);
    double cosine = 0.5 * d3_norm(sum), sine = 0.5 * d3_norm(difference);
    d3_cross(from, sine < cosine ? difference : sum, across);
    d3_reject(across, from, across);
    memset(rest, 0, sizeof rest);
    if (!d3_is_zero(across)) {
        d3_unit(across, rest);
        d3_scale(rest, sine, rest);
    }
    rest[3] = cosine;
    memcpy(q, rest, sizeof rest);
    if (opposite) {
        d3_copy(axis, half_turn);
        d4_mul(rest, half_turn, q);
    }
    return opposite;
}

/* The axis about which a bone turns half round: the hinge, else the normal of the present bend,
 * else a well-defined perpendicular. Unit, and perpendicular to the unit bone. */
IK2B_APART void
half_turn_axis(const limb *t, const double bone[3], const double hinge[3], const double other[3],
               double axis[3])
{
    double across[3];
    if (!hinge_across(t, hinge, bone, axis)) {
        d3_unit(other, across);
        d3_cross(across, bone, axis);
        if (d3_norm(axis) <= t->task.straight) {
            d3_perpendicular(bone, axis);
        }
        d3_unit_across(axis, bone, axis);
    }
}

/* The root's turn in all cases. */
static inline void
turn_root_in_any_case(limb *t, double rolling, double q[4])
{
    double hinge[3], normal[3], up[3], new_up[3], axis[3], roll[4], roll_square;
    d3_copy(t->hinge, hinge);
    d3_copy(t->normal, normal);
    d3_unit(t->mid, up);
    d3_unit(t->new_mid, new_up);
    half_turn_axis(t, up, hinge, t->lower, axis);
    bool opposite = arc_about(t, up, new_up, axis, q);
    d4_rotate(q, hinge, hinge);
    if (rolling > 0.0 && hinge_across(t, hinge, new_up, hinge) &&
        hinge_across(t, normal, new_up, normal)) {
        d3_cross(hinge, normal, axis);
        double sine = d3_dot(axis, new_up), cosine = d3_dot(hinge, normal);
        if (rolling < 1.0) {
            opposite |= are_opposite(t, hinge, normal);
            part_of_angle(rolling, &sine, &cosine);
        }
        else {
            opposite = false;
        }
        turn_about(new_up, 1.0, sine, cosine, roll, &roll_square);
        d4_mul(roll, q, q);
    }
    if (opposite && t->kept == 0.0) {
        t->singular = 1.0;
    }
}

/* The root's turn, which brings the upper bone to its new place. If `rolling`, the root then turns
 * about the new bone until its hinge points along the unit normal of the new bend; if `partly`, by
 * a part of that angle. */
IK2B_IN_LINE bool
turn_root(limb *t, bool careful, bool rolling, bool partly)
{
    double new_up[3], hinge[3], normal[3], across[3], both[3], roll[4], q[4], roll_square;
    d3_copy(t->new_mid, new_up);
    double square = d3_dot(t->mid, t->mid), new_square = d3_dot(new_up, new_up);
    bool same =
        fabs(new_square - square) < 1e-12 * square; /* else rounding has much of its length */
    bool good = shortest_turn(t->mid, new_up, square, true, t->task.opposite, q);
    good &= is_between(square, 0x1p-50);
    good &= same;
    double q_square = 2.0 * square * q[3];
    if (rolling) {
        d3_copy(t->hinge, hinge);
        d3_copy(t->normal, normal);
        bool none = d3_is_zero(hinge);
        none |= d3_is_zero(normal);
        double hinge_square = d3_dot(hinge, hinge), longest = new_square * q[3];
        /* q turns the hinge as a reflection in the plane between the bones does, but for the
         * component along the new bone */
        d3_add(t->mid, new_up, both);
        double reflected = d3_dot(both, hinge);
        d3_scale(hinge, q[3], hinge);
        d3_muladds(both, -reflected, hinge);
        d3_cross(hinge, normal, across);
        double sine = d3_dot(across, new_up);
        double cosine =
            d3_dot(hinge, normal) * new_square - d3_dot(hinge, new_up) * d3_dot(normal, new_up);
        cosine += none ? 1.0 : 0.0; /* 0 so far: no turn */
        double size = new_square * (sine * sine) + cosine * cosine;
        bool sure =
            (size > 1e-6 * (longest * longest * hinge_square)) & is_between(hinge_square, 0x1p-60);
        good &= (none & (cosine == 1.0)) | sure;
        if (partly) {
            double length = sqrt(new_square);
            double part = t->weight, part_sine = sine * length, part_cosine = cosine;
            good &=
                none | (part >= 1.0) | (cosine > 0.0) | (new_square * (sine * sine) > 1e-6 * size);
            part_of_angle(part, &part_sine, &part_cosine);
            sine = part >= 1.0 ? sine : part_sine * length;
            cosine = part >= 1.0 ? cosine : part_cosine * new_square;
        }
        turn_about(new_up, new_square, sine, cosine, roll, &roll_square);
        d4_mul(roll, q, q);
        q_square *= roll_square;
    }
    if (careful && !good) {
        turn_root_in_any_case(t, rolling ? t->weight : 0.0, q);
        q_square = d4_square(q);
    }
    give_turn(t, q, q_square, in_pairs(t->kept), t->root_turn);
    return good;
}

/* The lower bone from the turned mid joint to the new end, as seen in the mid joint's frame before
 * both turns. It starts at the mid joint where the root's rounded turn puts it, so that this
 * rounding does not move the end. */
IK2B_IN_LINE void
lower_before_turn(limb *t, double dest[3])
{
    const double *turn = t->root_turn, inverse[4] = {-turn[0], turn[1], turn[2], turn[3]};
    double frame[3][3], back[3];
    get_linear(t->root_matrix, frame);
    d4_turn(inverse, t->new_end, back);
    d3_sub(back, t->mid, back);
    d33_apply(frame, back, back);
    d33_apply(t->mid_inward, back, dest);
}

/* The upper bone in the mid joint's frame, unscaled. */
IK2B_IN_LINE void
upper_in_mid(limb *t, double upper[3])
{
    for (int i = 0; i < 3; i++) {
        upper[i] = t->mid_matrix[i][3] - t->root_matrix[i][3];
    }
    d33_apply(t->mid_inward, upper, upper);
}

/* The mid joint's turn in all cases. */
static inline void
turn_mid_in_any_case(limb *t, bool rolling, double q[4])
{
    double old[3], new[3], upper[3], hinge[3], turned[3], a[3], b[3];
    double bend[4] = {0.0, 0.0, 0.0, 1.0}, rest[4], bend_square;
    d3_copy(t->lower_mid, old);
    upper_in_mid(t, upper);
    lower_before_turn(t, new);
    if (d3_is_zero(new)) {
        d3_copy(old, new); /* a bone that is nothing beside the upper one stays */
    }
    d3_unit(old, old);
    d3_unit(new, new);
    d3_unit(upper, upper);
    d3_copy(old, turned);
    if (rolling && hinge_across(t, t->hinge_mid, upper, hinge)) {
        d3_reject(old, hinge, a);
        d3_reject(new, hinge, b);
        if (d3_norm(a) > t->task.parallel && d3_norm(b) > t->task.parallel) {
            d3_unit(a, a);
            d3_unit(b, b);
            d3_cross(a, b, turned);
            turn_about(hinge, 1.0, d3_dot(turned, hinge), d3_dot(a, b), bend, &bend_square);
            d4_unit(bend);
            d4_rotate(bend, old, turned);
        }
    }
    else {
        half_turn_axis(t, old, t->hinge_mid, upper, hinge);
    }
    if (arc_about(t, turned, new, hinge, rest) && t->kept == 0.0) {
        t->singular = 1.0;
    }
    d4_mul(rest, bend, q);
}

/* The turn of the lower bone onto `new` that turns it about `hinge` as far as that goes, and by the
 * shortest arc for the rest; `product` is that of the bones' lengths. The axis of the rest is
 * perpendicular to the hinge. Sets the square of the length of q. Returns false if the lane needs
 * care. */
IK2B_IN_LINE bool
bend_about(const limb *t, const double hinge[3], const double new[3], double product, double q[4],
           double *q_square)
{
    const double *old = t->lower_mid;
    double axis[3], across[3], bend[4];
    double square = d3_dot(hinge, hinge), along = d3_dot(old, hinge),
           new_along = d3_dot(new, hinge);
    d3_cross(hinge, new, axis);
    double both = along * new_along, area = d3_dot(axis, axis);
    double size = turn_about(hinge, square, -d3_dot(old, axis), d3_dot(old, new) * square - both,
                             bend, q_square);
    double cosine = both + size; /* of the rest, times square * product */
    double rest = area * (square * product + cosine), sine = area * along - size * new_along;
    d3_scale(axis, sine, axis);
    d3_cross(axis, bend, across);
    for (int i = 0; i < 3; i++) {
        q[i] = rest * bend[i] + bend[3] * axis[i] + across[i];
    }
    q[3] = rest * bend[3];
    *q_square *= 2.0 * (square * product) * (area * rest);
    bool sure = is_between(square, 0x1p-60) & (size > 1e-6 * (square * product));
    return sure & (cosine > t->task.opposite * (square * product));
}

/* The mid joint's turn, in its frame, which brings the lower bone to its new place. If `rolling`,
 * it turns about the hinge as far as that goes, and by the shortest arc for the rest. */
IK2B_IN_LINE bool
turn_mid(limb *t, bool careful, bool rolling)
{
    double new[3], upper[3], hinge[3], q[4], bent[4], bent_square;
    lower_before_turn(t, new);
    double old_square = d3_dot(t->lower_mid, t->lower_mid), new_square = d3_dot(new, new);
    double product = sqrt(old_square * new_square);
    bool alike = (old_square < 4.0 * new_square) & (new_square < 4.0 * old_square);
    bool good = shortest_turn(t->lower_mid, new, product, alike, t->task.opposite, q);
    double q_square = 2.0 * product * q[3];
    if (rolling) {
        upper_in_mid(t, upper);
        d3_copy(t->hinge_mid, hinge);
        bool none =
            fabs(hinge[0]) + fabs(hinge[1]) + fabs(hinge[2]) == 0.0; /* for SSE2, one test */
        double hinge_square = d3_dot(hinge, hinge);
        d3_muladds(upper, -d3_dot(hinge, upper) / d3_dot(upper, upper), hinge);
        bool sure = bend_about(t, hinge, new, product, bent, &bent_square);
        sure &= d3_dot(hinge, hinge) > 1e-6 * hinge_square;
        good &= none;
        good |= sure; /* which is false without a hinge */
        for (int i = 0; i < 4; i++) {
            q[i] = chosen(none, q[i], bent[i]);
        }
        q_square = chosen(none, q_square, bent_square);
    }
    good &= is_between(old_square, 0x1p-50);
    good &= is_between(new_square, 0x1p-50);
    if (careful && !good) {
        turn_mid_in_any_case(t, rolling, q);
        q_square = d4_square(q);
    }
    give_turn(t, q, q_square, in_pairs(t->kept), t->mid_turn);
    return good;
}

IK2B_STAGE(turn_root, IK2B_RESULTS, turn_root(t, careful, false, false), .none = IK2B_BIT(ROLLING))
IK2B_STAGE(turn_mid, IK2B_RESULTS, turn_mid(t, careful, false), .none = IK2B_BIT(ROLLING))
IK2B_STAGE(roll_root, IK2B_RESULTS, turn_root(t, careful, true, false), .all = IK2B_BIT(ROLLING),
           .none = IK2B_BIT(WEIGHT))
IK2B_STAGE(roll_root_partly, IK2B_RESULTS, turn_root(t, careful, true, true),
           .all = IK2B_BIT(ROLLING) | IK2B_BIT(WEIGHT))
IK2B_STAGE(bend_mid, IK2B_RESULTS, turn_mid(t, careful, true), .all = IK2B_BIT(ROLLING))
IK2B_STAGE(finish_root, IK2B_RESULTS, finish_turn(t->root_turn), .all = IK2B_BIT(DOUBLE))
IK2B_STAGE(finish_mid, IK2B_RESULTS, finish_turn(t->mid_turn), .all = IK2B_BIT(DOUBLE))

static const ik2b_stage *const stages[] = {
    &turn_root_stage, &roll_root_stage, &roll_root_partly_stage, &finish_root_stage,
    &turn_mid_stage,  &bend_mid_stage,  &finish_mid_stage,       NULL,
};

const ik2b_stage ik2b_turn = {.stages = stages};
