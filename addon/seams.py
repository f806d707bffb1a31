# SPDX-License-Identifier: GPL-3.0-or-later
"""Where planted frames end within an action: how far limbs step, for corrections do not fade in a new action."""

from __future__ import annotations

import numpy as np

from .plans import Array, Task
from .sample import sample

# A step that is told (leg lengths).
STEP = 1e-3


def seams(task: Task) -> list[int]:
    """The first and the last planted frame, where the action goes on beyond them."""
    ends = ((int(task.frames[0]), int(task.whole[0])), (int(task.frames[-1]), int(task.whole[-1])))
    return sorted({frame for frame, bound in ends if frame != bound})


def joints_at(task: Task, frames: list[int]) -> Array:
    """Hips, knees and ankles (3, F, L, 3) of the planted limbs as the armature plays them now on some frames."""
    if not frames:
        return np.zeros((3, 0, len(task.body.legs), 3))
    clip = sample(task.armature, task.body.legs, None, frames).clip
    return np.array([clip.hip, clip.knee, clip.ankle])


def tell_steps(task: Task, before: Array, leg: float) -> list[str]:
    """A sentence about seams at which joints lie elsewhere than `before` (3, F, L, 3) a run wrote its keys."""
    frames = seams(task)
    steps = np.linalg.norm(joints_at(task, frames) - before, axis=-1).max(axis=(0, 2), initial=0.0)
    seen = [frame for frame, step in zip(frames, steps, strict=True) if step > STEP * leg]
    if not seen:
        return []
    where = f"frame{'s' if len(seen) > 1 else ''} {' and '.join(map(str, seen))}"
    return [
        f"planted frames end within the action: corrections of up to {steps.max():.3g} start or stop at once at {where}"
    ]
