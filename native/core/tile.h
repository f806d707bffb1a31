/* SPDX-License-Identifier: MIT
 *
 * Tiles: sixteen rows as a structure of arrays, so that loops over them become vector instructions,
 * of the largest vectors that the processor has; and the way of rows into tiles and out.
 */
#ifndef IK2B_TILE_H
#define IK2B_TILE_H

#include "builds.h"
#include "rows.h"

#define IK2B_LANES 16

/* So few rows are handled one by one where a function can, faster than all lanes at once. */
#define IK2B_FEW 2

/* One number of each row. */
typedef double lane[IK2B_LANES];

IK2B_IN_LINE ptrdiff_t
size_of_kind(ik2b_kind kind)
{
    return kind == IK2B_F32 ? (ptrdiff_t)sizeof(float) : (ptrdiff_t)sizeof(double);
}

/* Rows of so many numbers that lie one behind the other: the compiler knows where each number lies
 * and makes vector instructions of the loops. Number i of row k to dest[i * step][k]; in line with
 * constant kind and width. */
IK2B_IN_LINE void
unpack_known(const char *restrict data, ik2b_kind kind, int width, lane *restrict dest, int step)
{
    const ptrdiff_t size = size_of_kind(kind);
    IK2B_LANE_LOOP
    for (int k = 0; k < IK2B_LANES; k++) {
        for (int i = 0; i < width; i++) {
            dest[i * step][k] = read_number(kind, data + (k * width + i) * size);
        }
    }
}

/* In line with constant width. */
IK2B_IN_LINE void
unpack_rows(const char *data, ik2b_kind kind, int width, lane dest[], int step)
{
    if (kind == IK2B_F32) {
        unpack_known(data, IK2B_F32, width, dest, step);
    }
    else {
        unpack_known(data, IK2B_F64, width, dest, step);
    }
}

/* source[i * step][k] to number i of row k; in line with constant kind and width. */
IK2B_IN_LINE void
pack_known(lane *restrict source, int step, ik2b_kind kind, int width, char *restrict data)
{
    const ptrdiff_t size = size_of_kind(kind);
    IK2B_LANE_LOOP
    for (int k = 0; k < IK2B_LANES; k++) {
        for (int i = 0; i < width; i++) {
            write_number(kind, data + (k * width + i) * size, source[i * step][k]);
        }
    }
}

/* In line with constant width. */
IK2B_IN_LINE void
pack_rows(lane source[], int step, ik2b_kind kind, int width, char *data)
{
    if (kind == IK2B_F32) {
        pack_known(source, step, IK2B_F32, width, data);
    }
    else {
        pack_known(source, step, IK2B_F64, width, data);
    }
}

/* An argument's numbers and where they lie in a tile, in lanes: 1, 3, 4, or the 16 of a matrix. */
typedef struct {
    int argument, width, place;
} ik2b_move;

/* What a function does with tiles of up to sixteen rows along the last dimension. */
typedef struct {
    int arguments;
    int inputs, moves; /* inputs come before outputs, of which one may be of bytes */
    ik2b_move move[IK2B_MAX_ARGUMENTS];
    lane *tile;
    void *context; /* the caller's */
    void (*run)(void *context, int rows);
    void (*run_row)(const ik2b_array *args, void *context); /* where few rows go one by one */
} ik2b_tiling;

/* All rows. Moves args. */
void ik2b_run_tiles(const ik2b_extent *given, ik2b_array *args, const ik2b_tiling *tiling);

#endif
