# SPDX-License-Identifier: GPL-3.0-or-later
"""Corrections of controls that bring the bones of a limb to where a plan wants them.

A control is assumed to carry its part of the limb rigidly, so that both move alike in the world. Other effects of the
rig show in the evaluated pose with the new keys. From that pose the same functions compute the remaining corrections.
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

# A joint is right if its distance from its place in the plan is less than this share of the leg.
RIGHT = 1e-3
# A knee has a direction if it is bent by more than this sine (1 degree). Single precision then leaves an error of 1e-5
# in the angle about the line from hip to ankle.
STRAIGHT = 0.02


@dataclass(frozen=True)
class Aim:
    """A limb in the `seen` and the `wanted` clip, from which the corrections of its controls are computed.

    `number` is the index of the limb in both clips. The controls change on the frames of `moves` (F,) alone. `hips` is
    a bone that carries all legs and is keyed too, or None. With `again` the controls have been keyed before, and the
    remaining difference between the two clips is corrected.
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
        """Each control with corrections (F, 4) on the right of its rotation, and offsets (F, 3) of its location."""
        for control in self.limb.controls:
            if control.part != "knee" or self.rolls:
                yield control, self._turns(control), self._shift(control)

    @cached_property
    def rolls(self) -> bool:
        """Whether the knee points in a wrong direction. Only the evaluated pose shows this: False without `again`."""
        hip, knee = self.wanted.hip[:, self.number], self.wanted.knee[:, self.number]
        axis = unit(self.wanted.ankle[:, self.number] - hip)
        off = np.abs(self._angle) * length_of(np.cross(axis, knee - hip))
        return self.again and bool(off[self.moves].max(initial=0.0) > RIGHT * self._clip.leg)

    @property
    def _clip(self) -> Clip:
        return self.seen.clip

    def _turns(self, control: Control) -> Array:
        """The corrections (F, 4) of a control's rotation, relative to the bone that carries the control."""
        if not control.turns:
            return np.tile([1.0, 0.0, 0.0, 0.0], (len(self.moves), 1))
        if control.part == "knee":
            carried, turned = self._start(control)
        else:
            axes = self.seen.world(control.bone)[:, :3, :3] / self.seen.scale(control.bone)[:, None]
            carried, turned = (motion[:, :3, :3] @ axes for motion in (self._carried(control), self._motion(control)))
        # The adjugate is the inverse up to a factor. Unlike numpy.linalg.solve it starts no threads.
        local = nearest_rotations(np.swapaxes(cofactors(carried)[0], 1, 2) @ turned)
        return quaternion_from_vector(vector_from_matrix(local) * self._acts(control)[:, None])

    def _start(self, control: Control) -> tuple[Array, Array]:
        """The axes (F, 3, 3) of a bone before inverse kinematics, and the axes that it needs for the wanted knee.

        A bone of the limb needs the axes that it is to have in the end. Any other bone is rolled with the knee.
        """
        bone, wanted = self.armature.data.bones[control.bone], self.wanted
        parts = {self.limb.thigh: wanted.thigh, self.limb.shin: wanted.shin}
        above = wanted.thigh[:, self.number] if control.bone == self.limb.shin else self.seen.world(bone.parent.name)
        within = np.array(bone.parent.matrix_local.inverted() @ bone.matrix_local, float)
        start = (above @ within @ self.seen.basis(control.bone))[:, :3, :3]
        if control.bone in parts:
            return start, parts[control.bone][:, self.number, :3, :3]
        return start, self._parts["knee"][:, :3, :3] @ start

    def _shift(self, control: Control) -> Array:
        """The offsets (F, 3) of a control's location channel, relative to the bone that carries the control."""
        if not control.moves:
            return np.zeros((len(self.moves), 3))
        place, above = self.seen.world(control.bone)[:, :3, 3], self._carried(control)
        way = move_points(self._motion(control), place) - move_points(above, place)
        axes = above[:, :3, :3] @ self.seen.placing[control.bone]
        return np.linalg.solve(axes, way[..., None])[..., 0] * self._acts(control)[:, None]

    def _motion(self, control: Control) -> Array:
        """The motion (F, 4, 4) of a control in the world; the identity on frames on which it does not change."""
        motion = self._parts[control.part]
        if control.goal and not self.again:
            motion = self._to_goal(control, motion)
        return np.where(self._acts(control)[:, None, None], motion, np.eye(4))

    def _acts(self, control: Control) -> Mask:
        """The frames (F,) on which a control is to change and its keys show."""
        if control.switch is None:
            return self.moves
        influence = self.seen.influence(control.switch[:2])
        if control.part == "knee":
            # At partial influence the same bones may be keyed for the other set of controls.
            return self.moves & (influence == 1.0)
        return self.moves & (influence > 0.0 if control.switch.on else influence < 1.0)

    def _to_goal(self, control: Control, motion: Array) -> Array:
        """The turns of `motion`, with translations that bring the control's goal bone to the wanted foot.

        The translations of `motion` start at the seen ankle, which is not at the goal if the leg does not reach it.
        """
        bones = self.armature.data.bones
        rest = bones[self.limb.foot].matrix_local.inverted() @ bones[control.goal].head_local
        wanted = move_points(self.wanted.foot[:, self.number], np.array(rest, float))
        return _about(motion[:, :3, :3], self.seen.world(control.goal)[:, :3, 3], wanted)

    @cached_property
    def _parts(self) -> dict[str, Array]:
        """The motions (F, 4, 4) of the parts of the limb in the world, from the seen to the wanted clip."""
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
        """The motion (F, 4, 4) that turns the knee about the line from hip to ankle to where it is wanted."""
        hip = self.wanted.hip[:, self.number]
        axis = unit(self.wanted.ankle[:, self.number] - hip)
        return _about(matrix_from_vector(self._angle[:, None] * axis), hip, hip)

    @cached_property
    def _angle(self) -> Array:
        """The angle (F,) in radians by which the knee is to be turned about the line from hip to ankle.

        On frames on which the leg is almost straight, the angle is interpolated between other frames.
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
        """The motion (F, 4, 4) that a control inherits from the nearest bone above it that this run moves."""
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
        """The motion (F, 4, 4) of a bone of the limb; the identity on frames on which it does not change."""
        moves = self.moves
        if self.again and not self.rolls and part in ("thigh", "shin"):
            forward = [self._acts(each) for each in self.limb.controls if each.part == part]
            moves = np.any([np.zeros_like(moves), *forward], axis=0)
        return np.where(moves[:, None, None], self._parts[part], np.eye(4))


def _is_bent(hip: Array, knee: Array, ankle: Array) -> Mask:
    """The frames (F,) on which the knee is bent enough to have a direction."""
    upper, lower = knee - hip, ankle - knee
    return length_of(np.cross(upper, lower)) > STRAIGHT * length_of(upper) * length_of(lower)


def _about(turn: Array, place: Array, wanted: Array) -> Array:
    """The motions (F, 4, 4) with rotations `turn` (F, 3, 3) that bring points from `place` to `wanted` (F, 3)."""
    motion = np.tile(np.eye(4), (len(turn), 1, 1))
    motion[:, :3, :3] = turn
    motion[:, :3, 3] = wanted - turn_vectors(motion, place)
    return motion


def misses(number: int, seen: Clip, wanted: Clip) -> dict[str, Array]:
    """The distances (F,) of ankle, ball and knee of limb `number` from where they are wanted, by name."""
    return {
        name: length_of(getattr(seen, name)[:, number] - getattr(wanted, name)[:, number])
        for name in ("ankle", "ball", "knee")
    }


def stretch(number: int, seen: Clip, wanted: Clip) -> float:
    """The greatest share by which the upper or lower bone of limb `number` is longer or shorter than wanted."""
    joints = [[clip.hip[:, number], clip.knee[:, number], clip.ankle[:, number]] for clip in (seen, wanted)]
    lengths = [[length_of(b - a) for a, b in zip(row, row[1:], strict=False)] for row in joints]
    return float(np.abs(np.divide(*lengths) - 1.0).max())
