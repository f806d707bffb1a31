/* SPDX-License-Identifier: MIT
 *
 * The functions for results in single precision.
 */
#define IK2B_SINGLE
#include "solve_rows.h"
#include "orient_rows.h"
#include "pose_rows.h"
#include "read_rows.h"
