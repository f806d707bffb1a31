# SPDX-License-Identifier: MIT
"""When the feet of a clip stand, and whether on anchors: the contacts that planting holds, made of detected ones."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..arrays import Array, Mask
from ..clip import Clip
from ..curves import column_runs
from ..notes import Note
from ..rotations import dot, move_points
from ..sole.measure import LIES, Sole, lying
from .detect import detect
from .paths import SAME_PLACE
from .spans import Marks, no_marks
from .stance import LEAST_CONTACT, half_step, stances, standing_place

# Feet that stand on a smaller share of the frames than this, and only at the clip's first or last frames, turn round in
# the air there: a step that an end of the clip cuts off leaves more.
SELDOM = 0.1
# A ball that comes down again farther than this from where it stood (leg lengths), while the heel stands, gets its own
# anchor.
SAME_SPOT = 0.02
NEVER, CARRIED, NOWHERE = Note("never_stands"), Note("treadmill"), Note("nothing_stored")


@dataclass(frozen=True)
class Contacts:
    """When feet stand, found once: contacts `standing` (F, L, 2) of heels and balls, and whether feet are `locked` to
    anchors.

    `wanted` (F, L, 2) are the contacts before stances on two spots were separated. Those that are `kept` (F, L, 2) stay
    even where feet need time between anchors, and of these, those `added` (F, L, 2) exist only because users want them.
    A foot also holds its direction where it is `firm` (F, L). `notes` are for the user.
    """

    standing: Mask
    wanted: Mask
    locked: bool
    kept: Mask
    added: Mask
    firm: Mask
    notes: tuple[Note, ...] = ()


def feet_that_stand(clip: Clip, sole: Sole, mode: str, marks: Marks | None) -> Contacts:
    """When feet stand under a mode. 'AUTO': as detected, with enforced contacts and without forbidden ones. 'ALWAYS':
    on every frame. 'STORED': as the spans say.

    Contacts do not lock feet to anchors in a clip in place, since its feet go back with a moving floor, or in a clip
    whose feet are never found to stand. Only enforced contacts do so there.
    """
    shape = clip.frames, clip.legs, 2
    if mode == "ALWAYS":
        return _following(np.ones(shape, bool))
    heel, marks = move_points(clip.foot, sole.heel), marks or no_marks(shape)
    standing, carried = detect(heel, clip.ball, fps=clip.fps, leg=clip.leg, up=clip.up)
    least = LEAST_CONTACT * clip.fps
    # What is left of a contact beside these frames is dropped where it is short: heels that pass the height of balls.
    standing = replace(no_marks(shape), forbidden=_tilted(clip, sole, heel, standing)).applied(standing, least)
    standing &= ~lying(clip, sole)[..., None]
    contacts = standing & (not _turns_in_the_air(standing))
    notes = (CARRIED,) if carried else () if contacts.any() else (NEVER,)
    if notes and not marks.enforced.any():
        contacts |= _low(clip, sole, heel) & ~contacts.any(axis=(0, 2))[:, None]
        wanted = marks.applied(contacts, least)
        return _following(marks.standing_with(wanted) if mode == "STORED" else wanted, *notes)
    wanted = marks.enforced if notes else marks.applied(contacts, least)
    found = separate_spots(clip, wanted) | marks.enforced
    if mode == "STORED":
        # Runs do not store all frames on which feet are held. So the stances that nobody edited are taken as found
        # again.
        stored = marks.enforced if notes else marks.standing_with(found)
        return _locked(stored, stored, stored & marks.standing, marks, contacts | (stored & ~marks.enforced))
    return _locked(found, wanted, marks.enforced, marks, contacts)


def separate_spots(clip: Clip, contacts: Mask) -> Mask:
    """The contacts (F, L, 2), without those of a heel on which a foot turns from one anchor of its ball to another."""
    separate = contacts.copy()
    for (leg, start, end), (other, later, last) in pairwise(column_runs(contacts[..., 1])):
        if leg == other and contacts[end:later, leg, 0].all():
            places = [standing_place(clip.ball[:, leg], np.arange(*run)) for run in ((start, end), (later, last))]
            if np.linalg.norm(places[1] - places[0]) > SAME_SPOT * clip.leg:
                separate[end:later, leg] = False
    return separate


def hurried(feet: Contacts, held: Mask) -> Mask:
    """The first frames (F, L) of stances that are not `held` (F, L, 2) on all wanted frames, because users added
    contacts to them or to the one before or after.
    """
    begins, spans = np.zeros(held.shape[:2], bool), stances(feet.wanted) if feet.added.any() else []
    longer = {span for span in spans if feet.added[span.rows].any()}
    beside = {span for a, b in pairwise(spans) if a.leg == b.leg and longer & {a, b} for span in (a, b)}
    for span in longer | beside:
        begins[span.start, span.leg] = (feet.wanted & ~held)[span.rows].any()
    return begins


def _locked(standing: Mask, wanted: Mask, kept: Mask, marks: Marks, found: Mask) -> Contacts:
    """The `Contacts` of feet that stand on anchors; of feet that follow the ground if none stands."""
    if not standing.any():
        return _following(standing, NOWHERE)
    return Contacts(standing, wanted, True, kept, kept & ~found, marks.enforced[..., 0] & standing.all(axis=-1))


def _following(standing: Mask, *notes: Note) -> Contacts:
    """The `Contacts` of feet that follow the ground frame by frame and stand as in a mask (F, L, 2)."""
    nothing = np.zeros_like(standing)
    return Contacts(standing, standing, False, nothing, nothing, nothing[..., 0], notes)


def _tilted(clip: Clip, sole: Sole, heel: Array, standing: Mask) -> Mask:
    """Which heels and balls (F, L, 2) do not stand, because the other end of their foot is well below them: heels whose
    balls are not `standing` (F, L, 2), and balls of figures that sit or lie, of feet that strike as the clip ends, and
    of feet whose ball only stops over its place. `heel` (F, L, 3) are the paths of the heels.
    """
    over, near = dot(heel - clip.ball, clip.up) + sole.ball_height, SAME_PLACE * clip.leg
    half, low = half_step(clip.fps), dot(clip.hip - clip.ball, clip.up) <= LIES * clip.leg
    # Balls of feet that strike as the clip ends have no time to come down.
    before = max(clip.frames - half, 0)
    strikes = (np.arange(clip.frames) >= before)[:, None] & ~standing[before].any(axis=-1)
    balls = ((low | strikes) & (over < -near)) | _stops_over_place(clip, standing, half)
    return np.stack([(over > near) & ~standing[..., 1], balls], axis=-1)


def _stops_over_place(clip: Clip, standing: Mask, half: int) -> Mask:
    """Whether balls (F, L) only stop for a moment as their heels strike: from the start of a stance, for less than the
    `half` of a step (frames), well over where they stand after that. A stance may be interrupted for as long.
    """
    heights, stops = dot(clip.ball, clip.up), np.zeros(standing.shape[:2], bool)
    for stance in stances(standing, half):
        frames, leg = stance.start + standing[stance.rows][:, 1].nonzero()[0], stance.leg
        if len(frames):
            over = heights[frames, leg] > heights[frames, leg].min() + SAME_PLACE * clip.leg
            first = frames[: int(over.argmin())]
            stops[first, leg] = len(first) < half
    return stops


def _turns_in_the_air(contacts: Mask) -> bool:
    """Whether contacts (F, L, 2) are hardly any, and only those with which the clip begins or ends."""
    standing = contacts[..., 0] | contacts[..., 1]
    seldom = bool(np.count_nonzero(standing) < SELDOM * standing.size)
    return seldom and all(start == 0 or end == len(standing) for _, start, end in column_runs(standing))


def _low(clip: Clip, sole: Sole, heel: Array) -> Mask:
    """Contacts (F, L, 2) for feet in place that never rest: heels (F, L, 3) and balls close to the clip's own floor."""
    low = SAME_PLACE * clip.leg + sole.floor
    return np.stack([dot(heel, clip.up) < low, dot(clip.ball, clip.up) < low + sole.ball_height], axis=-1)
