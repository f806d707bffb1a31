/* SPDX-License-Identifier: MIT
 *
 * ik2b_solve: rows of positions in, rows of positions out.
 */
#include "place.h"
#include "rows.h"

static inline void
solve_own_pose(ik2b_array *args, const double mid[3], const double end[3], double miss, int status)
{
    store_vector(&args[IK2B_SOLVE_OUT_MID], mid);
    store_vector(&args[IK2B_SOLVE_OUT_END], end);
    store_number(&args[IK2B_SOLVE_OUT_MISS], miss);
    store_status(&args[IK2B_SOLVE_OUT_STATUS], status);
}

static inline double
distance_between(const double a[3], const double b[3])
{
    double difference[3];
    d3_sub(a, b, difference);
    return d3_long_norm(difference);
}

static inline void
solve_row(ik2b_array *args, ik2b_bend bend)
{
    double root[3], mid[3], end[3], target[3], upper[3], lower[3], line[3], aim[3];
    options opt;
    load_vector(&args[IK2B_SOLVE_ROOT], 3, root);
    load_vector(&args[IK2B_SOLVE_MID], 3, mid);
    load_vector(&args[IK2B_SOLVE_END], 3, end);
    load_vector(&args[IK2B_SOLVE_TARGET], 3, target);
    bool finite = load_options(args + IK2B_SOLVE_OPTION, bend, &opt);
    d3_sub(mid, root, upper);
    d3_sub(end, mid, lower);
    d3_sub(end, root, line);
    d3_sub(target, root, aim);
    finite = finite && d3_finite(upper) && d3_finite(lower) && d3_finite(line) && d3_finite(aim);
    if (!finite || d3_is_zero(upper) || d3_is_zero(lower)) {
        solve_own_pose(args, mid, end, (double)NAN, IK2B_INVALID);
        return;
    }

    double scale = power_of_two_under(larger(d3_largest(upper), d3_largest(lower)));
    d3_scale(upper, scale, upper);
    d3_scale(lower, scale, lower);
    d3_scale(line, scale, line);
    d3_scale_far(aim, scale, aim);
    limb present = limb_measure(upper, lower, line, opt.hinge, aim);
    placement new = place(&present, aim, d3_equal(target, end), &opt);
    if (!new.still) {
        const ik2b_array *out = &args[IK2B_SOLVE_OUT_MID];
        for (int i = 0; i < 3; i++) {
            mid[i] = rounded(out, root[i] + new.mid[i] / scale);
            end[i] = rounded(out, root[i] + new.end[i] / scale);
        }
    }
    solve_own_pose(args, mid, end, distance_between(end, target), new.status);
}

void
IK2B_NAME(solve)(const ik2b_extent *extent, ik2b_array *args, ik2b_bend bend)
{
    ik2b_walk walk;
    if (!ik2b_walk_start(&walk, extent, args, IK2B_SOLVE_COUNT)) {
        return;
    }
    do {
        solve_row(args, bend);
    } while (ik2b_walk_next(&walk));
}
