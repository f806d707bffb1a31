# SPDX-License-Identifier: MIT
"""One motion at 30, 60 and 120 frames a second is planted in the same places, along the same ways, and judged alike."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from ik2bone.contacts.detect import find_contacts
from ik2bone.plan import plant
from measures import measure, shortfalls
from walk import FLAT, HILLS, height_field, make_walk, planted

STEPS = height_field(lambda x, y: 0.12 * (np.abs((np.floor(x / 0.9 + 0.35) + 3) % 6 - 3) - 1))
GROUNDS = {"flat": FLAT, "hills": HILLS, "steps": STEPS}
RATES, MOST = (30.0, 60.0), 120.0
# Standing feet and hips agree within these, in leg lengths, by the frame rate, and swinging feet within the share of a
# frame of the lower rate: a contact begins and ends with a frame, and beside edges that decides where feet stand, which
# is found to 0.0025.
STANDING, HIPS, FRAMES = {30.0: 0.06, 60.0: 3e-3}, {30.0: 0.06, 60.0: 0.015}, 0.7
# The measures that do not grow with what lies between frames agree within these.
JUDGED = {"drift": 1e-4, "clearance": 3e-4, "slope": 0.5, "toe_under": 5e-4, "heel_under": 2e-3, "heading": 0.1,
          "hips_acceleration": 1.0, "knee_side": 1e-3}  # fmt: skip


@lru_cache
def at(ground: str, fps: float):
    """The clip, its planting, what comes of it, and what the judge says."""
    clip = make_walk(fps=fps, roll=np.radians(40.0)).clip
    plan = plant(clip, GROUNDS[ground])
    after = planted(clip, plan)
    return clip, plan, after, measure(clip, after, GROUNDS[ground], plan.sole.heel)


@pytest.mark.parametrize("fps", RATES)
@pytest.mark.parametrize("ground", GROUNDS)
def test_planted_feet_go_the_same_way_at_any_frame_rate(ground, fps) -> None:
    (_, plan, after, _), (_, most_plan, most, _) = at(ground, fps), at(ground, MOST)
    every = slice(None, None, round(MOST / fps))
    off = np.linalg.norm(after.ball - most.ball[every], axis=-1)
    stands = plan.contacts.any(axis=-1) & most_plan.contacts[every].any(axis=-1)
    speed = np.linalg.norm(np.diff(most.ball, axis=0), axis=-1).max() * MOST
    assert (plan.contacts == most_plan.contacts[every]).mean() > 0.97
    assert off[stands].max() <= STANDING[fps]
    assert off.max() <= FRAMES * speed / fps
    assert np.linalg.norm(plan.hips_offset - most_plan.hips_offset[every], axis=-1).max() <= HIPS[fps]


@pytest.mark.parametrize("fps", RATES)
@pytest.mark.parametrize("ground", GROUNDS)
def test_planted_walk_is_judged_alike_at_any_frame_rate(ground, fps) -> None:
    judged, most = at(ground, fps)[3], at(ground, MOST)[3]
    assert not shortfalls(judged) and not shortfalls(most)
    for name, most_apart in JUDGED.items():
        assert getattr(judged, name) == pytest.approx(getattr(most, name), abs=most_apart)


def test_feet_rest_on_the_same_frames_however_close_frames_lie() -> None:
    """Balls pause with toes up for a moment, as heels strike: a thousand frames a second showed them at rest."""
    found = []
    for fps in (240, 1000):
        strike = np.clip(np.arange(4 * fps) / fps % 1.0 / 0.09, 0.0, 1.0)
        swing = np.clip((np.arange(4 * fps) / fps % 1.0 - 0.6) / 0.4, 0.0, 1.0)
        swing, strike = (share**3 * (10.0 - share * (15.0 - 6.0 * share)) for share in (swing, strike))
        heel, ball = np.zeros((2, 4 * fps, 1, 3))
        heel[:, 0, 0] = 1.2 * (np.arange(4 * fps) // fps + swing)
        heel[:, 0, 2] = 0.15 * np.sin(np.pi * swing) ** 2
        pitch = 0.2 * (1.0 - strike + swing)
        ball[:, 0] = heel[:, 0] + 0.22 * np.stack([np.cos(pitch), 0.0 * pitch, np.sin(pitch)], axis=-1)
        found.append(find_contacts(heel, ball, fps=fps, leg=1.0, exact=False))
    low, high = found[0], found[1][np.round(np.arange(960) * 1000 / 240).astype(int)]
    assert (low != high).mean() < 0.003
