/* SPDX-License-Identifier: MIT
 *
 * Walking over the rows of strided arrays, and moving single rows into and out of double precision.
 */
#ifndef IK2B_ROWS_H
#define IK2B_ROWS_H

#include <string.h>

#include "ik2b.h"
#include "vector.h"

typedef struct {
    const ik2b_extent *extent;
    ik2b_array *args; /* their data pointers move from row to row */
    int count;
    ptrdiff_t index[IK2B_MAX_DIMS];
} ik2b_walk;

/* Goes to the first row, or by ik2b_walk_next to the next one. Returns false if there is none. */
bool ik2b_walk_start(ik2b_walk *walk, const ik2b_extent *extent, ik2b_array *args, int count);
bool ik2b_walk_next(ik2b_walk *walk);

/* Moves the data pointers of all arguments on by `rows` rows along a dimension. */
void ik2b_step(ik2b_array *args, int count, int dimension, ptrdiff_t rows);

/* Joins dimensions that are contiguous with each other in all arguments, and makes the longest
 * dimension the last, because inner loops should be long. The rows are the same, in another
 * order. */
void ik2b_straighten(ik2b_extent *extent, ik2b_array *args, int count);

/* The number at an address, aligned or not. */
IK2B_IN_LINE double
read_number(ik2b_kind kind, const char *place)
{
    if (kind == IK2B_F32) {
        float number;
        memcpy(&number, place, sizeof number);
        return (double)number;
    }
    double number;
    memcpy(&number, place, sizeof number);
    return number;
}

IK2B_IN_LINE void
write_number(ik2b_kind kind, char *place, double number)
{
    if (kind == IK2B_F32) {
        float single = (float)number;
        memcpy(place, &single, sizeof single);
    }
    else {
        memcpy(place, &number, sizeof number);
    }
}

/* The offset in bytes of number i of a row from the row's first number. `width` is 1, 3, 4, or 16
 * for a matrix. */
static inline ptrdiff_t
offset_of(const ptrdiff_t inner[2], int width, int i)
{
    return width == 16 ? i / 4 * inner[0] + i % 4 * inner[1] : i * inner[0];
}

static inline void
load_row(const ik2b_array *array, const char *place, int width, double dest[])
{
    for (int i = 0; i < width; i++) {
        dest[i] = read_number(array->kind, place + offset_of(array->inner, width, i));
    }
}

static inline void
store_row(const ik2b_array *array, char *place, int width, const double source[])
{
    for (int i = 0; i < width; i++) {
        write_number(array->kind, place + offset_of(array->inner, width, i), source[i]);
    }
}

static inline bool
d3_finite(const double v[3])
{
    return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]);
}

#endif
