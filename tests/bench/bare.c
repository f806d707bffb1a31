/* SPDX-License-Identifier: MIT
 *
 * The yardstick of the solver's speed: sixteen limbs a tile, which lie as the loop wants them,
 * positions in, positions and both shortest-arc turns out. No options, no checks, no strides.
 * Lengths and the triangle are double, directions and turns float.
 */
#define IK2B_SINGLE
#include <cglm/vec3.h>

#include "tile.h"
#include "shared.h"

typedef struct {
    float root[3][IK2B_LANES], mid[3][IK2B_LANES], end[3][IK2B_LANES], target[3][IK2B_LANES];
    float new_mid[3][IK2B_LANES], new_end[3][IK2B_LANES];
    float root_turn[4][IK2B_LANES], mid_turn[4][IK2B_LANES]; /* x, y, z, w */
} bare_tile;

IK2B_IN_LINE double
length(vec3 v)
{
    double x = (double)v[0], y = (double)v[1], z = (double)v[2];
    return sqrt(x * x + y * y + z * z);
}

IK2B_IN_LINE void
shortest_turn(vec3 a, vec3 b, float dest[4])
{
    vec3 sum, difference, other, axis;
    glm_vec3_add(a, b, sum);
    glm_vec3_sub(b, a, difference);
    float cosine = glm_vec3_norm(sum) / 2, sine = glm_vec3_norm(difference) / 2;
    for (int i = 0; i < 3; i++) {
        other[i] = sine < cosine ? difference[i] : sum[i];
    }
    glm_vec3_cross(a, other, axis);
    glm_vec3_muladds(a, -glm_vec3_dot(axis, a), axis);
    float size = sine < cosine ? 1 : sine;
    glm_vec3_scale(axis, size / (sine < cosine ? 2 * cosine : glm_vec3_norm(axis)), dest);
    dest[3] = cosine;
}

/* v turned back by q. */
IK2B_IN_LINE void
turn_back(const float q[4], vec3 v, vec3 dest)
{
    vec3 axis = {-q[0], -q[1], -q[2]}, once, twice;
    glm_vec3_cross(axis, v, once);
    glm_vec3_cross(axis, once, twice);
    glm_vec3_copy(v, dest);
    glm_vec3_muladds(once, 2 * q[3], dest);
    glm_vec3_muladds(twice, 2, dest);
}

/* The part of v across the unit line, as a unit vector. */
IK2B_IN_LINE void
across(vec3 v, vec3 line, vec3 dest)
{
    glm_vec3_copy(v, dest);
    glm_vec3_muladds(line, -glm_vec3_dot(v, line), dest);
    glm_vec3_scale(dest, 1 / glm_vec3_norm(dest), dest);
}

/* The bend, carried by the shortest turn of line onto new_line. */
IK2B_IN_LINE void
carry(vec3 upper, vec3 line, vec3 new_line, vec3 dest)
{
    vec3 bend, half;
    glm_vec3_copy(upper, bend);
    glm_vec3_muladds(line, -glm_vec3_dot(upper, line), bend);
    glm_vec3_add(line, new_line, half);
    glm_vec3_muladds(half, -2 * glm_vec3_dot(bend, half) / glm_vec3_dot(half, half), bend);
    across(bend, new_line, dest);
}

IK2B_IN_LINE void
solve_lane(bare_tile *tile, int k)
{
    vec3 upper, lower, line, aim, bend, new_upper, new_lower, turned;
    for (int i = 0; i < 3; i++) {
        upper[i] = tile->mid[i][k] - tile->root[i][k];
        lower[i] = tile->end[i][k] - tile->mid[i][k];
        line[i] = tile->end[i][k] - tile->root[i][k];
        aim[i] = tile->target[i][k] - tile->root[i][k];
    }
    double upper_length = length(upper), lower_length = length(lower), wanted = length(aim);
    double total = upper_length + lower_length, difference = upper_length - lower_length;
    double distance = larger(smaller(wanted, total), fabs(difference));
    double outer = (total - distance) * (total + distance);
    double inner = (distance - difference) * (distance + difference);
    double along = 0.5 * (distance + difference * (total / distance));
    float area = (float)(larger(outer, 0.0) * larger(inner, 0.0));
    float height = sqrtf(area) / (2 * (float)distance);

    glm_vec3_scale(line, 1 / glm_vec3_norm(line), line);
    glm_vec3_scale(aim, 1 / (float)wanted, aim);
    carry(upper, line, aim, bend);
    float rest = (float)(distance - along);
    for (int i = 0; i < 3; i++) {
        new_upper[i] = (float)along * aim[i] + height * bend[i];
        new_lower[i] = rest * aim[i] - height * bend[i];
        tile->new_mid[i][k] = tile->root[i][k] + new_upper[i];
        tile->new_end[i][k] = tile->root[i][k] + (float)distance * aim[i];
    }
    float root_turn[4], mid_turn[4];
    glm_vec3_scale(upper, 1 / (float)upper_length, upper);
    glm_vec3_scale(lower, 1 / (float)lower_length, lower);
    glm_vec3_scale(new_upper, 1 / (float)upper_length, new_upper);
    glm_vec3_scale(new_lower, 1 / (float)lower_length, new_lower);
    shortest_turn(upper, new_upper, root_turn);
    turn_back(root_turn, new_lower, turned);
    shortest_turn(lower, turned, mid_turn);
    for (int i = 0; i < 4; i++) {
        tile->root_turn[i][k] = root_turn[i];
        tile->mid_turn[i][k] = mid_turn[i];
    }
}

IK2B_IN_LINE void
run_bare_tile(bare_tile *tile)
{
    IK2B_LANE_LOOP
    for (int k = 0; k < IK2B_LANES; k++) {
        solve_lane(tile, k);
    }
}

IK2B_BUILDS(bare_tile_runner, run_bare_tile, (bare_tile * tile), (tile))

SHARED void
bare_solve(bare_tile *tiles, long count, long repeats)
{
    void (*run)(bare_tile *) = bare_tile_runner();
    while (repeats-- > 0) {
        for (long t = 0; t < count; t++) {
            run(&tiles[t]);
        }
    }
}

/* Chooses the build that runs and returns its name. */
SHARED const char *
bare_build(void)
{
    return ik2b_choose_build();
}
