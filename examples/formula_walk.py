# SPDX-License-Identifier: MIT
"""A walk by formula as a BVH file, for readers of bvh_clip.ipynb who have no clip at hand."""

from __future__ import annotations

from pathlib import Path

import ik2bone
import numpy as np

LEGS = ("Left", 0.1), ("Right", -0.1)  # Names, and places along X (m).
THIGH = SHIN = 0.45
FPS, SECONDS, SPEED, STRIDE = 60, 6, 1.1, 1.1  # SPEED is in metres a second, STRIDE in metres.
STANCE = 0.6  # The share of the stride for which a foot stands.


def write_walk(path: str | Path) -> None:
    """Write a walk along +Z, Y up, in metres."""
    time = np.arange(FPS * SECONDS) / FPS
    hips = np.stack([0 * time, 0 * time + 0.9, SPEED * time], axis=1)
    columns = [hips, np.zeros((len(time), 9)), *(_leg(time, side, x) for side, (_, x) in enumerate(LEGS))]
    rows = "\n".join(" ".join(f"{value:.5f}" for value in row) for row in np.concatenate(columns, axis=1))
    motion = f"MOTION\nFrames: {len(time)}\nFrame Time: {1 / FPS:.9f}\n{rows}\n"
    Path(path).write_text(f"HIERARCHY\n{_hierarchy()}{motion}")


def _leg(time: np.ndarray, side: int, x: float) -> np.ndarray:
    """The angles (F, 9) about X of thigh, shin and foot, each followed by two zeros. The foot stays level."""
    stride, phase = np.divmod(time * SPEED / STRIDE + side / 2, 1)
    swing = np.clip((phase - STANCE) / (1 - STANCE), 0, 1)
    ahead = STRIDE * (stride - side / 2 + swing - np.sin(2 * np.pi * swing) / (2 * np.pi)) + STANCE / 2 * STRIDE
    height = 0.08 + 0.1 * np.sin(np.pi * swing) ** 2 - 0.9
    ankle = np.stack([np.full_like(time, x), height, ahead - SPEED * time], axis=1)
    hip = np.array([x, 0, 0])
    knee = ik2bone.solve(hip, hip + [0, -THIGH, 0.01], hip + [0, -THIGH - SHIN, 0], ankle, pole=[0, 0, 1]).mid
    upper, lower = knee - hip, ankle - knee
    pitches = [np.degrees(np.arctan2(-bone[:, 2], -bone[:, 1])) for bone in (upper, lower)]
    angles = [pitches[0], pitches[1] - pitches[0], -pitches[1]]
    return np.stack([angles[0], *[0 * time] * 2, angles[1], *[0 * time] * 2, angles[2], *[0 * time] * 2], axis=1)


def _hierarchy() -> str:
    trunk = _joint("Chest", (0, 0.3, 0), _joint("Head", (0, 0.25, 0), _end((0, 0.2, 0))))
    legs = "".join(
        _joint(f"{name}UpLeg", (x, 0, 0), _joint(f"{name}Leg", (0, -THIGH, 0), _foot(name))) for name, x in LEGS
    )
    return _joint("Hips", (0, 0, 0), trunk + legs, "ROOT", "6 Xposition Yposition Zposition")


def _foot(name: str) -> str:
    return _joint(f"{name}Foot", (0, -SHIN, 0), _joint(f"{name}Toe", (0, -0.07, 0.14), _end((0, 0, 0.06)), channels=""))


def _joint(name: str, offset: tuple[float, ...], below: str, kind: str = "JOINT", channels: str = "3") -> str:
    line = f"CHANNELS {channels} Xrotation Yrotation Zrotation\n" if channels else "CHANNELS 0\n"
    return f"{kind} {name}\n{{\nOFFSET {' '.join(map(str, offset))}\n{line}{below}}}\n"


def _end(offset: tuple[float, ...]) -> str:
    return f"End Site\n{{\nOFFSET {' '.join(map(str, offset))}\n}}\n"
