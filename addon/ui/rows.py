# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts on the action that is shown, and the words and colours of their states."""

import re
from functools import lru_cache
from typing import Any

from bpy.types import Context, Scene

from ..keys.actions import preview_range
from ..run.contacts import Rows
from .panel import shown_record

Colour = tuple[float, float, float, float]

STATES = (
    ("automatic", "Automatic", "Found by the last run, and found anew by the next one", "DOT", 0),
    ("enforced", "Pinned", "The foot stands there, even if it moves in the clip", "PINNED", 1),
    ("forbidden", "Lifted", "The foot never stands there", "X", 2),
)
NUMBERS = {state[0]: state[4] for state in STATES}
NAMES = {state[0]: state[1] for state in STATES}
COLOURS: dict[str, Colour] = {
    "automatic": (0.35, 0.75, 1.0, 1.0),
    "enforced": (0.3, 0.9, 0.35, 1.0),
    "forbidden": (0.95, 0.35, 0.3, 1.0),
}
# The colour of contacts and paths that are out of reach.
SHORT: Colour = (1.0, 0.1, 0.1, 1.0)
# Words in the name of a bone: "mixamorig:LeftFoot" has mixamorig, Left and Foot.
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def rows_on(context: Context) -> Rows:
    """The contacts on the action that the armature plays; empty where they cannot be read."""
    return shown_record(context).get("contacts") or []


def marked_frames(scene: Scene) -> tuple[int, int]:
    """The first and last frame for the buttons Pin and Lift: the preview range if it is on, else the current frame."""
    return preview_range(scene) or (scene.frame_current, scene.frame_current)


def bones_in(rows: Rows) -> tuple[str, ...]:
    """The bones of contacts, without repetition, sorted by name."""
    return tuple(sorted({row["bone"] for row in rows}))


def short_frames(report: dict[str, Any]) -> list[tuple[str, int, int]]:
    """The intervals in which legs do not reach: the bone of the foot, the first and the last frame."""
    sides = zip(report.get("feet", ()), (report.get("after") or {}).get("feet") or (), strict=False)
    return [(foot["bone"], at["start"], at["end"]) for foot, figures in sides for at in figures.get("short_at", ())]


def is_short(row: dict[str, Any], short: list[tuple[str, int, int]]) -> bool:
    """Whether the leg does not reach on at least one frame of a contact."""
    return any(bone == row["bone"] and start <= row["end"] and row["start"] <= end for bone, start, end in short)


@lru_cache(maxsize=32)
def short_names(bones: tuple[str, ...]) -> dict[str, str]:
    """The names of bones without the words at the start and at the end that all of them share."""
    words = [WORD.findall(bone) or [bone] for bone in bones]
    shortest = min(map(len, words), default=0)
    first = next((n for n in range(shortest) if len({tuple(w[: n + 1]) for w in words}) > 1), 0)
    last = next((n for n in range(shortest - first) if len({tuple(w[-n - 1 :]) for w in words}) > 1), 0)
    return {bone: " ".join(word[first : len(word) - last]) for bone, word in zip(bones, words, strict=True)}
