# SPDX-License-Identifier: MIT
"""The solution of legs and arms: the solver brings them to their targets, with any share of the full correction."""

from dataclasses import replace
from typing import Any

import numpy as np

from ._core import hinge_of, solve_pose
from .arrays import Array
from .checks import ROUNDING
from .clip import Clip
from .knees import Knees
from .rotations import (
    cross,
    dot,
    einsum,
    inverse_of,
    length_of,
    matrix_from_vector,
    shortest_turns,
    turn_vectors,
    unit,
    vector_from_matrix,
)
from .targets.blend import Targets

# Under a thigh that is stretched along its length, the shin changes its length as the knee bends, and the solver misses
# the target. The solver is called again with a target moved by the miss, at most this number of times.
ROUNDS = 6
# A limb whose mid joint is nearer to the line than this (reach) is straight to the solver, without a bend of its own.
STRAIGHT = 1e-12


def weaken(clip: Clip, targets: Targets, offset: Array, strength: Array) -> Targets:
    """The targets at a share `strength` (F,) of the way to `targets` from the clip's own limbs, moved by `offset`."""
    if (strength == 1.0).all():
        return targets.copied()
    share = strength[:, None, None]
    present = clip.ankle + offset
    ankle = present + share * (targets.ankle - present)
    turn = matrix_from_vector(share * vector_from_matrix(targets.turn))
    ball = ankle + einsum("flij,flj->fli", turn, clip.ball - clip.ankle)
    return replace(targets.copied(), ball=ball, turn=turn, rise=strength[:, None] * targets.rise)


def solve_legs(
    clip: Clip, targets: Targets, offset: Array, hips: Array, knees: Knees, strength: Array
) -> tuple[Array, Array]:
    """Corrections (F, L, 3, 4) that bring ankles to their targets and feet to their slopes, and misses (F, L).

    The hip joints are already moved by `offset` (F, L, 3); `hips` (F, 3) moves them further. `strength` (F,) blends the
    corrections and that further move: a leg that reaches at both ends of the blend reaches all along it.
    """
    moved = clip.moved(offset) if offset.any() else clip
    goal = moved.foot.copy()
    goal[..., :3, :3] = targets.turn @ moved.foot[..., :3, :3]
    # The target relative to the final place of the hips, so that the blend is linear in world space, too.
    target, share = targets.ankle - hips[:, None], strength[:, None]
    asked = moved.ankle + share[..., None] * (target - moved.ankle)
    options = {"end_goal": goal, "roll": "hinge", "weight": share, **_bends(moved, asked, share, knees)}
    options |= {"root_scale": clip.scale[..., 0, :], "mid_scale": clip.scale[..., 1, :]}
    matrices = moved.thigh, moved.shin, moved.ankle
    for _ in range(1 + ROUNDS):
        pole = cross(knees.usual, target - moved.hip)
        solution = solve_pose(*matrices, target, end_matrix=moved.foot, pole=pole, **options)
        away = asked - solution.position
        if not (length_of(away) > ROUNDING * clip.leg).any():
            break
        target = target + away / np.where(share > 0.0, share, 1.0)[..., None]
    return np.stack([solution.root, solution.mid, solution.end], axis=2), length_of(away)


def _bends(clip: Clip, asked: Array, share: Array, knees: Knees) -> dict[str, Any]:
    """The solver's options pole_weight, twist and hinge for limbs whose ankles go to `asked` (F, L, 3)."""
    # The solver weakens poles with the strength, `share` (F, 1). With poles alone, a knee that the clip bends a little
    # to a wrong side, aside or backward, would bend far to that side. So the bend of the clip keeps its side and its
    # hinge, and the added bend gets those of the pole. Both count by how much they shorten the leg, because the
    # strength blends lengths.
    partly = (share > 0.0) & (share < 1.0) & (knees.doubt > 0.0)
    if not partly.any():
        return {"pole_weight": knees.doubt, "hinge": knees.hinge}
    inward = clip.scale[..., 0, :, None] * inverse_of(clip.thigh)[..., :3, :3]
    ways = clip.knee - clip.hip, clip.ankle - clip.hip, asked - clip.hip, cross(knees.usual, asked - clip.hip)
    own, present, line, pole = (einsum("flij,flj->fli", inward, way) for way in ways)
    line = unit(line)
    across = cross(line, turn_vectors(matrix_from_vector(shortest_turns(present, line)), own))
    # Straight limbs have no side of their own.
    partly &= length_of(across) > STRAIGHT * (length_of(own) + length_of(present - own))
    before, after = (1.0 - np.cos(bend) for bend in (clip.bend, clip.bend_at(length_of(asked - clip.hip))))
    kept = np.where(partly, (1.0 - share) * before / np.maximum(np.maximum(before, after), 1e-300), 0.0)
    angle = knees.doubt * np.arctan2(dot(across, pole), dot(across, cross(line, pole)))
    turn = np.arctan2((1.0 - kept) * np.sin(angle), kept + (1.0 - kept) * np.cos(angle))
    mine = np.asarray(hinge_of(clip.thigh, clip.shin, clip.ankle))
    return {
        "pole_weight": np.where(partly, 0.0, knees.doubt),
        "twist": np.where(partly, turn / np.maximum(share, 1e-300), 0.0),
        "hinge": kept[..., None] * mine + (1.0 - kept[..., None]) * knees.hinge,
    }
