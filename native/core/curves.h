/* SPDX-License-Identifier: MIT */
/* Curves over time: the smoothest curve near a wish that stays between a floor and a ceiling. Plain
 * C, no Python. */

#ifndef IK2B_CURVES_H
#define IK2B_CURVES_H

#include <stddef.h>

/* What the functions return, less than 0, if they do not succeed. */
enum { IK2B_NO_OPTIMUM = -1, IK2B_NO_MEMORY = -2 };

/*
 * Find the curve x of `count` samples that minimises
 *
 *     sum of weight[k] (x[k] - wish[k])^2 + stiffness sum of (x[k-1] - 2 x[k] + x[k+1])^2
 *
 * with floor[k] <= x[k] <= ceiling[k]. `curve` holds the wish on entry and x on return. Weights are
 * from 0 to about 1, because the accuracy is relative to that (with 1e12, no optimum is found), and
 * at least two of them are positive (one, if there is only one sample). `floor` may hold minus
 * infinity and `ceiling` infinity. A floor that is over its ceiling, or less than 1e-7 of the
 * curves' size under it, counts as that much under it. Stiffness over 1e10 counts as 1e10. The
 * curves' size is the greatest distance of a wish from the first wish, or from a bound that the
 * wish violates.
 *
 * A primal-dual interior point method (Nocedal and Wright, Numerical Optimization, 2006,
 * section 16.6): every round factors one pentadiagonal system, so the time grows with `count`
 * alone. The bounds hold to a rounding. Returns the number of rounds. There is no optimum if a
 * number is unusable (see find_unit in curves.c), or if it was not reached to 1e-9 of the curves'
 * size.
 */
int ik2b_smooth_within(size_t count, double *curve, const double *weight, const double *floor,
                       const double *ceiling, double stiffness);

/*
 * Find the path of `count` points x that minimises
 *
 *     sum of dot(x[k] - wish[k], weight[k] (x[k] - wish[k])) + stiffness sum of |x[k-1] - 2 x[k] +
 *     x[k+1]|^2
 *
 * with dot(normal, x[k]) <= limit for all planes of each point, as ik2b_smooth_within finds curves.
 * `rows` hold 15 + 4 planes numbers for each point: the wish (3), overwritten by x; the symmetric
 * weight (3, 3), positive semidefinite with entries of about 1; a start inside all planes (3); and
 * for each plane its normal (3) and its limit, infinity for no plane. Planes that do not have the
 * start 3e-3 of the path's size inside are moved away from it as far. That size is the greatest
 * distance of a wish or a start from the first wish along an axis.
 */
int ik2b_smooth_path(size_t count, size_t planes, double *rows, double stiffness);

/*
 * Fill the dips of `count` values: raise them to the lowest curve that is nowhere below them and
 * whose second differences are at most `most`. This curve exists, because the lower of two such
 * curves is again such a curve. To find it, subtract the parabola whose second differences are
 * `most`: the curve becomes the least concave curve over the remaining values, which is their upper
 * convex hull (Andrew's monotone chain, 1979).
 */
int ik2b_fill_dips(size_t count, double *values, double most);

#endif
