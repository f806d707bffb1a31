/* SPDX-License-Identifier: MIT
 *
 * Tiles: sixteen rows as a structure of arrays, so that a plain case's loop over them becomes
 * vector instructions, of the largest vectors that the processor has.
 */
#ifndef IK2B_TILE_H
#define IK2B_TILE_H

#include "packed.h"

/* Fewer rows than this are done one by one. */
#define IK2B_FEW 4

/* The builds of run(tile). */
#define IK2B_TILE_RUNNERS(name, run, tile_type) IK2B_BUILDS(name, run, (tile_type * tile), (tile))

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
scatter_vectors(const ik2b_array *array, int last, int count, const double source[3][IK2B_LANES])
{
    if (is_packed(array, array->stride[last], count, 3)) {
        ik2b_pack(source, 3, array);
        return;
    }
    for (int i = 0; i < 3; i++) {
        scatter(array, i * array->inner[0], array->stride[last], count, source[i]);
    }
}

/* From `start` rows on along the last dimension, and back again for -start. */
static inline void
shift_rows(ik2b_array *args, int count, int last, ptrdiff_t start)
{
    for (int i = 0; i < count; i++) {
        if (args[i].data) {
            args[i].data += start * args[i].stride[last];
        }
    }
}

#endif
