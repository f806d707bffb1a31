# SPDX-License-Identifier: GPL-3.0-or-later
"""The output New Action: keys go into a copy of the action, which remembers its source.

What is written goes into a draft, which is kept only when every armature was planted; or straight into the planted
action that the armature plays, whose curves are put back otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..keys import actions, fcurves
from ..keys import channels as keys
from ..keys.actions import Assignment
from ..keys.channels import Channel
from ..pose.sample import Sample
from ..rig.body import find_armatures
from ..stages import Stages
from . import records
from .frames import blend
from .output import Output, read_channels, write_keys
from .seams import tell_steps
from .task import Array, Plan, Report, Task
from .transaction import copy_playing, curves_kept_on_error, draft_of, marks_kept_on_error, playing


class NewAction(Output):
    """Plants the source's motion, not what an earlier run made of it.

    `planted` is the action planted from the source before, if any. `again` means that the armature plays it, so that
    what this run does not write stays as it is there; an armature that plays the source gets it planted afresh.
    """

    def choose(self, played: Assignment) -> None:
        """The source of what the armature plays, or that itself."""
        origin = records.origin_of(played.action)
        self.again = origin is not None
        self.source = actions.counterpart(played, origin) if origin else played
        self.planted = played if origin else records.planted_of(self.armature, self.source)
        self.target = played
        self.record = records.read(self.planted.action if self.planted else None)

    @contextmanager
    def showing(self) -> Iterator[None]:
        """Let the armature play the source, in the pose that it does not animate."""
        with playing(self.armature, self.source):
            records.put_back(self.armature, self.record)
            yield

    def shares(self, frames: keys.Frames) -> Array | None:
        """Corrections come and go over as many frames as are asked for."""
        return blend(frames, self.bounds, (self.options.blend_in, self.options.blend_out))

    def read(self, task: Task) -> list[Channel]:
        """The hips' location too where it moves, or did so in an earlier run."""
        known = {path: values for path, values in self.record["channels"].items() if values is not None}
        hips = self.armature.pose.bones.get(task.body.hips or "")
        moved = self.again and hips and hips.path_from_id("location") in self.record["channels"]
        return read_channels(task, actions.curves_of(self.source), known, task.moves_hips or bool(moved))

    def offset(self, task: Task, before: Sample, read: list[Channel]) -> Stages[Array | None]:
        """Seen on a copy, because what is written twice over a key would round its handles twice."""
        if self.planted is None or not self.again or task.moves_hips:
            return None
        with copy_playing(self.armature, self.planted) as copy:
            yield from self._write(copy, task, read, read)
            moved = yield from task.sample()
            return moved.clip.hip - before.clip.hip

    def write(self, task: Task, read: list[Channel], corrected: list[Channel]) -> Stages[None]:
        """Into what plays from here on."""
        self.replaced = list(self._told_of_planted(task, read))
        if self.planted is not None and self.again:
            self.undo.enter_context(curves_kept_on_error(self.planted, {channel.path for channel in read}))
            return self._write(self.planted, task, read, corrected)
        self.draft = self.undo.enter_context(draft_of(self.armature, self.target))
        return self._write(self.draft, task, read, corrected)

    def _write(self, assignment: Assignment, task: Task, read: list[Channel], channels: list[Channel]) -> Stages[None]:
        return write_keys(assignment, task, channels, self.bounds, self._unkeyed(read))

    def _unkeyed(self, read: list[Channel]) -> dict[str, list[float]]:
        return keys.unkeyed_values(actions.curves_of(self.source), read)

    def told(self, task: Task, read: list[Channel], before: Sample) -> Iterator[str]:
        """Who goes on playing the source, and what was replaced in the planted action."""
        yield from self.replaced
        yield from self._told_of_repeating(read)
        name = self.source.action.name
        # Those that this run plants too get planted actions of their own.
        planted = {armature.name for armature in find_armatures(self.context)}
        others = [other for other in actions.others_playing(self.source, self.armature) if other not in planted]
        if others:
            yield f"{', '.join(others)} also plays {name} and goes on doing so"
        strips = actions.strips_of(self.source.action)
        if strips:
            yield f"NLA strips keep playing {name}: {', '.join(strips)}"
        yield from tell_steps(task, before.clip)

    def _told_of_planted(self, task: Task, read: list[Channel]) -> Iterator[str]:
        if self.planted is None:
            return
        curves, original = actions.curves_of(self.planted), actions.curves_of(self.source)
        frames, paths = task.frames, [channel.path for channel in read]
        if not self.again:
            frames, paths = task.whole, [curve.data_path for curve in curves]
        handmade = keys.count_handmade(curves, original, frames, paths)
        if handmade:
            yield f"{handmade} keys made by hand were replaced"
        others = actions.others_playing(self.planted, self.armature)
        if others:
            yield f"{', '.join(others)} also plays {self.planted.action.name} and changes with it"

    def _told_of_repeating(self, read: list[Channel]) -> Iterator[str]:
        """A sentence about curves that no longer go on beyond the action where the scene does."""
        scene, (first, last), paths = self.context.scene, self.bounds, {channel.path for channel in read}
        goes_on = scene.frame_start < first or scene.frame_end > last
        curves = actions.curves_of(self.source)
        if goes_on and any(curve.data_path in paths and fcurves.repeats(curve) for curve in curves):
            yield (
                f"planted curves no longer repeat beyond frames {first} to {last} of "
                f"{self.source.action.name}: set its manual frame range to all that is to be planted"
            )

    def keep(self, task: Task, _plan: Plan, read: list[Channel], report: Report) -> None:
        """Make the draft the planted action, or an earlier one equal to it: strips and scripts may point to that."""
        record = records.as_text(self._record(task, read, report))
        source = self.source.action
        self.undo.enter_context(marks_kept_on_error(source))
        if self.planted is None:
            self.draft.action.name = f"{source.name}.planted"
            records.store(self.draft.action, source, record)
            return
        self.undo.enter_context(marks_kept_on_error(self.planted.action))
        if not self.again:
            self.undo.enter_context(curves_kept_on_error(self.planted))
            actions.overwrite(self.planted, self.draft)
        records.store(self.planted.action, source, record)
        actions.assign(self.armature, self.planted)

    def _record(self, task: Task, read: list[Channel], report: Report) -> records.Record:
        unkeyed = self._unkeyed(read)
        # Planted afresh, the action is a copy of its source without what earlier runs wrote.
        channels = self.record["channels"] if self.again else {}
        channels = channels | {channel.path: unkeyed.get(channel.path) for channel in read}
        return self.new_record(self.source.action, channels) | {
            "contacts": self.all_rows(task, report.contacts, self.again),
            "report": report.figures,
        }
