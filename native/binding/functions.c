/* SPDX-License-Identifier: MIT
 *
 * The table of functions. Their arguments are those of the core's tables.
 */
#include "functions.h"

#include "mesh.h"

/* clang-format off */

static const row_shape
    row_NUMBER           = {0, 1, false, IK2B_KINDS, "a number or an array of numbers"},
    row_POINT            = {1, 3, false, IK2B_KINDS, "an array of shape (..., 3)"},
    row_QUATERNION       = {1, 4, false, IK2B_KINDS, "an array of shape (..., 4)"},
    row_MATRIX           = {2, 4, false, IK2B_KINDS, "an array of shape (..., 4, 4)"},
    row_JOINT_POINT      = {1, 3, true,  IK2B_KINDS, "an array of shape (..., joints, 3)"},
    row_JOINT_QUATERNION = {1, 4, true,  IK2B_KINDS, "an array of shape (..., joints, 4)"},
    row_JOINT_MATRIX     = {2, 4, true,  IK2B_KINDS, "an array of shape (..., joints, 4, 4)"},
    row_STATUS           = {0, 1, false, IK2B_U8, ""},
    row_TRIANGLE         = {0, 1, false, IK2B_I64, ""};
#define row_DIRECTION row_POINT

const word words[WORDS] = {
    [BEND] = {"bend", {"carried", "nearest"}},
    [ROLL] = {"roll", {"pose", "hinge"}},
};

/* Members of functions that are not set are zero. */
#define AS_PARAMETER(NAME, name, KIND, more) {#name, &row_##KIND},
#define ONE_MORE(NAME, name, KIND, more) + 1
#define ARGUMENTS(FUNCTION)                                                                        \
    .parameters = (const parameter[]){IK2B_INPUTS_OF_##FUNCTION(AS_PARAMETER)                      \
                                      IK2B_OPTIONS_OF_##FUNCTION(AS_PARAMETER)                     \
                                      IK2B_OUTPUTS_OF_##FUNCTION(AS_PARAMETER)},                   \
    .positional = 0 IK2B_INPUTS_OF_##FUNCTION(ONE_MORE),                                           \
    .inputs = 0 IK2B_INPUTS_OF_##FUNCTION(ONE_MORE) IK2B_OPTIONS_OF_##FUNCTION(ONE_MORE),          \
    .count = IK2B_##FUNCTION##_COUNT

const function functions[FUNCTIONS] = {
    [SOLVE] = {"solve", ik2b_solve, ARGUMENTS(SOLVE), .type = SOLUTION, .takes_word = {[BEND] = true}},
    [ORIENT] = {"orient", ik2b_orient, ARGUMENTS(ORIENT), .type = ROTATIONS, .takes_word = {[ROLL] = true},
                .hinge = IK2B_ORIENT_HINGE},
    [SOLVE_POSE] = {"solve_pose", ik2b_solve_pose, ARGUMENTS(POSE), .type = POSE_SOLUTION,
                    .takes_word = {[BEND] = true, [ROLL] = true}, .hinge = IK2B_POSE_HINGE,
                    .end_matrix = IK2B_POSE_END_MATRIX, .end_goal = IK2B_POSE_END_GOAL, .out_end = IK2B_POSE_OUT_END},
    [POLE_OF] = {"pole_of", ik2b_pole_of, ARGUMENTS(POLE_OF)},
    [HINGE_OF] = {"hinge_of", ik2b_hinge_of, ARGUMENTS(HINGE_OF)},
    [MULTIPLY] = {"multiply", ik2b_multiply, ARGUMENTS(MULTIPLY)},
    [AGGREGATE] = {"aggregate", ik2b_aggregate, ARGUMENTS(AGGREGATE), .optional = 1, .takes_parents = true},
    [CROSSINGS] = {"crossings", ik2b_mesh_crossings, ARGUMENTS(CROSSINGS), .takes_mesh = true},
    [CAST] = {"cast", ik2b_mesh_cast, ARGUMENTS(CAST), .type = HITS, .takes_mesh = true},
    [NEAREST] = {"nearest", ik2b_mesh_nearest, ARGUMENTS(NEAREST), .type = HITS, .takes_mesh = true},
};
/* clang-format on */
