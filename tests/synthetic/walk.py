# SPDX-License-Identifier: MIT
"""A walk made by formula, with known contacts: feet stand, roll over the ball, and swing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import ik2bone
import numpy as np
from gaits import EASES
from ik2bone.clip import Clip
from ik2bone.rotations import level_part

UPPER, LOWER, FOOT, BALL, STEP, CYCLE, STAND = 0.5, 0.5, 0.18, 0.05, 0.62, 1.1, 0.62
HIP_HEIGHT, ANKLE = 1.02, 0.12
# The share of the cycle at which a foot starts to roll.
ROLL = 0.35


@dataclass(frozen=True)
class Walk:
    """A clip and its true contacts: whether each foot is `standing` (F, L)."""

    clip: Clip
    standing: np.ndarray


def make_walk(seconds=5.0, fps=60.0, *, slide=0.0, noise=0.0, seed=0, scale=1.0, turn=0.0, roll=0.0) -> Walk:
    """A walk along x, turned by `turn` radians about up. Each foot stands for the share STAND of its cycle.

    Before a foot leaves the ground, it rolls by `roll` radians over its ball, with rigid toes.
    """
    time = np.arange(round(seconds * fps)) / fps
    phase = (time[:, None] / CYCLE + np.array([0.0, 0.5])) % 1.0
    count = np.floor(time[:, None] / CYCLE + np.array([0.0, 0.5])) - np.array([0.0, 0.5])
    swing = np.clip((phase - STAND) / (1 - STAND), 0.0, 1.0)
    ahead = 2 * STEP * (count + swing - np.sin(2 * np.pi * swing) / (2 * np.pi)) + slide * np.minimum(phase, STAND)
    lift = 0.16 * np.sin(np.pi * swing) ** 2
    pitch = 0.5 * np.sin(np.pi * swing) ** 2 * np.sin(2 * np.pi * swing)
    rise, fall = np.clip((phase - ROLL) / (STAND - ROLL), 0.0, 1.0), np.clip(2.0 * swing, 0.0, 1.0)
    pitch += roll * rise**2 * (3.0 - 2.0 * rise) * (1.0 - fall**2 * (3.0 - 2.0 * fall))
    side = np.broadcast_to([0.1, -0.1], ahead.shape)
    ball = np.stack([ahead, side, BALL + lift], axis=-1)
    ball += np.random.default_rng(seed).normal(0.0, noise, ball.shape) if noise else 0.0
    axes = _rotation_y(pitch)
    ankle = ball + np.einsum("flij,j->fli", axes, [-FOOT, 0.0, ANKLE - BALL])
    hip = np.stack([np.broadcast_to((2 * STEP / CYCLE * time - STAND * STEP - FOOT)[:, None], side.shape), side,
                    np.full_like(side, HIP_HEIGHT - 0.04)], axis=-1)  # fmt: skip
    knee = ik2bone.solve(hip, hip + [0.05, 0.0, -UPPER], hip + [0.0, 0.0, -0.99], ankle, pole=[1.0, 0.0, 0.0]).mid
    knee, ankle = _rigid(hip, np.asarray(knee), ankle)
    heading, size = _rotation_z(turn), scale
    frames = [pointing(*pair) for pair in ((hip, knee), (knee, ankle))] + [axes]
    matrices = [
        matrices_of(size * at @ heading.T, heading @ axes_)
        for at, axes_ in zip((hip, knee, ankle), frames, strict=True)
    ]
    ball = size * (ankle + np.einsum("flij,j->fli", axes, [FOOT, 0.0, BALL - ANKLE])) @ heading.T
    tip = ball + size * np.einsum("flij,j->fli", heading @ axes, [0.06, 0.0, 0.0])
    clip = Clip(fps, *matrices, toe=matrices_of(ball, heading @ axes), tip=tip)
    return Walk(clip, phase < STAND)


def make_keyed_walk(fps: float, seconds: float) -> Clip:
    """A slow walk of legs of length 1, as keyed with flat tangents: feet stop with their toes up by 25 degrees as heels
    strike, and balls come down after that. Balls stand 0.02 over the sole, and heels lie 0.05 behind the ankles.
    """
    ease, number = EASES["quintic"], np.arange(round(seconds * fps))[:, None] / fps / 2.0 + [0.0, 0.5]
    number, phase = np.divmod(number, 1.0)
    swing, roll = (ease(np.clip(share, 0.0, 1.0)) for share in ((phase - 0.7) / 0.3, phase / 0.12))
    pitch = np.where(phase < 0.7, 1.0 - roll, swing) * np.radians(25.0)
    cos, sin, zero = np.cos(pitch), np.sin(pitch), 0.0 * pitch
    heel = np.stack([0.7 * (number + swing), zero + [0.1, -0.1], 0.08 * np.sin(np.pi * swing) ** 2], axis=-1)
    ankle, ball = (
        heel + np.stack([cos * ahead - sin * over, zero, sin * ahead + cos * over], axis=-1)
        for ahead, over in ((0.05, 0.09), (0.19, 0.02))
    )
    middle = 0.7 * (number + phase).mean(axis=1, keepdims=True) - 0.2
    hip = np.stack([middle + zero, zero + [0.1, -0.1], 0.9 + zero], axis=-1)
    knee = ik2bone.solve(hip, hip + [0.1, 0.0, -0.5], hip + [0.0, 0.0, -0.98], ankle, pole=[1.0, 0.0, 0.0]).mid
    return Clip.from_points(fps, hip, knee, ankle, ball)


def _rigid(hip, knee, ankle):
    """The knee and the ankle with exact bone lengths, also where the ankle was out of reach."""
    upper, lower = knee - hip, ankle - knee
    knee = hip + UPPER * upper / np.linalg.norm(upper, axis=-1, keepdims=True)
    return knee, knee + LOWER * lower / np.linalg.norm(lower, axis=-1, keepdims=True)


def pointing(start, end):
    """The axes of a bone from `start` to `end`, with y along the bone and x sideways."""
    along = end - start
    along = along / np.linalg.norm(along, axis=-1, keepdims=True)
    side = np.broadcast_to([0.0, 1.0, 0.0], along.shape)
    return np.stack([side, along, np.cross(side, along)], axis=-1)


def matrices_of(places, axes):
    matrices = np.zeros((*places.shape[:-1], 4, 4))
    matrices[..., :3, :3], matrices[..., :3, 3], matrices[..., 3, 3] = axes, places, 1.0
    return matrices


def _rotation_y(angle):
    c, s, o, i = np.cos(angle), np.sin(angle), np.zeros_like(angle), np.ones_like(angle)
    return np.stack([c, o, s, o, i, o, -s, o, c], axis=-1).reshape(*angle.shape, 3, 3)


def _rotation_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def in_place(clip):
    """The same clip on a treadmill: all joints are moved back by the level travel of the hips."""
    middle = clip.hip.mean(axis=1)
    return clip.moved(level_part(middle[0] - middle, clip.up))


def overstretched(clip):
    """The same clip with every nearly straight knee moved to the other side of its leg, as noise would do."""
    line = clip.ankle - clip.hip
    line /= np.linalg.norm(line, axis=-1, keepdims=True)
    out = clip.knee - clip.hip
    out -= np.sum(out * line, axis=-1, keepdims=True) * line
    near = np.linalg.norm(out, axis=-1) < 0.16
    assert near.any()
    moved = {name: getattr(clip, name).copy() for name in ("thigh", "shin")}
    moved["shin"][near, :3, 3] -= 1.02 * out[near]
    return replace(clip, **moved)


def height_field(height):
    """The ground z = height(x, y), with normals by differences."""

    def ground(points, _down):
        x, y, step = points[:, 0], points[:, 1], 1e-5
        slope_x = (height(x + step, y) - height(x - step, y)) / (2 * step)
        slope_y = (height(x, y + step) - height(x, y - step)) / (2 * step)
        normals = np.stack([-slope_x, -slope_y, np.ones_like(x)], axis=-1)
        normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
        return np.stack([x, y, height(x, y)], axis=-1), normals, np.ones(len(points), bool)

    return ground


FLAT = height_field(lambda x, y: 0.0 * x)
HILLS = height_field(lambda x, y: 0.1 * np.sin(2.1 * x + 0.4) + 0.07 * np.cos(1.7 * y - 0.9 * x))
NOTHING = lambda points, down: (points, np.tile(-down, (len(points), 1)), np.zeros(len(points), bool))  # noqa: E731


def planted(clip: Clip, plan) -> Clip:
    """The clip with the rotations and the hips offset of a plan, by plain matrix products and without own scales."""
    turns = [matrices_of(np.zeros((*q.shape[:-1], 3)), rotations_of(q)) for q in np.moveaxis(plan.rotations, 2, 0)]
    thigh = clip.thigh.copy()
    thigh[..., :3, 3] += plan.hips_offset[:, None]
    parts, new = (clip.thigh, clip.shin, clip.foot, clip.toe), [thigh @ turns[0]]
    for above, below, turn in zip(parts, parts[1:], turns[1:], strict=False):
        new.append(new[-1] @ np.linalg.inv(above) @ below @ turn)
    carry = [after @ np.linalg.inv(before) for before, after in zip(parts, new, strict=True)]
    ball, tip = (_carry(carry[index], point) for index, point in ((2, clip.ball), (3, clip.tip)))
    return replace(clip, thigh=new[0], shin=new[1], foot=new[2], toe=new[3], ball=ball, tip=tip)


def _carry(matrices, points):
    return np.einsum("flij,flj->fli", matrices[..., :3, :3], points) + matrices[..., :3, 3]


def rotations_of(q):
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z),
            1 - 2 * (x * x + z * z), 2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x),
            1 - 2 * (x * x + y * y)]  # fmt: skip
    return np.stack(rows, axis=-1).reshape(*w.shape, 3, 3)
