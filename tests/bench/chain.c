/* SPDX-License-Identifier: MIT
 *
 * One limb a call, as the textbook has it and as a program that uses cglm would write it: the law
 * of cosines by acos, glm_quat_from_vecs, single precision, no options, no checks. Matrices are
 * cglm's own, rigid.
 */
#include <cglm/cglm.h>

#include "shared.h"

/* A function called by its name for each limb, as in a program. */
#if defined(__GNUC__)
#define ONE_CALL static __attribute__((noinline)) void
#else
#define ONE_CALL static void
#endif

static float
interior_angle(float near_side, float other_side, float far_side)
{
    float squares = near_side * near_side + other_side * other_side - far_side * far_side;
    return acosf(glm_clamp(squares / (2 * near_side * other_side), -1, 1));
}

ONE_CALL
solve_chain(vec3 root, vec3 mid, vec3 end, vec3 target, vec3 new_mid, vec3 new_end)
{
    vec3 upper, line, aim, axis;
    versor carry;
    float upper_length = glm_vec3_distance(root, mid), lower_length = glm_vec3_distance(mid, end);
    glm_vec3_sub(mid, root, upper);
    glm_vec3_sub(end, root, line);
    glm_vec3_sub(target, root, aim);
    float distance = glm_clamp(glm_vec3_norm(aim), fabsf(upper_length - lower_length),
                               upper_length + lower_length);
    glm_vec3_normalize(line);
    glm_vec3_normalize(aim);
    glm_vec3_crossn(line, upper, axis);
    glm_quat_from_vecs(line, aim, carry);
    glm_quat_rotatev(carry, axis, axis);
    glm_vec3_scale(aim, upper_length, upper);
    glm_vec3_rotate(upper, interior_angle(upper_length, distance, lower_length), axis);
    glm_vec3_add(root, upper, new_mid);
    glm_vec3_copy(root, new_end);
    glm_vec3_muladds(aim, distance, new_end);
}

/* The shortest turn of the bone from a to b onto that from new_a to new_b. */
static void
turn_bone(vec3 a, vec3 b, vec3 new_a, vec3 new_b, versor dest)
{
    vec3 old, new;
    glm_vec3_sub(b, a, old);
    glm_vec3_sub(new_b, new_a, new);
    glm_vec3_normalize(old);
    glm_vec3_normalize(new);
    glm_quat_from_vecs(old, new, dest);
}

/* A turn in outer space as a correction of the joint. */
static void
correction(mat4 joint, versor turn, versor dest)
{
    versor own, back;
    glm_mat4_quat(joint, own);
    glm_quat_conjugate(own, back);
    glm_quat_mul(back, turn, dest);
    glm_quat_mul(dest, own, dest);
}

ONE_CALL
orient_chain(mat4 root, mat4 mid, vec3 end, vec3 new_mid, vec3 new_end, versor root_turn,
             versor mid_turn)
{
    versor first, second, back;
    vec3 lower, zero = {0, 0, 0};
    turn_bone(root[3], mid[3], root[3], new_mid, first);
    glm_vec3_sub(new_end, new_mid, lower);
    glm_quat_conjugate(first, back);
    glm_quat_rotatev(back, lower, lower);
    turn_bone(mid[3], end, zero, lower, second);
    correction(root, first, root_turn);
    correction(mid, second, mid_turn);
}

ONE_CALL
aggregate_chain(const long *parents, float (*translation)[3], float (*rotation)[4], mat4 *result,
                long joints)
{
    for (long j = 0; j < joints; j++) {
        versor turn;
        mat4 own;
        glm_quat_init(turn, rotation[j][1], rotation[j][2], rotation[j][3], rotation[j][0]);
        glm_quat_normalize(turn);
        glm_quat_mat4(turn, own);
        glm_vec3_copy(translation[j], own[3]);
        if (parents[j] < 0) {
            glm_mat4_copy(own, result[j]);
        }
        else {
            glm_mat4_mul(result[parents[j]], own, result[j]);
        }
    }
}

ONE_CALL
find_pole(vec3 root, vec3 mid, vec3 end, vec3 pole)
{
    vec3 line, along;
    glm_vec3_sub(mid, root, pole);
    glm_vec3_sub(end, root, line);
    glm_vec3_proj(pole, line, along);
    glm_vec3_sub(pole, along, pole);
    glm_vec3_normalize(pole);
}

/* Over rows, `repeats` times, for ctypes */

SHARED void
chain_solve(vec3 *root, vec3 *mid, vec3 *end, vec3 *target, vec3 *new_mid, vec3 *new_end, long rows,
            long repeats)
{
    while (repeats-- > 0) {
        for (long k = 0; k < rows; k++) {
            solve_chain(root[k], mid[k], end[k], target[k], new_mid[k], new_end[k]);
        }
    }
}

SHARED void
chain_orient(mat4 *root, mat4 *mid, vec3 *end, vec3 *new_mid, vec3 *new_end, versor *root_turn,
             versor *mid_turn, long rows, long repeats)
{
    while (repeats-- > 0) {
        for (long k = 0; k < rows; k++) {
            orient_chain(root[k], mid[k], end[k], new_mid[k], new_end[k], root_turn[k],
                         mid_turn[k]);
        }
    }
}

SHARED void
chain_solve_pose(mat4 *root, mat4 *mid, vec3 *end, vec3 *target, versor *root_turn,
                 versor *mid_turn, vec3 *new_end, long rows, long repeats)
{
    while (repeats-- > 0) {
        for (long k = 0; k < rows; k++) {
            vec3 new_mid;
            solve_chain(root[k][3], mid[k][3], end[k], target[k], new_mid, new_end[k]);
            orient_chain(root[k], mid[k], end[k], new_mid, new_end[k], root_turn[k], mid_turn[k]);
        }
    }
}

/* A row is one skeleton. */
SHARED void
chain_aggregate(const long *parents, float (*translation)[3], float (*rotation)[4], mat4 *result,
                long joints, long rows, long repeats)
{
    while (repeats-- > 0) {
        for (long k = 0; k < rows * joints; k += joints) {
            aggregate_chain(parents, translation + k, rotation + k, result + k, joints);
        }
    }
}

SHARED void
chain_pole_of(vec3 *root, vec3 *mid, vec3 *end, vec3 *pole, long rows, long repeats)
{
    while (repeats-- > 0) {
        for (long k = 0; k < rows; k++) {
            find_pole(root[k], mid[k], end[k], pole[k]);
        }
    }
}
