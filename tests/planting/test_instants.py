# SPDX-License-Identifier: MIT
"""When a foot comes to its spots and leaves them is told between frames, alike at any frame rate."""

from __future__ import annotations

import numpy as np
import pytest
from ik2bone.anchors.instants import standing_instants
from ik2bone.contacts.detect import Stance
from walk import CYCLE, STAND, make_walk

MOST = 240
# Instants agree within this (s), a tenth of a frame of the lowest rate.
LATE = 3e-3


def instants_of(step: int = 1, first: int = 0, scale: float = 1.0) -> np.ndarray:
    """Those of the left foot of a walk, of which every `step`-th frame from the `first` on is given, in seconds."""
    walk = make_walk(fps=MOST, scale=scale)
    ball = walk.clip.ball[first::step, 0]
    stands = walk.standing[first::step, 0]
    edges = np.flatnonzero(np.diff(np.concatenate([[0], stands.astype(int), [0]])))
    spans = [Stance(0, int(a), int(b)) for a, b in edges.reshape(-1, 2)]
    contacts = np.stack([np.zeros_like(stands), stands], axis=-1)
    parts = np.stack([ball + [0.0, 0.0, 9.0 * scale], ball], axis=1)
    found = standing_instants(spans, parts, contacts, MOST / step, walk.clip.leg)
    return (found * step + first) / MOST


@pytest.mark.parametrize("step", [2, 4, 8])
def test_instants_do_not_depend_on_the_frames(step) -> None:
    most = instants_of()
    for first in range(step):
        # The clip's own ends are where its first and last frame are.
        assert np.abs(instants_of(step, first) - most).ravel()[1:-1].max() < LATE


def test_instants_lie_near_the_contacts() -> None:
    came, left = instants_of()[1:-1].T
    assert np.abs((came + 0.5 * CYCLE) % CYCLE - 0.5 * CYCLE).max() < 0.06
    assert np.abs(left % CYCLE - STAND * CYCLE).max() < 0.06


def test_instants_do_not_depend_on_the_unit() -> None:
    assert instants_of(scale=100.0) == pytest.approx(instants_of(), abs=1e-9)


def test_contacts_with_hardly_a_gap_keep_time_between_them() -> None:
    path = np.zeros((40, 2, 3))
    path[20:, :, 0] = 1.0
    contacts = np.ones((40, 2), bool)
    contacts[19:21] = False
    (_, left), (came, _) = standing_instants([Stance(0, 0, 19), Stance(0, 21, 40)], path, contacts, 30.0, 1.0)
    assert came - left >= 1.0


@pytest.mark.parametrize("step", [2, 4])
def test_foot_that_creeps_before_it_stirs_leaves_at_the_same_instant_at_any_frame_rate(step) -> None:
    time = np.arange(120) / 120
    stir = np.clip((time - 0.5) / 0.09, 0.0, 1.0)
    path = np.zeros((120, 2, 3))
    path[..., 0] = (0.012 * np.clip(time / 0.3, 0.0, 1.0) + 0.03 * stir**2 * (3 - 2 * stir))[:, None]
    # It stands before the stir and after it.
    found = []
    for each, first in [(1, 0)] + [(step, first) for first in range(step)]:
        when = time[first::each]
        contacts = np.repeat(((when < 0.505) | (when > 0.585))[:, None], 2, axis=1)
        ends = int((when < 0.505).sum()), int((when <= 0.585).sum())
        spans = [Stance(0, 0, ends[0]), Stance(0, ends[1], len(when))]
        instants = standing_instants(spans, path[first::each], contacts, 120 / each, 1.0)
        found.append((instants.ravel()[1:3] * each + first) / 120)
    assert np.abs(np.array(found[1:]) - found[0]).max() < 0.008
