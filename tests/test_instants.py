# SPDX-License-Identifier: MIT
"""When a foot comes to its spots and leaves them is told between frames, alike at any frame rate."""

from __future__ import annotations

import numpy as np
import pytest
from ik2bone.contacts import Stance
from ik2bone.instants import standing_instants
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
