# SPDX-License-Identifier: MIT
"""The plan that planting makes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from . import checks
from .anchors.anchor import Anchor
from .arrays import Array, Indices, Mask
from .clip import JOINTS, Clip
from .ground.query import Ground, cut_ground
from .kept import Kept
from .notes import Note
from .reach import SHORT_NOTES, tell_short
from .rotations import corrected, move_points
from .sole.measure import Sole
from .targets.blend import Targets

# The arrays of a plan that have a row for each frame.
BY_FRAME = ("rotations", "hips_offset", "contacts", "resting", "enforced", "miss", "strength")


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """The changes to a clip of F frames and L legs that make its feet stand on the ground.

    rotations    corrections of thigh, shin, foot and toe (F, L, 4, 4), quaternions w, x, y, z in the last dimension, to
                 be multiplied on the right of the joints' present local rotations
    hips_offset  how far the hips move (F, 3), world space
    contacts     which heels and balls stand (F, L, 2)
    resting      `contacts`, and the contacts that only the ground or the reach of the legs prevents (F, L, 2)
    enforced     the contacts that users enforce (F, L, 2)
    miss         the distance of each ankle from its target (F, L)
    strength     the share of the whole correction that each frame gets (F,)
    notes        what the user should know; `str(note)` is a sentence

    All lengths are in the clip's unit. In addition, `targets` are the places where the feet should go, and `sole` the
    soles as they were measured. `locked` (L,) is False for limbs that follow the ground without an anchor. `asked` (L,)
    tells which limbs notes count. `nearest` is True if surfaces were looked for in any direction. `max_slope` (radians)
    is the steepest slope on which feet stand. `clip` and `ground` are the clip and the ground of the plan, and `kept`
    holds results for plans with other settings.
    """

    rotations: Array
    hips_offset: Array
    contacts: Mask
    resting: Mask
    enforced: Mask
    targets: Targets
    sole: Sole
    miss: Array
    strength: Array
    locked: Mask
    asked: Mask
    nearest: bool
    max_slope: float
    clip: Clip
    ground: Ground
    notes: tuple[Note, ...] = ()
    kept: Kept | None = None

    def __repr__(self) -> str:
        frames, legs = self.miss.shape
        return f"<Plan: {frames} frames, {legs} legs, {len(self.anchors)} contacts, {len(self.notes)} notes>"

    @cached_property
    def anchors(self) -> tuple[Anchor, ...]:
        """The anchors of all contacts: where each standing heel or ball is held."""
        return tuple(anchor for anchor in self.targets.anchors if anchor.part != "swing")

    @property
    def touching(self) -> Mask:
        """Which limbs (L,) touch with one point instead of a sole."""
        return self.clip.is_hand | self.nearest

    def apply(self, clip: Clip) -> Clip:
        """The planted clip: transforms after the corrections and the move of the hips.

        `clip` is the planned clip, or another sample of the same motion, such as a more exact one.
        """
        checks.kind("clip", clip, Clip, "a Clip")
        if (clip.frames, clip.legs) != self.miss.shape:
            wanted, got = ("{} frames and {} legs".format(*shape) for shape in (self.miss.shape, clip.thigh.shape))
            raise ValueError(f"clip: expected the {wanted} that were planned, got {got}")
        matrices = np.stack([getattr(clip, name) for name in JOINTS], axis=2)
        planted, moves = corrected(matrices, self.rotations, clip.scale, self.hips_offset[:, None])
        ball, tip = move_points(moves[:, :, 2], clip.ball), move_points(moves[:, :, 3], clip.tip)
        return clip.having(**dict(zip(JOINTS, np.moveaxis(planted, 2, 0), strict=True)), ball=ball, tip=tip)

    def report(self) -> dict[str, Any]:
        """Figures of the clip before and after planting, as plain data; `ik2bone.report.text` makes text of them."""
        from .report import figures  # built on this module

        return figures(self.clip, self.apply(self.clip), self, self.ground)

    def cut(self, frames: slice) -> Plan:
        """The same plan over some of its frames, without the anchors outside; the plan itself if these are all."""
        checks.kind("frames", frames, slice, "a slice")
        first, last, step = frames.indices(len(self.miss))
        if (first, last, step) == (0, len(self.miss), 1):
            return self
        checks.part("frames", frames, len(self.miss))
        if step != 1:
            raise ValueError(f"frames: expected a slice of frames that follow one another, got {frames}")
        parts = {name: getattr(self, name)[frames] for name in BY_FRAME}
        parts |= {"clip": self.clip.cut(frames), "ground": cut_ground(self.ground, frames)}
        # This note is about the first frame alone.
        notes = [note for note in self.notes if first == 0 or note.code != "calibration_pose"]
        # These notes count frames.
        short = {note.code: note for note in tell_short(parts["miss"] * self.asked, self.clip.is_hand, self.clip.leg)}
        notes = [short.get(note.code, note) for note in notes if note.code not in SHORT_NOTES or note.code in short]
        return replace(self, **parts, notes=tuple(notes), targets=self.targets.cut(first, last))

    def held(self, starts: Indices, frames: Indices) -> Plan:
        """The same plan with each frame's row taken from the one of `frames` (F,) that its pose is planted by; `starts`
        (F,) are the first frames of the poses.

        A contact that is interrupted during a pose ends before that pose.
        """
        rows = {name: getattr(self, name)[frames] for name in BY_FRAME}
        first, pose = np.unique(starts, return_inverse=True)
        for name in ("contacts", "resting", "enforced"):
            stands, whole = rows[name][first], np.logical_and.reduceat(getattr(self, name), first, axis=0)
            stands[:-1] &= whole[:-1] | ~stands[1:]
            rows[name] = stands[pose]
        # Any of the three may be interrupted alone.
        rows["resting"], rows["enforced"] = rows["resting"] | rows["contacts"], rows["enforced"] & rows["contacts"]
        return replace(self, **rows, targets=self.targets.held(frames))

    def choose(self, limbs: Mask) -> Plan:
        """The same plan of some of its limbs (L,); the plan itself if these are all limbs."""
        limbs = checks.some("limbs", limbs, len(self.locked))
        if limbs.all():
            return self
        parts = {name: getattr(self, name)[:, limbs] for name in BY_FRAME if name not in ("hips_offset", "strength")}
        parts |= {name: getattr(self, name).choose(limbs) for name in ("targets", "sole", "clip")}
        return replace(self, **parts, locked=self.locked[limbs], asked=self.asked[limbs])

    def led_by(self, first: Plan) -> Plan:
        """The same plan after the frames of another one."""
        rows: dict[str, Any] = {name: np.concatenate([getattr(first, name), getattr(self, name)]) for name in BY_FRAME}
        return replace(self, **rows, targets=self.targets.led_by(first.targets))

    def noting(self, code: str, **data: Any) -> Plan:
        """The same plan with one more note."""
        return replace(self, notes=(*self.notes, Note(code, data)))
