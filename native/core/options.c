/* SPDX-License-Identifier: MIT
 *
 * Rows and options into limbs, through a function, and out.
 */
#include "options.h"

#include "frames.h"

#include <float.h>

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

/* Where the numbers of an option lie in a limb. */
static int
place_of(const ik2b_task *task, int which)
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

static int
width_of(int which)
{
    static const int widths[] = {[NUMBER] = 1, [DIRECTION] = 3, [MATRIX] = 16};
    return widths[table[which].kind];
}

static inline double *
numbers_at(limb *t, int place)
{
    return (double *)t + place;
}

static inline lane *
lanes_at(limbs *t, int place)
{
    return (lane *)t + place;
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
resolve_angle_lanes(limbs *t, int lanes, int i)
{
    IK2B_LANE_LOOP
    for (int k = 0; k < lanes; k++) {
        double angle = t->angle[i][k], sine, cosine;
        sine_and_cosine(angle, &sine, &cosine);
        t->sine[i][k] = sine;
        t->cosine[i][k] = cosine;
        t->hard[k] = chosen(fabs(angle) <= IK2B_LARGEST_ANGLE, t->hard[k], 1.0);
    }
}

IK2B_IN_LINE void
run_numbers(limbs *t, int lanes)
{
    prepare_numbers_lanes(t, lanes);
    for (int i = 0; i < IK2B_ANGLES; i++) {
        if (is_given(&t->task, USES_OF_ANGLE[i])) {
            resolve_angle_lanes(t, lanes, i);
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
        lane *numbers = lanes_at(t, place_of(&t->task, which));
        for (int i = 0; i < width_of(which); i++) {
            IK2B_LANE_LOOP
            for (int k = 0; k < IK2B_LANES; k++) {
                t->bad_options[k] += numbers[i][k] - numbers[i][k];
            }
        }
    }
}

IK2B_BUILDS(numbers_runner, run_numbers, (limbs * t), (t, lanes_of(t)))
IK2B_BUILDS(options_checker, check_options, (limbs * t), (t))

/* Of one row, with care. */
static void
prepare(limb *t)
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
        const double *numbers = numbers_at(t, place_of(task, which));
        bool checked = (task->given >> which & 1) && table[which].kind != MATRIX;
        for (int i = 0; checked && i < width_of(which); i++) {
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
    double *dest = numbers_at(t, place_of(&t->task, which));
    bool at_default = true, uniform = table[which].kind != MATRIX && is_uniform(array, extent);
    for (int i = 0; uniform && i < width_of(which); i++) {
        dest[i] = load_element(array, array->data + i * array->inner[0]);
        at_default &= dest[i] == table[which].missing;
    }
    t->task.given |= uniform && at_default ? 0 : (uint64_t)1 << which;
    t->task.varying |= uniform ? 0 : (uint64_t)1 << which;
}

static void
begin_task(ik2b_task *task, ik2b_kind kind)
{
    bool single = kind == IK2B_F32;
    task->given = task->varying = 0;
    task->kind = kind;
    task->straight = single ? 1e-5 : 1e-12;
    task->moved = single ? 1e-6 : 1e-12;
    task->polar_change = single ? 1e-5 : 1e-9;
    task->opposite = single ? -0.9999 : -0.97;
    task->parallel = 16.0 * (single ? (double)FLT_EPSILON : DBL_EPSILON);
}

static void
set_defaults(limb *t)
{
    for (int which = 0; which < IK2B_OPTIONS; which++) {
        double *dest = numbers_at(t, place_of(&t->task, which));
        for (int i = 0; i < width_of(which); i++) {
            dest[i] = table[which].missing;
        }
    }
}

/* The options of all rows. */
static void
begin_options(limb *t, const ik2b_array *args, const signed char *places, const ik2b_extent *extent)
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
    prepare(t);
}

/* Rows and tiles */

/* What is on its way: one row, and sixteen. */
typedef struct {
    limb row;
    limbs tile;
    const ik2b_solver *solver;
} work;

/* The same in all lanes. */
static void
spread_options(limbs *t, const limb *from)
{
    enum { FIRST = IK2B_AT(numbers), LAST = IK2B_AT(cone_axis) + 2 };
    const double *numbers = (const double *)from;
    t->task = from->task;
    t->lanes = IK2B_LANES;
    for (int place = FIRST; place <= LAST; place++) {
        for (int k = 0; k < IK2B_LANES; k++) {
            (*lanes_at(t, place))[k] = numbers[place];
        }
    }
}

/* One number, vector or matrix of one row. */
static void
load_row(const ik2b_array *array, int width, double dest[])
{
    for (int i = 0; i < (width == 16 ? 4 : 1); i++) {
        const char *place = array->data + i * array->inner[0];
        ptrdiff_t step = array->inner[width == 16];
        for (int j = 0; j < (width == 16 ? 4 : width); j++) {
            dest[4 * i + j] = load_element(array, place + j * step);
        }
    }
}

static void
store_row(const ik2b_array *array, int width, const double source[])
{
    for (int i = 0; i < width; i++) {
        store_element(array, array->data + i * array->inner[0], source[i]);
    }
}

static void
load_tile(const ik2b_array *args, int last, void *context)
{
    work *w = context;
    limbs *t = &w->tile;
    const ik2b_solver *solver = w->solver;
    for (int i = 0; i < solver->inputs; i++) {
        const ik2b_move *move = &solver->moves[i];
        ik2b_load(&args[move->argument], last, t->rows, move->width, lanes_at(t, move->place));
    }
    memset(t->hard, 0, sizeof t->hard);
    if (t->task.varying == 0) {
        return;
    }
    for (int which = 0; which < IK2B_OPTIONS; which++) {
        if (t->task.varying >> which & 1) {
            ik2b_load(&args[solver->options[which]], last, t->rows, width_of(which),
                      lanes_at(t, place_of(&t->task, which)));
        }
    }
    if (t->task.varying & ~DIRECTIONS) {
        numbers_runner()(t);
    }
    for (int k = 0; k < IK2B_LANES; k++) {
        t->bad_options[k] = w->row.bad_options;
    }
    options_checker()(t);
}

/* Limbs that the passes could not settle. */
static void
settle(work *w, int k)
{
    limbs *t = &w->tile;
    limb one;
    one.task = t->task;
    IK2B_INPUTS(IK2B_TAKE_NUMBER, IK2B_TAKE_NUMBERS)
    IK2B_GIVEN(IK2B_TAKE_NUMBER, IK2B_TAKE_NUMBERS)
    IK2B_DIRECTIONS(IK2B_TAKE_NUMBER, IK2B_TAKE_NUMBERS)
    if (one.task.varying) {
        prepare(&one);
    }
    one.invalid = 0.0;
    w->solver->settle(&one);
    IK2B_RESULTS(IK2B_GIVE_NUMBER, IK2B_GIVE_NUMBERS)
}

static void
run_tile(void *context)
{
    work *w = context;
    w->solver->run(&w->tile);
    bool any = any_lane(w->tile.hard);
    for (int k = 0; any && k < w->tile.rows; k++) {
        if (w->tile.hard[k] != 0.0) {
            settle(w, k);
        }
    }
}

static void
store_tile(const ik2b_array *args, int last, void *context)
{
    work *w = context;
    limbs *t = &w->tile;
    const ik2b_solver *solver = w->solver;
    for (int i = solver->inputs; i < solver->count; i++) {
        const ik2b_move *move = &solver->moves[i];
        const ik2b_array *array = &args[move->argument];
        if (array->data && array->kind == IK2B_U8) {
            ik2b_store_status(array, last, t->rows, t->status);
        }
        else if (array->data) {
            ik2b_store(array, last, t->rows, move->width, lanes_at(t, move->place));
        }
    }
}

static void
load_limb(work *w, const ik2b_array *args)
{
    limb *t = &w->row;
    const ik2b_solver *solver = w->solver;
    for (int i = 0; i < solver->inputs; i++) {
        const ik2b_move *move = &solver->moves[i];
        load_row(&args[move->argument], move->width, numbers_at(t, move->place));
    }
    if (t->task.varying == 0) {
        return;
    }
    for (int which = 0; which < IK2B_OPTIONS; which++) {
        if (t->task.varying >> which & 1) {
            load_row(&args[solver->options[which]], width_of(which),
                     numbers_at(t, place_of(&t->task, which)));
        }
    }
    prepare(t);
}

static void
store_limb(work *w, const ik2b_array *args)
{
    limb *t = &w->row;
    for (int i = w->solver->inputs; i < w->solver->count; i++) {
        const ik2b_move *move = &w->solver->moves[i];
        const ik2b_array *array = &args[move->argument];
        if (array->data && array->kind == IK2B_U8) {
            *(unsigned char *)array->data = (unsigned char)t->status;
        }
        else if (array->data) {
            store_row(array, move->width, numbers_at(t, move->place));
        }
    }
}

static void
run_row(const ik2b_array *args, void *context)
{
    work *w = context;
    limb *t = &w->row;
    load_limb(w, args);
    if (is_given(&t->task, IK2B_BIT(ROOT_SCALE) | IK2B_BIT(MID_SCALE))) {
        remove_scale(t);
    }
    t->invalid = 0.0;
    w->solver->settle(t);
    store_limb(w, args);
}

static bool
has_tiles(const ik2b_extent *extent)
{
    ptrdiff_t rows = 1;
    for (int d = 0; d < extent->count && rows <= IK2B_FEW; d++) {
        rows *= extent->shape[d];
    }
    return rows > IK2B_FEW;
}

void
ik2b_run_solver(const ik2b_solver *solver, const ik2b_extent *extent, ik2b_array *args,
                ik2b_kind kind, ik2b_bend bend, ik2b_roll roll)
{
    work w;
    w.solver = solver;
    begin_task(&w.row.task, kind);
    w.row.task.framed = solver->framed;
    w.row.task.nearest = bend == IK2B_NEAREST;
    w.row.task.rolling = roll == IK2B_ROLL_HINGE;
    begin_options(&w.row, args, solver->options, extent);
    if (extent->count == 0) {
        run_row(args, &w);
        return;
    }
    if (has_tiles(extent)) {
        spread_options(&w.tile, &w.row);
    }
    ik2b_tiling tiling = {solver->arguments, &w,         &w.tile.rows, load_tile,
                          run_tile,          store_tile, run_row};
    ik2b_run_tiles(extent, args, &tiling);
}
