/* SPDX-License-Identifier: MIT
 *
 * The tables of arguments.
 */
#include "functions.h"

#include "mesh.h"

/* clang-format off */

static const row_shape
    number           = {0, 0, false, "a number or an array of numbers"},
    vector           = {1, 3, false, "an array of shape (..., 3)"},
    quaternion       = {1, 4, false, "an array of shape (..., 4)"},
    matrix           = {2, 4, false, "an array of shape (..., 4, 4)"},
    joint_vector     = {1, 3, true,  "an array of shape (..., joints, 3)"},
    joint_quaternion = {1, 4, true,  "an array of shape (..., joints, 4)"},
    joint_matrix     = {2, 4, true,  "an array of shape (..., joints, 4, 4)"};

#define ARRAY(name, row)          {name, &row, IK2B_KINDS}
#define ARRAY_OF(name, row, kind) {name, &row, kind}

/* Kinds of options in the core's table. */
#define NUMBER    number
#define DIRECTION vector
#define MATRIX    matrix
#define AS_PARAMETER(NAME, name, KIND, missing) ARRAY(#name, KIND),

const word words[WORDS] = {
    [BEND] = {"bend", {"carried", "nearest"}},
    [ROLL] = {"roll", {"pose", "hinge"}},
};

/* Inputs, options, outputs. */

static const parameter solve_parameters[IK2B_SOLVE_COUNT] = {
    ARRAY("root", vector), ARRAY("mid", vector), ARRAY("end", vector), ARRAY("target", vector),
    IK2B_OPTIONS_OF_SOLVE(AS_PARAMETER)
    ARRAY("mid", vector), ARRAY("end", vector), ARRAY("miss", number), ARRAY_OF("status", number, IK2B_U8),
};

static const parameter orient_parameters[IK2B_ORIENT_COUNT] = {
    ARRAY("root_matrix", matrix), ARRAY("mid_matrix", matrix), ARRAY("end", vector),
    ARRAY("new_mid", vector), ARRAY("new_end", vector),
    IK2B_OPTIONS_OF_ORIENT(AS_PARAMETER)
    ARRAY("root", quaternion), ARRAY("mid", quaternion),
};

static const parameter pose_parameters[IK2B_POSE_COUNT] = {
    ARRAY("root_matrix", matrix), ARRAY("mid_matrix", matrix), ARRAY("end", vector), ARRAY("target", vector),
    IK2B_OPTIONS_OF_POSE(AS_PARAMETER)
    ARRAY("root", quaternion), ARRAY("mid", quaternion), ARRAY("end", quaternion),
    ARRAY("position", vector), ARRAY("miss", number), ARRAY_OF("status", number, IK2B_U8),
};

static const parameter pole_of_parameters[IK2B_POLE_OF_COUNT] = {
    ARRAY("root", vector), ARRAY("mid", vector), ARRAY("end", vector),
    IK2B_OPTIONS_OF_POLE_OF(AS_PARAMETER)
    ARRAY("pole", vector),
};

static const parameter hinge_of_parameters[IK2B_HINGE_OF_COUNT] = {
    ARRAY("root_matrix", matrix), ARRAY("mid_matrix", matrix), ARRAY("end", vector),
    ARRAY("hinge", vector),
};

static const parameter multiply_parameters[IK2B_MULTIPLY_COUNT] = {
    ARRAY("q", quaternion), ARRAY("r", quaternion),
    ARRAY("product", quaternion),
};

static const parameter aggregate_parameters[IK2B_AGGREGATE_COUNT] = {
    ARRAY("translation", joint_vector), ARRAY("rotation", joint_quaternion), ARRAY("scale", joint_vector),
    ARRAY("rest", joint_matrix), ARRAY("base", matrix),
    ARRAY("matrices", joint_matrix),
};

static const parameter crossings_parameters[IK2B_CROSSINGS_COUNT] = {
    ARRAY("points", vector), ARRAY("direction", vector), ARRAY("into", matrix),
};

static const parameter cast_parameters[IK2B_CAST_COUNT] = {
    ARRAY("origins", vector), ARRAY("directions", vector),
    ARRAY("point", vector), ARRAY("normal", vector), ARRAY_OF("triangle", number, IK2B_I64),
};

static const parameter nearest_parameters[IK2B_NEAREST_COUNT] = {
    ARRAY("points", vector),
    ARRAY("point", vector), ARRAY("normal", vector), ARRAY_OF("triangle", number, IK2B_I64),
};

/* The table of functions. Members that are not set are zero. */
#define ARGUMENTS(name_, parameters_, inputs_, count_, positional_, required_, kernel_)            \
    .name = name_, .parameters = parameters_, .inputs = inputs_, .count = count_,                  \
    .positional = positional_, .required = required_, .kernel = kernel_

const function functions[FUNCTIONS] = {
    [SOLVE] = {ARGUMENTS("solve", solve_parameters, IK2B_SOLVE_OUT_MID, IK2B_SOLVE_COUNT, 4, 4, ik2b_solve),
               .type = SOLUTION, .takes_word = {[BEND] = true}},
    [ORIENT] = {ARGUMENTS("orient", orient_parameters, IK2B_ORIENT_OUT_ROOT, IK2B_ORIENT_COUNT, 5, 5, ik2b_orient),
                .type = ROTATIONS, .takes_word = {[ROLL] = true},
                .hinge = IK2B_ORIENT_HINGE},
    [SOLVE_POSE] = {ARGUMENTS("solve_pose", pose_parameters, IK2B_POSE_OUT_ROOT, IK2B_POSE_COUNT, 4, 4, ik2b_solve_pose),
                    .type = POSE_SOLUTION, .takes_word = {[BEND] = true, [ROLL] = true},
                    .hinge = IK2B_POSE_HINGE,
                    .end_matrix = IK2B_POSE_END_MATRIX, .end_goal = IK2B_POSE_END_GOAL,
                    .out_end = IK2B_POSE_OUT_END},
    [POLE_OF] = {ARGUMENTS("pole_of", pole_of_parameters, IK2B_POLE_OF_OUT, IK2B_POLE_OF_COUNT, 3, 3, ik2b_pole_of)},
    [HINGE_OF] = {ARGUMENTS("hinge_of", hinge_of_parameters, IK2B_HINGE_OF_OUT, IK2B_HINGE_OF_COUNT, 3, 3, ik2b_hinge_of)},
    [MULTIPLY] = {ARGUMENTS("multiply", multiply_parameters, IK2B_MULTIPLY_OUT, IK2B_MULTIPLY_COUNT, 2, 2, ik2b_multiply)},
    [AGGREGATE] = {ARGUMENTS("aggregate", aggregate_parameters, IK2B_AGGREGATE_OUT, IK2B_AGGREGATE_COUNT, 4, 3, ik2b_aggregate),
                   .takes_parents = true},
    [CROSSINGS] = {ARGUMENTS("crossings", crossings_parameters, IK2B_CROSSINGS_COUNT, IK2B_CROSSINGS_COUNT, 2, 2, ik2b_mesh_crossings), .takes_mesh = true},
    [CAST] = {ARGUMENTS("cast", cast_parameters, IK2B_CAST_OUT_POINT, IK2B_CAST_COUNT, 2, 2, ik2b_mesh_cast), .type = HITS, .takes_mesh = true},
    [NEAREST] = {ARGUMENTS("nearest", nearest_parameters, IK2B_NEAREST_OUT_POINT, IK2B_NEAREST_COUNT, 1, 1, ik2b_mesh_nearest),
                 .type = HITS, .takes_mesh = true},
};
/* clang-format on */
