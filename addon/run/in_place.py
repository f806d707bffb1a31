# SPDX-License-Identifier: GPL-3.0-or-later
"""The output In Place: keys go into the action itself, which has no source afterwards."""

from collections.abc import Iterator
from math import ceil, floor

from ik2bone.arrays import Array

from ..errors import Refusal
from ..keys import fcurves
from ..keys.channels import Channel
from ..keys.keyframes import Frames
from ..progress import Stages
from . import records
from .output import Output, write_keys
from .refusals import refuse_unkeyable
from .task import blend, usual_blend
from .transaction import keep_curves


class InPlace(Output):
    """Plants the played action itself. Keys outside the frames stay, and corrections fade towards them."""

    def choose(self) -> None:
        self.source = self.target = self.played
        self.record = records.read(self.played.action)

    def shares(self, frames: Frames) -> Array | None:
        """Corrections fade at every end beyond which the action, or keys outside its manual frame range, go on."""
        render = self.context.scene.render
        usual = usual_blend(len(frames), render.fps / render.fps_base)
        first, last = self.source.curves.span() or self.bounds
        reach = min(self.bounds[0], floor(first)), max(self.bounds[1], ceil(last))
        return blend(frames, reach, (self.options.blend_in or usual, self.options.blend_out or usual))

    def read(self) -> list[Channel]:
        """Read the channels. Raises `Refusal` if keys would not show, or if curves outside the frames would change."""
        channels, curves = super().read(), self.source.curves
        refuse_unkeyable(curves, channels)
        for channel in channels:
            for curve in curves.of(channel.path):
                for frame, before in self.task.faded_ends:
                    trouble = fcurves.trouble_beyond(curve, frame, before)
                    if trouble:
                        raise Refusal(
                            f"the F-curve of {channel.name} of bone {channel.bone} {trouble}, "
                            f"so it cannot be cut at frame {frame} and keep its shape"
                        )
        return channels

    def told(self) -> Iterator[str]:
        """Sentences about other players of the action, which change with it, and about the source that it loses."""
        name, source = self.target.action.name, records.source_of(self.target.action)
        if source:
            yield (
                f"{name} is planted in place now, and no longer tied to its source {source.name}: "
                "planting into a new action starts from that again"
            )
        yield from self.told_of_players(self.target, True)

    def write(self, corrected: list[Channel]) -> Stages[None]:
        keep_curves(self.undo, self.target, corrected)
        bounds = int(self.task.frames[0]), int(self.task.frames[-1])
        return write_keys(self.target, self.task, corrected, bounds)
