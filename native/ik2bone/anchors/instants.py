# SPDX-License-Identifier: MIT
"""When a foot comes to a spot and leaves it, told from its path: contacts begin and end with a frame."""

from __future__ import annotations

import numpy as np

from ..contacts.detect import Stance
from ..model import Array, Mask
from ..targets.lock import standing_place

# A foot is the first (leg lengths) from its spot so long (s) before it comes there and after it left, or a little
# longer: of the recorded clips three in four. It is fast there, so that the instant hardly depends on the frames.
AWAY, DELAY = 0.08, 0.055
# One that does not get so far is looked at where it has gone this share of its way: from where its contact ends, which
# it may have crept to, to where it is farthest from both its spots.
HALF = 0.5
# An instant lies within this time (s) of where the contact has its end, and a swing takes this share, or more, of the
# time between the contacts.
NEAR, LEAST = 0.1, 0.5


def standing_instants(spans: list[Stance], parts: Array, contacts: Mask, fps: float, leg: float) -> Array:
    """When, in frames and between them, a foot comes to each of its N standings and when it leaves (N, 2).

    `parts` (F, 2, 3) are the paths of its heel and ball, `contacts` (F, 2) tell when those stand. Where the clip
    begins or ends with a standing, it does so half a frame beyond.
    """
    away = [_away(parts, contacts, span, leg) / leg for span in spans]
    instants = np.array([(span.start, span.end) for span in spans]) - 0.5
    for i in range(len(spans) + 1):
        first = spans[i - 1].end - 1 if i else 0
        last = spans[i].start if i < len(spans) else len(parts) - 1
        if last <= first:
            continue
        peak, farthest = _farthest([path[first : last + 1] for path in away[max(i - 1, 0) : i + 1]])
        peak += first
        if i:
            back = range(peak, _middle(spans[i - 1]) - 1, -1)
            instants[i - 1, 1] = _instant(away[i - 1], back, first, farthest, instants[i - 1, 1], fps)
        if i < len(spans):
            on = range(peak, _middle(spans[i]) + 1)
            instants[i, 0] = _instant(away[i], on, last, farthest, instants[i, 0], fps)
    return _apart(instants, LEAST * np.array([b.start - a.end for a, b in zip(spans, spans[1:], strict=False)]))


def _farthest(away: list[Array]) -> tuple[int, float]:
    """The frame on which a foot is farthest from the spots before and after, and how far it gets, also between frames.

    `away` are the distances (F,) from one or both of them.
    """
    apart = np.min(away, axis=0)
    crossing = away[0] - away[-1]
    turns = np.flatnonzero(crossing[:-1] * crossing[1:] < 0.0)
    share = crossing[turns] / (crossing[turns] - crossing[turns + 1])
    between = away[0][turns] + share * (away[0][turns + 1] - away[0][turns])
    return int(np.argmax(apart)), float(np.max(between, initial=apart.max()))


def _middle(span: Stance) -> int:
    return (span.start + span.end) // 2


def _away(parts: Array, contacts: Mask, span: Stance, leg: float) -> Array:
    """How far (F,) a foot is from where it stands: the nearer of heel and ball, of those that do."""
    stands, distances = contacts[span.start : span.end], []
    for path, frames in zip(np.swapaxes(parts, 0, 1), (np.flatnonzero(part) for part in stands.T), strict=True):
        if len(frames):
            distances.append(np.linalg.norm(path - standing_place(path, span.start + frames, leg), axis=-1))
    return np.asarray(np.min(distances, axis=0))


def _instant(distances: Array, frames: range, stands: int, farthest: float, edge: float, fps: float) -> float:
    """When a foot is on its spot that, followed along some frames, comes to it from its `farthest`.

    `distances` (F,) are those from the spot, `stands` is the frame at the end of its contact, whose `edge` lies beside.
    """
    rest = max(0.0, 1.0 - HALF * farthest / AWAY) * min(float(distances[stands]), farthest)
    way = HALF * (farthest - rest)
    far = min(AWAY, rest + way)
    crossed = next((frame for frame in frames if distances[frame] <= far), frames[-1])
    beyond = crossed - frames.step
    instant = float(crossed)
    if crossed != frames[0] and distances[crossed] <= far:
        instant -= frames.step * (far - distances[crossed]) / (distances[beyond] - distances[crossed])
    delay, near = (seconds * fps * np.sqrt(min(way / AWAY, 1.0)) for seconds in (DELAY, NEAR))
    return edge + float(np.clip(instant + frames.step * delay - edge, -near, near))


def _apart(instants: Array, least: Array) -> Array:
    """The instants (N, 2) with as many frames (N - 1,) or more between standings."""
    lacking = np.maximum(least - (instants[1:, 0] - instants[:-1, 1]), 0.0)
    instants[:-1, 1] -= 0.5 * lacking
    instants[1:, 0] += 0.5 * lacking
    return instants
