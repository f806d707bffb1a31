# SPDX-License-Identifier: MIT
"""Clips that are planned in another timing: on ones, if their poses are held for some frames, as animated on twos to
fours or at a lower rate than they are sampled; and over and over, if they end in the pose in which they begin.
"""

import math

import numpy as np

from .arrays import Array, Indices, reduce_last
from .checks import ROUNDING
from .clip import JOINTS, Clip
from .curves import quantile
from .rotations import inverse_of, length_of, matrix_from_vector, move_points, nearest_rotations, vector_from_matrix

# A pose that is held for longer (s) is a still. Animation on fours holds poses for 1/6 s.
LONGEST = 0.17
# The last pose of a loop is the first again if every joint comes to its place within this share of a usual step. Of all
# frames with a step, the share `FAST` has a shorter one: a frame with a glitch does not show how fast joints are. Of 36
# clips, 16 are loops, whose joints come within 0.24 of the usual step; those of the others are off by 1.2 or more.
CLOSED, FAST = 0.25, 0.75
# A loop is played on for this time (s) or more before it begins and after it ends, in whole rounds: a jump that is cut
# off would look like a step. Twice this time is enough for long loops: 144 of 9 s close as well as with whole rounds.
# In 108 runs of loops in place, hips on the last frame are then within 0.008 leg lengths of where they are on the
# first, in all but two within 0.002; with 0.5 within 0.1, without it 0.36.
ON = 2.0


def find_pose_starts(clip: Clip) -> Indices | None:
    """The first frame (F,) of the pose of each frame; None unless poses are usually held, and not as stills.

    Four poses are the fewest that show what is usual.
    """
    steps = reduce_last(np.maximum, length_of(np.diff(_joints(clip), axis=0)))
    starts = np.append(0, np.flatnonzero(steps > ROUNDING * clip.leg) + 1)
    if len(starts) < 4 or not 2.0 <= quantile(np.diff(starts), 0.5) <= LONGEST * clip.fps:
        return None
    return np.repeat(starts, np.diff(starts, append=clip.frames))


def flowing(clip: Clip, starts: Indices) -> Clip:
    """The clip as it would be on ones: each pose goes evenly to the next. A still does so at its end, within `LONGEST`.

    `starts` are those of `find_pose_starts`, on which the poses are those of the clip.
    """
    following, share = _onwards(starts, clip.fps)
    inverse, parts = {name: inverse_of(getattr(clip, name)) for name in JOINTS}, dict[str, Array]()
    for name, above in zip(JOINTS, (None, *JOINTS), strict=False):
        own = getattr(clip, name) if above is None else inverse[above] @ getattr(clip, name)
        own = _between(own, own[following], share)
        parts[name] = own if above is None else parts[above] @ own
    for name, bone in (("ball", "foot"), ("tip", "toe")):
        own = move_points(inverse[bone], getattr(clip, name))
        parts[name] = move_points(parts[bone], own + share * (own[following] - own))
    return clip.having(**parts, pose_starts=starts)


def frames_of_loop(clip: Clip) -> tuple[Indices, slice] | None:
    """The frames (N,) of a loop that is played on at both ends, for once to twice the time `ON`, and which of these are
    its own; None if the clip is no loop.
    """
    joints = _joints(clip)
    steps = reduce_last(np.maximum, length_of(np.diff(joints, axis=0)))
    moves = steps[steps > ROUNDING * clip.leg]
    if not len(moves) or length_of(joints[-1] - joints[0]).max() >= CLOSED * quantile(moves, FAST):
        return None
    count, lead = clip.frames - 1, ON * clip.fps
    more = min(math.ceil(lead / count) * count, math.ceil(2.0 * lead))
    frames = np.arange(-more, clip.frames + more)
    own = slice(more, more + clip.frames)
    # The last frame is the first of the next round.
    rounds = frames % count
    rounds[own] = frames[own]
    return rounds, own


def planted_rows(clip: Clip) -> Indices:
    """The frame (F,) of a flowing clip by which the pose of each frame is planted: on which it begins. The last pose of
    a loop may be held for long: it is planted as at its end, where the next round begins.
    """
    starts = clip.pose_starts
    assert starts is not None
    return np.where(starts == starts[-1], clip.frames - 1, starts) if frames_of_loop(clip) else starts


def flowing_ways(ways: Array, clip: Clip) -> Array:
    """Vectors (F, L, 3) of which those on the `planted_rows` are known, on the others as the poses of the clip flow."""
    assert clip.pose_starts is not None
    (following, share), known = _onwards(clip.pose_starts, clip.fps), ways[planted_rows(clip)]
    return np.asarray(known + share * (known[following] - known))


def _joints(clip: Clip) -> Array:
    """All joints and tips (F, 5 L, 3) of a clip."""
    return np.concatenate([clip.hip, clip.knee, clip.ankle, clip.ball, clip.tip], axis=1)


def _onwards(starts: Indices, fps: float) -> tuple[Indices, Array]:
    """The first frame (F,) of the next pose, and how far each frame is on the way to it (F, 1, 1), from 0 to 1."""
    first, pose = np.unique(starts, return_inverse=True)
    ends = np.append(first[1:], len(starts))
    length = np.minimum(ends - first, int(LONGEST * fps))[pose]
    share = np.maximum(0.0, 1.0 - (ends[pose] - np.arange(len(starts))) / length)
    return np.append(first[1:], first[-1])[pose], share[:, None, None]


def _between(matrices: Array, others: Array, share: Array) -> Array:
    """Transforms (F, L, 4, 4) on the way from one to another, which turn and move evenly; `share` (F, 1, 1)."""
    axes, other_axes = (nearest_rotations(each[..., :3, :3]) for each in (matrices, others))
    turns = matrix_from_vector(share * vector_from_matrix(other_axes @ np.swapaxes(axes, -1, -2)))
    between = matrices.copy()
    between[..., :3, :3] = turns @ matrices[..., :3, :3]
    between[..., :3, 3] += share * (others[..., :3, 3] - matrices[..., :3, 3])
    return between
