# SPDX-License-Identifier: GPL-3.0-or-later
"""Sampling the poses of limbs over all frames, in bulk from F-curves or by stepping frames."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property

import bpy
import numpy as np
from bpy.types import Bone, Object, PoseBone
from ik2bone.arrays import Array, Mask
from ik2bone.clip import Clip
from ik2bone.kept import values_of
from ik2bone.rotations import inverse_of, is_flat, nearest_rotations
from mathutils import Matrix
from numpy.typing import NDArray

from ..bounded import Bounded
from ..errors import Refusal
from ..keys import actions
from ..keys.keyframes import Frames
from ..progress import Progress, Stages, finish, part_of
from ..rig.checks import CARRYING
from ..rig.limb import Limb
from . import curves
from .clip import clip_again, clip_of
from .evaluate import Poses, read_poses, rest_of, stepping
from .evaluate import present as present_pose

# A bone is flat, without an inverse, if the volume of its axes over the cube of their size is below this: ten times
# what rounding in single precision leaves of an axis scaled to zero.
FLAT = 1e-6
# Keys at infinity hold the largest number of single precision. Above its root, squares are infinite in that precision.
INFINITE = float(np.sqrt(np.finfo(np.float32).max))
# Up to this number of frames, stepping is as fast as reading F-curves and comparing spot frames.
FEW = 24
# The allowed difference from Blender's evaluation, as a share of the leg, of a bone's axes and of its channels.
SAME = 1e-5
# The limit on the frames of kept samples: 100 MB at 5 kB a frame.
FRAMES = 20_000


@dataclass(frozen=True)
class Sample:
    """The animation of an armature's limbs as Blender shows it.

    clip      what planting reads
    frames    (F,) whole frames of the scene
    names     bones in the order of `poses`: those of limbs and their controls, the hips, and parents of moved bones
    poses     poses of these bones
    placing   by bone whose location is keyed, (F, 3, 3): its way in world space for each unit of its location
    switches  constraints that switch controls, in the order of `poses.influences`
    in_bulk   whether F-curves were read instead of frames stepped
    channels  the values of these F-curves by data path
    """

    clip: Clip
    frames: Frames
    names: list[str]
    poses: Poses
    placing: dict[str, Array]
    switches: tuple[tuple[str, str], ...] = ()
    in_bulk: bool = False
    channels: Mapping[str, Array] = field(default_factory=dict)

    def world(self, bone: str) -> Array:
        """The world-space poses (F, 4, 4) of a bone."""
        return self.poses.world[:, self.names.index(bone)]

    def scale(self, bone: str) -> Array:
        """The own scale (F, 3) of a bone."""
        return self.poses.scale[:, self.names.index(bone)]

    def basis(self, bone: str) -> Array:
        """The channels (F, 4, 4) of a bone as matrices."""
        return self.poses.basis[:, self.names.index(bone)]

    def influence(self, switch: tuple[str, str]) -> Array:
        """The influence (F,) of a constraint that switches controls."""
        return self.poses.influences[:, self.switches.index(switch)]

    def cut(self, rows: slice) -> Sample:
        placing = {name: matrices[rows] for name, matrices in self.placing.items()}
        channels = {path: values[rows] for path, values in self.channels.items()}
        parts = {"clip": self.clip.cut(rows), "frames": self.frames[rows], "poses": self.poses.cut(rows)}
        return replace(self, placing=placing, channels=channels, **parts)


# Samples by the data that they were made from.
kept: Bounded[Sample] = Bounded(FRAMES)


@dataclass(frozen=True)
class Subject:
    """What is sampled: limbs of an armature, and the bone that moves the hips, or None."""

    armature: Object
    limbs: tuple[Limb, ...]
    hips: str | None

    @cached_property
    def moved(self) -> list[str]:
        """The bones whose location is keyed: loose feet, controls and the hips."""
        moved = [limb.foot for limb in self.limbs if limb.loose]
        moved += [control.bone for limb in self.limbs for control in limb.controls if control.moves]
        return moved + ([] if self.hips is None else [self.hips])

    @cached_property
    def names(self) -> list[str]:
        """The bones of limbs and controls, the hips, and the parents of bones that are moved."""
        controls = [control for limb in self.limbs for control in limb.controls]
        led = [control.bone for control in controls if control.part == "knee"]
        bones = self.armature.data.bones
        above = [bones[name].parent.name for name in (*self.moved, *led) if bones[name].parent]
        shown = [name for control in controls for name in (control.bone, control.goal) if name]
        return list(dict.fromkeys([*(name for limb in self.limbs for name in limb.bones), *shown, *self.moved, *above]))

    @property
    def switches(self) -> tuple[tuple[str, str], ...]:
        """The constraints that switch between controls, by bone and name."""
        found = (control.switch for limb in self.limbs for control in limb.controls if control.switch)
        return tuple(dict.fromkeys((switch.bone, switch.constraint) for switch in found))


def sample(armature: Object, limbs: Iterable[Limb], hips: str | None, frames: Sequence[int]) -> Sample:
    """The sample of the played action on whole frames of the scene, in ascending order; see `sampling`."""
    return finish(sampling(Subject(armature, tuple(limbs), hips), frames))


def sampling(
    subject: Subject,
    frames: Sequence[int],
    *,
    present: bool = False,
    before: Sample | None = None,
    keep: bool = False,
) -> Stages[Sample]:
    """Sample limbs in stages, in bulk from F-curves if nothing else moves them, else by stepping.

    A sample from F-curves is compared with Blender's evaluation on spot frames. With `before`, a sample of the same
    limbs from before they were keyed, that comparison is left to the caller. With `present` the pose is read as it
    stands in the scene, including channels set by hand; `frames` is the current frame alone then. With `keep` a sample
    from F-curves is kept, and a kept sample of the same data is returned.
    """
    of = subject.armature, subject.names
    played = actions.assigned(subject.armature).curves
    if present or len(frames) <= FEW or not curves.tell_all(*of, played):
        return (yield from _stepped(subject, frames, present))
    channels = yield from part_of(curves.read(*of, frames, played), 0.0, 0.4)
    told = _told(subject, frames, channels) if keep else None
    if keep and (same := kept.find(told)) is not None:
        return same
    yield Progress("measuring limbs", 0.4)
    poses = channels.poses
    if _are_broken(poses).any() or _are_flat(poses).any():
        return (yield from part_of(_stepped(subject, frames), 0.4, 1.0))
    found = _sample(subject, frames, poses, before and before.clip)
    found = replace(found, in_bulk=True, channels=channels.values)
    seen = found if before else (yield from part_of(proven(found, subject), 0.4, 1.0))
    return kept.put(told, found, len(frames)) if keep and seen is found else seen


def _told(subject: Subject, frames: Sequence[int], channels: curves.Channels) -> Hashable:
    """The key of a kept sample: all data that it is made from."""
    armature, render = subject.armature, bpy.context.scene.render
    of = rest_of(armature), np.array(armature.matrix_world, float), subject.limbs, subject.hips
    return values_of((channels, *of, np.array(frames), render.fps, render.fps_base))


def proven(found: Sample, subject: Subject, worst: Sequence[int] | None = None) -> Stages[Sample]:
    """The sample, if it agrees with Blender's evaluation on its ends and on some frames; else one by stepping.

    For a sample of keys that were just written, `worst` are these frames. A pose set by hand is lost then, as with any
    new key.
    """
    if not found.in_bulk:
        return found
    every = found.frames.tolist()
    spots = sorted({every[0], every[-1], *(worst or _spots(every))})
    if worst is None:
        with stepping(subject.armature) as step:
            seen = yield from part_of(read_poses(step, found.names, spots), 0.0, 0.1)
    else:
        # Without a `yield` in between, so that no redraw shows what the armature plays meanwhile.
        with curves.playing_alone(subject.armature, found.names), stepping(subject.armature) as step:
            seen = finish(read_poses(step, found.names, spots))
    if _agree(found, spots, seen):
        return found
    return (yield from part_of(_stepped(subject, every), 0.1, 1.0))


def _spots(frames: Sequence[int]) -> list[int]:
    """The first, the middle and the last frame, and three random ones, the same for every clip of this length."""
    rows = [0, len(frames) // 2, len(frames) - 1, *np.random.default_rng(len(frames)).integers(len(frames), size=3)]
    return [int(frames[row]) for row in sorted(set(rows))]


def _agree(found: Sample, frames: Sequence[int], seen: Poses) -> bool:
    """Whether channels and world-space poses agree with Blender's evaluation on some frames, within rounding."""
    rows = np.searchsorted(found.frames, frames)
    basis, off = found.poses.basis[rows], np.abs(found.poses.world[rows] - seen.world)
    far = 4.0 * np.finfo(np.float32).eps * np.abs(seen.world[..., :3, 3]).max()
    return bool(
        off[..., :3, 3].max() <= SAME * found.clip.leg + far
        and (off[..., :3, :3] <= SAME * np.linalg.norm(seen.world[..., :3, :3], axis=-2, keepdims=True)).all()
        and (np.abs(basis - seen.basis) <= SAME * np.abs(seen.basis).max(axis=(2, 3), keepdims=True)).all()
    )


def _stepped(subject: Subject, frames: Sequence[int], present: bool = False) -> Stages[Sample]:
    armature, names = subject.armature, subject.names
    with nullcontext(lambda _: present_pose(armature)) if present else stepping(armature) as step:
        poses = yield from read_poses(step, names, frames, subject.switches)
        _refuse_broken(poses, names, frames, step)
    return _sample(subject, frames, poses)


def _sample(subject: Subject, frames: Sequence[int], poses: Poses, before: Clip | None = None) -> Sample:
    armature, limbs, names = subject.armature, subject.limbs, subject.names
    world, scale = (dict(zip(names, parts.swapaxes(0, 1), strict=True)) for parts in (poses.world, poses.scale))
    bones = armature.pose.bones
    placing = {name: _placing(bones[name], names.index(name), poses, world) for name in subject.moved}
    # Stretched bones of a control rig do not pass their scale on to the next bones.
    world |= {name: _evenly_scaled(world[name]) for limb in limbs if limb.controls for name in limb.bones}
    scale |= {name: np.ones_like(scale[name]) for limb in limbs if limb.controls for name in limb.bones}
    given = armature, limbs, world, scale
    clip = clip_again(before, *given) if before else clip_of(*given, poses.placed[0, :3, 3])
    return Sample(clip, np.array(frames, np.int64), names, poses, placing, subject.switches)


def _evenly_scaled(matrices: Array) -> Array:
    """The poses (F, 4, 4) with orthogonal axes of equal lengths and unchanged volume."""
    even = matrices.copy()
    size = np.cbrt(np.linalg.det(matrices[:, :3, :3]))
    even[:, :3, :3] = size[:, None, None] * nearest_rotations(matrices[:, :3, :3])
    return even


def _placing(posed: PoseBone, index: int, poses: Poses, world: dict[str, Array]) -> Array:
    """A bone's ways in world space for each unit of its location, as columns (F, 3, 3).

    They follow from the bone's parent, because constraints may turn and scale the bone itself.
    """
    bone, parent, placed = posed.bone, posed.bone.parent, poses.placed
    if any(constraint.type in CARRYING and not constraint.mute for constraint in posed.constraints):
        return world[bone.name][:, :3, :3] @ inverse_of(poses.basis[:, index])[:, :3, :3]
    if curves.inherits_plainly(bone):
        rest = parent.matrix_local.inverted() @ bone.matrix_local if parent else bone.matrix_local
        return (world[parent.name] if parent else placed)[:, :3, :3] @ np.array(rest, float)[:3, :3]
    above = inverse_of(placed) @ world[parent.name] if parent else np.broadcast_to(np.eye(4), placed.shape)
    return placed[:, :3, :3] @ np.array([_location_axes(bone, Matrix(matrix)) for matrix in above])


def _refuse_broken(poses: Poses, names: list[str], frames: Sequence[int], step: Callable[[int], Object]) -> None:
    """Raise `Refusal` for poses with infinity, NaN or a scale of zero, with the bone and the frame."""
    for row in np.flatnonzero(_are_broken(poses))[:1]:
        culprit = _culprit(step(frames[row]), names)
        raise Refusal(f"{culprit} has a pose that is infinite or not a number on frame {frames[row]}")
    for row, bone in np.argwhere(_are_flat(poses))[:1]:
        raise Refusal(f"bone {names[bone]} is scaled to nothing on frame {frames[row]}")


def _are_broken(poses: Poses) -> Mask:
    """Whether a frame (F,) has infinity or NaN in any pose."""
    return ~(_are_numbers(poses.world) & _are_numbers(poses.basis)).all(axis=(1, 2, 3))


def _are_numbers(values: NDArray) -> Mask:
    return np.abs(values) < INFINITE


def _are_flat(poses: Poses) -> Mask:
    """Whether the axes of each bone (F, B) span almost no volume."""
    return is_flat(poses.world[..., :3, :3], FLAT) | is_flat(poses.basis[..., :3, :3], FLAT)


def _culprit(evaluated: Object, names: list[str]) -> str:
    """The topmost bone with infinity or NaN in its own channels, else the first with any in its pose, or the object."""
    for name in names:
        bone = evaluated.pose.bones[name]
        for ancestor in [*reversed(bone.parent_recursive), bone]:
            if not _are_numbers(np.array(ancestor.matrix_basis, float)).all():
                return f"bone {ancestor.name}"
    broken = [name for name in names if not _are_numbers(np.array(evaluated.pose.bones[name].matrix, float)).all()]
    return f"bone {broken[0]}" if broken else f"object {evaluated.name}"


def _location_axes(bone: Bone, above: Matrix) -> Array:
    """A bone's ways in armature space for each unit of its location, as columns (3, 3)."""
    options: dict = {}
    if bone.parent is not None:
        options = {"parent_matrix": above, "parent_matrix_local": bone.parent.matrix_local}

    def place(*location: float) -> Array:
        pose = bone.convert_local_to_pose(Matrix.Translation(location), bone.matrix_local, **options)
        return np.array(pose.translation, float)

    origin = place(0, 0, 0)
    return np.stack([place(1, 0, 0) - origin, place(0, 1, 0) - origin, place(0, 0, 1) - origin], axis=1)
