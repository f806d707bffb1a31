/* SPDX-License-Identifier: MIT
 *
 * Tiles: sixteen rows as a structure of arrays, so that a plain case's loop over them becomes
 * vector instructions, of the largest vectors that the processor has.
 */
#ifndef IK2B_TILE_H
#define IK2B_TILE_H

#include "packed.h"

/* The builds of run(tile, rows). */
#define IK2B_TILE_RUNNERS(name, run, tile_type)                                                    \
    IK2B_BUILDS(name, run, (void *tile, int rows), ((tile_type *)tile, rows))

/* Reads one element of `count` rows. */
static inline void
gather(const ik2b_array *array, ptrdiff_t offset, ptrdiff_t stride, int count, double dest[])
{
    const char *place = array->data + offset;
    if (array->kind == IK2B_F32) {
        for (int k = 0; k < count; k++) {
            float number;
            memcpy(&number, place + k * stride, sizeof number);
            dest[k] = (double)number;
        }
        return;
    }
    for (int k = 0; k < count; k++) {
        memcpy(&dest[k], place + k * stride, sizeof dest[k]);
    }
}

static inline void
gather_vectors(const ik2b_array *array, int last, int count, double dest[3][IK2B_LANES])
{
    if (is_packed(array, array->stride[last], count, 3)) {
        ik2b_unpack(array, 3, dest);
        return;
    }
    for (int i = 0; i < 3; i++) {
        gather(array, i * array->inner[0], array->stride[last], count, dest[i]);
    }
}

static inline void
gather_vectors_or_zero(const ik2b_array *array, int last, int count, double dest[3][IK2B_LANES])
{
    if (array->data) {
        gather_vectors(array, last, count, dest);
        return;
    }
    memset(dest, 0, 3 * sizeof *dest);
}

/* Quaternions w, x, y, z. */
static inline void
gather_quaternions(const ik2b_array *array, int last, int count, double dest[4][IK2B_LANES])
{
    if (is_packed(array, array->stride[last], count, 4)) {
        ik2b_unpack(array, 4, dest);
        return;
    }
    for (int i = 0; i < 4; i++) {
        gather(array, i * array->inner[0], array->stride[last], count, dest[i]);
    }
}

/* Writes one element of `count` rows. */
static inline void
scatter(const ik2b_array *array, ptrdiff_t offset, ptrdiff_t stride, int count,
        const double source[])
{
    char *place = array->data + offset;
    if (array->kind == IK2B_F32) {
        for (int k = 0; k < count; k++) {
            float number = (float)source[k];
            memcpy(place + k * stride, &number, sizeof number);
        }
        return;
    }
    for (int k = 0; k < count; k++) {
        memcpy(place + k * stride, &source[k], sizeof source[k]);
    }
}

static inline void
scatter_vectors(const ik2b_array *array, int last, int lane, int count,
                const double source[3][IK2B_LANES])
{
    if (is_packed(array, array->stride[last], count, 3)) {
        ik2b_pack(source, 3, array);
        return;
    }
    for (int i = 0; i < 3; i++) {
        scatter(array, i * array->inner[0], array->stride[last], count, source[i] + lane);
    }
}

/* Quaternions w, x, y, z. */
static inline void
scatter_quaternions(const ik2b_array *array, int last, int lane, int count,
                    const double source[4][IK2B_LANES])
{
    if (is_packed(array, array->stride[last], count, 4)) {
        ik2b_pack(source, 4, array);
        return;
    }
    for (int i = 0; i < 4; i++) {
        scatter(array, i * array->inner[0], array->stride[last], count, source[i] + lane);
    }
}

static inline void
scatter_status(const ik2b_array *array, int last, int count, const int source[])
{
    for (int k = 0; k < count; k++) {
        *(unsigned char *)(array->data + k * array->stride[last]) = (unsigned char)source[k];
    }
}

#define IK2B_NO_HINGE (-1)

/* What a function of rows does in tiles of up to sixteen along the last dimension, and in single
 * rows. */
typedef struct {
    int arguments;
    int hinge;  /* which of them is the hinge: plain rows need none, but a finite one; or
                 * IK2B_NO_HINGE */
    void *tile; /* the caller's, of a type that only these functions know */
    int *good;  /* in it: which rows were plain */
    void (*load)(const ik2b_array *args, int last, int rows, void *tile);
    void (*run)(void *tile, int rows);
    /* Stores some rows of the tile, from `lane` on, where args now are. */
    void (*store)(const ik2b_array *args, int last, int lane, int rows, const void *tile);
    /* Any row by all stages, where args now are; NULL where all rows are plain. */
    void (*row)(ik2b_array *args, const void *words);
    const void *words;
} ik2b_tiling;

/* All rows; `tiled` tells that plain rows may be among them. Moves args. */
void ik2b_run_tiles(const ik2b_extent *given, ik2b_array *args, const ik2b_tiling *tiling,
                    bool tiled);

#endif
