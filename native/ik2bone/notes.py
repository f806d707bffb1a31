# SPDX-License-Identifier: MIT
"""Notes for the user. Each note is a code with data; each code has one sentence."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, SupportsInt

ONE = re.compile(r"(?<![\d.])1 (contact|degree|frame|other)s\b")

WORDS = {
    "calibration_pose": "the first frame is a calibration pose: its feet were only lifted out of the ground",
    "carried": "the clip moves with {support} and was planted as seen from there",
    "carried_partly": "the clip goes along with {support} on some frames and not on others, which is not followed: "
    "plant each part as an action of its own",
    "contacts_shortened": "pinned contacts made {count} others shorter, because a foot needs time between two anchors",
    "feet_short": "legs do not reach: feet fall short of their targets by up to {distance:.3g} on {frames} frames",
    "hands_short": "arms do not reach: hands fall short of their targets by up to {distance:.3g} on {frames} frames",
    "heels_raised": "legs do not reach: heels rise by up to {degrees:.0f} degrees on {frames} frames",
    "never_rests": "{count} of {of} limbs never come to rest near a surface and were left alone",
    "never_stands": "no foot ever stands still: the clip was planted in place, by height and slope only",
    "no_surface_below": "{count} of {of} contacts have no surface below or above them and keep their height",
    "no_surface_frames": "no surface lies below or above feet on {frames} frames: they keep their height there",
    "no_surface_near": "{count} of {of} contacts have no surface near them and keep their place",
    "nothing_stored": "no foot stands by its stored contacts: the clip was planted by height and slope only",
    "places_unused": "{count} of {of} places of pinned contacts were not used: only feet that stand on the ground "
    "take places",
    "side_unknown": "a knee or elbow never bends, so the side to which it bends is not known",
    "skin_doubted": "the skin of {count} of {of} feet shows no plausible sole",
    "sole_by_proportion": "the clip does not show how high its soles are: a height in proportion to the leg was taken",
    "steep_contacts": "{count} of {of} contacts lie on ground steeper than {degrees:.3g} degrees: feet stay level "
    "there, and their penetration is not counted",
    "steep_frames": "the ground under feet is steeper than {degrees:.3g} degrees on {frames} frames: feet stay level "
    "there",
    "support_turns": "{support} turns by {degrees:.0f} degrees under a standing foot: parent the armature to it to "
    "turn the body too",
    "toes_short": "{count} contacts would need the toes to bend farther than toes do: they stay at their limit and do "
    "not lie on the ground",
    "treadmill": "the clip walks in place, as on a treadmill: it was planted by height and slope only",
    "worse_drift": "standing feet drift farther than before: by up to {after:.3g} instead of {before:.3g}, worst on "
    "frame {frame}",
    "worse_flexion": "legs are bent more than in the clip: flexion {after:.0f} degrees (95th percentile), worst on "
    "frame {frame}",
    "worse_float": "feet float higher than before: by up to {after:.3g} instead of {before:.3g}, worst on frame "
    "{frame}",
    "worse_foot_pop": "a foot pops more than in the clip, worst on frame {frame}",
    "worse_knee_pop": "a knee pops by {after:.0f} degrees more than in the clip, worst on frame {frame}",
    "worse_penetration": "soles penetrate the ground deeper than before: by up to {after:.3g} instead of {before:.3g}, "
    "worst on frame {frame}",
}


@dataclass(frozen=True)
class Note:
    """Something that the user should know: a `code`, and the `data` (plain numbers and names) of its sentence.

    `str(note)` is the sentence.
    """

    code: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return ONE.sub(r"1 \1", WORDS[self.code].format(**self.data))


def counted(code: str, count: SupportsInt, **data: Any) -> list[Note]:
    """A note that counts something, if there is any of it."""
    return [Note(code, {"count": int(count), **data})] if count else []
