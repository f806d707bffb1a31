/* SPDX-License-Identifier: MIT
 *
 * Rows into tiles and out, and tiles over all rows.
 */
#include "tile.h"

#include <cglm/mat4.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

/* Matrices of single precision into lanes. One row of each of four matrices makes a matrix for
 * cglm, which transposes it in vector instructions of SSE2 or NEON with every compiler. */
IK2B_IN_LINE void
transpose_matrices(const char *matrices, lane lanes[16])
{
    for (int first = 0; first < IK2B_LANES; first += 4) {
        for (int row = 0; row < 4; row++) {
            mat4 block;
            for (int k = 0; k < 4; k++) {
                const char *place = matrices + (first + k) * (ptrdiff_t)sizeof block;
                memcpy(block[k], place + row * (ptrdiff_t)sizeof *block, sizeof *block);
            }
            glm_mat4_transpose(block);
            for (int column = 0; column < 4; column++) {
                IK2B_LANE_LOOP
                for (int k = 0; k < 4; k++) {
                    lanes[4 * row + column][first + k] = (double)block[column][k];
                }
            }
        }
    }
}

/* The same in AVX-512: rows of two matrices in each vector, and eight lanes stored at once. Loops
 * that compilers turn into shuffles take a third longer on Zen 4. */
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target(IK2B_AVX512_TARGET))) static void
transpose_by_eight(const char *matrices, lane lanes[16])
{
    for (int first = 0; first < IK2B_LANES; first += 8) {
        for (int row = 0; row < 4; row++) {
            __m256 of[4];
            for (int k = 0; k < 4; k++) {
                const char *place = matrices + 64 * (first + k) + 16 * row;
                __m128 near = _mm_loadu_ps((const void *)place);
                __m128 far = _mm_loadu_ps((const void *)(place + 4 * 64));
                of[k] = _mm256_insertf128_ps(_mm256_castps128_ps256(near), far, 1);
            }
            __m256 low = _mm256_unpacklo_ps(of[0], of[1]), high = _mm256_unpackhi_ps(of[0], of[1]);
            __m256 more_low = _mm256_unpacklo_ps(of[2], of[3]);
            __m256 more_high = _mm256_unpackhi_ps(of[2], of[3]);
            __m256 columns[4] = {
                _mm256_shuffle_ps(low, more_low, 0x44), _mm256_shuffle_ps(low, more_low, 0xee),
                _mm256_shuffle_ps(high, more_high, 0x44), _mm256_shuffle_ps(high, more_high, 0xee)};
            for (int column = 0; column < 4; column++) {
                _mm512_storeu_pd(&lanes[4 * row + column][first], _mm512_cvtps_pd(columns[column]));
            }
        }
    }
}
#else
#define transpose_by_eight transpose_matrices
#endif

/* Copies rows that lie one behind the other into lanes or, if `out`, lanes into such rows; matrices
 * only come in. */
IK2B_IN_LINE void
move_of_width(void *data, ik2b_kind kind, int width, lane lanes[], bool out, int build)
{
    switch (width) {
    case 1:
        move_rows(data, kind, 1, lanes, 1, out);
        break;
    case 3:
        move_rows(data, kind, 3, lanes, 1, out);
        break;
    case 4:
        move_rows(data, kind, 4, lanes, 1, out);
        break;
    default:
        if (!out && kind == IK2B_F64) {
            move_known(data, IK2B_F64, 16, lanes, 1, false);
        }
        else if (!out && build == IK2B_AVX512) {
            transpose_by_eight(data, lanes);
        }
        else if (!out) {
            transpose_matrices(data, lanes);
        }
    }
}

IK2B_BUILDS(unpacker, move_of_width, (void *data, ik2b_kind kind, int width, lane lanes[]),
            (data, kind, width, lanes, false, IK2B_OF_BUILD))
IK2B_BUILDS(packer, move_of_width, (void *data, ik2b_kind kind, int width, lane lanes[]),
            (data, kind, width, lanes, true, IK2B_OF_BUILD))

/* An argument on its way along the last dimension. */
typedef struct {
    char *data; /* the next row */
    ptrdiff_t stride, inner[2];
    ik2b_kind kind;
    int width;
    bool whole;  /* the numbers of a row lie one behind the other */
    bool packed; /* and so do the rows */
    lane *lanes;
} stream;

static stream
open_stream(const ik2b_array *array, int last, const ik2b_move *move, lane *tile)
{
    const ptrdiff_t size = size_of_kind(array->kind), stride = array->stride[last];
    const ptrdiff_t *inner = array->inner;
    bool is_matrix = move->width == 16, is_number = move->width == 1;
    bool whole = is_number || inner[is_matrix] == size;
    whole &= !is_matrix || inner[0] == 4 * size;
    return (stream){
        .data = array->data,
        .stride = stride,
        .inner = {inner[0], is_matrix ? inner[1] : 0},
        .kind = array->kind,
        .width = move->width,
        .whole = whole,
        .packed = whole && stride == move->width * size,
        .lanes = tile + move->place,
    };
}

/* Copies `count` rows, as they are, into a pack of sixteen, in which the last row fills the places
 * of missing ones; or, if `out`, from the pack into the rows. Inlined: callers pass constant
 * `width` and `size`. */
IK2B_IN_LINE void
copy_known(const stream *self, int count, char *packed, bool out, int width, ptrdiff_t size)
{
    for (int k = 0; k < (out ? count : IK2B_LANES); k++, packed += width * size) {
        char *row = self->data + (k < count ? k : count - 1) * self->stride;
        if (self->whole) {
            memcpy(out ? row : packed, out ? packed : row, (size_t)(width * size));
            continue;
        }
        for (int i = 0; i < width; i++) {
            ptrdiff_t offset = offset_of(self->inner, width, i);
            char *number = packed + i * size;
            memcpy(out ? row + offset : number, out ? number : row + offset, (size_t)size);
        }
    }
}

IK2B_IN_LINE void
copy_of_size(const stream *self, int count, char *packed, bool out, ptrdiff_t size)
{
    switch (self->width) {
    case 1:
        copy_known(self, count, packed, out, 1, size);
        break;
    case 3:
        copy_known(self, count, packed, out, 3, size);
        break;
    case 4:
        copy_known(self, count, packed, out, 4, size);
        break;
    default:
        copy_known(self, count, packed, out, 16, size);
    }
}

static void
copy_rows(const stream *self, int count, char *packed, bool out)
{
    if (self->kind == IK2B_F32) {
        copy_of_size(self, count, packed, out, (ptrdiff_t)sizeof(float));
    }
    else {
        copy_of_size(self, count, packed, out, (ptrdiff_t)sizeof(double));
    }
}

/* Lanes beyond the rows repeat the last one. */
static void
load_tile(stream streams[], int inputs, int count)
{
    _Alignas(64) double packed[16 * IK2B_LANES];
    for (int i = 0; i < inputs; i++) {
        stream *self = &streams[i];
        bool direct = self->packed && count == IK2B_LANES;
        if (!direct) {
            copy_rows(self, count, (char *)packed, false);
        }
        unpacker()(direct ? self->data : (void *)packed, self->kind, self->width, self->lanes);
        self->data += count * self->stride;
    }
}

static void
store_bytes(stream *self, int count)
{
    for (int k = 0; k < count; k++) {
        *(unsigned char *)(self->data + k * self->stride) = (unsigned char)self->lanes[0][k];
    }
}

static void
store_tile(stream streams[], int outputs, int count)
{
    _Alignas(64) double packed[4 * IK2B_LANES];
    for (int i = 0; i < outputs; i++) {
        stream *self = &streams[i];
        bool direct = self->packed && count == IK2B_LANES;
        if (self->kind == IK2B_U8) {
            store_bytes(self, count);
        }
        else {
            packer()(direct ? self->data : (void *)packed, self->kind, self->width, self->lanes);
        }
        if (!direct && self->kind != IK2B_U8) {
            copy_rows(self, count, (char *)packed, true);
        }
        self->data += count * self->stride;
    }
}

/* Rows from one on, one by one. */
static void
run_rows(ik2b_array *args, const ik2b_tiling *tiling, int last, ptrdiff_t first, ptrdiff_t rows)
{
    ik2b_step(args, tiling->arguments, last, first);
    for (ptrdiff_t row = first; row < rows; row++) {
        tiling->run_row(args, tiling->context);
        ik2b_step(args, tiling->arguments, last, 1);
    }
    ik2b_step(args, tiling->arguments, last, -rows);
}

/* All rows along the last dimension. */
static void
run_line(ik2b_array *args, const ik2b_tiling *tiling, int last, ptrdiff_t rows)
{
    stream streams[IK2B_MAX_ARGUMENTS];
    int open = 0, inputs = 0;
    for (int i = 0; i < tiling->moves; i++) {
        const ik2b_move *move = &tiling->move[i];
        if (args[move->argument].data) {
            streams[open++] = open_stream(&args[move->argument], last, move, tiling->tile);
            inputs += i < tiling->inputs;
        }
    }
    for (ptrdiff_t row = 0; row < rows; row += IK2B_LANES) {
        int count = rows - row < IK2B_LANES ? (int)(rows - row) : IK2B_LANES;
        if (count <= IK2B_FEW) {
            run_rows(args, tiling, last, row, rows);
            return;
        }
        load_tile(streams, inputs, count);
        tiling->run(tiling->context, count);
        store_tile(streams + inputs, open - inputs, count);
    }
}

void
ik2b_run_tiles(const ik2b_extent *given, ik2b_array *args, const ik2b_tiling *tiling)
{
    ik2b_walk walk;
    ik2b_extent extent = *given;
    ik2b_straighten(&extent, args, tiling->arguments);
    int last = --extent.count;
    ptrdiff_t rows = extent.shape[last];
    if (rows == 0 || !ik2b_walk_start(&walk, &extent, args, tiling->arguments)) {
        return;
    }
    do {
        run_line(args, tiling, last, rows);
    } while (ik2b_walk_next(&walk));
}
