# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run tells the user in the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bpy.types import Object
from ik2bone import report

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
