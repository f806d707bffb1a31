# SPDX-License-Identifier: MIT
"""Contact detection: what stands is found, at any scale, rate and unit."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from ik2bone.contacts import find_contacts, stances
from ik2bone.sole import apply, measure_sole
from walk import make_walk


def contacts_of(clip, **options):
    heel = apply(clip.foot, measure_sole(clip).heel)
    return find_contacts(heel, clip.ball, fps=clip.fps, leg=clip.leg, **options)


def agreement(found, truth) -> float:
    """F1 of feet that stand by either part."""
    found = found.any(axis=-1)
    return 2 * (found & truth).sum() / (found.sum() + truth.sum())


@pytest.mark.parametrize(("noise", "least"), [(0.0, 0.95), (0.001, 0.95), (0.003, 0.94)])
def test_standing_feet_of_a_known_walk_are_found(noise, least) -> None:
    walk = make_walk(noise=noise)
    assert agreement(contacts_of(walk.clip), walk.standing) >= least


def test_sliding_feet_still_stand() -> None:
    walk = make_walk(slide=0.04)
    assert agreement(contacts_of(walk.clip), walk.standing) >= 0.93


def test_contacts_do_not_depend_on_the_unit() -> None:
    small, large = (contacts_of(make_walk(scale=scale).clip) for scale in (0.01, 100.0))
    assert (small == large).all()


@pytest.mark.parametrize("fps", [24, 30, 120])
def test_contacts_start_and_end_at_the_same_time_at_any_frame_rate(fps) -> None:
    reference, other = (contacts_of(make_walk(4.8, fps=rate).clip) for rate in (60, fps))
    for leg in range(2):
        spans = [[s for s in stances(found) if s.leg == leg] for found in (reference, other)]
        assert len(spans[0]) == len(spans[1])
        for a, b in zip(*spans, strict=True):
            assert abs(a.start / 60 - b.start / fps) <= 1.5 / min(fps, 60) + 0.02
            assert abs(a.end / 60 - b.end / fps) <= 1.5 / min(fps, 60) + 0.02


def test_treadmill_walk_has_no_contact() -> None:
    clip = make_walk().clip
    back = np.arange(clip.frames)[:, None, None] / clip.fps * np.array([2 * 0.62 / 1.1, 0.0, 0.0])
    assert not find_contacts(clip.ankle - back, clip.ball - back, fps=clip.fps, leg=1.0).any()


def test_foot_that_stays_is_one_contact() -> None:
    still = np.zeros((40, 1, 3))
    assert find_contacts(still, still, fps=30, leg=1.0).all()


def test_foot_held_still_in_the_air_does_not_stand() -> None:
    path = np.zeros((120, 2, 3))
    path[:, 1, 2] = 0.4
    assert not find_contacts(path, path, fps=30, leg=1.0)[:, 1].any()


def test_short_touch_is_no_contact() -> None:
    path = np.zeros((60, 1, 3))
    path[:, 0, 0] = np.abs(np.arange(60) - 30) * 0.1
    assert not find_contacts(path, path, fps=30, leg=1.0).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heel": np.zeros((5, 3))}, "heel: expected paths of shape"),
        ({"ball": np.zeros((4, 1, 3))}, "ball: expected paths of shape"),
        ({"fps": 0.0}, "fps: expected a positive number, got 0.0"),
        ({"leg": -1.0}, "leg: expected a positive number, got -1.0"),
    ],
)
def test_bad_arguments_are_refused_by_name(change, message) -> None:
    arguments = {"heel": np.zeros((5, 1, 3)), "ball": np.zeros((5, 1, 3)), "fps": 30.0, "leg": 1.0} | change
    with pytest.raises(ValueError, match=message):
        find_contacts(arguments["heel"], arguments["ball"], fps=arguments["fps"], leg=arguments["leg"])


def test_contacts_agree_with_force_plates(data) -> None:
    """gait2354 by Delp, Thelen, Anderson, Seth and co-authors (CC BY 3.0); markers carried on at 1.115 m/s."""
    lines = (data / "contacts" / "gait2354_walk1_markers.trc").read_text().splitlines()
    names = [name for name in lines[3].split("\t") if name][2:]
    rows = np.array(
        [[float(cell) for cell in line.split("\t")[: 2 + 3 * len(names)]] for line in lines[5:] if line.strip()]
    )
    time, markers = rows[:, 1], rows[:, 2:].reshape(len(rows), -1, 3)
    markers = markers + time[:, None, None] * np.array([1115.0, 0.0, 0.0])
    heel, toe = (markers[:, [names.index(f"{side}.{part}") for side in "RL"]] for part in ("Heel", "Toe.Tip"))
    truth = np.zeros((len(time), 2), bool)
    with (data / "contacts" / "gait2354_walk1_contacts.csv").open() as file:
        for row in csv.DictReader(file):
            stands = (time >= float(row["contact_start_s"])) & (time <= float(row["contact_end_s"]))
            truth[:, "RL".index(row["foot"])] |= stands
    found = find_contacts(heel, toe, fps=60.0, leg=850.0, up=(0.0, 1.0, 0.0)).any(axis=-1)
    assert (found == truth).mean() >= 0.95
