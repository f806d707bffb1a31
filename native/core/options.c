/* SPDX-License-Identifier: MIT
 *
 * Options of limbs: where they are stored, which numbers are derived from them, and which of them
 * have one value for all rows.
 */
#include "solver.h"

#define AS_OPTION(NAME, name, KIND, missing) {IK2B_##KIND, IK2B_AT(given_##name), missing},
#define BIT_OF_NUMBER(NAME, name, KIND, missing)                                                   \
    | (uint64_t)(IK2B_##KIND == IK2B_NUMBER) << IK2B_##NAME

const ik2b_option ik2b_options[IK2B_OPTIONS] = {IK2B_OPTIONS_OF_POSE(AS_OPTION)};

/* The bits of options that are numbers. */
static const uint64_t NUMBERS = 0 IK2B_OPTIONS_OF_POSE(BIT_OF_NUMBER);

/* Numbers derived from options */

/* Clamps and combines weights and angles as the stages need them. */
IK2B_IN_LINE bool
prepare_numbers_body(limb *t, bool careful)
{
    (void)careful;
    double weight = clamped(t->given_weight, 0.0, 1.0), twist = t->given_twist;
    double cone = clamped(t->given_cone_angle, 0.0, IK2B_PI);
    double most = clamped(t->given_max_angle, 0.0, IK2B_PI);
    double least = clamped(t->given_min_angle, 0.0, most);
    t->weight = weight;
    t->soften = clamped(t->given_soften, 0.0, 1.0);
    t->pole_weight = clamped(t->given_pole_weight, 0.0, 1.0);
    t->pole_part = weight * t->pole_weight;
    t->twist = twist;
    t->cone_angle = cone;
    t->angle[IK2B_TWIST_ANGLE] = weight * twist;
    t->angle[IK2B_CONE_OPENING] = cone;
    t->angle[IK2B_HALF_LEAST] = 0.5 * least;
    t->angle[IK2B_HALF_MOST] = 0.5 * most;
    return true;
}

IK2B_PASS(prepare_numbers, true, IK2B_GIVEN)

/* For each angle, the options that need its sine and cosine. The cone needs the limits of the inner
 * angle even if they are not given. */
static const uint64_t USES_OF_ANGLE[IK2B_ANGLES] = {
    IK2B_BIT(TWIST),
    IK2B_BIT(CONE_ANGLE),
    IK2B_BIT(MIN_ANGLE) | IK2B_BIT(MAX_ANGLE) | IK2B_BIT(CONE_ANGLE),
    IK2B_BIT(MIN_ANGLE) | IK2B_BIT(MAX_ANGLE) | IK2B_BIT(CONE_ANGLE),
};

IK2B_IN_LINE void
resolve_angle_lanes(limbs *t, int i)
{
    IK2B_LANE_LOOP
    for (int k = 0; k < IK2B_LANES; k++) {
        double angle = t->angle[i][k], sine, cosine;
        sine_and_cosine(angle, &sine, &cosine);
        t->sine[i][k] = sine;
        t->cosine[i][k] = cosine;
        t->hard[k] = chosen(fabs(angle) <= IK2B_LARGEST_ANGLE, t->hard[k], 1.0);
    }
}

/* Adds NaN to `dest` in the lanes in which one of these options is not finite; a limb is a tile of
 * one lane. Matrices are checked elsewhere. */
IK2B_IN_LINE void
add_excess(const double *numbers, int lanes, uint64_t options, double dest[])
{
    for (int which = 0; which < IK2B_OPTIONS; which++) {
        const ik2b_option *option = &ik2b_options[which];
        bool checked = (options >> which & 1) && option->width != IK2B_MATRIX;
        for (int i = 0; checked && i < option->width; i++) {
            const double *own = numbers + (option->place + i) * lanes;
            IK2B_LANE_LOOP
            for (int k = 0; k < lanes; k++) {
                dest[k] += own[k] - own[k];
            }
        }
    }
}

IK2B_IN_LINE void
prepare_lanes(limbs *t, double bad_options, int together)
{
    if (t->task.varying & NUMBERS) {
        prepare_numbers_lanes(t, together);
        for (int i = 0; i < IK2B_ANGLES; i++) {
            if (is_given(&t->task, USES_OF_ANGLE[i])) {
                resolve_angle_lanes(t, i);
            }
        }
    }
    for (int k = 0; k < IK2B_LANES; k++) {
        t->bad_options[k] = bad_options;
    }
    add_excess(*lanes_at(t, 0), IK2B_LANES, t->task.varying, t->bad_options);
}

IK2B_BUILDS(preparer, prepare_lanes, (limbs * t, double bad_options),
            (t, bad_options, IK2B_TOGETHER))

void
ik2b_prepare_tile(limbs *t, double bad_options)
{
    preparer()(t, bad_options);
}

void
ik2b_prepare(limb *t)
{
    const ik2b_task *task = &t->task;
    prepare_numbers_body(t, true);
    for (int i = 0; i < IK2B_ANGLES; i++) {
        if (is_given(task, USES_OF_ANGLE[i])) {
            careful_sine_and_cosine(t->angle[i], &t->sine[i], &t->cosine[i]);
        }
    }
    t->bad_options = 0.0;
    add_excess(numbers_at(t, 0), 1, task->given, &t->bad_options);
}

/* The beginning of a call */

/* Whether an option has one value for all rows. */
static bool
is_uniform(const ik2b_array *array, const ik2b_extent *extent)
{
    for (int d = 0; d < extent->count; d++) {
        if (array->stride[d] != 0) {
            return false;
        }
    }
    return true;
}

static void
begin_option(limb *t, const ik2b_array *array, int which, const ik2b_extent *extent)
{
    const ik2b_option *option = &ik2b_options[which];
    double *dest = numbers_at(t, option->place);
    bool at_default = true, uniform = option->width != IK2B_MATRIX && is_uniform(array, extent);
    if (uniform) {
        load_row(array, array->data, option->width, dest);
    }
    for (int i = 0; uniform && i < option->width; i++) {
        at_default &= dest[i] == option->missing;
    }
    t->task.given |= uniform && at_default ? 0 : (uint64_t)1 << which;
    t->task.varying |= uniform ? 0 : (uint64_t)1 << which;
}

static void
set_defaults(limb *t)
{
    for (int which = 0; which < IK2B_OPTIONS; which++) {
        double *dest = numbers_at(t, ik2b_options[which].place);
        for (int i = 0; i < ik2b_options[which].width; i++) {
            dest[i] = ik2b_options[which].missing;
        }
    }
}

void
ik2b_begin_options(limb *t, const ik2b_array *args, const signed char *which, int count,
                   const ik2b_extent *extent)
{
    bool any = false;
    t->weight = 1.0;
    t->bad_options = t->twist = 0.0;
    d3_zero(t->pole);
    d3_zero(t->hinge);
    d3_zero(t->hinge_mid);
    for (int i = 0; i < count; i++) {
        if (args[i].data) {
            if (!any) {
                set_defaults(t);
            }
            any = true;
            begin_option(t, &args[i], which[i], extent);
        }
    }
    if (any) {
        ik2b_prepare(t);
    }
}
