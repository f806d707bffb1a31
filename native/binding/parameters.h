/* SPDX-License-Identifier: MIT
 *
 * What each function takes and gives: inputs, options, outputs, in the order of the core's enums.
 */
#ifndef IK2B_PARAMETERS_H
#define IK2B_PARAMETERS_H

#include "arguments.h"
#include "mesh.h"

/* clang-format off */

/*                            name  role        dims size joints none   holds    needs */
#define POINT(name)           {name, POSITIONAL, 1, 3, false, false, NUMBERS, NULL}
#define MATRIX(name)          {name, POSITIONAL, 2, 4, false, false, NUMBERS, NULL}
#define QUATERNION(name)      {name, POSITIONAL, 1, 4, false, false, NUMBERS, NULL}
#define NUMBER(name)          {name, OPTION,     0, 0, false, false, NUMBERS, NULL}
#define DIRECTION(name)       {name, OPTION,     1, 3, false, true,  NUMBERS, NULL}
#define OPTIONAL_MATRIX(name) {name, OPTION,     2, 4, false, true,  NUMBERS, NULL}
#define OUT_POINT(name)       {name, OUTPUT,     1, 3, false, false, NUMBERS, NULL}
#define OUT_QUATERNION(name)  {name, OUTPUT,     1, 4, false, false, NUMBERS, NULL}
#define NEEDING(name, other)  {name, OUTPUT,     1, 4, false, false, NUMBERS, other}
#define OUT_NUMBER(name)      {name, OUTPUT,     0, 0, false, false, NUMBERS, NULL}
#define OUT_INDEX(name)       {name, OUTPUT,     0, 0, false, false, INDICES, NULL}
#define OUT_FLAGS(name)       {name, OUTPUT,     0, 0, false, false, FLAGS,   NULL}

#define SOLVE_OPTION_PARAMETERS                                                         \
    DIRECTION("pole"), NUMBER("pole_weight"), NUMBER("twist"), DIRECTION("hinge"),      \
    NUMBER("soften"), NUMBER("weight"), NUMBER("min_angle"), NUMBER("max_angle"),       \
    DIRECTION("cone_axis"), NUMBER("cone_angle")

static const parameter solve_parameters[IK2B_SOLVE_COUNT] = {
    POINT("root"), POINT("mid"), POINT("end"), POINT("target"),
    SOLVE_OPTION_PARAMETERS,
    OUT_POINT("mid"), OUT_POINT("end"), OUT_NUMBER("miss"), OUT_FLAGS("status"),
};

static const parameter orient_parameters[IK2B_ORIENT_COUNT] = {
    MATRIX("root_matrix"), MATRIX("mid_matrix"), POINT("end"), POINT("new_mid"), POINT("new_end"),
    DIRECTION("hinge"), DIRECTION("root_scale"), DIRECTION("mid_scale"),
    OUT_QUATERNION("root"), OUT_QUATERNION("mid"),
};

#define POSE_PARAMETERS(end)                                                            \
    MATRIX("root_matrix"), MATRIX("mid_matrix"), POINT("end"), POINT("target"),         \
    SOLVE_OPTION_PARAMETERS,                                                            \
    DIRECTION("root_scale"), DIRECTION("mid_scale"),                                    \
    OPTIONAL_MATRIX("end_matrix"), OPTIONAL_MATRIX("end_goal"),                         \
    OUT_QUATERNION("root"), OUT_QUATERNION("mid"), end,                                 \
    OUT_POINT("position"), OUT_NUMBER("miss"), OUT_FLAGS("status")

static const parameter pose_parameters[IK2B_POSE_COUNT] = {
    POSE_PARAMETERS(OUT_QUATERNION("end")),
};

/* Without end_matrix there is no correction of the end joint. */
static const parameter endless_pose_parameters[IK2B_POSE_COUNT] = {
    POSE_PARAMETERS(NEEDING("end", "end_matrix")),
};

static const parameter pole_of_parameters[IK2B_POLE_OF_COUNT] = {
    POINT("root"), POINT("mid"), POINT("end"), DIRECTION("hinge"),
    OUT_POINT("pole"),
};

static const parameter hinge_of_parameters[IK2B_HINGE_OF_COUNT] = {
    MATRIX("root_matrix"), MATRIX("mid_matrix"), POINT("end"),
    OUT_POINT("hinge"),
};

static const parameter multiply_parameters[IK2B_MULTIPLY_COUNT] = {
    QUATERNION("q"), QUATERNION("r"),
    OUT_QUATERNION("product"),
};

static const parameter aggregate_parameters[IK2B_AGGREGATE_COUNT] = {
    {"translation", POSITIONAL, 1, 3, true,  false, NUMBERS, NULL},
    {"rotation",    POSITIONAL, 1, 4, true,  false, NUMBERS, NULL},
    {"scale",       POSITIONAL, 1, 3, true,  true,  NUMBERS, NULL},
    {"rest",        OPTION,     2, 4, true,  true,  NUMBERS, NULL},
    {"base",        OPTION,     2, 4, false, true,  NUMBERS, NULL},
    {"matrices",    OUTPUT,     2, 4, true,  false, NUMBERS, NULL},
};

/* Of a mesh: its vertices, and what it is asked. */
static const parameter mesh_parameters[1] = {POINT("vertices")};

static const parameter crossings_parameters[IK2B_CROSSINGS_COUNT] = {
    POINT("points"), POINT("direction"),
};

static const parameter cast_parameters[IK2B_CAST_COUNT] = {
    POINT("origins"), POINT("directions"),
    OUT_POINT("point"), OUT_POINT("normal"), OUT_INDEX("triangle"),
};

static const parameter nearest_parameters[IK2B_NEAREST_COUNT] = {
    POINT("points"),
    OUT_POINT("point"), OUT_POINT("normal"), OUT_INDEX("triangle"),
};

/* clang-format on */

#endif
