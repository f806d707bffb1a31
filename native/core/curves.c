/* SPDX-License-Identifier: MIT */
/* See curves.h. */

#include "curves.h"

#include "vector.h"

/* The most rounds; 15 to 30 are usual. */
#define MOST_ROUNDS 100
/* A round aims at this share of the present complementarity, the mean product of slacks and
 * multipliers; after a round that went a short part of its way, at the share that was left. */
#define CENTRING 0.1
/* The optimum is reached when the gradient less the multipliers is at most ENOUGH * (1 +
 * stiffness), and the mean product of slacks and multipliers is at most the square of NEAR. */
#define ENOUGH 1e-9
#define NEAR 1e-7
/* The curve starts at least AWAY from its bounds, or in the middle between them if they are too
 * close for that. The multipliers at the start push the curve off its bounds with the share PUSH of
 * the first gradient. */
#define AWAY 0.1
#define PUSH 0.1
/* A ceiling is at least this far over its floor. */
#define LEAST_GAP 1e-7
/* A round goes at most this share of the way to the nearest point where a slack or a multiplier is
 * zero. */
#define SHORT_OF_BOUND 0.995
/* The share of a number under which others are less than it in spite of rounding. */
#define NEARLY 0.999
/* Each row of scratch memory has this many zeros before the first sample and after the last. */
#define BESIDE 2
#define ROWS 11

/* A bound under (sign 1) or over (sign -1) one sample: the slack, which is the sample's distance
 * from the bound; the multiplier `dual`; and the steps that a round adds to both. */
typedef struct {
    size_t sample;
    double sign, slack, dual, slack_way, dual_way;
} Bound;

typedef struct {
    double middle, size; /* a curve's unit: curve[k] = (value - middle) / size, see find_unit */
    size_t count, bounds;
    double *curve, *way, *gradient, *asked;
    double *own, *next, *second; /* entries k,k and k,k+1 and k,k+2 of the system without bounds */
    double *barrier, *inverse, *first_factor,
        *second_factor; /* the round's diagonal with bounds, and the factors */
    Bound *bound;
} Problem;

/* Half the gradient of the sum that is minimised. */
static void
find_gradient(Problem *p)
{
    const double *x = p->curve, *own = p->own, *next = p->next, *second = p->second;

    for (ptrdiff_t k = 0; k < (ptrdiff_t)p->count; k++) {
        p->gradient[k] = own[k] * x[k] + next[k] * x[k + 1] + second[k] * x[k + 2] +
                         next[k - 1] * x[k - 1] + second[k - 2] * x[k - 2] - p->asked[k];
    }
}

/* Factor the system, with the bounds' terms on its diagonal, into unit triangles and a diagonal. */
static void
factor(Problem *p)
{
    double next = 0.0, first = 0.0;

    memcpy(p->barrier, p->own, p->count * sizeof *p->barrier);
    for (size_t b = 0; b < p->bounds; b++) {
        p->barrier[p->bound[b].sample] += p->bound[b].dual / p->bound[b].slack;
    }
    for (ptrdiff_t k = 0; k < (ptrdiff_t)p->count; k++) {
        double own = p->barrier[k] - p->second_factor[k - 2] * p->second[k - 2] - first * next;
        next = p->next[k] - first * p->second[k - 1];
        first = next / own;
        p->first_factor[k] = first;
        p->second_factor[k] = p->second[k] / own;
        p->inverse[k] = 1.0 / own;
    }
}

/* Solve the factored system. `way` holds the right side on entry and the solution on return. */
static void
substitute(Problem *p)
{
    const double *first = p->first_factor, *second = p->second_factor;
    double *way = p->way, near = 0.0, far = 0.0;

    for (ptrdiff_t k = 0; k < (ptrdiff_t)p->count; k++) {
        double here = way[k] - second[k - 2] * far - first[k - 1] * near;
        far = near;
        way[k] = near = here;
    }
    near = far = 0.0;
    for (ptrdiff_t k = (ptrdiff_t)p->count; k-- > 0;) {
        double here = way[k] * p->inverse[k] - second[k] * far - first[k] * near;
        far = near;
        way[k] = near = here;
    }
}

static double
complementarity(const Problem *p)
{
    double sum = 0.0;

    for (size_t b = 0; b < p->bounds; b++) {
        sum += p->bound[b].slack * p->bound[b].dual;
    }
    return p->bounds ? sum / (double)p->bounds : 0.0;
}

/* The largest absolute entry of the gradient less the multipliers. Overwrites `way`. */
static double
slope(Problem *p)
{
    double largest = 0.0;

    memcpy(p->way, p->gradient, p->count * sizeof *p->way);
    for (size_t b = 0; b < p->bounds; b++) {
        p->way[p->bound[b].sample] -= p->bound[b].sign * p->bound[b].dual;
    }
    for (size_t k = 0; k < p->count; k++) {
        largest = larger(largest, fabs(p->way[k]));
    }
    return largest;
}

/* Go towards the complementarity `target`, as far as slacks and multipliers stay positive. Returns
 * the share of the way. */
static double
step(Problem *p, double target)
{
    double pace = SHORT_OF_BOUND, share;

    factor(p);
    for (size_t k = 0; k < p->count; k++) {
        p->way[k] = -p->gradient[k];
    }
    for (size_t b = 0; b < p->bounds; b++) {
        p->way[p->bound[b].sample] += p->bound[b].sign * target / p->bound[b].slack;
    }
    substitute(p);
    for (size_t b = 0; b < p->bounds; b++) {
        Bound *at = &p->bound[b];
        at->slack_way = at->sign * p->way[at->sample];
        at->dual_way = (target - at->dual * at->slack_way) / at->slack - at->dual;
        /* Divisions take most of a round, and few quotients may be the largest. */
        if (-at->slack_way > NEARLY * pace * at->slack ||
            -at->dual_way > NEARLY * pace * at->dual) {
            pace = larger(pace, larger(-at->slack_way / at->slack, -at->dual_way / at->dual));
        }
    }
    share = SHORT_OF_BOUND / pace;
    for (size_t k = 0; k < p->count; k++) {
        p->curve[k] += share * p->way[k];
    }
    for (size_t b = 0; b < p->bounds; b++) {
        p->bound[b].slack += share * p->bound[b].slack_way;
        p->bound[b].dual += share * p->bound[b].dual_way;
    }
    return share;
}

/* Fill in the system: the weights, and the squared second differences of a curve with free ends. */
static void
fill_system(Problem *p, const double *weight, double stiffness)
{
    memcpy(p->own, weight, p->count * sizeof *p->own);
    for (size_t k = 1; k + 1 < p->count; k++) {
        p->own[k - 1] += stiffness;
        p->own[k] += 4.0 * stiffness;
        p->own[k + 1] += stiffness;
        p->next[k - 1] -= 2.0 * stiffness;
        p->next[k] -= 2.0 * stiffness;
        p->second[k - 1] = stiffness;
    }
}

static void
add_bound(Problem *p, size_t sample, double sign, double slack)
{
    if (isfinite(slack)) {
        p->bound[p->bounds++] = (Bound){.sample = sample, .sign = sign, .slack = slack};
    }
}

/* Set the first curve, the slacks that follow from it, and multipliers that give every bound the
 * same complementarity. */
static void
start(Problem *p, const double *wish, const double *weight, const double *floor,
      const double *ceiling)
{
    double push;

    for (size_t k = 0; k < p->count; k++) {
        double here = (wish[k] - p->middle) / p->size, high = (ceiling[k] - p->middle) / p->size;
        double low = fmin((floor[k] - p->middle) / p->size, high - LEAST_GAP),
               away = fmin(AWAY, 0.5 * (high - low));
        p->asked[k] = weight[k] * here;
        p->curve[k] = fmax(fmin(here, high - away), low + away);
        add_bound(p, k, 1.0, p->curve[k] - low);
        add_bound(p, k, -1.0, high - p->curve[k]);
    }
    find_gradient(p);
    push = PUSH * slope(p);
    for (size_t b = 0; b < p->bounds; b++) {
        p->bound[b].dual = push * AWAY / p->bound[b].slack;
    }
}

/* Find the unit of the problem. Its size is zero if the wish is constant and within its bounds.
 * Returns false if a wish, a weight or the size is not finite, a bound is NaN, a floor is infinity
 * or a ceiling minus infinity. */
static bool
find_unit(Problem *p, const double *wish, const double *weight, const double *floor,
          const double *ceiling)
{
    p->middle = p->count ? wish[0] : 0.0;
    for (size_t k = 0; k < p->count; k++) {
        if (!isfinite(wish[k]) || !isfinite(weight[k]) || !(floor[k] < INFINITY) ||
            !(ceiling[k] > -INFINITY)) {
            return false;
        }
        p->size = fmax(p->size, fabs(wish[k] - p->middle));
        p->size = isfinite(floor[k]) ? fmax(p->size, floor[k] - wish[k]) : p->size;
        p->size = isfinite(ceiling[k]) ? fmax(p->size, wish[k] - ceiling[k]) : p->size;
    }
    return isfinite(p->size);
}

/* The number of rounds until the optimum is reached, or -1 if MOST_ROUNDS are not enough. */
static int
solve(Problem *p, double stiffness)
{
    double share = 1.0;

    for (int round = 0; round < MOST_ROUNDS; round++) {
        double present = complementarity(p);
        find_gradient(p);
        if (present <= NEAR * NEAR && slope(p) <= ENOUGH * (1.0 + stiffness)) {
            return round;
        }
        share = step(p, fmax(CENTRING, 1.0 - share) * present);
    }
    return -1;
}

size_t
ik2b_smooth_scratch(size_t count)
{
    return ROWS * (count + 2 * BESIDE) * sizeof(double) + 2 * count * sizeof(Bound);
}

int
ik2b_smooth_within(size_t count, double *curve, const double *weight, const double *floor,
                   const double *ceiling, double stiffness, void *scratch)
{
    double *row = (double *)scratch + BESIDE;
    Problem p = {.count = count};
    double **rows[ROWS] = {&p.curve,   &p.way,          &p.gradient,     &p.asked,
                           &p.own,     &p.next,         &p.second,       &p.barrier,
                           &p.inverse, &p.first_factor, &p.second_factor};
    int rounds;

    if (!find_unit(&p, curve, weight, floor, ceiling)) {
        return -1;
    }
    if (p.size == 0.0) {
        return 0;
    }
    memset(scratch, 0, ik2b_smooth_scratch(count));
    for (size_t k = 0; k < ROWS; k++, row += count + 2 * BESIDE) {
        *rows[k] = row;
    }
    p.bound = (Bound *)(row - BESIDE);
    fill_system(&p, weight, stiffness);
    start(&p, curve, weight, floor, ceiling);
    rounds = solve(&p, stiffness);
    for (size_t k = 0; k < count; k++) {
        curve[k] = p.middle + p.size * p.curve[k];
    }
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

void
ik2b_fill_dips(size_t count, double *values, double most, size_t *kept)
{
    size_t last = 0;

    kept[0] = 0;
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
}
