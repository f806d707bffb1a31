# SPDX-License-Identifier: GPL-3.0-or-later
"""Sparse keys for controls of inverse kinematics, for editing by hand.

There are keys where contacts start and end, and further keys where the motion needs them. A control that stands still
between two such keys is held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

import numpy as np
from ik2bone.arrays import Array, Mask
from ik2bone.curves import column_runs
from ik2bone.plan import Plan
from ik2bone.rotations import dot, length_of, unit

from ..errors import Hint, listed
from ..keys import rotations, splines
from ..keys.channels import Channel
from ..pose.sample import Sample
from ..rig.controls_aim import RIGHT
from ..rig.limb import Control
from .task import Task

# The shares of the allowed error of joints (leg lengths): half for keys that are left out, and a quarter for holding a
# control that moves by less than that. The rest is for errors of the rig itself.
THINNED, STILL = 0.5 * RIGHT, 0.25 * RIGHT
IK_PARTS = {"foot", "ankle", "toe", "knee"}


@dataclass(frozen=True)
class _Thinning:
    """The channels and rotation mode of a control, and their effect on a limb.

    `placing` (F, 3, 3) maps the control's location to world space, in leg lengths. `lever` is the greatest distance of
    the limb's joints from the control, in leg lengths.
    """

    channels: Sequence[Channel]
    mode: str
    placing: Array | None
    lever: float

    def hold(self, rows: Sequence[int]) -> _Thinning:
        """The control with a constant value between neighbouring `rows` wherever it stands still there."""
        held = [channel.with_values(channel.values.copy()) for channel in self.channels]
        for start, end in pairwise(rows):
            between = slice(start, end + 1)
            # The last row keeps its value, so that nothing changes outside the frames.
            still = end if end == rows[-1] else start
            flat = [np.tile(channel.values[still], (end + 1 - start, 1)) for channel in held]
            if self._off(between, flat) <= STILL:
                for channel, values in zip(held, flat, strict=True):
                    channel.values[between] = values
        return replace(self, channels=held)

    def thin(self, rows: Sequence[int]) -> list[Channel]:
        """The channels with keys on these rows, and on further rows where the joints would be off otherwise."""
        kept = [rows[0]]
        for end in rows[1:]:
            while kept[-1] < end:
                kept.append(self._farthest(kept[-1], end))
        return [replace(channel, rows=np.array(kept)) for channel in self.channels]

    def _farthest(self, start: int, end: int) -> int:
        """The last row, at most `end`, up to which one piece of curve from `start` fits; found by bisection."""
        reached, beyond, tried = start + 1, end + 1, end
        while reached < beyond - 1:
            if self._fits(start, tried):
                reached = tried
            else:
                beyond = tried
            tried = (reached + beyond) // 2
        return reached

    def _fits(self, start: int, end: int) -> bool:
        between = slice(start, end + 1)
        shown = [splines.fit(channel.values[between], np.array([0, end - start]))[1] for channel in self.channels]
        return self._off(between, shown) <= THINNED

    def _off(self, rows: slice, values: Sequence[Array]) -> float:
        """How far a joint moves at most if the channels get other values on some rows, in leg lengths."""
        off = np.zeros(rows.stop - rows.start)
        for channel, other in zip(self.channels, values, strict=True):
            own = channel.values[rows]
            if channel.name == "location":
                off += length_of((self.placing[rows] @ (other - own)[..., None])[..., 0])
            else:
                turns = [unit(rotations.to_quaternions(self.mode, each)) for each in (own, other)]
                off += 2.0 * np.arccos(np.minimum(np.abs(dot(*turns)), 1.0)) * self.lever
        return float(off.max())


def thin(task: Task, plan: Plan, before: Sample, channels: list[Channel]) -> tuple[list[Channel], Hint]:
    """The channels, with few keys on controls of inverse kinematics, and a sentence on the number of keys."""
    contacts, seen, told = plan.contacts[task.part], before.cut(task.part), []
    found = {channel.path: channel for channel in channels}
    for number, control in _controls(task):
        own = [channel for channel in channels if channel.bone == control.bone]
        if own:
            rows = _events(contacts[:, number])
            thinned = _thinning(task, seen, number, control, own).hold(rows).thin(rows)
            found |= {channel.path: channel for channel in thinned}
            told.append(f"{control.bone} {len(thinned[0].rows)}")
    if not told:
        return channels, Hint("keys are not sparse: no control of inverse kinematics takes any")
    return list(found.values()), Hint(f"keys left on {len(task.frames)} frames: {listed(told, 12)}")


def _controls(task: Task) -> Iterator[tuple[int, Control]]:
    """The controls of inverse kinematics, each with the index of its limb among the planned limbs."""
    for number, limb in enumerate(task.body.planned):
        for control in limb.controls if limb in task.controlled else ():
            leads = control.part in IK_PARTS and (control.part != "knee" or control.moves)
            if leads and (control.switch is None or control.switch.on):
                yield number, control


def _events(contacts: Mask) -> list[int]:
    """The rows on which a contact (F, 2) of heel or ball starts or ends, and the first and last row."""
    ends = ((start, end - 1) for _, start, end in column_runs(contacts))
    return sorted({0, len(contacts) - 1, *chain.from_iterable(ends)})


def _thinning(task: Task, seen: Sample, number: int, control: Control, channels: Sequence[Channel]) -> _Thinning:
    clip, place = seen.clip, seen.world(control.bone)[:, :3, 3]
    joints = [joint[:, number] for joint in (clip.ankle, clip.ball, clip.tip)]
    lever = max(length_of(joint - place).max() for joint in joints) / clip.leg
    placing = seen.placing[control.bone] / clip.leg if control.moves else None
    return _Thinning(channels, task.armature.pose.bones[control.bone].rotation_mode, placing, lever)
