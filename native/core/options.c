/* SPDX-License-Identifier: MIT
 *
 * Options into tiles.
 */
#include "options.h"

#include <float.h>

/* Where in a function's arguments each option is. */
#define PLACE_0(member) -1,
#define PLACE_1(member) member,
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

typedef enum { NUMBER, DIRECTION, MATRIX } value_kind;

typedef struct {
    value_kind kind;
    double missing;
} option;

#define AS_OPTION(NAME, name, KIND, missing, solve, orient, solve_pose, pole_of) {KIND, missing},

static const option table[IK2B_OPTIONS] = {IK2B_OPTION_TABLE(AS_OPTION)};

#define BIT_OF_DIRECTION(NAME, name, KIND, missing, solve, orient, solve_pose, pole_of)            \
    | (uint64_t)(KIND == DIRECTION) << IK2B_##NAME

/* The bits of options that are directions. */
static const uint64_t DIRECTIONS = 0 IK2B_OPTION_TABLE(BIT_OF_DIRECTION);

/* Where the numbers of an option lie in a tile. */
static lane *
place_of(limbs *t, int which)
{
    switch (which) {
    case IK2B_POLE:
        return t->framed ? t->given_pole : t->pole;
    case IK2B_HINGE:
        return t->framed ? t->given_hinge : t->hinge;
    case IK2B_CONE_AXIS:
        return t->framed ? t->given_axis : t->cone_axis;
    case IK2B_ROOT_SCALE:
        return t->root_scale;
    case IK2B_MID_SCALE:
        return t->mid_scale;
    default:
        return &t->numbers[which];
    }
}

static int
width_of(int which)
{
    return table[which].kind == DIRECTION ? 3 : 1;
}

/* The same in all lanes, but in those that few rows need alone where rows are few. */
static void
spread(const limbs *t, double number, int width, lane dest[])
{
    for (int i = 0; i < width; i++) {
        for (int k = 0; k < IK2B_FEW; k++) {
            dest[i][k] = number;
        }
        for (int k = IK2B_FEW; t->rows > IK2B_FEW && k < IK2B_LANES; k++) {
            dest[i][k] = number;
        }
    }
}

/* Weights and angles as the stages need them. */
IK2B_IN_LINE bool
prepare_numbers(limbs *t, int k)
{
    double weight = clamped(t->numbers[IK2B_WEIGHT][k], 0.0, 1.0),
           twist = t->numbers[IK2B_TWIST][k];
    double cone = clamped(t->numbers[IK2B_CONE_ANGLE][k], 0.0, IK2B_PI);
    double most = clamped(t->numbers[IK2B_MAX_ANGLE][k], 0.0, IK2B_PI);
    double least = clamped(t->numbers[IK2B_MIN_ANGLE][k], 0.0, most);
    t->weight[k] = weight;
    t->soften[k] = clamped(t->numbers[IK2B_SOFTEN][k], 0.0, 1.0);
    t->pole_weight[k] = clamped(t->numbers[IK2B_POLE_WEIGHT][k], 0.0, 1.0);
    t->pole_part[k] = weight * t->pole_weight[k];
    t->twist[k] = twist;
    t->cone_angle[k] = cone;
    t->angle[IK2B_TWIST_ANGLE][k] = weight * twist;
    t->angle[IK2B_CONE_OPENING][k] = cone;
    t->angle[IK2B_HALF_LEAST][k] = 0.5 * least;
    t->angle[IK2B_HALF_MOST][k] = 0.5 * most;
    return true;
}

IK2B_STAGE(prepare_numbers, ((void)careful, prepare_numbers(t, k)))

/* Sine and cosine of one of the angles. */
IK2B_IN_LINE bool
resolve_angle(limbs *t, int k, bool careful)
{
    double angle = t->resolved[k], sine, cosine;
    bool good = fabs(angle) <= IK2B_LARGEST_ANGLE;
    sine_and_cosine(angle, &sine, &cosine);
    if (careful && !good) {
        sine = sin(angle);
        cosine = cos(angle);
    }
    t->resolved_sine[k] = sine;
    t->resolved_cosine[k] = cosine;
    return good;
}

IK2B_STAGE(resolve_angle, resolve_angle(t, k, careful))

/* The options that need each angle; the cone keeps the inner angle within its limits, given or not.
 */
static const uint64_t USES_OF_ANGLE[IK2B_ANGLES] = {
    IK2B_BIT(TWIST),
    IK2B_BIT(CONE_ANGLE),
    IK2B_BIT(MIN_ANGLE) | IK2B_BIT(MAX_ANGLE) | IK2B_BIT(CONE_ANGLE),
    IK2B_BIT(MIN_ANGLE) | IK2B_BIT(MAX_ANGLE) | IK2B_BIT(CONE_ANGLE),
};

IK2B_IN_LINE void
run_numbers(limbs *t)
{
    prepare_numbers_lanes(t);
    for (int i = 0; i < IK2B_ANGLES; i++) {
        if (!is_given(t, USES_OF_ANGLE[i])) {
            continue;
        }
        memcpy(t->resolved, t->angle[i], sizeof t->resolved);
        resolve_angle_lanes(t);
        memcpy(t->sine[i], t->resolved_sine, sizeof t->resolved);
        memcpy(t->cosine[i], t->resolved_cosine, sizeof t->resolved);
    }
}

IK2B_BUILDS(numbers_runner, run_numbers, (limbs * t), (t))

/* Marks rows of which an option is not finite. */
IK2B_IN_LINE void
check_options(limbs *t)
{
    for (int which = 0; which < IK2B_OPTIONS; which++) {
        if (!is_given(t, (uint64_t)1 << which) || table[which].kind == MATRIX) {
            continue;
        }
        lane *numbers = place_of(t, which);
        for (int i = 0; i < width_of(which); i++) {
            IK2B_LANE_LOOP
            for (int k = 0; k < IK2B_LANES; k++) {
                t->bad_options[k] += numbers[i][k] - numbers[i][k];
            }
        }
    }
}

IK2B_BUILDS(options_checker, check_options, (limbs * t), (t))

/* What follows from the options that are loaded. */
static void
prepare(limbs *t, uint64_t loaded)
{
    if (loaded & ~DIRECTIONS) {
        numbers_runner()(t);
    }
    memset(t->bad_options, 0, sizeof t->bad_options);
    if (t->given) {
        options_checker()(t);
    }
}

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
begin_option(limbs *t, const ik2b_array *array, int which, const ik2b_extent *extent)
{
    lane *dest = place_of(t, which);
    bool at_default = true, uniform = is_uniform(array, extent);
    for (int i = 0; uniform && i < width_of(which); i++) {
        double number = load_element(array, array->data + i * array->inner[0]);
        at_default &= number == table[which].missing;
        spread(t, number, 1, &dest[i]);
    }
    t->given |= uniform && at_default ? 0 : (uint64_t)1 << which;
    t->varying |= uniform ? 0 : (uint64_t)1 << which;
}

static void
begin_kind(limbs *t, ik2b_kind kind)
{
    bool single = kind == IK2B_F32;
    t->kind = kind;
    t->straight = single ? 1e-5 : 1e-12;
    t->moved = single ? 1e-6 : 1e-12;
    t->polar_change = single ? 1e-5 : 1e-9;
    t->parallel = 16.0 * (single ? (double)FLT_EPSILON : DBL_EPSILON);
}

/* How many rows the largest tile has. */
static int
rows_of(const ik2b_extent *extent)
{
    ptrdiff_t rows = 1;
    for (int d = 0; d < extent->count && rows < IK2B_LANES; d++) {
        rows *= extent->shape[d];
    }
    return rows < IK2B_LANES ? (int)rows : IK2B_LANES;
}

void
ik2b_begin(limbs *t, ik2b_kind kind, const ik2b_array *args, const signed char *places,
           const ik2b_extent *extent)
{
    begin_kind(t, kind);
    t->given = t->varying = 0;
    t->lanes = IK2B_LANES;
    t->rows = rows_of(extent);
    memset(t->invalid, 0, sizeof t->invalid);
    spread(t, 0.0, 3, t->hinge);
    spread(t, 0.0, 3, t->hinge_mid);
    spread(t, 0.0, 3, t->pole);
    for (int which = 0; which < IK2B_OPTIONS; which++) {
        const ik2b_array *array = places[which] < 0 ? NULL : &args[places[which]];
        bool matrix = table[which].kind == MATRIX;
        if (!matrix) {
            spread(t, table[which].missing, width_of(which), place_of(t, which));
        }
        if (array && array->data && matrix) {
            t->given |= (uint64_t)1 << which;
        }
        else if (array && array->data) {
            begin_option(t, array, which, extent);
        }
    }
    prepare(t, UINT64_MAX);
}

void
ik2b_load_options(limbs *t, const ik2b_array *args, const signed char *places, int last)
{
    memset(t->invalid, 0, sizeof t->invalid);
    if (t->varying == 0) {
        return;
    }
    for (int which = 0; which < IK2B_OPTIONS; which++) {
        if (t->varying >> which & 1) {
            ik2b_load(&args[places[which]], last, t->rows, width_of(which), place_of(t, which));
        }
    }
    prepare(t, t->varying);
}
