/* SPDX-License-Identifier: MIT
 *
 * Tiles over all rows: plain rows as the tile has them, all others one by one.
 */
#include "tile.h"

/* From `rows` on along the last dimension, and back again for -rows. */
static void
shift_rows(ik2b_array *args, const ik2b_tiling *tiling, int last, ptrdiff_t rows)
{
    for (int i = 0; i < tiling->arguments; i++) {
        if (args[i].data) {
            args[i].data += rows * args[i].stride[last];
        }
    }
}

static bool
is_finite_vector(const ik2b_array *array, ptrdiff_t offset)
{
    bool finite = true;
    for (int i = 0; i < 3; i++) {
        double number = load_element(array, array->data + offset + i * array->inner[0]);
        finite &= isfinite(number) != 0;
    }
    return finite;
}

/* Takes the rows whose hinge is no number from the plain ones. */
static void
check_hinges(const ik2b_array *args, const ik2b_tiling *tiling, int last, int rows)
{
    if (tiling->hinge == IK2B_NO_HINGE || !args[tiling->hinge].data) {
        return;
    }
    const ik2b_array *hinge = &args[tiling->hinge];
    for (int lane = 0; lane < rows; lane++) {
        tiling->good[lane] &= is_finite_vector(hinge, lane * hinge->stride[last]);
    }
}

/* One tile; moves args on by its rows. */
static void
run_tile(ik2b_array *args, const ik2b_tiling *tiling, int last, int rows)
{
    tiling->load(args, last, rows, tiling->tile);
    tiling->run(tiling->tile, rows);
    check_hinges(args, tiling, last, rows);
    for (int lane = 0, next; lane < rows; lane = next) {
        bool good = tiling->good[lane];
        for (next = lane + 1; good && next < rows && tiling->good[next]; next++) {
        }
        if (good) {
            tiling->store(args, last, lane, next - lane, tiling->tile);
        }
        else {
            tiling->row(args, tiling->words);
        }
        shift_rows(args, tiling, last, next - lane);
    }
}

void
ik2b_run_tiles(const ik2b_extent *given, ik2b_array *args, const ik2b_tiling *tiling, bool tiled)
{
    ik2b_walk walk;
    ik2b_extent extent = *given;
    ik2b_straighten(&extent, args, tiling->arguments);
    if (extent.count == 0) { /* a single row: as one of a dimension without strides */
        extent.shape[extent.count++] = 1;
        for (int i = 0; i < tiling->arguments; i++) {
            args[i].stride[0] = 0;
        }
    }
    int last = extent.count - 1;
    ptrdiff_t rows = extent.shape[last];
    extent.count -= tiled;
    if (rows == 0 || !ik2b_walk_start(&walk, &extent, args, tiling->arguments)) {
        return;
    }
    do {
        if (!tiled) {
            tiling->row(args, tiling->words);
            continue;
        }
        for (ptrdiff_t row = 0; row < rows; row += IK2B_LANES) {
            int count = rows - row < IK2B_LANES ? (int)(rows - row) : IK2B_LANES;
            run_tile(args, tiling, last, count);
        }
        shift_rows(args, tiling, last, -rows);
    } while (ik2b_walk_next(&walk));
}
