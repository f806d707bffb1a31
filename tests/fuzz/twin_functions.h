/* SPDX-License-Identifier: MIT
 *
 * The functions of the fast twin for one row, as in reference.py.
 */
#include "twin_limb.h"

typedef struct {
    mat frame, inward, mid_frame, inner, inner_inward;
    vec upper, lower, end, hinge, hinge_in_root;
    bool good;
} joints;

static bool
invertible(mat m, const precision *is)
{
    real volume = length(m.x) * length(m.y) * length(m.z);
    return volume > 0 && fabs(determinant(m)) > is->flat * volume;
}

static joints
joints_of(const row *r)
{
    vec one = {1, 1, 1}, a = r->given[ROOT_SCALE] ? vector(r, ROOT_SCALE) : one;
    vec b = r->given[MID_SCALE] ? vector(r, MID_SCALE) : one;
    vec root = place_of(r, ROOT_MATRIX), mid = place_of(r, MID_MATRIX), end = vector(r, END);
    mat outer = linear(r, ROOT_MATRIX), own = linear(r, MID_MATRIX);
    joints j = {.good = invertible(outer, r->is) && invertible(own, r->is)};
    j.good = j.good && a.x * a.y * a.z * b.x * b.y * b.z != 0;
    if (!j.good) {
        return j;
    }
    j.frame = (mat){mul(1 / a.x, outer.x), mul(1 / a.y, outer.y), mul(1 / a.z, outer.z)};
    j.inward = inverse(j.frame);
    j.mid_frame = (mat){mul(1 / b.x, own.x), mul(1 / b.y, own.y), mul(1 / b.z, own.z)};
    j.inner = times(j.inward, j.mid_frame);
    j.inner_inward = inverse(j.inner);
    j.upper = apply(j.inward, sub(mid, root));
    j.lower = apply(j.inward, sub(end, mid));
    j.end = apply(j.inward, sub(end, root));
    vec hinge = vector(r, HINGE);
    j.hinge = (vec){hinge.x * b.y * b.z, hinge.y * b.z * b.x, hinge.z * b.x * b.y};
    j.hinge_in_root = apply(cofactor(j.inner), j.hinge);
    j.good = any(j.upper) && any(j.lower);
    return j;
}

static vec
turning_axis(vec bone, vec hinge, vec other)
{
    vec normal = cross(other, bone);
    if (length(reject(hinge, unit(bone))) > 1e-9 * length(hinge)) {
        return hinge;
    }
    return length(reject(normal, unit(bone))) > 1e-9 * length(normal) ? normal : perpendicular(bone);
}

static quat
bend_about(vec hinge, vec toward_root, vec old, vec new, const precision *is, bool *opposite)
{
    vec axis = unit(reject(hinge, unit(toward_root))), a = reject(old, axis), b = reject(new, axis);
    quat turn = about(axis, atan2(dot(axis, cross(a, b)), dot(a, b)));
    return product(arc(turned(turn, old), new, any(a) ? axis : toward_root, is, opposite), turn);
}

/* The turns of the bones, and whether they are singular. `normal` is that of the new bend, zero for none, and `rolling`
 * the share of the roll. */
static bool
turn_bones(const joints *j, vec upper, vec end, vec normal, real rolling, const precision *is, quat *root, quat *mid)
{
    bool singular, opposite;
    *root = arc(j->upper, upper, turning_axis(j->upper, j->hinge_in_root, j->lower), is, &singular);
    if (rolling != 0 && any(j->hinge) && any(normal)) {
        vec axis = unit(upper), a = reject(turned(*root, j->hinge_in_root), axis), b = reject(normal, axis);
        opposite = length(add(unit(a), unit(b))) <= is->parallel;
        *root = product(about(axis, rolling * atan2(dot(axis, cross(a, b)), dot(a, b))), *root);
        singular = (opposite || singular) && rolling < 1;
    }
    vec old = apply(j->inner_inward, j->lower), up = apply(j->inner_inward, j->upper);
    vec new = apply(j->inner_inward, turned(opposed(*root), sub(end, turned(*root, j->upper))));
    if (rolling != 0 && any(j->hinge)) {
        *mid = bend_about(j->hinge, mul(-1, up), old, new, is, &opposite);
    }
    else {
        *mid = arc(old, new, turning_axis(old, j->hinge, up), is, &opposite);
    }
    return singular || opposite;
}

static mat
inner_turn(const joints *j, quat mid)
{
    return times(times(j->inner, matrix(mid)), j->inner_inward);
}

static vec
end_under(const joints *j, quat root, quat mid)
{
    return turned(root, add(j->upper, apply(inner_turn(j, mid), j->lower)));
}

static quat
end_correction(const joints *j, const row *r, quat root, quat mid)
{
    mat own = linear(r, END_MATRIX);
    own = determinant(own) > 0 ? own : scaled(-1, own);
    real side = equal(own.x, linear(r, END_MATRIX).x) ? 1 : -1;
    mat delta = times(times(j->frame, times(matrix(root), inner_turn(j, mid))), j->inward);
    mat present = nearest_rotation(times(delta, own)), wanted = nearest_rotation(own);
    if (r->given[END_GOAL]) {
        quat step = quaternion(times(transposed(wanted), nearest_rotation(scaled(side, linear(r, END_GOAL)))));
        if (any(step.v)) {
            quat part = about(step.v, number01(r, WEIGHT) * 2 * atan2(length(step.v), step.w));
            wanted = times(wanted, matrix(part));
        }
    }
    return quaternion(times(transposed(present), wanted));
}

/* The functions */

typedef enum { SOLVE, SOLVE_POSE, ORIENT, POLE_OF, HINGE_OF, MULTIPLY, FUNCTION_COUNT } function;
typedef enum { NONE, PLACE, TURN, AXIS, DISTANCE } part;
#define PARTS 5
static const part OUTPUTS[FUNCTION_COUNT][PARTS] = {
    [SOLVE] = {PLACE, PLACE, DISTANCE},    [SOLVE_POSE] = {TURN, TURN, TURN, PLACE, DISTANCE},
    [ORIENT] = {TURN, TURN},               [POLE_OF] = {AXIS},
    [HINGE_OF] = {AXIS},                   [MULTIPLY] = {TURN},
};
static const int SIZES[] = {[PLACE] = 3, [TURN] = 4, [AXIS] = 3, [DISTANCE] = 1};

/* The results for a row. Places are rounded in proportion to `length`, a reach, and `far`, a largest coordinate, and
 * products in proportion to `size`. `narrow` and `narrow_end` are the factors by which matrices enlarge roundings.
 * `kept` parts must have exactly these numbers. `moved`: as in `placed`. */
typedef struct {
    real parts[PARTS][4];
    real length, far, size, narrow, narrow_end, moved;
    bool kept[PARTS];
    int status;
} answer;

static void
put(answer *a, int index, vec v)
{
    a->parts[index][0] = v.x, a->parts[index][1] = v.y, a->parts[index][2] = v.z;
}

static void
put_turn(answer *a, int index, quat q)
{
    a->parts[index][0] = q.w, a->parts[index][1] = q.v.x, a->parts[index][2] = q.v.y, a->parts[index][3] = q.v.z;
}

static void
keep(answer *a, bool still, int parts)
{
    for (int i = 0; still && i < parts; i++) {
        a->kept[i] = true;
    }
}

static void
solve(const row *r, answer *a)
{
    vec root = vector(r, ROOT), mid = vector(r, MID), end = vector(r, END), target = vector(r, TARGET);
    put(a, 0, mid);
    put(a, 1, end);
    a->parts[2][0] = NAN;
    if (!all_finite(r) || equal(mid, root) || equal(mid, end)) {
        a->status = INVALID;
        keep(a, true, 2);
        return;
    }
    bool on_end = equal(target, end);
    vec aim = sub(target, root);
    limb l = measure(sub(mid, root), sub(end, mid), sub(end, root), vector(r, HINGE), on_end ? sub(end, root) : aim, r);
    placed new = place(&l, aim, on_end, r);
    a->length = l.reach;
    a->moved = new.moved;
    a->far = fmax(fmax(largest(root), largest(mid)), largest(end));
    a->status = new.status;
    keep(a, new.still, 2);
    if (!new.still) {
        put(a, 0, add(root, new.mid));
        put(a, 1, add(root, new.end));
    }
    a->parts[2][0] = new.still ? length(sub(end, target)) : length(sub(add(root, new.end), target));
}

/* The factor by which the frames enlarge roundings: the product of their condition numbers. */
static real
narrowness(const joints *j)
{
    real frames = size(j->frame) * size(j->inward) * size(j->mid_frame) * size(inverse(j->mid_frame));
    return frames * size(j->inner) * size(j->inner_inward) / 27;
}

static void
refuse(answer *a, vec end)
{
    for (int i = 0; i < 3; i++) {
        put_turn(a, i, IDENTITY);
    }
    put(a, 3, end);
    a->parts[4][0] = NAN;
    a->status = INVALID;
    keep(a, true, 4);
}

static void
solve_pose(const row *r, answer *a)
{
    vec end = vector(r, END), target = vector(r, TARGET), root = place_of(r, ROOT_MATRIX);
    bool good = all_finite(r);
    good = good && !(r->given[END_MATRIX] && !invertible(linear(r, END_MATRIX), r->is));
    good = good && !(r->given[END_GOAL] && !invertible(linear(r, END_GOAL), r->is));
    joints j = good ? joints_of(r) : (joints){.good = false};
    if (!j.good) {
        refuse(a, end);
        return;
    }
    row inside = *r;
    vec pole = apply(j.inward, vector(r, POLE)), axis = apply(j.inward, vector(r, CONE_AXIS));
    memcpy(inside.numbers[POLE], (real[]){pole.x, pole.y, pole.z}, 3 * sizeof(real));
    memcpy(inside.numbers[CONE_AXIS], (real[]){axis.x, axis.y, axis.z}, 3 * sizeof(real));
    inside.rounding *= size(j.frame) * size(j.inward) / 3; /* each bone is rounded apart on its way into the frame */
    bool on_end = equal(target, end);
    vec aim = on_end ? j.end : apply(j.inward, sub(target, root));
    limb l = measure(j.upper, j.lower, j.end, j.hinge_in_root, aim, &inside);
    placed new = place(&l, aim, on_end, &inside);
    real rolling = r->rolling ? number01(r, WEIGHT) : 0;
    bool still = new.still && !(rolling != 0 && any(j.hinge));
    bool end_stays = still && (!r->given[END_GOAL] || number01(r, WEIGHT) == 0);
    quat turn_root, turn_mid, turn_end = IDENTITY;
    bool singular = turn_bones(&j, new.mid, new.end, new.normal, rolling, r->is, &turn_root, &turn_mid);
    if (still) {
        turn_root = turn_mid = IDENTITY;
    }
    if (r->given[END_MATRIX]) {
        mat own = linear(r, END_MATRIX);
        a->narrow_end = narrowness(&j) * size(own) * size(inverse(own)) / 3;
    }
    if (r->given[END_MATRIX] && !end_stays) {
        turn_end = end_correction(&j, r, turn_root, turn_mid);
    }
    vec position = still ? end : add(root, apply(j.frame, end_under(&j, turn_root, turn_mid)));
    put_turn(a, 0, turn_root);
    put_turn(a, 1, turn_mid);
    put_turn(a, 2, turn_end);
    put(a, 3, position);
    a->parts[4][0] = length(sub(position, target));
    a->status = new.status | (singular ? SINGULAR : 0);
    keep(a, still, 2);
    a->kept[2] = end_stays;
    a->kept[3] = still;
    a->length = l.reach * size(j.frame);
    a->moved = new.moved;
    a->narrow = narrowness(&j);
    a->far = fmax(fmax(largest(root), largest(end)), largest(position));
}

static void
orient(const row *r, answer *a)
{
    vec root = place_of(r, ROOT_MATRIX), new_mid = vector(r, NEW_MID), new_end = vector(r, NEW_END);
    put_turn(a, 0, IDENTITY);
    put_turn(a, 1, IDENTITY);
    joints j = all_finite(r) ? joints_of(r) : (joints){.good = false};
    if (!j.good || equal(new_mid, root) || equal(new_mid, new_end)) {
        keep(a, true, 2);
        return;
    }
    a->narrow = narrowness(&j);
    vec upper = apply(j.inward, sub(new_mid, root)), lower = apply(j.inward, sub(new_end, new_mid));
    vec line = apply(j.inward, sub(new_end, root)), normal = cross(length(lower) < length(line) ? lower : line, upper);
    real reach = length(upper) + length(lower);
    bool straight = any(line) && length(normal) <= r->is->straight * reach * length(line);
    vec end = add(mul(length(j.upper) / length(upper), upper), lower);
    quat turn_root, turn_mid;
    turn_bones(&j, upper, end, straight ? (vec){0, 0, 0} : normal, r->rolling, r->is, &turn_root, &turn_mid);
    put_turn(a, 0, turn_root);
    put_turn(a, 1, turn_mid);
    keep(a, !r->rolling && equal(new_mid, place_of(r, MID_MATRIX)) && equal(new_end, vector(r, END)), 2);
    for (int i = 0; a->kept[0] && i < 2; i++) {
        put_turn(a, i, IDENTITY);
    }
}

static void
pole_of(const row *r, answer *a)
{
    vec root = vector(r, ROOT), mid = vector(r, MID), end = vector(r, END), line = sub(end, root);
    keep(a, true, 1);
    if (all_finite(r) && !equal(mid, root) && !equal(mid, end)) {
        limb l = measure(sub(mid, root), sub(end, mid), line, vector(r, HINGE), line, r);
        a->kept[0] = l.singular && any(line);
        put(a, 0, a->kept[0] ? (vec){0, 0, 0} : l.bend);
    }
}

static void
hinge_of(const row *r, answer *a)
{
    keep(a, true, 1);
    joints j = all_finite(r) ? joints_of(r) : (joints){.good = false};
    if (!j.good) {
        return;
    }
    mat inward = inverse(linear(r, MID_MATRIX));
    vec mid = place_of(r, MID_MATRIX), root = apply(inward, sub(place_of(r, ROOT_MATRIX), mid));
    vec end = apply(inward, sub(vector(r, END), mid));
    vec line = apply(inward, sub(vector(r, END), place_of(r, ROOT_MATRIX)));
    vec normal = cross(root, length(line) < length(end) ? line : end);
    real least = r->is->straight * (length(root) + length(end)) * length(line);
    a->kept[0] = length(normal) <= least;
    put(a, 0, a->kept[0] ? (vec){0, 0, 0} : unit(normal));
}

static void
multiply(const row *r, answer *a)
{
    const real *q = r->numbers[Q], *p = r->numbers[R];
    put_turn(a, 0, product((quat){q[0], {q[1], q[2], q[3]}}, (quat){p[0], {p[1], p[2], p[3]}}));
    a->size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    a->size *= sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
}

static answer
answered(function f, const row *r)
{
    static void (*const all[])(const row *, answer *) = {solve, solve_pose, orient, pole_of, hinge_of, multiply};
    answer a = {.size = 1, .narrow = 1, .narrow_end = 1};
    all[f](r, &a);
    return a;
}
