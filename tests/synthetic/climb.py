# SPDX-License-Identifier: MIT
"""A climb made by formula: four limbs on a ladder, and grounds that return the nearest point."""

from __future__ import annotations

from dataclasses import dataclass

import ik2bone
import numpy as np
from ik2bone.clip import Clip

FPS, CYCLE, HOLD = 30.0, 1.6, 0.65
SPACING = 0.25
RADIUS = 0.016
SIDE = np.array([0.1, -0.1, 0.18, -0.18])  # legs, then arms, left before right
LENGTH = np.array([0.45, 0.45, 0.31, 0.31])  # each of the two bones
ROOT = np.array([[0.0, -0.38, 0.0], [0.0, -0.38, 0.0], [0.0, -0.4, 0.5], [0.0, -0.4, 0.5]])
FIRST = np.array([-0.4, -0.4, 0.85, 0.85])  # height of the touching point over the hips as it takes hold
PHASE = np.array([0.0, 0.5, 0.5, 0.0])
# From the end joint to the ball, and from the ball to the tip, in the axes of the end, which stay level.
BALL = np.array([[0.0, 0.12, -0.06], [0.0, 0.12, -0.06], [0.0, 0.05, 0.05], [0.0, 0.05, 0.05]])
TIP = np.array([[0.0, 0.06, 0.0], [0.0, 0.06, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
POLE = np.array([[0.6, 0.8, 0.0], [-0.6, 0.8, 0.0], [0.8, 0.0, -0.6], [-0.8, 0.0, -0.6]])


@dataclass(frozen=True)
class Climb:
    """A clip, the frames on which its limbs hold on (F, 4), and the heights of the rungs that it was made for."""

    clip: Clip
    holding: np.ndarray
    rungs: np.ndarray


def make_climb(seconds=8.0, fps=FPS) -> Climb:
    """A climb along z in front of a ladder at y = 0, with touching points on rungs at multiples of SPACING."""
    time = np.arange(round(seconds * fps)) / fps
    phase, count = np.modf(time[:, None] / CYCLE + PHASE + 4.0)
    holding = phase < HOLD
    swing = np.clip((phase - HOLD) / (1 - HOLD), 0.0, 1.0)
    smooth = swing**3 * (10 - 15 * swing + 6 * swing**2)
    rise = 2 * SPACING / CYCLE
    taken = rise * CYCLE * (count - 4.0 - PHASE) + FIRST
    first = np.round(taken[0] / SPACING) * SPACING - taken[0]
    height = 1.0 + taken + first + 2 * SPACING * smooth
    back = -0.12 * np.sin(np.pi * swing) ** 2
    point = np.stack([np.broadcast_to(SIDE, height.shape), back, height], axis=-1)
    root = np.stack([np.broadcast_to(SIDE, height.shape), *np.moveaxis(_roots(rise * time), -1, 0)], axis=-1)
    clip = limbs(point, root, fps)
    return Climb(clip, holding, np.arange(0.0, 8.0, SPACING))


def _roots(height):
    """The y and z of the roots (F, 4, 2) for heights (F,)."""
    return ROOT[:, 1:] + np.stack([np.zeros_like(height), 1.0 + height], axis=-1)[:, None]


def limbs(point, root, fps) -> Clip:
    end = point - BALL - [[0, 0, -0.03], [0, 0, -0.03], [0, 0, 0], [0, 0, 0]]
    out, length = _unit(POLE), LENGTH[:, None]
    mid = root + length * out
    solution = ik2bone.solve(root, mid, mid + length * [0.0, 0.6, -0.8], end, pole=POLE)
    mid, end = np.asarray(solution.mid), np.asarray(solution.end)
    upper, lower = mid - root, end - mid
    level = np.broadcast_to(np.eye(3), (*end.shape[:-1], 3, 3))
    joints = [_matrices(root, _axes(upper)), _matrices(mid, _axes(lower)), _matrices(end, level)]
    ball = end + BALL
    hands = np.array([False, False, True, True])
    palm = np.where(hands[:, None], [0.0, 1.0, 0.0], 0.0)
    toe = _matrices(ball, level)
    return Clip(fps, *joints, toe=toe, ball=ball, tip=ball + TIP, has_toe=~hands, is_hand=hands, palm=palm)


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _axes(along):
    along = _unit(along)
    side = _unit(np.cross(along, [0.3, 0.5, 0.8]))
    return np.stack([side, along, np.cross(side, along)], axis=-1)


def _matrices(places, axes):
    matrices = np.zeros((*places.shape[:-1], 4, 4))
    matrices[..., :3, :3], matrices[..., :3, 3], matrices[..., 3, 3] = axes, places, 1.0
    return matrices


def ladder(heights, y=0.0, radius=RADIUS):
    """A ground of rungs along x: the nearest point on any rung."""
    heights = np.asarray(heights)

    def ground(points, down):
        assert down is None
        away = np.stack(np.broadcast_arrays(points[:, 1:2] - y, points[:, 2:] - heights), axis=-1)
        nearest = np.linalg.norm(away, axis=-1).argmin(axis=1)
        normal = away[np.arange(len(points)), nearest]
        normal = np.concatenate([np.zeros((len(points), 1)), _unit(normal)], axis=1)
        axis = np.stack([points[:, 0], np.full(len(points), y), heights[nearest]], axis=1)
        return axis + radius * normal, normal, np.ones(len(points), bool)

    return ground


def wall(place, normal):
    """A ground of one endless plane through `place`: the nearest point on the plane."""
    place, normal = np.asarray(place, float), _unit(np.asarray(normal, float))

    def ground(points, down):
        assert down is None
        height = (points - place) @ normal
        return points - height[:, None] * normal, np.tile(normal, (len(points), 1)), np.ones(len(points), bool)

    return ground
