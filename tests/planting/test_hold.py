# SPDX-License-Identifier: MIT
"""Feet whose heel and ball lie in one place are held like any other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ik2bone.contacts.stance import Stance
from ik2bone.targets.lock import hold_feet
from walk import make_walk


def test_foot_without_length_is_held_and_not_turned() -> None:
    clip = make_walk(seconds=1.0).clip
    clip = replace(clip, ball=clip.ball[:1] + 0.01 * np.sin(np.arange(clip.frames))[:, None, None])
    places = {Stance(leg, 0, clip.frames): clip.ball[0, leg] for leg in range(2)}
    hold = hold_feet(clip, clip.ball, np.ones((clip.frames, 2, 2), bool), places)
    assert not hold.turn.any()
    assert clip.ball + hold.shift == pytest.approx(np.broadcast_to(clip.ball[:1], clip.ball.shape))
