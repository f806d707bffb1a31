# SPDX-License-Identifier: GPL-3.0-or-later
"""Where planted frames end within an action: how far limbs step, for corrections do not fade in a new action."""

from __future__ import annotations

import numpy as np
from ik2bone.model import Clip

from ..pose.sample import sample
from .task import Array, Task

# A correction that is told where it starts or stops, and one that is none (leg lengths).
STEP, NONE = 1e-3, 1e-5


def tell_steps(task: Task, source: Clip) -> list[str]:
    """A sentence about planted frames beside frames that are as in the source, as the armature plays them now.

    `source` holds the planned limbs over the whole action.
    """
    seams = [(frame, beyond) for frame, beyond in _ends(task) if task.whole[0] <= beyond <= task.whole[-1]]
    if not seams:
        return []
    corrections = _corrections(task, source, [frame for seam in seams for frame in seam]).reshape(-1, 2)
    steps = (corrections[:, 0] > STEP * source.leg) & (corrections[:, 1] <= NONE * source.leg)
    if not steps.any():
        return []
    where = " and ".join(str(frame) for (frame, _), told in zip(seams, steps, strict=True) if told)
    most = corrections[steps, 0].max()
    return [f"planted frames end within the action: corrections of up to {most:.3g} start or stop at frame {where}"]


def _ends(task: Task) -> list[tuple[int, int]]:
    """The first and the last planted frame, each with the one beyond it."""
    first, last = int(task.frames[0]), int(task.frames[-1])
    return [(first, first - 1), (last, last + 1)]


def _corrections(task: Task, source: Clip, frames: list[int]) -> Array:
    """How far (N,) joints of the planted limbs lie from where the source has them on some frames, at most."""
    rows = np.array(frames) - task.whole[0]
    now = _joints(sample(task.armature, task.body.legs, None, frames).clip)
    before = _joints(source.choose(task.body.chosen))[:, rows]
    return np.linalg.norm(now - before, axis=-1).max(axis=(0, 2))


def _joints(clip: Clip) -> Array:
    """Hips, knees and ankles (3, F, L, 3)."""
    return np.array([clip.hip, clip.knee, clip.ankle])
