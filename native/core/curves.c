/* SPDX-License-Identifier: MIT */
/* See curves.h. */

#include "curves.h"

#include <math.h>
#include <string.h>

/* 15 to 30 rounds are usual. */
#define MOST_ROUNDS 100
/* The optimum is reached when complementarity and gradient are this small, relative to the curve and its stiffness. */
#define ENOUGH 1e-9
/* Bounds are at least this far apart, relative to the curve. */
#define LEAST_GAP 1e-7
/* Curves that differ less than this, relative to their numbers, differ by roundings alone. */
#define LEAST_SIZE 1e-4
/* Every round aims at this share of the present complementarity, and goes this share of the way to the nearest bound. */
#define CENTRING 0.1
#define SHORT_OF_BOUND 0.995

/* One bound of every sample: how far the curve is from it, and its multiplier, zero where there is no bound. */
typedef struct {
    double *slack, *dual;
} Bound;

typedef struct {
    size_t count;
    const double *wish, *weight;
    double stiffness;
    double *curve, *way, *gradient;
    double *diagonal, *first, *second; /* factors of the round's system */
    Bound low, high;
} Problem;

/* Entries k,k and k,k+1 and k,k+2 of the squared second differences of n samples with free ends. */
static double
bend_diagonal(size_t n, size_t k)
{
    return (k + 2 < n ? 1.0 : 0.0) + (k > 0 && k + 1 < n ? 4.0 : 0.0) + (k > 1 ? 1.0 : 0.0);
}

static double
bend_first(size_t n, size_t k)
{
    return (k + 2 < n ? -2.0 : 0.0) + (k > 0 && k + 1 < n ? -2.0 : 0.0);
}

static double
bend_second(size_t n, size_t k)
{
    return k + 2 < n ? 1.0 : 0.0;
}

/* Half the gradient of what is minimised, less the multipliers. */
static void
find_gradient(Problem *p)
{
    const double *x = p->curve;
    size_t n = p->count;

    for (size_t k = 0; k < n; k++) {
        double bend = bend_diagonal(n, k) * x[k];
        bend += k + 1 < n ? bend_first(n, k) * x[k + 1] : 0.0;
        bend += k + 2 < n ? bend_second(n, k) * x[k + 2] : 0.0;
        bend += k > 0 ? bend_first(n, k - 1) * x[k - 1] : 0.0;
        bend += k > 1 ? bend_second(n, k - 2) * x[k - 2] : 0.0;
        p->gradient[k] = p->weight[k] * (x[k] - p->wish[k]) + p->stiffness * bend - p->low.dual[k] + p->high.dual[k];
    }
}

static double
barrier(Bound bound, size_t k)
{
    return isfinite(bound.slack[k]) ? bound.dual[k] / bound.slack[k] : 0.0;
}

/* Factor weight + stiffness * bends + barriers into unit triangles and a diagonal. */
static void
factor(Problem *p)
{
    const double *d = p->diagonal, *f = p->first, *s = p->second;
    size_t n = p->count;

    for (size_t k = 0; k < n; k++) {
        double own = p->weight[k] + p->stiffness * bend_diagonal(n, k) + barrier(p->low, k) + barrier(p->high, k);
        double next = p->stiffness * bend_first(n, k);
        own -= k > 0 ? f[k - 1] * f[k - 1] * d[k - 1] : 0.0;
        own -= k > 1 ? s[k - 2] * s[k - 2] * d[k - 2] : 0.0;
        next -= k > 0 ? f[k - 1] * s[k - 1] * d[k - 1] : 0.0;
        p->diagonal[k] = own;
        p->first[k] = next / own;
        p->second[k] = p->stiffness * bend_second(n, k) / own;
    }
}

/* Solve the factored system for `way`, which holds the right side. */
static void
substitute(Problem *p)
{
    double *way = p->way;
    size_t n = p->count;

    for (size_t k = 0; k < n; k++) {
        way[k] -= k > 0 ? p->first[k - 1] * way[k - 1] : 0.0;
        way[k] -= k > 1 ? p->second[k - 2] * way[k - 2] : 0.0;
    }
    for (size_t k = n; k-- > 0;) {
        way[k] /= p->diagonal[k];
        way[k] -= k + 1 < n ? p->first[k] * way[k + 1] : 0.0;
        way[k] -= k + 2 < n ? p->second[k] * way[k + 2] : 0.0;
    }
}

/* What the multiplier of a bound changes by when its slack does, on the way to this complementarity. */
static double
dual_way(Bound bound, size_t k, double target, double slack_way)
{
    return isfinite(bound.slack[k]) ? (target - bound.dual[k] * slack_way) / bound.slack[k] - bound.dual[k] : 0.0;
}

/* How far a value may go its way and stay over nothing. */
static double
longest(double share, double value, double way)
{
    return way < 0.0 && isfinite(value) ? fmin(share, -SHORT_OF_BOUND * value / way) : share;
}

/* Find the way towards a complementarity, and take as much of it as the bounds let. */
static void
step(Problem *p, double target)
{
    double share = 1.0, dual_share = 1.0;

    for (size_t k = 0; k < p->count; k++) {
        p->way[k] = dual_way(p->low, k, target, 0.0) - dual_way(p->high, k, target, 0.0) - p->gradient[k];
    }
    factor(p);
    substitute(p);
    for (size_t k = 0; k < p->count; k++) {
        share = longest(longest(share, p->low.slack[k], p->way[k]), p->high.slack[k], -p->way[k]);
        dual_share = longest(dual_share, p->low.dual[k], dual_way(p->low, k, target, p->way[k]));
        dual_share = longest(dual_share, p->high.dual[k], dual_way(p->high, k, target, -p->way[k]));
    }
    share = dual_share = fmin(share, dual_share);
    for (size_t k = 0; k < p->count; k++) {
        double low = dual_way(p->low, k, target, p->way[k]), high = dual_way(p->high, k, target, -p->way[k]);
        p->low.dual[k] += dual_share * low;
        p->high.dual[k] += dual_share * high;
        p->curve[k] += share * p->way[k];
        p->low.slack[k] += share * p->way[k];
        p->high.slack[k] -= share * p->way[k];
    }
}

/* Mean product of slacks and multipliers, and the largest entry of the gradient. */
static void
measure(const Problem *p, double *complementarity, double *slope)
{
    double sum = 0.0, bounds = 0.0;

    *slope = 0.0;
    for (size_t k = 0; k < p->count; k++) {
        *slope = fmax(*slope, fabs(p->gradient[k]));
        if (isfinite(p->low.slack[k])) {
            sum += p->low.slack[k] * p->low.dual[k];
            bounds += 1.0;
        }
        if (isfinite(p->high.slack[k])) {
            sum += p->high.slack[k] * p->high.dual[k];
            bounds += 1.0;
        }
    }
    *complementarity = bounds > 0.0 ? sum / bounds : 0.0;
}

/* Take the curve, from which the slacks follow, and multipliers that leave this complementarity at every bound. */
static void
start(Problem *p, const double *floor, const double *ceiling, double size)
{
    double slope = 0.0;

    for (size_t k = 0; k < p->count; k++) {
        double low = fmin(floor[k], ceiling[k] - LEAST_GAP * size), away = fmin(0.1 * size, 0.5 * (ceiling[k] - low));
        p->curve[k] = fmax(fmin(p->wish[k], ceiling[k] - away), low + away);
        p->low.slack[k] = p->curve[k] - low;
        p->high.slack[k] = ceiling[k] - p->curve[k];
        p->low.dual[k] = p->high.dual[k] = 0.0;
    }
    find_gradient(p);
    for (size_t k = 0; k < p->count; k++) {
        slope = fmax(slope, fabs(p->gradient[k]));
    }
    for (size_t k = 0; k < p->count; k++) {
        p->low.dual[k] = isfinite(p->low.slack[k]) ? slope : 0.0;
        p->high.dual[k] = isfinite(p->high.slack[k]) ? slope : 0.0;
    }
}

/* How far the curves differ, but not so little that roundings count: what tolerances are relative to. Zero where the
 * wish is a constant within its bounds, NaN where a number is missing. */
static double
size_of(size_t count, const double *wish, const double *floor, const double *ceiling)
{
    double size = 0.0, largest = 0.0, middle = count ? wish[0] : 0.0;

    for (size_t k = 0; k < count; k++) {
        if (!isfinite(wish[k]) || isnan(floor[k]) || isnan(ceiling[k])) {
            return NAN;
        }
        largest = fmax(largest, fabs(wish[k]));
        size = fmax(size, fabs(wish[k] - middle));
        size = isfinite(floor[k]) ? fmax(size, floor[k] - wish[k]) : size;
        size = isfinite(ceiling[k]) ? fmax(size, wish[k] - ceiling[k]) : size;
    }
    return size > 0.0 ? fmax(size, LEAST_SIZE * largest) : 0.0;
}

int
ik2b_smooth_within(size_t count, const double *wish, const double *weight, const double *floor, const double *ceiling,
                   double stiffness, double *scratch, double *curve)
{
    double *rows[IK2B_SMOOTH_SCRATCH];
    for (size_t k = 0; k < IK2B_SMOOTH_SCRATCH; k++) {
        rows[k] = scratch + k * count;
    }
    Problem p = {count,   wish,    weight,  stiffness, curve, rows[0], rows[1], rows[2],
                 rows[3], rows[4], {rows[5], rows[6]}, {rows[7], rows[8]}};
    double size = size_of(count, wish, floor, ceiling), complementarity, slope;

    if (isnan(size)) {
        return -1;
    }
    if (size == 0.0) {
        memcpy(curve, wish, count * sizeof *curve);
        return 0;
    }
    start(&p, floor, ceiling, size);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        find_gradient(&p);
        measure(&p, &complementarity, &slope);
        if (complementarity <= ENOUGH * ENOUGH * size * size * 1e4 && slope <= ENOUGH * size * (1.0 + stiffness)) {
            return round;
        }
        step(&p, CENTRING * complementarity);
    }
    return -1;
}

/* Height at sample k of the parabola with second difference `most` through the values at first < k < last. */
static double
chord_at(const double *values, double most, size_t first, size_t last, size_t k)
{
    double before = (double)(k - first), after = (double)(last - k);
    double share = before / (before + after);

    return values[first] + share * (values[last] - values[first]) - 0.5 * most * before * after;
}

void
ik2b_fill_dips(size_t count, const double *values, double most, size_t *scratch, double *curve)
{
    size_t kept = 0;

    for (size_t k = 0; k < count; k++) {
        while (kept > 1
               && values[scratch[kept - 1]] <= chord_at(values, most, scratch[kept - 2], k, scratch[kept - 1])) {
            kept--;
        }
        scratch[kept++] = k;
        curve[k] = values[k];
    }
    for (size_t i = 1; i < kept; i++) {
        for (size_t k = scratch[i - 1] + 1; k < scratch[i]; k++) {
            curve[k] = chord_at(values, most, scratch[i - 1], scratch[i], k);
        }
    }
}
