/* SPDX-License-Identifier: MIT */
/* See curves.h. */

#include "curves.h"

#include <stdlib.h>

#include "vector.h"

/* The most curves that are found together. */
#define MOST_CURVES 3
/* The most rounds; 12 to 30 are usual. */
#define MOST_ROUNDS 100
/* A round aims at this share of the present complementarity, the mean product of slacks and
 * multipliers; after a round that went a short part of its way, at the share that was left. */
#define CENTRING 0.03
/* The optimum is reached when the gradient less the multipliers is at most ENOUGH * (1 +
 * stiffness), and the mean product of slacks and multipliers is at most the square of NEAR. */
#define ENOUGH 1e-9
#define NEAR 1e-7
/* A single curve starts at least AWAY from its bounds, or in the middle between them if they are
 * too close for that. The multipliers at the start push curves off their bounds with the share PUSH
 * of the first gradient. */
#define AWAY 0.1
#define PUSH 0.1
/* Greater stiffness counts as this one, beside which rounding leaves enough of the weights: with
 * 1e11, some plans on cliffs of thousands of legs had no optimum. It smooths over 316 samples, the
 * hips' time of smoothing at 1,500 frames per second. */
#define MOST_STIFFNESS 1e10
/* A ceiling is at least this far over its floor. */
#define LEAST_GAP 1e-7
/* A path starts at least this far inside its planes. */
#define LEAST_ROOM 3e-3
/* Slacks do not go below this: multipliers are divided by slacks, and next to such large numbers
 * the others would be lost. */
#define LEAST_SLACK 1e-10
/* A round goes at most this share of the way to the nearest point where a slack or a multiplier is
 * zero. */
#define SHORT_OF_BOUND 0.995
/* The share of a number under which others are less than it in spite of rounding. */
#define NEARLY 0.999
/* Each row of scratch memory has this many zeros before the first sample and after the last. */
#define BESIDE (2 * MOST_CURVES)
#define ROWS 4

/* A bound on one sample x, dot(normal, x) <= limit: the slack, which is how far the sample is from
 * the bound, and its inverse in this round; the multiplier `dual`; and the steps that a round adds
 * to both. */
typedef struct {
    size_t at; /* the place of the sample's first curve in the rows */
    double normal[MOST_CURVES], slack, inverse, dual, slack_way, dual_way;
} Bound;

/* The rows hold the values of all curves, sample by sample. */
typedef struct {
    double size; /* the unit of lengths: curve = (value - middle) / size */
    size_t count, curves, bounds;
    double stiffness;
    double *curve, *way, *descent, *asked;
    double *system, *band; /* rows from the diagonal on: without bounds; with them, then factors */
    Bound *bound;
    double *memory; /* of all rows and bounds */
} Problem;

static size_t
length(const Problem *p)
{
    return p->count * p->curves;
}

/* Half the descent: minus the gradient of the sum that is minimised. */
static void
find_descent(Problem *p)
{
    const size_t far = 2 * p->curves;
    const double *row = p->system, *x = p->curve;

    for (size_t i = 0; i < length(p); i++, x++, row += far + 1) {
        const double *before = row - far;
        double left = p->asked[i] - row[0] * x[0];
        for (ptrdiff_t j = 1; j <= (ptrdiff_t)far; j++, before -= far) {
            left -= row[j] * x[j] + *before * x[-j];
        }
        p->descent[i] = left;
    }
}

/* Fill in the system: the weights, and the squared second differences of curves with free ends. */
static void
fill_system(Problem *p, const double *weight, size_t stride)
{
    const size_t n = p->curves, wide = 2 * n + 1;
    double *row = p->system;

    for (size_t k = 0; k < p->count; k++, weight += stride) {
        for (size_t i = 0; i < n; i++, row += wide) {
            memcpy(row, weight + (n + 1) * i, (n - i) * sizeof *row);
        }
    }
    row = p->system;
    for (size_t i = 2 * n; i < length(p); i++, row += wide) {
        row[0] += p->stiffness;
        row[n] -= 2.0 * p->stiffness;
        row[2 * n] = p->stiffness;
        row[n * wide] += 4.0 * p->stiffness;
        row[n * wide + n] -= 2.0 * p->stiffness;
        row[2 * n * wide] += p->stiffness;
    }
}

/* Copy the system into the band, with the terms of the bounds. */
static void
fill_band(Problem *p)
{
    const size_t n = p->curves, wide = 2 * n + 1;

    memcpy(p->band, p->system, length(p) * wide * sizeof *p->band);
    for (Bound *b = p->bound; b < p->bound + p->bounds; b++) {
        double *row = p->band + b->at * wide, share = b->dual * (b->inverse = 1.0 / b->slack);
        for (size_t i = 0; i < n; i++, row += wide) {
            for (size_t j = i; j < n; j++) {
                row[j - i] += share * b->normal[i] * b->normal[j];
            }
        }
    }
}

/* Factor the band, in which rows reach `far` beyond the diagonal, into unit triangles and a
 * diagonal, and solve. `way` holds the right side on entry and the solution on return. */
static inline void
solve_band(Problem *p, const size_t far)
{
    /* What a row needs of the row before it stays in registers. */
    double *row = p->band, *way = p->way, *end = p->way + length(p), pivot = row[0], near = 0.0;

    for (; way < end; way++, row += far + 1) {
        double *below = row, inverse = 1.0 / pivot;
        pivot = row[far + 1] - row[1] * row[1] * inverse;
        for (size_t j = 1; j <= far; j++) {
            double share = row[j] * inverse;
            below += far + 1;
            for (size_t k = j; k <= far; k++) {
                below[k - j] -= share * row[k];
            }
            way[j] -= share * way[0];
            row[j] = share;
        }
        way[0] *= inverse;
    }
    while (way-- > p->way) {
        double sum = way[0];
        row -= far + 1;
        for (size_t j = far; j > 1; j--) {
            sum -= row[j] * way[j];
        }
        way[0] = near = sum - row[1] * near;
    }
}

/* Slacks count as how far they are from the least one, beyond `spare`. */
static double
complementarity(const Problem *p, double spare)
{
    double sum = 0.0;

    for (size_t b = 0; b < p->bounds; b++) {
        sum += larger(fabs(p->bound[b].slack - LEAST_SLACK) - spare, 0.0) * p->bound[b].dual;
    }
    return p->bounds ? sum / (double)p->bounds : 0.0;
}

/* Set `way` to the descent less what bounds push back: by their multipliers, or, with a `target`,
 * as in a round that goes towards this complementarity. */
static void
push_back(Problem *p, double target)
{
    memcpy(p->way, p->descent, length(p) * sizeof *p->way);
    for (const Bound *b = p->bound; b < p->bound + p->bounds; b++) {
        double push = target == 0.0 ? b->dual : larger(target, LEAST_SLACK * b->dual) * b->inverse;
        for (size_t c = 0; c < MOST_CURVES; c++) {
            p->way[b->at + c] -= push * b->normal[c];
        }
    }
}

/* The largest absolute entry of the gradient less the multipliers. Overwrites `way`. */
static double
slope(Problem *p)
{
    double largest = 0.0;

    push_back(p, 0.0);
    for (size_t i = 0; i < length(p); i++) {
        largest = larger(largest, fabs(p->way[i]));
    }
    return largest;
}

/* Go towards the complementarity `target`, as far as slacks and multipliers stay positive. Returns
 * the share of the way. */
static double
step(Problem *p, double target)
{
    double pace = SHORT_OF_BOUND, share;

    fill_band(p);
    push_back(p, target);
    if (p->curves == 1) {
        solve_band(p, 2);
    }
    else {
        solve_band(p, 2 * p->curves);
    }
    for (Bound *b = p->bound; b < p->bound + p->bounds; b++) {
        b->slack_way = -d3_dot(b->normal, p->way + b->at);
        b->dual_way =
            (larger(target, LEAST_SLACK * b->dual) - b->dual * b->slack_way) * b->inverse - b->dual;
        /* Divisions take most of a round, and few quotients may be the largest. */
        if (-b->slack_way > NEARLY * pace * b->slack || -b->dual_way > NEARLY * pace * b->dual) {
            pace = larger(pace, larger(-b->slack_way / b->slack, -b->dual_way / b->dual));
        }
    }
    share = SHORT_OF_BOUND / pace;
    for (size_t i = 0; i < length(p); i++) {
        p->curve[i] += share * p->way[i];
    }
    for (Bound *b = p->bound; b < p->bound + p->bounds; b++) {
        b->slack += share * b->slack_way;
        b->dual += share * b->dual_way;
    }
    return share;
}

/* Add a bound, to memory that is zero. A slack of infinity means none. */
static void
add_bound(Problem *p, size_t sample, const double *normal, double slack)
{
    Bound *added = &p->bound[p->bounds];

    if (slack != INFINITY) {
        added->at = sample * p->curves;
        added->slack = slack;
        for (size_t c = 0; c < p->curves; c++) {
            added->normal[c] = normal[c];
        }
        p->bounds++;
    }
}

/* The number of rounds from the present curve until the optimum is reached; IK2B_NO_OPTIMUM if
 * MOST_ROUNDS are not enough. The multipliers at the start give every bound the same
 * complementarity. There is at least one round, which spreads NaN to all samples. */
static int
solve(Problem *p, const double *weight, size_t stride)
{
    double share = 1.0, push;

    fill_system(p, weight, stride);
    find_descent(p);
    push = PUSH * slope(p);
    for (size_t b = 0; b < p->bounds; b++) {
        p->bound[b].dual = push * AWAY / p->bound[b].slack;
    }
    for (int round = 1; round <= MOST_ROUNDS; round++) {
        share = step(p, fmax(CENTRING, 1.0 - share) * complementarity(p, 0.0));
        find_descent(p);
        /* Rounding, which grows with the stiffness, keeps slacks from exactly the least one. */
        if (complementarity(p, 0.5 * LEAST_SLACK) <= NEAR * NEAR &&
            slope(p) <= ENOUGH * (1.0 + p->stiffness)) {
            return round;
        }
    }
    return IK2B_NO_OPTIMUM;
}

/* Shares out zeroed memory, with room for so many bounds a sample. Returns false if there is
 * none. */
static bool
share_out(Problem *p, size_t bounds)
{
    double **rows[ROWS] = {&p->curve, &p->way, &p->descent, &p->asked};
    const size_t row = length(p) + 2 * BESIDE, wide = 2 * p->curves + 1;
    const size_t numbers = (ROWS + 2 * wide) * row;

    p->memory = calloc(1, numbers * sizeof *p->memory + p->count * bounds * sizeof *p->bound);
    if (!p->memory) {
        return false;
    }
    for (size_t k = 0; k < ROWS; k++) {
        *rows[k] = p->memory + k * row + BESIDE;
    }
    p->system = p->memory + ROWS * row + BESIDE * wide;
    p->band = p->system + row * wide;
    p->bound = (Bound *)(p->memory + numbers);
    return true;
}

/* Find the unit of a single curve, whose middle is the first wish. Its size is zero if the wish is
 * constant and within its bounds. Returns false if a wish, a weight or the size is not finite, a
 * bound is NaN, a floor is infinity or a ceiling minus infinity. */
static bool
find_unit(Problem *p, const double *wish, const double *weight, const double *floor,
          const double *ceiling)
{
    for (size_t k = 0; k < p->count; k++) {
        if (!isfinite(wish[k]) || !isfinite(weight[k]) || !(floor[k] < INFINITY) ||
            !(ceiling[k] > -INFINITY)) {
            return false;
        }
        p->size = larger(p->size, fabs(wish[k] - wish[0]));
        p->size = larger(p->size, larger(floor[k] - wish[k], wish[k] - ceiling[k]));
    }
    return isfinite(p->size);
}

int
ik2b_smooth_within(size_t count, double *curve, const double *weight, const double *floor,
                   const double *ceiling, double stiffness)
{
    Problem p = {.count = count, .curves = 1};
    int rounds;

    p.stiffness = smaller(stiffness, MOST_STIFFNESS);
    if (!find_unit(&p, curve, weight, floor, ceiling)) {
        return IK2B_NO_OPTIMUM;
    }
    if (p.size == 0.0) {
        return 0;
    }
    if (!share_out(&p, 2)) {
        return IK2B_NO_MEMORY;
    }
    for (size_t k = 0; k < count; k++) {
        double here = (curve[k] - curve[0]) / p.size, high = (ceiling[k] - curve[0]) / p.size;
        double low = fmin((floor[k] - curve[0]) / p.size, high - LEAST_GAP),
               away = fmin(AWAY, 0.5 * (high - low));
        p.asked[k] = weight[k] * here;
        p.curve[k] = fmax(fmin(here, high - away), low + away);
        for (double sign = -1.0; sign <= 1.0; sign += 2.0) {
            add_bound(&p, k, &sign, sign < 0.0 ? p.curve[k] - low : high - p.curve[k]);
        }
    }
    rounds = solve(&p, weight, 1);
    for (size_t k = count; k-- > 0;) {
        curve[k] = curve[0] + p.size * p.curve[k];
    }
    free(p.memory);
    return rounds;
}

/* Where the parts of a row of a path begin, see ik2b_smooth_path. */
enum { WISH = 0, WEIGHT = 3, INSIDE = 12, PLANES = 15, NUMBERS = 4 };

int
ik2b_smooth_path(size_t count, size_t planes, double *rows, double stiffness)
{
    Problem p = {.count = count, .curves = MOST_CURVES};
    const size_t stride = PLANES + NUMBERS * planes;
    const double *row = rows;
    int rounds;

    p.stiffness = smaller(stiffness, MOST_STIFFNESS);
    for (size_t k = 0; k < count; k++, row += stride) {
        for (size_t c = 0; c < MOST_CURVES; c++) {
            p.size = larger(p.size, fabs(row[WISH + c] - rows[c]));
            p.size = larger(p.size, fabs(row[INSIDE + c] - rows[c]));
        }
    }
    p.size = p.size > 0.0 ? p.size : 1.0;
    if (!share_out(&p, planes)) {
        return IK2B_NO_MEMORY;
    }
    for (size_t k = 0; k < count; k++) {
        double wish[MOST_CURVES];
        row = rows + k * stride;
        for (size_t c = 0; c < MOST_CURVES; c++) {
            wish[c] = (row[WISH + c] - rows[c]) / p.size;
            p.curve[MOST_CURVES * k + c] = (row[INSIDE + c] - rows[c]) / p.size;
        }
        for (size_t c = 0; c < MOST_CURVES; c++) {
            p.asked[MOST_CURVES * k + c] = d3_dot(row + WEIGHT + MOST_CURVES * c, wish);
        }
        for (const double *plane = row + PLANES; plane < row + stride; plane += NUMBERS) {
            double slack = (plane[MOST_CURVES] - d3_dot(plane, row + INSIDE)) / p.size;
            add_bound(&p, k, plane, larger(LEAST_ROOM, slack));
        }
    }
    rounds = solve(&p, rows + WEIGHT, stride);
    for (size_t k = count; k-- > 0;) {
        for (size_t c = 0; c < MOST_CURVES; c++) {
            rows[k * stride + c] = rows[c] + p.size * p.curve[MOST_CURVES * k + c];
        }
    }
    free(p.memory);
    return rounds;
}

/* The height at sample k of the parabola with second difference `most` through the values at
 * `first` and `last`, for first < k < last. */
static double
chord_at(const double *values, double most, size_t first, size_t last, size_t k)
{
    double before = (double)(k - first), after = (double)(last - k);
    double share = before / (before + after);

    return values[first] + share * (values[last] - values[first]) - 0.5 * most * before * after;
}

int
ik2b_fill_dips(size_t count, double *values, double most)
{
    size_t last = 0, *kept = calloc(count + 1, sizeof *kept);

    if (!kept) {
        return IK2B_NO_MEMORY;
    }
    for (size_t k = 1; k < count; k++) {
        while (last > 0 &&
               values[kept[last]] <= chord_at(values, most, kept[last - 1], k, kept[last])) {
            last--;
        }
        kept[++last] = k;
    }
    for (size_t i = 0; i < last; i++) {
        for (size_t k = kept[i] + 1; k < kept[i + 1]; k++) {
            values[k] = chord_at(values, most, kept[i], kept[i + 1], k);
        }
    }
    free(kept);
    return 0;
}
