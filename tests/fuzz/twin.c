/* SPDX-License-Identifier: MIT
 *
 * The fast twin: it computes the results that the contract and the readable twin (tests/reference*.py) demand, row by
 * row in plain C and with more digits than the solver, and judges the solver's results by them. It shares no code with
 * the solver. With -DNARROW it computes in double, which is enough for most rows and three times as fast.
 */
#include "twin_functions.h"

/* One argument or result of all rows: numbers of `width` bytes; the width is 0 if the column is not given. */
typedef struct {
    const char *data;
    ptrdiff_t stride;
    ptrdiff_t width;
} column;

/* The codes of what is wrong with a row: 0 for nothing, 1 + the number of a part, and these. */
enum { WRONG_STATUS = 1 + PARTS, WRONG_LENGTH, WRONG_BONES, WRONG_MISS, WRONG_PLACE };

static real
read_number(const column *from, size_t index, int i)
{
    const char *at = from->data + (ptrdiff_t)index * from->stride + i * from->width;
    float single;
    double wide;
    memcpy(&single, at, sizeof single);
    if (from->width == sizeof single) {
        return single;
    }
    memcpy(&wide, at, sizeof wide);
    return wide;
}

static void
read_row(const column *inputs, size_t index, row *r)
{
    for (int name = 0; name < INPUT_COUNT; name++) {
        r->given[name] = inputs[name].width != 0;
        for (int i = 0; r->given[name] && i < COUNTS[name]; i++) {
            r->numbers[name][i] = read_number(&inputs[name], index, i);
        }
    }
}

/* A number in [-1, 1] that depends only on `x`, `axis` and `sample`, so that equal points stay equal. */
static real
noise(real x, int axis, uint64_t sample)
{
    double value = (double)x;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits ^= (sample * 3 + (uint64_t)axis + 1) * 0x9E3779B97F4A7C15u;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u; /* splitmix64, Steele et al. 2014 */
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return (real)(int64_t)(bits ^ (bits >> 31)) / (real)INT64_MAX;
}

/* The places of numbers of one argument that belong together: a point, a direction, a row of a matrix. */
typedef struct {
    int start, count, step, axis;
} group;

static real
largest_of(const real *numbers, group g)
{
    real most = 0;
    for (int i = 0; i < g.count; i++) {
        most = fmax(most, fabs(numbers[g.start + i * g.step]));
    }
    return most;
}

static void
move(real *numbers, group g, real by, uint64_t sample)
{
    for (int i = 0; i < g.count; i++) {
        real *number = &numbers[g.start + i * g.step];
        *number += by * noise(*number, g.axis + i, sample);
    }
}

/* The row with its numbers moved by up to the share `by` of the largest number in their vector or matrix. Points are
 * moved by up to the share `by` of the bones plus the share `by_far` of the largest coordinate, because differences of
 * points are computed in double whatever their type. Zero directions and options at the ends of their range stay. */
static row
shaken(const row *r, real by, real by_far, uint64_t sample)
{
    static const group point = {0, 3, 1, 0}, translation = {3, 3, 4, 0};
    static const group upper_rows[] = {{0, 3, 1, 3}, {4, 3, 1, 6}, {8, 3, 1, 9}};
    static const int joints_of_limb[] = {ROOT, MID, END, ROOT_MATRIX, MID_MATRIX}; /* root, mid, end in turn */
    row s = *r;
    real far = 0, places[3][3] = {{0}};
    for (int i = 0; i < 5; i++) {
        int name = joints_of_limb[i];
        group place = MEANINGS[name] == MATRIX ? translation : point;
        for (int k = 0; r->given[name] && k < 3; k++) {
            places[i % 3][k] = r->numbers[name][place.start + k * place.step];
            far = fmax(far, fabs(places[i % 3][k]));
        }
    }
    real bones = 0;
    for (int k = 0; k < 3; k++) {
        bones = fmax(bones, fmax(fabs(places[1][k] - places[0][k]), fabs(places[2][k] - places[1][k])));
    }
    by_far = by_far * far + by * bones;
    for (int name = 0; name < INPUT_COUNT; name++) {
        real *v = s.numbers[name];
        group all = {0, COUNTS[name], 1, 0};
        bool is_end = MEANINGS[name] == NUMBER && (v[0] == 0 || v[0] == 1 || fabs(v[0] - PI) < 1e-6);
        if (!r->given[name] || is_end) {
            continue;
        }
        if (MEANINGS[name] != MATRIX) {
            move(v, all, MEANINGS[name] == POINT ? by_far : by * largest_of(v, all), sample);
            continue;
        }
        move(v, translation, by_far, sample);
        real most = fmax(largest_of(v, upper_rows[0]), largest_of(v, upper_rows[1]));
        most = fmax(most, largest_of(v, upper_rows[2]));
        for (int i = 0; i < 3; i++) {
            move(v, upper_rows[i], by * most, sample);
        }
    }
    return s;
}

/* The largest difference of two results, of quaternions up to their sign; infinite where one of two numbers is NaN. */
static real
apart(const real *a, const real *b, part what)
{
    real same = 0, opposite = 0;
    for (int i = 0; i < SIZES[what]; i++) {
        real minus = fabs(a[i] - b[i]), plus = fabs(a[i] + b[i]);
        same = minus <= same ? same : isnan(minus) ? (real)INFINITY : minus;
        opposite = plus <= opposite ? opposite : isnan(plus) ? (real)INFINITY : plus;
    }
    return what == TURN && opposite < same ? opposite : same;
}

/* A row of the solver's results. */
typedef struct {
    real parts[PARTS][4];
    int status;
} found;

/* The error that the contract allows for a result. */
static real
rounding(const answer *a, part what, int i, const real *got, const precision *is)
{
    real place = a->length + a->far, unit_of[] = {[PLACE] = place, [TURN] = a->size, [AXIS] = 1, [DISTANCE] = place};
    real miss = what == DISTANCE ? fabs(got[0]) : 0;
    real least = is == &SINGLE ? 0x1p-147 : 0x1p-1072; /* four of the least numbers */
    return is->accuracy * (a->narrow * unit_of[what] + miss) * (i == 2 ? a->narrow_end : 1) + least;
}

/* The twin's results for a row, and how much they change if the inputs are off by some roundings. */
typedef struct {
    answer exact;
    real spread[PARTS], halfway[PARTS]; /* halfway: the change of a turn's w, which is 0 at half a turn */
    int set, unset; /* status bits that were set for some inputs, and bits that were not set for some */
    bool is_shaken;
} range;

/* Hard rows needed 4.5 roundings when they were judged with sixty digits (docs/numerics.md). */
#define ROUNDINGS 32
/* A row may have any results if the roundings turn them by more than this, or move them by this share of the reach. */
#define LOOSE 0.05

static void
widen(range *w, function f, const row *r, uint64_t sample)
{
    /* Positions are computed in double whatever their type; results that follow from matrices may be in single. Some
     * samples keep the inputs as they are, so that what coincides in these still does. */
    real times = (real)(ROUNDINGS >> sample % 5), few = DOUBLE.eps * times;
    real by = f == SOLVE_POSE || f == ORIENT ? r->is->eps * times : few;
    bool keeps = sample % 3 == 0;
    precision is = *r->is;
    row moved = keeps ? *r : shaken(r, by, few, sample);
    moved.rounding = (keeps ? few : by) * noise(1, 0, sample);
    is.parallel = sample % 2 ? sqrt(is.eps) : 0; /* a row that is so near to a singularity may be on either side */
    bool jumps = r->nearest || (r->rolling && r->given[CONE_AXIS]); /* docs/numerics.md */
    is.straight *= !jumps ? 1 : sample % 2 ? 1e4 : 1e-4;
    moved.is = &is;
    answer a = answered(f, &moved);
    for (int i = 0; i < PARTS && OUTPUTS[f][i]; i++) {
        real off = apart(a.parts[i], w->exact.parts[i], OUTPUTS[f][i]);
        w->spread[i] = isnan(a.parts[i][0]) && isnan(w->exact.parts[i][0]) ? w->spread[i] : fmax(w->spread[i], off);
        w->halfway[i] = fmax(w->halfway[i], fabs(fabs(a.parts[i][0]) - fabs(w->exact.parts[i][0])));
        w->exact.kept[i] &= a.kept[i];
        real place = i > 0 && OUTPUTS[f][i] == DISTANCE ? w->spread[i - 1] : 0; /* a miss moves with its place */
        w->spread[i] = fmax(w->spread[i], place);
    }
    w->is_shaken = true;
    w->set |= a.status;
    w->unset |= ~a.status;
}

static bool
is_loose(const range *w, function f, real eps)
{
    bool loose = false;
    for (int i = 0; i < PARTS && OUTPUTS[f][i]; i++) {
        bool is_place = OUTPUTS[f][i] == PLACE || OUTPUTS[f][i] == DISTANCE;
        loose = loose || w->spread[i] > LOOSE * (is_place ? w->exact.length : w->exact.size);
        /* A turn that may also be exactly half a turn has a free axis. */
        bool is_half = fabs(w->exact.parts[i][0]) <= 16 * w->halfway[i];
        loose = loose || (OUTPUTS[f][i] == TURN && f != MULTIPLY && is_half);
    }
    return loose;
}

/* LIMITED for a row whose cone may move the end by more or by less than sets the flag, as places are that uncertain.
 * Shakes need not find both: where the target is on the root, one rounding chooses the side of the cone's edge. */
static int
undecided(const range *w, function f, const precision *is)
{
    real off = 0;
    for (int i = 0; i < PARTS && OUTPUTS[f][i]; i++) {
        off = OUTPUTS[f][i] == PLACE ? fmax(off, w->spread[i]) : off;
    }
    return fabs(w->exact.moved - is->moved) * w->exact.length < off ? LIMITED : 0;
}

static bool
is_wrong(const range *w, part what, int i, const found *got, const row *r)
{
    const precision *is = r->is;
    const real *exact = w->exact.parts[i];
    if (isnan(exact[0])) {
        return !isnan(got->parts[i][0]) && w->spread[i] == 0;
    }
    if (w->exact.kept[i]) {
        bool same = true;
        for (int k = 0; k < SIZES[what]; k++) {
            real rounded = is == &SINGLE ? (float)exact[k] : exact[k]; /* lists may hold doubles in calls in single */
            same = same && (got->parts[i][k] == rounded || isnan(exact[k]));
        }
        return !same;
    }
    real allowed = rounding(&w->exact, what, i, got->parts[i], is) + 16 * w->spread[i];
    return !(apart(got->parts[i], exact, what) <= allowed);
}

/* The code of the first result that is wrong by more than the range allows, or 0. */
static int
wrong(const range *w, function f, const row *r, const found *got)
{
    if (f == MULTIPLY && !(w->exact.size <= (r->is == &SINGLE ? FLT_MAX : DBL_MAX))) {
        return 0;
    }
    if (w->is_shaken && is_loose(w, f, r->is->eps)) {
        return 0;
    }
    /* Where the target line is the cone's axis, the side of the limb is arbitrary, and only the miss is determined. */
    bool is_free = w->is_shaken && (w->exact.status & got->status & SINGULAR) && any(vector(r, CONE_AXIS));
    for (int i = 0; i < PARTS && OUTPUTS[f][i]; i++) {
        bool is_missing = f == SOLVE_POSE && i == 2 && !r->given[END_MATRIX];
        is_missing = is_missing || (is_free && OUTPUTS[f][i] != DISTANCE);
        if (!is_missing && is_wrong(w, OUTPUTS[f][i], i, got, r)) {
            return 1 + i;
        }
    }
    int judged = ~(is_free ? undecided(w, f, r->is) : 0);
    return ((got->status & ~w->set) | (~got->status & ~w->unset)) & judged ? WRONG_STATUS : 0;
}

/* Laws of the results that hold for a row of any condition. */

static vec
result(const found *got, int i)
{
    return (vec){got->parts[i][0], got->parts[i][1], got->parts[i][2]};
}

static quat
result_turn(const found *got, int i)
{
    const real *q = got->parts[i];
    return (quat){q[0], {q[1], q[2], q[3]}};
}

static int
broken_points(const row *r, const answer *a, const found *got)
{
    vec root = vector(r, ROOT), mid = vector(r, MID), new_mid = result(got, 0), new_end = result(got, 1);
    real off = r->is->accuracy * (a->length + a->far), miss = length(sub(new_end, vector(r, TARGET)));
    real upper = length(sub(mid, root)), lower = length(sub(vector(r, END), mid));
    if (fabs(length(sub(new_mid, root)) - upper) > off || fabs(length(sub(new_end, new_mid)) - lower) > off) {
        return WRONG_BONES;
    }
    return fabs(got->parts[2][0] - miss) > 2 * r->is->eps * miss + 0x1p-149 ? WRONG_MISS : 0;
}

/* The corrections put the end where the results say, up to the effect of the corrections' rounding. */
static int
broken_turns(const row *r, const answer *a, const found *got)
{
    joints j = joints_of(r);
    vec inside = end_under(&j, result_turn(got, 0), result_turn(got, 1));
    vec end = add(place_of(r, ROOT_MATRIX), apply(j.frame, inside));
    real bones = length(j.upper) + length(j.lower);
    real off = r->is->accuracy * a->narrow * (bones * size(j.frame) + a->far);
    real miss = length(sub(end, vector(r, TARGET)));
    if (length(sub(end, result(got, 3))) > off) {
        return WRONG_PLACE;
    }
    return fabs(got->parts[4][0] - miss) > off + 2 * r->is->eps * miss ? WRONG_MISS : 0;
}

static int
broken(function f, const row *r, const answer *a, const found *got)
{
    for (int i = 0; i < PARTS && OUTPUTS[f][i]; i++) {
        real norm = length(result(got, i));
        norm = OUTPUTS[f][i] == TURN ? hypot(norm, got->parts[i][3]) : norm;
        bool is_unit = fabs(norm - 1) <= 2 * r->is->eps || (OUTPUTS[f][i] == AXIS && norm == 0);
        bool is_missing = f == SOLVE_POSE && i == 2 && !r->given[END_MATRIX];
        if ((OUTPUTS[f][i] == TURN || OUTPUTS[f][i] == AXIS) && f != MULTIPLY && !is_missing && !is_unit) {
            return WRONG_LENGTH;
        }
    }
    if (a->status == INVALID || got->status == INVALID) {
        return 0;
    }
    return f == SOLVE ? broken_points(r, a, got) : f == SOLVE_POSE ? broken_turns(r, a, got) : 0;
}

static int
judge_row(function f, const row *r, const found *got, uint64_t samples)
{
    range w = {.exact = answered(f, r)};
    w.set = w.exact.status;
    w.unset = ~w.exact.status;
    int code = wrong(&w, f, r, got);
    for (uint64_t sample = 0; code != 0 && sample < samples; sample++) {
        widen(&w, f, r, sample);
        if ((sample & (sample + 1)) == 0) {
            code = wrong(&w, f, r, got);
        }
    }
    return code ? code : broken(f, r, &w.exact, got);
}

/* Judge the rows of one call, and write the code of what is wrong with each to `codes`. Inputs are ordered as in
 * twin_inputs, outputs as in OUTPUTS with the status last. A row that differs is wrong only if it still differs after
 * up to `samples` shaken copies. */
void
twin_judge(int f, int single, int nearest, int rolling, int samples, size_t count, const column *inputs,
           const column *outputs, unsigned char *codes)
{
    row r = {.is = single ? &SINGLE : &DOUBLE, .nearest = nearest, .rolling = rolling};
    for (size_t index = 0; index < count; index++) {
        found got = {.status = 0};
        read_row(inputs, index, &r);
        for (int i = 0; i < PARTS; i++) {
            for (int k = 0; outputs[i].width && k < SIZES[OUTPUTS[f][i]]; k++) {
                got.parts[i][k] = read_number(&outputs[i], index, k);
            }
        }
        if (outputs[PARTS].width) {
            got.status = (unsigned char)outputs[PARTS].data[(ptrdiff_t)index * outputs[PARTS].stride];
        }
        codes[index] = (unsigned char)judge_row((function)f, &r, &got, (uint64_t)samples);
    }
}
