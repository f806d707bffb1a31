# SPDX-License-Identifier: MIT
"""Bending legs and arms so that they reach their targets, by the solver, with as much strength as is wanted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ._core import solve_pose
from .checks import ROUNDING
from .knees import Knees
from .model import Array, Clip
from .results import PoseSolution
from .rotations import length_of, matrix_from_vector, vector_from_matrix
from .targets.blend import Targets

# Under a thigh stretched along itself the shin changes its length as the knee bends, which the solver leaves as a miss.
# It is asked again for as much more, up to so many times.
ROUNDS = 6


def weaken(clip: Clip, targets: Targets, offset: Array, strength: Array) -> Targets:
    """The targets blended with the clip, its hip joints moved by `offset`: `strength` (F,) of the way from there."""
    if (strength == 1.0).all():
        return targets.copied()
    share = strength[:, None, None]
    present = clip.ankle + offset
    ankle = present + share * (targets.ankle - present)
    turn = matrix_from_vector(share * vector_from_matrix(targets.turn))
    ball = ankle + np.einsum("flij,flj->fli", turn, clip.ball - clip.ankle)
    return replace(targets.copied(), ball=ball, turn=turn, rise=strength[:, None] * targets.rise)


def solve_legs(
    clip: Clip, targets: Targets, offset: Array, hips: Array, knees: Knees, strength: Array
) -> tuple[Array, Array]:
    """Corrections (F, L, 3, 4) that bring ankles to their targets and feet to their slopes, and misses (F, L).

    The hip joints lie moved by `offset` (F, L, 3) already; `hips` (F, 3) moves them on. `strength` (F,) blends the
    corrections and the move: a leg in reach at both ends of the blend is so all along it.
    """
    moved = clip.moved(offset)
    thigh, shin, foot = moved.thigh, moved.shin, moved.foot
    goal = foot.copy()
    goal[..., :3, :3] = targets.turn @ foot[..., :3, :3]
    # Seen from the hips as they will lie, which makes the blend linear in the world too.
    target, share = targets.ankle - hips[:, None], strength[:, None]
    asked = foot[..., :3, 3] + share[..., None] * (target - foot[..., :3, 3])
    joints = thigh, shin, foot, goal
    solution = _solve(joints, target, share, knees, clip)
    for _ in range(ROUNDS):
        away = asked - solution.position
        if not (length_of(away) > ROUNDING * clip.leg).any():
            break
        target = target + away / np.where(share > 0.0, share, 1.0)[..., None]
        solution = _solve(joints, target, share, knees, clip)
    miss = length_of(solution.position - asked)
    return np.stack([solution.root, solution.mid, solution.end], axis=2), miss


def _solve(
    joints: tuple[Array, Array, Array, Array], target: Array, share: Array, knees: Knees, clip: Clip
) -> PoseSolution[Array]:
    """Bring ankles to targets (F, L, 3): `joints` are thighs, shins, feet, and how the feet shall be (F, L, 4, 4)."""
    thigh, shin, foot, goal = joints
    return solve_pose(
        thigh,
        shin,
        foot[..., :3, 3],
        target,
        end_matrix=foot,
        end_goal=goal,
        hinge=knees.hinge,
        roll="hinge",
        pole=knees.poles(target - thigh[..., :3, 3]),
        pole_weight=knees.doubt,
        weight=share,
        root_scale=clip.scale[..., 0, :],
        mid_scale=clip.scale[..., 1, :],
    )
