# SPDX-License-Identifier: GPL-3.0-or-later
"""The output New Action: keys go into a copy of the action that stores a pointer to its source."""

from collections.abc import Iterator

from ..errors import listed
from ..keys import actions, fcurves
from ..keys import channels as keys
from ..keys.actions import Assignment, Curves
from ..keys.channels import Channel
from ..progress import Stages
from . import records
from .output import Derived, write_keys
from .transaction import keep_curves, keep_marks, switch, switch_to_copy


class NewAction(Derived):
    """Plants the source's motion into a planted action.

    `planted` is the action that an earlier run made from the source, or None. `again` means that the armature played
    `planted` before the run: then curves and frames that this run does not write stay. If it played the source, all of
    `planted` is replaced.
    """

    def choose_target(self) -> None:
        self.again = self.source is not self.played
        self.planted = self.played if self.again else records.planted_of(self.armature, self.source)
        self.target = self.played
        self.record = records.read(self.planted.action if self.planted else None)

    @property
    def shown(self) -> Assignment:
        return self.played

    @property
    def replaced(self) -> list[Curves]:
        """The curves of the source, which every run replaces in the planted action, and those of this action."""
        return [self.source.curves, self.target.curves]

    def told(self) -> Iterator[str]:
        """Sentences about other players of the source, and about replaced keys in the planted action."""
        if self.planted:
            yield from self._told_of_planted(self.planted)
        yield from self._told_of_repeating()
        yield from self.told_of_players(self.source, False)

    def _told_of_planted(self, planted: Assignment) -> Iterator[str]:
        curves, original = planted.curves, self.source.curves
        # Renaming a bone changes data paths only in actions that are assigned.
        strange = original.bones() - set(self.armature.pose.bones.keys())
        lost = strange - curves.bones() if self.again and strange else set()
        if lost:
            yield (
                f"{self.source.action.name} animates {listed(sorted(lost))}, which {self.armature.name} no longer has: "
                "give bones their old names, restore that action, and rename them then"
            )
        frames, paths = self.task.frames, [channel.path for channel in self.channels]
        if not self.again:
            frames, paths = self.task.whole, [curve.data_path for curve in curves]
        handmade = keys.count_handmade(curves, original, frames, paths)
        if handmade:
            yield "1 key made by hand was replaced" if handmade == 1 else f"{handmade} keys made by hand were replaced"
        yield from self.told_of_players(planted, planted.action.is_editable)

    def _told_of_repeating(self) -> Iterator[str]:
        """A sentence about curves that no longer repeat beyond the action, within the frames of the scene."""
        scene, (first, last), curves = self.context.scene, self.bounds, self.source.curves
        goes_on = scene.frame_start < first or scene.frame_end > last
        if goes_on and any(fcurves.repeats(curve) for channel in self.channels for curve in curves.of(channel.path)):
            yield (
                f"planted curves no longer repeat beyond frames {first} to {last} of "
                f"{self.source.action.name}: set its manual frame range to all that is to be planted"
            )

    def write(self, corrected: list[Channel]) -> Stages[None]:
        """Write the keys to the planted action, or to a new copy of the source, and make the armature play it."""
        self._open(corrected)
        return write_keys(self.target, self.task, corrected, self.bounds)

    def _open(self, corrected: list[Channel]) -> None:
        """Prepare the planted action for the keys of this run. It stays the same datablock for strips and scripts.

        A planted action that is linked from a library is copied.
        """
        if self.planted is None or not self.planted.action.is_editable:
            self.target = switch_to_copy(self.undo, self.armature, self.planted or self.source)
            return
        self.target = self.planted
        keep_curves(self.undo, self.planted, corrected if self.again else None)
        # `keep` sets the pointer again. Until then Blender would copy the source with every evaluation.
        keep_marks(self.undo, self.planted.action)
        records.mark(self.planted.action, {records.SOURCE: None})
        if not self.again:
            actions.overwrite(self.planted, self.source)
        switch(self.undo, self.armature, self.planted)
