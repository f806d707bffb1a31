# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run tells the user in the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bpy.types import Object, PoseBone
from ik2bone import report

from ..errors import listed
from ..keys import fcurves
from ..keys.actions import Curves
from ..keys.channels import Channel

OWN_FLOOR = "no surface was found: planted on the clip's own floor"


@dataclass(frozen=True)
class Outcome:
    """What the user is told: a line for each armature, whether it is a warning, and the add-on's own share of it."""

    summary: str
    is_warning: bool
    warnings: tuple[str, ...]


def outcome_of(figures: dict[str, Any], warnings: tuple[str, ...]) -> Outcome:
    """What to tell of a report's figures."""
    worse = any(note["code"].startswith("worse") for note in figures["notes"])
    return Outcome(report.summary(figures), bool(warnings or worse or figures["after"]["short_frames"]), warnings)


def told_of_locks(armature: Object, curves: Curves, channels: Sequence[Channel]) -> Iterator[str]:
    """Sentences about locks and mutes of the user's that the keys of some channels pass over."""
    bones = {channel.bone: None for channel in channels if _is_locked(armature.pose.bones[channel.bone], channel.name)}
    if bones:
        yield f"keyed though locked on the bones: {listed(list(bones))}"
    for name, is_so in (("locked", fcurves.is_locked), ("muted", fcurves.is_muted)):
        found = {c.bone: None for c in channels for i in c.indices if (f := curves.find(c.path, i)) and is_so(f)}
        if found:
            yield f"{name} F-curves were replaced, those of {listed(list(found))}"


def _is_locked(bone: PoseBone, name: str) -> bool:
    """Whether the user has locked any part of the bone's location or rotation."""
    if name == "location":
        return any(bone.lock_location)
    return any(bone.lock_rotation) or (name != "rotation_euler" and bone.lock_rotation_w)


def together(armatures: Sequence[Object], outcomes: Sequence[Outcome]) -> Outcome:
    """One outcome of several, each told on a line of its own by the name of its armature."""
    if len(outcomes) == 1:
        return outcomes[0]
    told = list(zip((armature.name for armature in armatures), outcomes, strict=True))
    return Outcome(
        "\n".join(f"{name}: {outcome.summary}" for name, outcome in told),
        any(outcome.is_warning for outcome in outcomes),
        tuple(f"{name}: {warning}" for name, outcome in told for warning in outcome.warnings),
    )
