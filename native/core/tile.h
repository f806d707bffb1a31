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

/* Up to this number of rows are computed one by one, if the function has a way to do so: that is
 * faster than all lanes at once. */
#define IK2B_FEW 2

/* One number of each row. */
typedef double lane[IK2B_LANES];

IK2B_IN_LINE ptrdiff_t
size_of_kind(ik2b_kind kind)
{
    return kind == IK2B_F32 ? (ptrdiff_t)sizeof(float) : (ptrdiff_t)sizeof(double);
}

/* Copies number i of row k to lanes[i * step][k] or, if `out`, from there. Rows of `width` numbers
 * lie one behind the other. Inlined: callers pass constant `kind`, `width` and `out`, so that the
 * compiler knows where each number lies and makes vector instructions of the loops. */
IK2B_IN_LINE void
move_known(char *restrict data, ik2b_kind kind, int width, lane *restrict lanes, int step, bool out)
{
    const ptrdiff_t size = size_of_kind(kind);
    IK2B_LANE_LOOP
    for (int k = 0; k < IK2B_LANES; k++) {
        for (int i = 0; i < width; i++) {
            char *place = data + (k * width + i) * size;
            if (out) {
                write_number(kind, place, lanes[i * step][k]);
            }
            else {
                lanes[i * step][k] = read_number(kind, place);
            }
        }
    }
}

/* Inlined: callers pass constant `width` and `out`. */
IK2B_IN_LINE void
move_rows(void *data, ik2b_kind kind, int width, lane lanes[], int step, bool out)
{
    if (kind == IK2B_F32) {
        move_known(data, IK2B_F32, width, lanes, step, out);
    }
    else {
        move_known(data, IK2B_F64, width, lanes, step, out);
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
    const ik2b_move *move;
    lane *tile;
    void *context; /* the caller's */
    void (*run)(void *context, int rows);
    void (*run_row)(const ik2b_array *args, void *context); /* where few rows go one by one */
} ik2b_tiling;

/* All rows. Moves args. */
void ik2b_run_tiles(const ik2b_extent *given, ik2b_array *args, const ik2b_tiling *tiling);

#endif
