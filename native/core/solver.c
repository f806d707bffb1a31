/* SPDX-License-Identifier: MIT
 *
 * All rows of a call through the stages of its function: sixteen at a time, or one by one if there
 * are few.
 */
#include "solver.h"

#include "frames.h"

#include <float.h>

/* More stages than any function has. */
#define MOST_STAGES 40

/* The state of a call: one row, sixteen rows, and the stages. */
typedef struct {
    limb row;
    limbs tile;
    const ik2b_solver *solver;
    ik2b_tiling tiling;
    int count; /* of the stages that the call runs, and of their passes */
    const ik2b_stage *stages[MOST_STAGES];
    ik2b_pass *passes[MOST_STAGES];
    ik2b_move moves[IK2B_MAX_ARGUMENTS]; /* in use if options vary */
} work;

static void
begin_task(ik2b_task *task, ik2b_kind kind)
{
    bool single = kind == IK2B_F32;
    task->given = task->varying = 0;
    task->kind = kind;
    task->split = single ? 0x1p29 + 1.0 : 1.0;
    task->straight = single ? 1e-5 : 1e-12;
    task->moved = single ? 1e-6 : 1e-12;
    task->polar_rest = single ? 1e-10 : 2e-15;
    task->opposite = single ? -0.9999 : -0.97;
    task->parallel = 16.0 * (single ? (double)FLT_EPSILON : DBL_EPSILON);
}

static bool
is_asked(const ik2b_stage *stage, uint64_t given)
{
    return (given & stage->all) == stage->all && (!stage->any || (given & stage->any)) &&
           !(given & stage->none);
}

/* Appends the stages that the call runs to those found so far. */
static void
add_stages(work *w, const ik2b_stage *const stages[])
{
    for (; *stages; stages++) {
        if (!is_asked(*stages, w->row.task.given)) {
            continue;
        }
        if ((*stages)->stages) {
            add_stages(w, (*stages)->stages);
            continue;
        }
        w->stages[w->count++] = *stages;
    }
}

static void
list_stages(work *w)
{
    w->count = 0;
    if (w->solver->plain && !(w->row.task.given & ~IK2B_BIT(DOUBLE))) {
        w->stages[w->count++] = w->solver->plain;
        return;
    }
    add_stages(w, w->solver->stages);
}

/* A stage that runs before all others and only once: limbs that passes could not settle go through
 * the other stages again, from their inputs, with care. */
IK2B_STAGE(remove_scale, IK2B_INPUTS, remove_scale(t),
           .any = IK2B_BIT(ROOT_SCALE) | IK2B_BIT(MID_SCALE))

/* Gives an invalid row its present joints, corrections that are the identity, and IK2B_INVALID. */
static void
refuse(limb *t)
{
    clear_turn(true, t->root_turn);
    clear_turn(true, t->mid_turn);
    clear_turn(true, t->end_turn);
    d3_copy(t->mid_at, t->out_mid);
    d3_copy(t->end_at, t->position);
    d3_zero(t->told);
    t->miss = (double)NAN;
    t->status = IK2B_INVALID;
}

/* Runs all stages with care for one limb. */
static void
settle(const work *w, limb *t)
{
    t->invalid = 0.0;
    for (int i = 0; i < w->count && t->invalid == 0.0; i++) {
        w->stages[i]->settle(t);
    }
    if (t->invalid != 0.0) {
        refuse(t);
    }
}

/* Copies the options of one limb, and the numbers derived from them, to all lanes. */
static void
spread_options(limbs *t, const limb *from)
{
    enum { FIRST = IK2B_AT(given_pole), LAST = IK2B_AT(cone_axis) + 2 };
    const double *numbers = (const double *)from;
    t->task = from->task;
    t->lanes = IK2B_LANES;
    for (int place = FIRST; place <= LAST; place++) {
        for (int k = 0; k < IK2B_LANES; k++) {
            (*lanes_at(t, place))[k] = numbers[place];
        }
    }
}

/* Runs all stages with care for the limb in lane k, which the passes could not settle. */
static void
settle_lane(work *w, int k)
{
    limbs *part = &w->tile;
    limb one;
    one.task = part->task;
    IK2B_INPUTS(IK2B_TAKE_NUMBER, IK2B_TAKE_NUMBERS, IK2B_TAKE_MATRIX)
    IK2B_GIVEN(IK2B_TAKE_NUMBER, IK2B_TAKE_NUMBERS, IK2B_TAKE_MATRIX)
    IK2B_DIRECTIONS(IK2B_TAKE_NUMBER, IK2B_TAKE_NUMBERS, IK2B_TAKE_MATRIX)
    if (one.task.varying) {
        ik2b_prepare(&one);
    }
    settle(w, &one);
    IK2B_RESULTS(IK2B_GIVE_NUMBER, IK2B_GIVE_NUMBERS, IK2B_GIVE_MATRIX)
}

static void
run_tile(void *context, int rows)
{
    work *w = context;
    limbs *t = &w->tile;
    memset(t->hard, 0, sizeof t->hard);
    if (t->task.varying) {
        ik2b_prepare_tile(t, w->row.bad_options);
    }
    if (is_asked(&remove_scale_stage, t->task.given)) {
        remove_scale_pass()(t);
    }
    for (int i = 0; i < w->count; i++) {
        w->passes[i](t);
    }
    bool any = any_lane(t->hard);
    for (int k = 0; any && k < rows; k++) {
        if (t->hard[k] != 0.0) {
            settle_lane(w, k);
        }
    }
}

/* Loads one row, runs all stages with care, and stores the results. */
static void
run_row(const ik2b_array *args, void *context)
{
    work *w = context;
    limb *t = &w->row;
    const ik2b_tiling *tiling = &w->tiling;
    for (int i = 0; i < tiling->inputs; i++) {
        const ik2b_move *move = &tiling->move[i];
        const ik2b_array *array = &args[move->argument];
        load_row(array, array->data, move->width, numbers_at(t, move->place));
    }
    if (t->task.varying) {
        ik2b_prepare(t);
    }
    if (is_asked(&remove_scale_stage, t->task.given)) {
        remove_scale(t);
    }
    settle(w, t);
    for (int i = tiling->inputs; i < tiling->moves; i++) {
        const ik2b_move *move = &tiling->move[i];
        const ik2b_array *array = &args[move->argument];
        if (array->data && array->kind == IK2B_U8) {
            *(unsigned char *)array->data = (unsigned char)t->status;
        }
        else if (array->data) {
            store_row(array, array->data, move->width, numbers_at(t, move->place));
        }
    }
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

/* Lists the arguments that go into a tile and out of it: the inputs, the options that vary, the
 * outputs. */
static void
list_moves(work *w)
{
    const ik2b_solver *solver = w->solver;
    ik2b_tiling *tiling = &w->tiling;
    int count = solver->inputs, outputs = solver->count - count;
    tiling->move = solver->moves;
    if (w->row.task.varying) {
        tiling->move = memcpy(w->moves, solver->moves, (size_t)count * sizeof *w->moves);
        for (int i = 0; i < solver->option_count; i++) {
            const ik2b_option *option = &ik2b_options[solver->options[i]];
            if (w->row.task.varying >> solver->options[i] & 1) {
                w->moves[count++] = (ik2b_move){solver->inputs + i, option->width, option->place};
            }
        }
        memcpy(w->moves + count, solver->moves + solver->inputs,
               (size_t)outputs * sizeof *w->moves);
    }
    tiling->inputs = count;
    tiling->moves = count + outputs;
}

void
ik2b_run_solver(const ik2b_solver *solver, const ik2b_extent *extent, ik2b_array *args,
                const ik2b_call *call)
{
    work w;
    w.solver = solver;
    begin_task(&w.row.task, call->kind);
    ik2b_begin_options(&w.row, args + solver->inputs, solver->options, solver->option_count,
                       extent);
    w.row.task.given |= call->bend == IK2B_NEAREST ? IK2B_BIT(NEAREST_BEND) : 0;
    w.row.task.given |= call->roll == IK2B_ROLL_HINGE ? IK2B_BIT(ROLLING) : 0;
    w.row.task.given |= call->kind == IK2B_F64 ? IK2B_BIT(DOUBLE) : 0;
    list_stages(&w);
    list_moves(&w);
    if (extent->count == 0) {
        run_row(args, &w);
        return;
    }
    w.tiling.arguments = solver->count + solver->option_count;
    w.tiling.tile = lanes_at(&w.tile, 0);
    w.tiling.context = &w;
    w.tiling.run = run_tile;
    w.tiling.run_row = run_row;
    if (has_tiles(extent)) {
        spread_options(&w.tile, &w.row);
        for (int i = 0; i < w.count; i++) {
            w.passes[i] = w.stages[i]->pass();
        }
    }
    ik2b_run_tiles(extent, args, &w.tiling);
}
