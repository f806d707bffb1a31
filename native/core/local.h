/* SPDX-License-Identifier: MIT
 *
 * Local transforms T(translation) R(rotation) S(scale) in tiles of sixteen lanes: sixteen joints of
 * one skeleton, or one joint of sixteen skeletons.
 */
#ifndef IK2B_LOCAL_H
#define IK2B_LOCAL_H

#include "affine.h"

/* The number of tiles whose numbers are collected before the first of them is used. A tile that is
 * used at once would wait until its copy has reached the cache. */
#define IK2B_AHEAD 8

/* The places of some tiles of the arguments, in bytes: `first` is the offset of the first lane of
 * the first tile from the array's data, `lane` the stride from lane to lane, `tile` that from tile
 * to tile. */
typedef struct {
    int lanes, tiles;
    ptrdiff_t first[IK2B_AGGREGATE_COUNT], lane[IK2B_AGGREGATE_COUNT], tile[IK2B_AGGREGATE_COUNT];
} tile_places;

/* The packed numbers of up to IK2B_AHEAD tiles. */
typedef struct {
    _Alignas(64) double translation[IK2B_AHEAD][3 * IK2B_LANES];
    double rotation[IK2B_AHEAD][4 * IK2B_LANES], scale[IK2B_AHEAD][3 * IK2B_LANES];
} local_numbers;

/* Packs rows of `width` numbers without conversion. Inlined: callers pass constant `kind` and
 * `width`. */
IK2B_IN_LINE void
collect_known(const ik2b_array *array, const tile_places *places, int which, ik2b_kind kind,
              int width, char *dest)
{
    const ptrdiff_t size = size_of_kind(kind), row = width * size, tile = places->tile[which];
    const ptrdiff_t pitch = width * IK2B_LANES * (ptrdiff_t)sizeof(double);
    const char *from = array->data + places->first[which];
    if (array->inner[0] == size && places->lane[which] == row && places->tiles == 1) {
        memcpy(dest, from, (size_t)(places->lanes * row));
        return;
    }
    for (int k = 0; k < places->lanes; k++, from += places->lane[which], dest += row) {
        if (array->inner[0] == size) {
            if (places->tiles == IK2B_AHEAD)
                copy_strided(from, tile, dest, pitch, IK2B_AHEAD, (size_t)row);
            else
                copy_strided(from, tile, dest, pitch, places->tiles, (size_t)row);
            continue;
        }
        for (int i = 0; i < width; i++) {
            copy_strided(from + i * array->inner[0], tile, dest + i * size, pitch, places->tiles,
                         (size_t)size);
        }
    }
}

/* Inlined: callers pass a constant `width`. */
IK2B_IN_LINE void
collect(const ik2b_array *array, const tile_places *places, int which, int width, double dest[])
{
    if (array->data && array->kind == IK2B_F32) {
        collect_known(array, places, which, IK2B_F32, width, (char *)dest);
    }
    else if (array->data) {
        collect_known(array, places, which, IK2B_F64, width, (char *)dest);
    }
}

static inline void
collect_numbers(const ik2b_array *args, const tile_places *places, local_numbers *dest)
{
    const int translation = IK2B_AGGREGATE_TRANSLATION, rotation = IK2B_AGGREGATE_ROTATION,
              scale = IK2B_AGGREGATE_SCALE;
    if (places->lanes < IK2B_LANES) {
        size_t tiles = (size_t)places->tiles;
        memset(dest->translation, 0, tiles * sizeof *dest->translation);
        memset(dest->rotation, 0, tiles * sizeof *dest->rotation);
        memset(dest->scale, 0, tiles * sizeof *dest->scale);
    }
    collect(&args[translation], places, translation, 3, dest->translation[0]);
    collect(&args[rotation], places, rotation, 4, dest->rotation[0]);
    collect(&args[scale], places, scale, 3, dest->scale[0]);
}

/* The power of two that brings a number that is not negative into [0.5, 1), as far as double
 * precision has one. */
IK2B_IN_LINE double
moderating_scale(double number)
{
    int64_t bits;
    number = smaller(number, 0x1p1000);
    memcpy(&bits, &number, sizeof bits);
    bits = ((int64_t)2045 << 52) - (bits & (int64_t)0x7ff << 52);
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* The rotation matrices of quaternions of any length; a zero quaternion is the identity. */
IK2B_IN_LINE void
rotation_lanes(double wxyz[4][IK2B_LANES], affine_lanes *dest)
{
    IK2B_LANE_LOOP
    for (int k = 0; k < IK2B_LANES; k++) {
        double w = wxyz[0][k], x = wxyz[1][k], y = wxyz[2][k], z = wxyz[3][k];
        double largest = larger(larger(fabs(x), fabs(y)), larger(fabs(z), fabs(w)));
        double scale = moderating_scale(largest);
        w = largest == 0.0 ? 1.0 : w * scale;
        x *= scale;
        y *= scale;
        z *= scale;
        double s = 2.0 / (x * x + y * y + z * z + w * w);
        dest->of[0][k] = 1.0 - s * (y * y + z * z);
        dest->of[3][k] = s * (x * y - w * z);
        dest->of[6][k] = s * (x * z + w * y);
        dest->of[1][k] = s * (x * y + w * z);
        dest->of[4][k] = 1.0 - s * (x * x + z * z);
        dest->of[7][k] = s * (y * z - w * x);
        dest->of[2][k] = s * (x * z - w * y);
        dest->of[5][k] = s * (y * z + w * x);
        dest->of[8][k] = 1.0 - s * (x * x + y * y);
    }
}

IK2B_IN_LINE void
scale_lanes(double scale[3][IK2B_LANES], affine_lanes *m)
{
    IK2B_LANE_LOOP
    for (int k = 0; k < IK2B_LANES; k++) {
        for (int i = 0; i < 3; i++) {
            m->of[i][k] *= scale[0][k];
            m->of[3 + i][k] *= scale[1][k];
            m->of[6 + i][k] *= scale[2][k];
        }
    }
}

/* The local transforms of one of the collected tiles. */
IK2B_IN_LINE void
find_locals(const ik2b_array *args, local_numbers *numbers, int tile, affine_lanes *dest)
{
    const ik2b_array *scale = &args[IK2B_AGGREGATE_SCALE];
    _Alignas(64) double wxyz[4][IK2B_LANES], scales[3][IK2B_LANES];
    move_rows(numbers->rotation[tile], args[IK2B_AGGREGATE_ROTATION].kind, 4, wxyz, 1, false);
    rotation_lanes(wxyz, dest);
    if (scale->data) {
        move_rows(numbers->scale[tile], scale->kind, 3, scales, 1, false);
        scale_lanes(scales, dest);
    }
    move_rows(numbers->translation[tile], args[IK2B_AGGREGATE_TRANSLATION].kind, 3, dest->of + 9, 1,
              false);
}

#endif
