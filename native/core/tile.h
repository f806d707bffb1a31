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

/* Rows of three or four numbers that lie one behind the other: the compiler knows where each number
 * lies and makes vector instructions of the loops. Number i of row k to dest[i * step][k]; in line
 * with constant kind and width. */
IK2B_IN_LINE void
unpack_known(const char *data, ik2b_kind kind, int width, lane dest[], int step)
{
    const ptrdiff_t size = size_of_kind(kind);
    IK2B_LANE_LOOP
    for (int k = 0; k < IK2B_LANES; k++) {
        const char *row = data + k * width * size;
        dest[0][k] = read_number(kind, row);
        dest[step][k] = read_number(kind, row + size);
        dest[2 * step][k] = read_number(kind, row + 2 * size);
        if (width == 4) {
            dest[3 * step][k] = read_number(kind, row + 3 * size);
        }
    }
}

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
pack_known(lane source[], int step, ik2b_kind kind, int width, char *data)
{
    const ptrdiff_t size = size_of_kind(kind);
    IK2B_LANE_LOOP
    for (int k = 0; k < IK2B_LANES; k++) {
        char *row = data + k * width * size;
        write_number(kind, row, source[0][k]);
        write_number(kind, row + size, source[step][k]);
        write_number(kind, row + 2 * size, source[2 * step][k]);
        if (width == 4) {
            write_number(kind, row + 3 * size, source[3 * step][k]);
        }
    }
}

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

/* Reads one element of `count` rows. */
static inline void
gather(const ik2b_array *array, ptrdiff_t offset, ptrdiff_t stride, int count, double dest[])
{
    const char *place = array->data + offset;
    if (array->kind == IK2B_F32) {
        for (int k = 0; k < count; k++) {
            dest[k] = read_number(IK2B_F32, place + k * stride);
        }
        return;
    }
    for (int k = 0; k < count; k++) {
        dest[k] = read_number(IK2B_F64, place + k * stride);
    }
}

/* Of arrays along dimension `last`, `count` rows: numbers, vectors, quaternions or matrices, as the
 * width tells; from where the arrays' data are. */
void ik2b_load(const ik2b_array *array, int last, int count, int width, lane dest[]);
void ik2b_store(const ik2b_array *array, int last, int count, int width, lane source[]);
void ik2b_store_status(const ik2b_array *array, int last, int count, const lane source);

/* What a function does with a tile of up to sixteen rows along the last dimension. */
typedef struct {
    int arguments;
    void *tile; /* the caller's, of a type that only these functions know */
    int *rows;  /* in it: how many it holds */
    void (*load)(const ik2b_array *args, int last, void *tile);
    void (*run)(void *tile);
    void (*store)(const ik2b_array *args, int last, void *tile);
    void (*run_row)(const ik2b_array *args, void *tile); /* where few rows go one by one */
} ik2b_tiling;

/* All rows. Moves args. */
void ik2b_run_tiles(const ik2b_extent *given, ik2b_array *args, const ik2b_tiling *tiling);

#endif
