/* SPDX-License-Identifier: MIT
 *
 * Options of limbs: where they lie, what follows from them, and what one has for all rows.
 */
#include "options.h"

/* Where in a function's arguments each option is. */
#define PLACE_0(member) -1,
#define PLACE_1(member) member,
#define PLACE_NOWHERE(NAME, name, KIND, missing, solve, orient, solve_pose, pole_of) -1,
#define PLACE_IN_SOLVE(NAME, name, KIND, missing, solve, orient, solve_pose, pole_of)              \
    PLACE_##solve(IK2B_SOLVE_##NAME)
#define PLACE_IN_ORIENT(NAME, name, KIND, missing, solve, orient, solve_pose, pole_of)             \
    PLACE_##orient(IK2B_ORIENT_##NAME)
#define PLACE_IN_POSE(NAME, name, KIND, missing, solve, orient, solve_pose, pole_of)               \
    PLACE_##solve_pose(IK2B_POSE_##NAME)
#define PLACE_IN_POLE_OF(NAME, name, KIND, missing, solve, orient, solve_pose, pole_of)            \
    PLACE_##pole_of(IK2B_POLE_OF_##NAME)

const signed char ik2b_solve_places[] = {IK2B_OPTION_TABLE(PLACE_IN_SOLVE)};
const signed char ik2b_orient_places[] = {IK2B_OPTION_TABLE(PLACE_IN_ORIENT)};
const signed char ik2b_pose_places[] = {IK2B_OPTION_TABLE(PLACE_IN_POSE)};
const signed char ik2b_pole_of_places[] = {IK2B_OPTION_TABLE(PLACE_IN_POLE_OF)};
const signed char ik2b_hinge_of_places[] = {IK2B_OPTION_TABLE(PLACE_NOWHERE)};

typedef enum { NUMBER, DIRECTION, MATRIX } value_kind;

typedef struct {
    value_kind kind;
    double missing;
} option;

#define AS_OPTION(NAME, name, KIND, missing, solve, orient, solve_pose, pole_of) {KIND, missing},

static const option table[IK2B_OPTIONS] = {IK2B_OPTION_TABLE(AS_OPTION)};

#define BIT_OF_DIRECTION(NAME, name, KIND, missing, solve, orient, solve_pose, pole_of)            \
    | (uint64_t)(KIND != NUMBER) << IK2B_##NAME

/* The bits of options that are no numbers. */
static const uint64_t DIRECTIONS = 0 IK2B_OPTION_TABLE(BIT_OF_DIRECTION);

int
ik2b_place_of(const ik2b_task *task, int which)
{
    switch (which) {
    case IK2B_POLE:
        return task->framed ? IK2B_AT(given_pole) : IK2B_AT(pole);
    case IK2B_HINGE:
        return task->framed ? IK2B_AT(given_hinge) : IK2B_AT(hinge);
    case IK2B_CONE_AXIS:
        return task->framed ? IK2B_AT(given_axis) : IK2B_AT(cone_axis);
    case IK2B_ROOT_SCALE:
        return IK2B_AT(root_scale);
    case IK2B_MID_SCALE:
        return IK2B_AT(mid_scale);
    case IK2B_END_MATRIX:
        return IK2B_AT(end_matrix);
    case IK2B_END_GOAL:
        return IK2B_AT(end_goal);
    default:
        return IK2B_AT(numbers) + which;
    }
}

int
ik2b_width_of(int which)
{
    static const int widths[] = {[NUMBER] = 1, [DIRECTION] = 3, [MATRIX] = 16};
    return widths[table[which].kind];
}

/* What follows from options */

/* Weights and angles as the stages need them. */
IK2B_IN_LINE bool
prepare_numbers(limb *t)
{
    double weight = clamped(t->numbers[IK2B_WEIGHT], 0.0, 1.0), twist = t->numbers[IK2B_TWIST];
    double cone = clamped(t->numbers[IK2B_CONE_ANGLE], 0.0, IK2B_PI);
    double most = clamped(t->numbers[IK2B_MAX_ANGLE], 0.0, IK2B_PI);
    double least = clamped(t->numbers[IK2B_MIN_ANGLE], 0.0, most);
    t->weight = weight;
    t->soften = clamped(t->numbers[IK2B_SOFTEN], 0.0, 1.0);
    t->pole_weight = clamped(t->numbers[IK2B_POLE_WEIGHT], 0.0, 1.0);
    t->pole_part = weight * t->pole_weight;
    t->twist = twist;
    t->cone_angle = cone;
    t->angle[IK2B_TWIST_ANGLE] = weight * twist;
    t->angle[IK2B_CONE_OPENING] = cone;
    t->angle[IK2B_HALF_LEAST] = 0.5 * least;
    t->angle[IK2B_HALF_MOST] = 0.5 * most;
    return true;
}

IK2B_PASS(prepare_numbers, IK2B_GIVEN, prepare_numbers(&one))

/* The options that need each angle; the cone keeps the inner angle within its limits, given or not.
 */
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

IK2B_IN_LINE void
run_numbers(limbs *t, int together)
{
    prepare_numbers_lanes(t, together);
    for (int i = 0; i < IK2B_ANGLES; i++) {
        if (is_given(&t->task, USES_OF_ANGLE[i])) {
            resolve_angle_lanes(t, i);
        }
    }
}

/* Marks rows of which an option that varies is not finite. */
IK2B_IN_LINE void
check_options(limbs *t)
{
    for (int which = 0; which < IK2B_OPTIONS; which++) {
        if (!(t->task.varying >> which & 1) || table[which].kind == MATRIX) {
            continue;
        }
        lane *numbers = lanes_at(t, ik2b_place_of(&t->task, which));
        for (int i = 0; i < ik2b_width_of(which); i++) {
            IK2B_LANE_LOOP
            for (int k = 0; k < IK2B_LANES; k++) {
                t->bad_options[k] += numbers[i][k] - numbers[i][k];
            }
        }
    }
}

IK2B_BUILDS(numbers_runner, run_numbers, (limbs * t), (t, IK2B_TOGETHER))
IK2B_BUILDS(options_checker, check_options, (limbs * t), (t))

void
ik2b_prepare_tile(limbs *t, double bad_options)
{
    if (t->task.varying & ~DIRECTIONS) {
        numbers_runner()(t);
    }
    for (int k = 0; k < IK2B_LANES; k++) {
        t->bad_options[k] = bad_options;
    }
    options_checker()(t);
}

void
ik2b_prepare(limb *t)
{
    const ik2b_task *task = &t->task;
    prepare_numbers(t);
    for (int i = 0; i < IK2B_ANGLES; i++) {
        if (is_given(task, USES_OF_ANGLE[i])) {
            careful_sine_and_cosine(t->angle[i], &t->sine[i], &t->cosine[i]);
        }
    }
    t->bad_options = 0.0;
    for (int which = 0; which < IK2B_OPTIONS; which++) {
        const double *numbers = numbers_at(t, ik2b_place_of(task, which));
        bool checked = (task->given >> which & 1) && table[which].kind != MATRIX;
        for (int i = 0; checked && i < ik2b_width_of(which); i++) {
            t->bad_options += numbers[i] - numbers[i];
        }
    }
}

/* The beginning of a call */

/* Whether one value of an option serves all rows. */
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
    double *dest = numbers_at(t, ik2b_place_of(&t->task, which));
    bool at_default = true, uniform = table[which].kind != MATRIX && is_uniform(array, extent);
    for (int i = 0; uniform && i < ik2b_width_of(which); i++) {
        dest[i] = load_element(array, array->data + i * array->inner[0]);
        at_default &= dest[i] == table[which].missing;
    }
    t->task.given |= uniform && at_default ? 0 : (uint64_t)1 << which;
    t->task.varying |= uniform ? 0 : (uint64_t)1 << which;
}

static void
set_defaults(limb *t)
{
    for (int which = 0; which < IK2B_OPTIONS; which++) {
        double *dest = numbers_at(t, ik2b_place_of(&t->task, which));
        for (int i = 0; i < ik2b_width_of(which); i++) {
            dest[i] = table[which].missing;
        }
    }
}

void
ik2b_begin_options(limb *t, const ik2b_array *args, const signed char *places,
                   const ik2b_extent *extent)
{
    bool any = false;
    for (int which = 0; which < IK2B_OPTIONS; which++) {
        any |= places[which] >= 0 && args[places[which]].data;
    }
    t->weight = 1.0;
    t->bad_options = 0.0;
    d3_zero(t->pole);
    d3_zero(t->hinge);
    d3_zero(t->hinge_mid);
    if (!any) {
        return;
    }
    set_defaults(t);
    for (int which = 0; which < IK2B_OPTIONS; which++) {
        if (places[which] >= 0 && args[places[which]].data) {
            begin_option(t, &args[places[which]], which, extent);
        }
    }
    ik2b_prepare(t);
}
