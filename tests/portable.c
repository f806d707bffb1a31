/* SPDX-License-Identifier: MIT
 *
 * Solves random rows with the core alone and prints one number for the digits of all results: for
 * test_platforms.py, which runs it by emulators of other processors.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "builds.h"
#include "ik2b.h"

enum { ROWS = 250, WIDEST = 16 };

static double numbers[IK2B_MAX_ARGUMENTS][ROWS][WIDEST];
static ik2b_array arrays[IK2B_MAX_ARGUMENTS];
static uint64_t state = 1, digest = 14695981039346656037u;

/* Between -1 and 1, by Knuth's linear congruential generator. */
static double
random_number(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(state >> 11) / (double)((int64_t)1 << 52) - 1.0;
}

/* An argument of `width` elements a row, a matrix where they are 16. */
static void
set_array(int i, ik2b_kind kind, int width)
{
    ptrdiff_t size = kind == IK2B_F32 ? 4 : kind == IK2B_U8 ? 1 : 8;
    ik2b_array *array = &arrays[i];
    array->data = (char *)numbers[i];
    array->kind = kind;
    array->stride[0] = sizeof numbers[i][0];
    array->inner[0] = width == 16 ? 4 * size : size;
    array->inner[1] = size;
}

static void
fill(int i, ik2b_kind kind, int width)
{
    set_array(i, kind, width);
    for (int row = 0; row < ROWS; row++) {
        for (int k = 0; k < width; k++) {
            double number = width == 16 && k >= 12 ? (double)(k == 15) : random_number();
            char *place = (char *)numbers[i][row] + k * arrays[i].inner[1];
            if (kind == IK2B_F32) {
                float single = (float)number;
                memcpy(place, &single, sizeof single);
            }
            else {
                memcpy(place, &number, sizeof number);
            }
        }
    }
}

/* FNV-1a over the bits of a number, whatever the order of its bytes; the sign of a NaN is no digit.
 */
static void
note(int i, ik2b_kind kind, int width)
{
    for (int row = 0; row < ROWS; row++) {
        for (int k = 0; k < width; k++) {
            const char *place = (const char *)numbers[i][row] + k * arrays[i].inner[1];
            uint64_t bits = *(const unsigned char *)place;
            if (kind != IK2B_U8) {
                float single;
                double number;
                memcpy(&single, place, sizeof single);
                memcpy(&number, place, kind == IK2B_F32 ? 0 : sizeof number);
                number = kind == IK2B_F32 ? (double)single : number;
                memcpy(&bits, &number, sizeof bits);
                bits = isnan(number) ? 0 : bits;
            }
            digest = (digest ^ bits) * 1099511628211u;
        }
    }
}

#define WIDTH_NUMBER 1
#define WIDTH_DIRECTION 3
#define WIDTH_MATRIX 16
#define WIDTH(NAME, name, KIND, missing) WIDTH_##KIND,

/* The first `given` options of a function that takes them all, in the order of the table. */
static void
fill_options(int first, int given, int count, ik2b_kind kind)
{
    static const int widths[] = {IK2B_OPTIONS_OF_POSE(WIDTH)};
    for (int i = 0; i < count; i++) {
        arrays[first + i].data = NULL;
        if (i < given) {
            fill(first + i, kind, widths[i]);
        }
    }
}

static void
solve(ik2b_kind kind, int given)
{
    ik2b_extent extent = {1, {ROWS}};
    ik2b_array args[IK2B_MAX_ARGUMENTS];
    for (int i = 0; i < IK2B_SOLVE_POLE; i++) {
        fill(i, kind, 3);
    }
    fill_options(IK2B_SOLVE_POLE, given, IK2B_SOLVE_OUT_MID - IK2B_SOLVE_POLE, kind);
    set_array(IK2B_SOLVE_OUT_MID, kind, 3);
    set_array(IK2B_SOLVE_OUT_END, kind, 3);
    set_array(IK2B_SOLVE_OUT_MISS, kind, 1);
    set_array(IK2B_SOLVE_OUT_STATUS, IK2B_U8, 1);
    memcpy(args, arrays, sizeof args);
    ik2b_call call = {.kind = kind, .bend = given % 2 ? IK2B_NEAREST : IK2B_CARRIED};
    ik2b_solve(&extent, args, &call);
    note(IK2B_SOLVE_OUT_MID, kind, 3);
    note(IK2B_SOLVE_OUT_END, kind, 3);
    note(IK2B_SOLVE_OUT_MISS, kind, 1);
    note(IK2B_SOLVE_OUT_STATUS, IK2B_U8, 1);
}

static void
solve_pose(ik2b_kind kind, int given)
{
    ik2b_extent extent = {1, {ROWS}};
    ik2b_array args[IK2B_MAX_ARGUMENTS];
    for (int i = 0; i < IK2B_POSE_POLE; i++) {
        fill(i, kind, i < IK2B_POSE_END ? 16 : 3);
    }
    fill_options(IK2B_POSE_POLE, given, IK2B_POSE_OUT_ROOT - IK2B_POSE_POLE, kind);
    for (int i = IK2B_POSE_OUT_ROOT; i < IK2B_POSE_COUNT; i++) {
        set_array(i, i == IK2B_POSE_OUT_STATUS ? IK2B_U8 : kind, 4);
    }
    if (!arrays[IK2B_POSE_END_MATRIX].data) {
        arrays[IK2B_POSE_OUT_END].data = NULL;
    }
    memcpy(args, arrays, sizeof args);
    ik2b_call call = {.kind = kind,
                      .roll = arrays[IK2B_POSE_HINGE].data ? IK2B_ROLL_HINGE : IK2B_ROLL_POSE};
    ik2b_solve_pose(&extent, args, &call);
    note(IK2B_POSE_OUT_ROOT, kind, 4);
    note(IK2B_POSE_OUT_MID, kind, 4);
    note(IK2B_POSE_OUT_POSITION, kind, 3);
    note(IK2B_POSE_OUT_STATUS, IK2B_U8, 1);
    if (arrays[IK2B_POSE_OUT_END].data) {
        note(IK2B_POSE_OUT_END, kind, 4);
    }
}

int
main(void)
{
    const char *build = ik2b_choose_build();
    for (int kind = IK2B_F32; kind <= IK2B_F64; kind++) {
        for (int given = 0; given <= IK2B_OPTIONS; given++) {
            if (given <= IK2B_SOLVE_OUT_MID - IK2B_SOLVE_POLE) {
                solve((ik2b_kind)kind, given);
            }
            solve_pose((ik2b_kind)kind, given);
        }
    }
    printf("%016llx %s\n", (unsigned long long)digest, build);
    return 0;
}
