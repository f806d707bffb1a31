/* SPDX-License-Identifier: MIT
 *
 * The stages of the fast twin that lead from a limb and a target, relative to the root, to new joints. They are those
 * of reference_limb.py, which explains them.
 */
#include "twin_vectors.h"

enum { TOO_FAR = 1, TOO_CLOSE = 2, SOFTENED = 4, LIMITED = 8, SINGULAR = 16, INVALID = 32 };

typedef struct {
    real upper, lower, reach, rounding, distance, height;
    vec mid, end, line, bend;
    bool singular;
} limb;

typedef struct {
    vec mid, end, normal;
    int status;
    bool still;
    real moved; /* the end by the cone, or less than 0: the mid joint's way to the cone; as a share of the reach */
} placed;

static vec
folded_line(vec up, vec side, vec toward)
{
    if (any(side)) {
        return unit(cross(up, side));
    }
    vec across = reject(toward, up);
    return length(across) > 1e-12 * length(toward) ? unit(across) : perpendicular(up);
}

static limb
measure(vec mid, vec lower, vec end, vec hinge, vec toward, const row *r)
{
    const precision *is = r->is;
    vec up = unit(mid), side = reject(hinge, up);
    limb l = {.upper = length(mid), .lower = length(lower), .mid = mid, .end = end};
    l.reach = l.upper + l.lower;
    l.rounding = r->rounding * l.reach;
    if (length(side) <= is->parallel * length(hinge)) {
        side = (vec){0, 0, 0};
    }
    if (!any(end)) {
        l.line = folded_line(up, side, toward);
        l.singular = true;
        l.bend = up;
    }
    else {
        vec shorter = length(end) < length(lower) ? end : lower; /* the longer one of a folded limb leaves no digits */
        l.line = unit(end);
        l.bend = reject(mid, l.line);
        l.distance = length(end);
        l.height = length(cross(mid, shorter)) / l.distance;
        if (l.height <= is->straight * l.reach) {
            l.singular = !any(side);
            l.bend = l.singular ? perpendicular(l.line) : cross(side, l.line);
        }
    }
    l.bend = unit(reject(l.bend, l.line));
    return l;
}

static real
distance_at(const limb *l, real angle)
{
    real difference = l->upper - l->lower, half = sin(angle / 2);
    return angle >= PI ? l->reach : sqrt(difference * difference + 4 * l->upper * l->lower * half * half);
}

static void
angle_limits(const row *r, real *least, real *greatest)
{
    *greatest = clamp(number(r, MAX_ANGLE, PI), 0, PI);
    *least = clamp(number(r, MIN_ANGLE, 0), 0, *greatest);
}

static real
softened(real distance, real greatest, real soften)
{
    real start = soften * greatest, arrival = (2 - soften) * greatest, past = distance - start;
    if (distance <= start || soften == 1) {
        return distance;
    }
    return distance >= arrival ? greatest : distance - past * past / (2 * (arrival - start));
}

static int
judged(const limb *l, real distance, real soft, real least, real greatest, const precision *is)
{
    real moved = is->moved * l->reach, fold = fabs(l->upper - l->lower);
    int status = 0;
    status |= distance - l->reach > moved ? TOO_FAR : 0;
    status |= fold - distance > moved ? TOO_CLOSE : 0;
    status |= distance - soft > moved ? SOFTENED : 0;
    status |= fabs(clamp(distance, least, greatest) - clamp(distance, fold, l->reach)) > moved ? LIMITED : 0;
    return status;
}

static void
triangle(const limb *l, real distance, real *along, real *height)
{
    real total = l->reach, difference = l->upper - l->lower + l->rounding / 2;
    *along = 0;
    *height = l->upper;
    if (distance == l->distance && distance != 0 && l->rounding == 0) { /* the present triangle, without a square root */
        *along = dot(l->mid, l->line);
        *height = l->height;
    }
    else if (distance != 0) {
        distance = fabs(distance + l->rounding);
        real area = fmax(total - distance, 0) * (total + distance);
        area *= fmax(distance - difference, 0) * fmax(distance + difference, 0);
        *along = (distance + difference * total / distance) / 2;
        *height = sqrt(area) / (2 * distance);
    }
}

/* This triangle is rounded the other way than that of the new pose. The solver rounds the two apart; in a folded limb,
 * equal errors of the two would cancel. */
static vec
line_under_still_bone(const limb *l, real distance)
{
    real along, height;
    limb other = *l;
    other.rounding = -l->rounding;
    triangle(&other, distance, &along, &height);
    vec up = unit(l->mid), across = unit(cross(up, cross(l->line, l->bend)));
    return mul(1 / l->upper, add(mul(along, up), mul(height, across)));
}

static vec
bent(const limb *l, vec line, const row *r, bool *singular)
{
    vec side = reject(l->mid, line);
    if (r->nearest && length(side) > r->is->straight * l->reach) {
        *singular = false;
        return unit(side);
    }
    bool opposite;
    quat turn = arc(l->line, line, cross(l->line, l->bend), r->is, &opposite);
    *singular = l->singular || opposite || r->nearest;
    return unit(reject(turned(turn, l->bend), line));
}

static vec
poled(vec bend, vec line, const row *r, real amount, bool *singular)
{
    vec pole = vector(r, POLE);
    if (!any(pole) || amount == 0) {
        return bend;
    }
    vec side = reject(unit(pole), line);
    if (length(side) <= r->is->parallel) {
        *singular = true;
        return bend;
    }
    side = unit(side);
    if (amount == 1) {
        *singular = false;
        return side;
    }
    *singular |= length(add(bend, side)) <= r->is->parallel;
    return turned(about(line, amount * atan2(dot(line, cross(bend, side)), dot(bend, side))), bend);
}

static vec
pointed(const limb *l, vec mid, const placed *wished, const row *r)
{
    real least, greatest;
    angle_limits(r, &least, &greatest);
    vec back = mul(-1, l->mid), up = unit(mid), aim = sub(wished->end, mid), across = reject(aim, up);
    real own = angle_between(back, sub(l->end, l->mid));
    real angle = clamp(angle_between(mul(-1, mid), aim), fmin(least, own), fmax(greatest, own));
    if (length(across) <= r->is->parallel * l->lower) {
        across = cross(mid, wished->normal);
    }
    return add(sub(mid, mul(l->lower * cos(angle), up)), mul(l->lower * sin(angle), unit(across)));
}

static placed
beside_cone(const limb *l, placed wished, vec line, vec axis, real limit, const row *r)
{
    vec towards = reject(line, axis);
    real side = angle_between(wished.mid, line) < angle_between(line, axis) ? 1 : -1;
    int status = wished.status;
    if (length(towards) <= r->is->parallel) {
        towards = reject(wished.mid, axis);
        status |= SINGULAR;
        side = 1;
    }
    vec mid = mul(l->upper, add(mul(cos(limit), axis), mul(side * sin(limit), unit(towards))));
    vec end = pointed(l, mid, &wished, r), normal = cross(end, mid);
    real moved = length(sub(end, wished.end)) / l->reach;
    status |= moved > r->is->moved ? LIMITED : 0;
    bool is_bent = length(normal) > r->is->straight * l->reach * length(end);
    return (placed){mid, end, is_bent ? unit(normal) : wished.normal, status, false, moved};
}

static placed
in_cone(const limb *l, placed wished, vec line, vec bend, real along, real height, const row *r)
{
    vec axis = unit(vector(r, CONE_AXIS)), across = cross(line, bend);
    real limit = fmax(clamp(number(r, CONE_ANGLE, PI), 0, PI), angle_between(l->mid, axis));
    real over = angle_between(wished.mid, axis) - limit;
    if (over <= r->rounding) {
        wished.moved = fmin(over, 0) * l->upper / l->reach;
        return wished;
    }
    real x = dot(bend, axis), y = dot(across, axis), centre = atan2(y, x);
    vec towards = mul(height, add(mul(cos(centre), bend), mul(sin(centre), across))), at = mul(along, line);
    real near = angle_between(add(at, towards), axis), far = angle_between(sub(at, towards), axis);
    if (limit < near) {
        return beside_cone(l, wished, line, axis, limit, r);
    }
    /* Half of the legal arc, a half-angle formula of spherical triangles. */
    real inside = sin((limit + near) / 2) * sin((limit - near) / 2);
    real outside = sin((far + limit) / 2) * sin((far - limit) / 2);
    real half = 2 * atan2(sqrt(inside), sqrt(fmax(outside, 0)));
    real angle = centre > 0 ? centre - half : centre + half;
    bend = add(mul(cos(angle), bend), mul(sin(angle), across));
    int singular = x < 0 && fabs(y) <= r->is->parallel * -x ? SINGULAR : 0;
    vec mid = add(mul(along, line), mul(height, bend));
    return (placed){mid, wished.end, cross(line, bend), wished.status | singular, false};
}

static placed
place(const limb *l, vec target, bool on_end, const row *r)
{
    real low, high, weight = number01(r, WEIGHT), twist = weight * number(r, TWIST, 0);
    real pole_weight = weight * number01(r, POLE_WEIGHT);
    angle_limits(r, &low, &high);
    real least = fmin(distance_at(l, low), length(l->end)), greatest = fmax(distance_at(l, high), length(l->end));
    target = on_end ? l->end : target;
    real distance = length(target), soft = softened(distance, greatest, number01(r, SOFTEN));
    int status = judged(l, distance, soft, least, greatest, r->is);
    vec normal = cross(l->line, l->bend);
    bool poling = any(vector(r, POLE)) && pole_weight != 0;
    if (weight == 0 || (on_end && soft == distance && !poling && twist == 0)) {
        return (placed){l->mid, l->end, normal, status, true};
    }
    real far = clamp(soft, least, greatest), along, height;
    bool on_root = distance == 0;
    vec line = on_root ? line_under_still_bone(l, far) : mul(1 / distance, target);
    if (weight < 1) {
        vec goal = add(l->end, mul(weight, sub(mul(far, line), l->end)));
        far = clamp(length(goal), least, greatest);
        on_root = !any(goal);
        line = on_root ? line_under_still_bone(l, far) : unit(goal);
    }
    status |= distance == 0 || on_root ? SINGULAR : 0;
    if (on_root) {
        return (placed){l->mid, mul(far, line), normal, status, false};
    }
    bool singular;
    vec bend = bent(l, line, r, &singular);
    bend = poled(bend, line, r, pole_weight, &singular);
    bend = unit(reject(twist == 0 ? bend : turned(about(line, twist), bend), line));
    triangle(l, far, &along, &height);
    status |= singular ? SINGULAR : 0;
    placed wished = {add(mul(along, line), mul(height, bend)), mul(far, line), cross(line, bend), status, false};
    return any(vector(r, CONE_AXIS)) ? in_cone(l, wished, line, bend, along, height, r) : wished;
}
