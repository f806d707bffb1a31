/* SPDX-License-Identifier: MIT
 *
 * Aggregate transforms of skeletons: sixteen rows at a time, joint by joint; or one row at a time,
 * sixteen local transforms at once. Both ways give the same digits.
 */
#include "local.h"

/* Fewer rows than this are computed one by one. */
#define FEW 8

/* Doubles of scratch memory for each joint: a 4 x 4 matrix for rows one by one, twelve numbers for
 * each lane otherwise. */
#define OF_ROW 16
#define OF_LANES (12 * IK2B_LANES)

/* Additional doubles of scratch memory, by which lanes can be aligned to cache lines. */
#define TO_LINES 8

/* The rest transforms of up to IK2B_AHEAD joints, for rests that are the same in all rows. */
static void
load_rests(const ik2b_array *args, const tile_places *places, affine dest[IK2B_AHEAD])
{
    const int rest = IK2B_AGGREGATE_REST;
    for (int tile = 0; args[rest].data && tile < places->tiles; tile++) {
        load_affine(&args[rest], places->first[rest] + tile * places->tile[rest], dest[tile]);
    }
}

/* The transform to the left of a joint's local transform: `above`, the parent's aggregate
 * transform, times the joint's rest. Returns `dest`, or `above` itself if no rests are given. */
IK2B_IN_LINE const affine_lanes *
rested_above(const ik2b_array *args, const tile_places *places, int tile, const affine rest,
             const affine_lanes *above, affine_lanes *dest, bool simple)
{
    const int which = IK2B_AGGREGATE_REST;
    affine_lanes lanes;
    if (!args[which].data) {
        return above;
    }
    if (simple || places->lane[which] == 0) {
        affine_multiply_lanes_by(above, rest, dest);
    }
    else {
        load_lanes(&args[which], places->first[which] + tile * places->tile[which],
                   places->lane[which], places->lanes, &lanes);
        affine_multiply_lanes(above, &lanes, dest);
    }
    return dest;
}

/* Aggregates up to sixteen rows; a tile holds one joint of all rows. `simple`: the rests are the
 * same in all rows and the output matrices are contiguous. The loop over tiles then calls no
 * function, so that the compiler keeps the loop's constants in vector registers. */
IK2B_IN_LINE void
aggregate_lanes(const ik2b_array *args, const ik2b_joints *joints, tile_places places, bool simple)
{
    const ik2b_array *out = &args[IK2B_AGGREGATE_OUT];
    const uintptr_t line = TO_LINES * sizeof(double);
    affine_lanes *found = (affine_lanes *)(((uintptr_t)joints->scratch + line - 1) / line * line);
    affine_lanes base, rested, local;
    local_numbers numbers;
    affine rests[IK2B_AHEAD];
    packed_matrices packed;
    begin_packed(&packed, out->kind);
    load_lanes(&args[IK2B_AGGREGATE_BASE], 0, places.lane[IK2B_AGGREGATE_BASE], places.lanes,
               &base);
    for (ptrdiff_t first = 0; first < joints->count; first += IK2B_AHEAD) {
        ptrdiff_t left = joints->count - first;
        places.tiles = left < IK2B_AHEAD ? (int)left : IK2B_AHEAD;
        collect_numbers(args, &places, &numbers);
        load_rests(args, &places, rests);
        for (int tile = 0; tile < places.tiles; tile++) {
            ptrdiff_t j = first + tile, parent = joints->parents[j];
            const affine_lanes *above =
                rested_above(args, &places, tile, rests[tile], parent < 0 ? &base : &found[parent],
                             &rested, simple);
            find_locals(args, &numbers, tile, &local);
            affine_multiply_lanes(above, &local, &found[j]);
            store_lanes(&found[j], &packed, out,
                        places.first[IK2B_AGGREGATE_OUT] + tile * places.tile[IK2B_AGGREGATE_OUT],
                        places.lane[IK2B_AGGREGATE_OUT], places.lanes, simple);
        }
        for (int i = 0; i < IK2B_AGGREGATE_COUNT; i++) {
            places.first[i] += IK2B_AHEAD * places.tile[i];
        }
    }
}

/* Aggregates up to sixteen rows along dimension `last`. */
IK2B_IN_LINE void
aggregate_rows(const ik2b_array *args, const ik2b_joints *joints, int last, int rows)
{
    tile_places places = {.lanes = rows};
    for (int i = 0; i < IK2B_AGGREGATE_COUNT; i++) {
        places.lane[i] = args[i].data ? args[i].stride[last] : 0;
        places.tile[i] = joints->stride[i];
    }
    if (places.lane[IK2B_AGGREGATE_REST] == 0 && is_whole(&args[IK2B_AGGREGATE_OUT])) {
        aggregate_lanes(args, joints, places, true);
    }
    else {
        aggregate_lanes(args, joints, places, false);
    }
}

/* The local transforms of `count` joints of one row, from joint `first` on, at most sixteen:
 * dest[i] holds row i of each matrix, four numbers each. */
IK2B_IN_LINE void
find_locals_of_row(const ik2b_array *args, const ik2b_joints *joints, ptrdiff_t first, int count,
                   double dest[3][4 * IK2B_LANES])
{
    tile_places places = {.lanes = count, .tiles = 1};
    local_numbers numbers;
    affine_lanes lanes;
    for (int i = 0; i < IK2B_AGGREGATE_COUNT; i++) {
        places.first[i] = first * joints->stride[i];
        places.lane[i] = joints->stride[i];
    }
    collect_numbers(args, &places, &numbers);
    find_locals(args, &numbers, 0, &lanes);
    for (int i = 0; i < 3; i++) {
        move_known((char *)dest[i], IK2B_F64, 4, lanes.of + i, 3, true);
    }
}

/* The aggregate transform `own` of joint `j` of one row. `local` points to the first row of the
 * joint's local transform, `above` is the parent's aggregate transform. */
IK2B_IN_LINE void
aggregate_one(const ik2b_array *args, const ik2b_joints *joints, ptrdiff_t j, const double *local,
              const double *above, affine own)
{
    const ik2b_array *rest = &args[IK2B_AGGREGATE_REST];
    own[12] = own[13] = own[14] = 0.0;
    own[15] = 1.0;
    if (rest->data) {
        affine step;
        load_affine(rest, j * joints->stride[IK2B_AGGREGATE_REST], step);
        affine_multiply(above, step, 4, own);
        above = own;
    }
    affine_multiply(above, local, 4 * IK2B_LANES, own);
}

/* Aggregates one row. */
IK2B_IN_LINE void
aggregate_row(const ik2b_array *args, const ik2b_joints *joints)
{
    const ik2b_array *out = &args[IK2B_AGGREGATE_OUT];
    affine *found = (affine *)joints->scratch, base;
    double local[3][4 * IK2B_LANES];
    load_affine(&args[IK2B_AGGREGATE_BASE], 0, base);
    for (ptrdiff_t first = 0; first < joints->count; first += IK2B_LANES) {
        ptrdiff_t left = joints->count - first;
        int count = left < IK2B_LANES ? (int)left : IK2B_LANES;
        find_locals_of_row(args, joints, first, count, local);
        for (int k = 0; k < count; k++) {
            ptrdiff_t parent = joints->parents[first + k];
            aggregate_one(args, joints, first + k, local[0] + 4 * k,
                          parent < 0 ? base : found[parent], found[first + k]);
        }
        for (ptrdiff_t j = first; j < first + count; j++) {
            store_affine(out, j * joints->stride[IK2B_AGGREGATE_OUT], found[j]);
        }
    }
}

IK2B_BUILDS(rows_runner, aggregate_rows,
            (const ik2b_array *args, const ik2b_joints *joints, int last, int rows),
            (args, joints, last, rows))
IK2B_BUILDS(row_runner, aggregate_row, (const ik2b_array *args, const ik2b_joints *joints),
            (args, joints))

ptrdiff_t
ik2b_aggregate_scratch(const ik2b_extent *extent, ptrdiff_t joints)
{
    ptrdiff_t rows = 1;
    for (int d = 0; d < extent->count; d++) {
        rows *= extent->shape[d];
    }
    return joints * (rows < FEW ? OF_ROW : OF_LANES) + TO_LINES;
}

/* Aggregates all rows along dimension `last`. */
static void
aggregate_dimension(ik2b_array *args, const ik2b_joints *joints, int last, ptrdiff_t rows)
{
    for (ptrdiff_t row = 0, count; row < rows; row += count) {
        count = rows - row < IK2B_LANES ? rows - row : IK2B_LANES;
        if (count < FEW) {
            count = 1;
            row_runner()(args, joints);
        }
        else {
            rows_runner()(args, joints, last, (int)count);
        }
        ik2b_step(args, IK2B_AGGREGATE_COUNT, last, count);
    }
    ik2b_step(args, IK2B_AGGREGATE_COUNT, last, -rows);
}

void
ik2b_aggregate(const ik2b_extent *given, ik2b_array *args, const ik2b_call *call)
{
    const ik2b_joints *joints = call->joints;
    ik2b_walk walk;
    ik2b_extent extent = *given;
    ik2b_straighten(&extent, args, IK2B_AGGREGATE_COUNT);
    bool single = extent.count == 0;
    int last = single ? 0 : --extent.count;
    bool more = ik2b_walk_start(&walk, &extent, args, IK2B_AGGREGATE_COUNT);
    for (; more; more = ik2b_walk_next(&walk)) {
        if (single) {
            row_runner()(args, joints);
        }
        else {
            aggregate_dimension(args, joints, last, extent.shape[last]);
        }
    }
}
