# SPDX-License-Identifier: GPL-3.0-or-later
"""What controls have to do so that a limb's own bones come to lie where a plan puts them.

A control carries its part of the limb rigidly, so that both move alike in the world. What else the rig does shows when
the keyed pose is evaluated; measured there, the same functions give what is missing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import ik2bone
import numpy as np
from bpy.types import Object
from ik2bone.arrays import Array, Mask
from ik2bone.clip import JOINTS, Clip
from ik2bone.rotations import (
    cofactors,
    dot,
    inverse_of,
    length_of,
    matrix_from_vector,
    move_points,
    nearest_rotations,
    quaternion_from_vector,
    turn_vectors,
    unit,
    vector_from_matrix,
)

from ..pose.sample import Sample
from .limb import Control, Limb

# Joints that lie nearer than this share of the leg to where the plan puts them are right.
RIGHT = 1e-3
# Sine of the angle (1 degree) by which a knee is bent at least where it tells its direction: single precision leaves
# 1e-5 of the angle about the line from hip to ankle then.
STRAIGHT = 0.02


@dataclass(frozen=True)
class Aim:
    """A limb as it is `seen` and as it is `wanted` on the same frames; `number` is its place among those.

    Frames of `moves` (F,) change, all others stay as they are. With `again` the controls have been keyed before, and
    what is left between the two is to be corrected. `hips` are a bone that carries all legs and is keyed too.
    """

    armature: Object
    limb: Limb
    number: int
    seen: Sample
    wanted: Clip
    moves: Mask
    hips: str | None
    again: bool = False

    def corrections(self) -> Iterator[tuple[Control, Array, Array]]:
        """For each control the turns (F, 4) of its rotation, on the right, and what its location gains (F, 3)."""
        for control in self.limb.controls:
            if control.part != "knee" or self.rolls:
                yield control, self._turns(control), self._shift(control)

    @cached_property
    def rolls(self) -> bool:
        """Whether the knee points elsewhere than it should, which only the evaluated pose tells."""
        hip, knee = self.wanted.hip[:, self.number], self.wanted.knee[:, self.number]
        axis = unit(self.wanted.ankle[:, self.number] - hip)
        off = np.abs(self._angle) * length_of(np.cross(axis, knee - hip))
        return self.again and bool(off[self.moves].max(initial=0.0) > RIGHT * self._clip.leg)

    @property
    def _clip(self) -> Clip:
        return self.seen.clip

    def _turns(self, control: Control) -> Array:
        """How the control turns within what carries it."""
        if not control.turns:
            return np.tile([1.0, 0.0, 0.0, 0.0], (len(self.moves), 1))
        if control.part == "knee":
            carried, turned = self._start(control)
        else:
            axes = self.seen.world(control.bone)[:, :3, :3] / self.seen.scale(control.bone)[:, None]
            carried, turned = (motion[:, :3, :3] @ axes for motion in (self._carried(control), self._motion(control)))
        # The adjugate is the inverse but for a factor, and takes no threads, as numpy.linalg.solve does.
        local = nearest_rotations(np.swapaxes(cofactors(carried)[0], 1, 2) @ turned)
        return quaternion_from_vector(vector_from_matrix(local) * self._acts(control)[:, None])

    def _start(self, control: Control) -> tuple[Array, Array]:
        """The axes (F, 3, 3) of a bone from which inverse kinematics starts, and those that lead the knee.

        Bones of the limb itself start where they are to end; any other bone is rolled.
        """
        bone, wanted = self.armature.data.bones[control.bone], self.wanted
        parts = {self.limb.thigh: wanted.thigh, self.limb.shin: wanted.shin}
        above = wanted.thigh[:, self.number] if control.bone == self.limb.shin else self.seen.world(bone.parent.name)
        within = np.array(bone.parent.matrix_local.inverted() @ bone.matrix_local)
        start = (above @ within @ self.seen.basis(control.bone))[:, :3, :3]
        if control.bone in parts:
            return start, parts[control.bone][:, self.number, :3, :3]
        return start, self._parts["knee"][:, :3, :3] @ start

    def _shift(self, control: Control) -> Array:
        """How far the control moves within what carries it, in its location channel."""
        if not control.moves:
            return np.zeros((len(self.moves), 3))
        place, above = self.seen.world(control.bone)[:, :3, 3], self._carried(control)
        way = move_points(self._motion(control), place) - move_points(above, place)
        axes = above[:, :3, :3] @ self.seen.placing[control.bone]
        return np.linalg.solve(axes, way[..., None])[..., 0] * self._acts(control)[:, None]

    def _motion(self, control: Control) -> Array:
        """How the control moves in the world (F, 4, 4), where its keys show; nowhere else."""
        motion = self._parts[control.part]
        if control.goal and not self.again:
            motion = self._to_goal(control, motion)
        return np.where(self._acts(control)[:, None, None], motion, np.eye(4))

    def _acts(self, control: Control) -> Mask:
        """On which frames the control is to change, and its keys show."""
        if control.switch is None:
            return self.moves
        influence = self.seen.influence(control.switch[:2])
        if control.part == "knee":
            # Between both sets the same bones may be keyed for the other one.
            return self.moves & (influence == 1.0)
        return self.moves & (influence > 0.0 if control.switch.on else influence < 1.0)

    def _to_goal(self, control: Control, motion: Array) -> Array:
        """The same turn that brings what draws the ankle to where the ankle is wanted.

        A leg may not have reached so far, so that its ankle lies elsewhere.
        """
        bones = self.armature.data.bones
        rest = bones[self.limb.foot].matrix_local.inverted() @ bones[control.goal].head_local
        wanted = move_points(self.wanted.foot[:, self.number], np.array(rest))
        return _about(motion[:, :3, :3], self.seen.world(control.goal)[:, :3, 3], wanted)

    @cached_property
    def _parts(self) -> dict[str, Array]:
        """How the parts of the limb move (F, 4, 4)."""
        seen, wanted = (
            {part: getattr(clip, part)[:, self.number] for part in JOINTS} for clip in (self._clip, self.wanted)
        )
        parts = {}
        for part in JOINTS:
            turn = nearest_rotations((wanted[part] @ inverse_of(seen[part]))[:, :3, :3])
            parts[part] = _about(turn, seen[part][:, :3, 3], wanted[part][:, :3, 3])
        still = np.broadcast_to(np.eye(3), turn.shape)
        parts["ankle"] = _about(still, seen["foot"][:, :3, 3], wanted["foot"][:, :3, 3])
        parts["hips"] = _about(still, seen["thigh"][:, :3, 3], wanted["thigh"][:, :3, 3])
        return parts | {"knee": self._roll()}

    def _roll(self) -> Array:
        """The turn about the line from hip to ankle that brings the knee where it is wanted."""
        hip = self.wanted.hip[:, self.number]
        axis = unit(self.wanted.ankle[:, self.number] - hip)
        return _about(matrix_from_vector(self._angle[:, None] * axis), hip, hip)

    @cached_property
    def _angle(self) -> Array:
        """How far the knee is to be turned about the line from hip to ankle (F,), radians.

        On frames on which the leg is all but straight, in between what it is beside them.
        """
        joints = [
            [joint[:, self.number] for joint in (clip.hip, clip.knee, clip.ankle)] for clip in (self._clip, self.wanted)
        ]
        seen, wanted = (ik2bone.pole_of(*limb) for limb in joints)
        axis = unit(joints[1][2] - joints[1][0])
        angle = np.arctan2(dot(axis, np.cross(seen, wanted)), dot(seen, wanted))
        bent = np.flatnonzero(np.all([_is_bent(*limb) for limb in joints], axis=0))
        return np.interp(np.arange(len(angle)), bent, np.unwrap(angle[bent])) if len(bent) else np.zeros(len(angle))

    def _carried(self, control: Control) -> Array:
        """How the control would move (F, 4, 4) with the next bone above it that this run moves."""
        limb = {name: part for part, name in zip(JOINTS, (*self.limb.turned, self.limb.toe), strict=False)}
        keyed = {each.bone: each for each in self.limb.controls if each.part != "knee" and each.bone not in limb}
        for bone in self.armature.data.bones[control.bone].parent_recursive:
            if bone.name in keyed:
                return self._motion(keyed[bone.name])
            if bone.name in limb:
                return self._limb_motion(limb[bone.name])
            if bone.name == self.hips and not self.again:
                return np.where(self.moves[:, None, None], self._parts["hips"], np.eye(4))
        return np.tile(np.eye(4), (len(self.moves), 1, 1))

    def _limb_motion(self, part: str) -> Array:
        """How a bone of the limb itself moves: where it is left as it is, nowhere."""
        moves = self.moves
        if self.again and not self.rolls and part in ("thigh", "shin"):
            forward = [self._acts(each) for each in self.limb.controls if each.part == part]
            moves = np.any([np.zeros_like(moves), *forward], axis=0)
        return np.where(moves[:, None, None], self._parts[part], np.eye(4))


def _is_bent(hip: Array, knee: Array, ankle: Array) -> Mask:
    """On which frames (F,) the knee tells where it points."""
    upper, lower = knee - hip, ankle - knee
    return length_of(np.cross(upper, lower)) > STRAIGHT * length_of(upper) * length_of(lower)


def _about(turn: Array, place: Array, wanted: Array) -> Array:
    """The motions (F, 4, 4) that turn (F, 3, 3) and bring places (F, 3) where they are wanted (F, 3)."""
    motion = np.tile(np.eye(4), (len(turn), 1, 1))
    motion[:, :3, :3] = turn
    motion[:, :3, 3] = wanted - turn_vectors(motion, place)
    return motion


def misses(number: int, seen: Clip, wanted: Clip) -> dict[str, Array]:
    """How far ankle, ball and knee of a limb lie (F,) from where they are wanted."""
    return {
        name: length_of(getattr(seen, name)[:, number] - getattr(wanted, name)[:, number])
        for name in ("ankle", "ball", "knee")
    }


def stretch(number: int, seen: Clip, wanted: Clip) -> float:
    """By which share the upper or lower bone of a limb is longer or shorter than wanted, at most."""
    joints = [[clip.hip[:, number], clip.knee[:, number], clip.ankle[:, number]] for clip in (seen, wanted)]
    lengths = [[length_of(b - a) for a, b in zip(row, row[1:], strict=False)] for row in joints]
    return float(np.abs(np.divide(*lengths) - 1.0).max())
