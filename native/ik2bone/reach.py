# SPDX-License-Identifier: MIT
"""How far legs reach, and what gives way where they do not: the trailing heel, the hips, and at last the anchor."""

import numpy as np

from .arrays import Array, Mask, reduce_last
from .clip import Clip
from .curves import column_runs, smooth_between, smoothstep
from .knees import eased_reach
from .notes import Note
from .rotations import angle_to_gain, cross, dot, length_of, level_part, turn_vectors, unit
from .sole.measure import Sole
from .targets.blend import Targets

# A leg may always be stretched to this share of its length, at which its knee is bent by 11 degrees if thigh and shin
# are equally long; and as far as in the clip where that is more. Legs of walks are straighter at heel strike.
EASY = 0.995
# Ankles bend down by this much (American Academy of Orthopaedic Surgeons, 1965), and balls of feet bend by this much
# as the heel rises (Nawoczenski and others, 1999: 42 in walking, 65 at most while standing). Radians.
PLANTARFLEXION, TOE_EXTENSION = np.radians(50.0), np.radians(65.0)
# Heels may rise in at least this last share of their foot's stance. Measured on five walks: with 0.2 the straighter
# knee is bent by 0.6 degrees more, and with 0.3 soles leave their slope by 5 degrees while the soles of the clip still
# stand.
LEAD = 0.25
# Where the heel of the clip rises sooner, it may rise in up to this last share. People raise it after half of the
# stance (Perry, 1992). Measured on 90 runs of ten clips: soles leave their slope by 2.7 degrees at most; with 0.45
# by 3.6, and with 0.5 by 6.6.
LONGEST_LEAD = 0.4
# The time (s) over which a foot that has left the ground loses its pitch.
SLOW = 0.05
# Misses larger than this count (leg lengths).
SHORT = 1e-4
# The codes of the notes about feet and hands that miss their targets.
SHORT_NOTES = ("feet_short", "hands_short")
# A heel that is pitched by more than this (radians) does not stand.
STANDS = np.radians(0.5)


def own_reach(clip: Clip) -> Array:
    """How far each leg (F, L) may be stretched: as far as in the clip, and always to the share `EASY` of its length."""
    return np.maximum(clip.stretch, EASY * clip.reach)


def height_and_level(clip: Clip, ankle: Array) -> tuple[Array, Array]:
    """Heights (..., F, L) of ankles (..., F, L, 3) over their hips, and squares (..., F, L) of level distances."""
    across = ankle - clip.hip
    height = dot(across, clip.up)
    return height, dot(across, across) - height**2


def heel_room(clip: Clip, sole: Sole, feet: Mask) -> Array:
    """How much farther (F, L) than in the clip the heels of some feet (L,) can rise about their balls, radians.

    The ankle and the ball of the foot bend no farther than those of people do.
    """
    forward, up = (unit(turn_vectors(clip.foot, way)) for way in (sole.forward, sole.up))
    shin = clip.knee - clip.ankle
    plantar = np.arctan2(-dot(shin, forward), dot(shin, up))
    bent = np.arcsin(np.clip(-dot(forward, clip.up), -1.0, 1.0))
    return np.where(feet, np.maximum(np.minimum(PLANTARFLEXION - plantar, TOE_EXTENSION - bent), 0.0), 0.0)


def toe_off_nears(contacts: Mask) -> Array:
    """How near each foot with contacts (F, L, 2) is to toe-off (F, L), so that its heel may rise: from 0 to 1 in the
    last part of its stance, and 1 while it swings. A stance at the end of the clip has no toe-off: it is 0 there.

    This part begins where the clip's heel leaves the ground, within the shares `LEAD` and `LONGEST_LEAD`.
    """
    left, lead = np.zeros(contacts.shape[:2]), np.full(contacts.shape[:2], LEAD)
    for leg, start, end in column_runs(contacts[..., 0] | contacts[..., -1]):
        rows, stands = (slice(start, end), leg), np.arange(end - start, 0, -1) / (end - start)
        heel = stands[contacts[start:end, leg, 0]]
        risen = heel[-1] - stands[-1] if len(heel) else 0.0
        left[rows] = stands if end < len(contacts) else 1.0
        lead[rows] = min(max(risen, LEAD), LONGEST_LEAD)
    return smoothstep(1.0 - left / lead)


def raise_heels_to_reach(
    clip: Clip, targets: Targets, hip: Array, standing: Mask, room: Array, early: Array
) -> tuple[Targets, Array]:
    """Pitch feet about their balls where `standing` legs (F, L) do not reach from their hip joints `hip` (F, L, 3).

    Returns the targets and the pitches (F, L), radians. Heels rise within `room` (F, L) where legs do not reach
    otherwise, and within `early` (F, L), the room as toe-off nears, also so that knees do not straighten suddenly.
    Pitches of standing feet are no larger than necessary, because near straight a slightly shorter leg has a much more
    bent knee.
    """
    reach, line = own_reach(clip), targets.ankle - hip
    reaches = np.stack([reach, eased_reach(clip, line, reach)])
    short = standing & (length_of(line) > reaches * (1.0 + 1e-9))
    if not short.any():
        return targets, np.zeros_like(room)
    needed = np.where(short, _needed_pitch(clip, targets, hip, np.stack([room, early]), reaches), 0.0).max(axis=0)
    pitch = smooth_between(needed, clip.fps, SLOW, needed, _most_while_swinging(needed, standing))
    return pitched(clip, targets, pitch), pitch


def _most_while_swinging(pitch: Array, standing: Mask) -> Array:
    """The ceiling of pitches (F, L): `pitch` itself while feet are `standing` (F, L), and in a swing the larger of the
    pitches at its beginning and its end.

    Without it, heels that rise fast would go on rising in the air: up to 86 degrees on hills, where toe-off needs 50.
    """
    most = pitch.copy()
    for leg, start, end in column_runs(~standing):
        most[start:end, leg] = max(pitch[max(start - 1, 0), leg], pitch[min(end, len(pitch) - 1), leg])
    return most


def pitched(clip: Clip, targets: Targets, pitch: Array) -> Targets:
    """The targets with heels raised about their balls by pitches (F, L), radians."""
    return targets.turned(_pitch_axis(clip, targets) * pitch[..., None])


def _pitch_axis(clip: Clip, targets: Targets) -> Array:
    """The level axis (F, L, 3) about which a heel rises; zero for a foot without length along the ground."""
    away = level_part(targets.ankle - targets.ball, clip.up)
    length = length_of(away)[..., None]
    return np.where(length > 1e-6 * clip.leg, cross(away, clip.up) / np.maximum(length, 1e-300), 0.0)


def _needed_pitch(clip: Clip, targets: Targets, hip: Array, room: Array, reach: Array) -> Array:
    """The least pitch (..., F, L), up to the `room` (..., F, L), that brings each ankle within `reach` (..., F, L) of
    its hip joint `hip` (F, L, 3).

    The ankle turns about the ball, so dot(hip - ball, ankle - ball) is middle + across * cos(pitch) + aside *
    sin(pitch).
    """
    axis, away, line = _pitch_axis(clip, targets), targets.ankle - targets.ball, hip - targets.ball
    middle = dot(line, axis) * dot(away, axis)
    across = dot(line, away) - middle
    aside = dot(line, cross(axis, away))
    wanted = 0.5 * (dot(line, line) + dot(away, away) - reach**2) - middle
    return np.where(axis.any(axis=-1), np.minimum(angle_to_gain(across, aside, wanted), room), 0.0)


def tell_heels(pitch: Array, standing: Mask, early: Array) -> list[Note]:
    """A note about the pitches (F, L) of `standing` feet (F, L).

    Heels that rise a little early, where they have the room `early` (F, L), are not noted.
    """
    raised = standing & (pitch > STANDS) & (early == 0.0)
    if not raised.any():
        return []
    degrees = float(np.degrees(pitch[raised].max()))
    return [Note("heels_raised", {"degrees": degrees, "frames": _frames(raised)})]


def tell_short(miss: Array, hands: Mask, leg: float) -> list[Note]:
    """Notes about feet and `hands` (L,) that miss their targets by `miss` (F, L), counted as in the report."""
    notes = []
    for code, limbs in zip(SHORT_NOTES, (~hands, hands), strict=True):
        short = limbs & (miss > SHORT * leg)
        if short.any():
            notes.append(Note(code, {"distance": float(miss[short].max()), "frames": _frames(short)}))
    return notes


def _frames(mask: Mask) -> int:
    return int(np.count_nonzero(reduce_last(np.logical_or, mask)))
