# SPDX-License-Identifier: MIT
"""Feet on supports that move: anchors ride along, the figure is carried, and clips made on a support stay there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from grounds import Part, Parts, moving, plate
from ik2bone.plan import Settings, plant
from ik2bone.report import figures
from ik2bone.rotations import move_points
from walk import FLAT, HILLS, make_walk, planted

MOTIONS = {
    "along": {"speed": (0.5, 0.0, 0.0)},
    "aside": {"speed": (0.0, 0.8, 0.0)},
    "up": {"speed": (0.0, 0.0, 0.7)},
    "down and back": {"speed": (-0.3, 0.0, -0.4)},
    "turning": {"turning": 0.25},
    "rocking": {"rocking": 0.1, "period": 2.5},
}


def times(clip):
    return np.arange(clip.frames) / clip.fps


def spots(ground, clip, leg, start, end):
    """Where a ball is over frames, in the space of the first part of a ground."""
    back = np.linalg.inv(ground.parts[0].motion[start:end])
    return np.einsum("fij,fj->fi", back[:, :3, :3], clip.ball[start:end, leg]) + back[:, :3, 3]


@pytest.mark.parametrize("kind", MOTIONS)
def test_feet_ride_on_a_platform_that_moves_under_a_clip_made_for_a_floor(kind) -> None:
    clip = make_walk(slide=0.02).clip
    ground = Parts((Part("Raft", plate(), moving(times(clip), **MOTIONS[kind])),))
    plan = plant(clip, ground)
    after = planted(clip, plan)
    report = figures(clip, after, plan, ground)
    assert report["after"]["drift"] < 0.001 < report["before"]["drift"]
    assert report["after"]["penetration"] < 0.004
    assert report["after"]["short_frames"] == 0
    assert report["after"]["knee_pop"] < 10.0
    balls = [span for span in report["spans"] if span["part"] == "ball"]
    assert len(balls) >= 6 and {span["support"] for span in report["spans"]} == {"Raft"}
    for span in balls:
        path = spots(ground, after, span["leg"], span["start"], span["end"])
        assert np.ptp(path, axis=0).max() < 0.001


def test_the_figure_is_carried_as_far_as_its_platform_goes() -> None:
    clip = make_walk().clip
    still = plant(clip, FLAT)
    motion = moving(times(clip), speed=(0.0, 1.5, 0.3))
    plan = plant(clip, Parts((Part("Train", plate(), motion),)))
    ridden = plan.hips_offset - still.hips_offset
    assert ridden - ridden[0] == pytest.approx(motion[:, :3, 3], abs=2e-3)
    assert np.abs(plan.rotations - still.rotations).max() < 2e-3


@pytest.mark.parametrize("below", [(), (Part("Water", plate(-0.9)),)], ids=["over nothing", "over water"])
def test_feet_over_gaps_between_the_planks_of_a_raft_are_carried_by_it(below) -> None:
    def planks(points, down):
        hits, normals, found = plate()(points, down)
        return hits, normals, found & (hits[:, 0] % 0.2 < 0.15)

    clip = make_walk().clip
    motion = moving(times(clip), speed=(1.0, 0.3, 0.1))
    plan = plant(clip, Parts((Part("Raft", planks, motion), *below)))
    anchors = [anchor for anchor in plan.anchors if anchor.part != "swing"]
    assert {anchor.support for anchor in anchors} == {"Raft"}
    assert max(np.linalg.norm(anchor.move) for anchor in anchors) < 0.2
    assert plan.hips_offset[-1] - plan.hips_offset[0] == pytest.approx(motion[-1, :3, 3], abs=0.1)


def test_a_platform_that_starts_and_stops_takes_the_hips_along_smoothly() -> None:
    clip = make_walk(seconds=6.0).clip
    motion = np.tile(np.eye(4), (clip.frames, 1, 1))
    motion[:, 1, 3] = np.clip(times(clip) - 2.0, 0.0, 2.0)
    plan = plant(clip, Parts((Part("Belt", plate(), motion),)))
    second = np.diff(plan.hips_offset, n=2, axis=0) * clip.fps**2
    assert plan.hips_offset[-1, 1] == pytest.approx(2.0, abs=0.01)
    assert np.linalg.norm(second, axis=-1).max() < 8.0
    assert plan.miss.max() < 1e-9


def test_hips_that_may_not_move_are_not_carried() -> None:
    clip = make_walk().clip
    ground = Parts((Part("Belt", plate(), moving(times(clip), speed=(0.1, 0.0, 0.0))),))
    plan = plant(clip, ground, Settings(use_hips=False))
    assert (plan.hips_offset == 0.0).all()
    assert figures(clip, planted(clip, plan), plan, ground)["after"]["drift"] < 0.01
    assert np.abs(plan.targets.ball - clip.ball).max() < 0.12


@pytest.mark.parametrize("kind", MOTIONS)
def test_a_clip_made_on_a_platform_is_planted_as_on_one_at_rest(kind) -> None:
    still = make_walk(slide=0.02).clip
    motion = moving(times(still), **MOTIONS[kind])
    expected = plant(still, HILLS)
    ground = Parts((Part("Ship", HILLS, motion),))
    clip = carried(still, motion)
    plan = plant(clip, ground)
    assert plan.rotations == pytest.approx(expected.rotations, abs=1e-4)
    turned = np.einsum("fij,fj->fi", motion[:, :3, :3], expected.hips_offset)
    assert plan.hips_offset == pytest.approx(turned, abs=1e-4)
    assert (plan.contacts == expected.contacts).all()
    assert any("moves with Ship" in str(note) for note in plan.notes)
    report = figures(clip, planted(clip, plan), plan, ground)
    reference = figures(still, planted(still, expected), expected, HILLS)
    assert report["after"]["drift"] == pytest.approx(reference["after"]["drift"], abs=1e-4)


def carried(clip, motion):
    moved = {name: motion[:, None] @ getattr(clip, name) for name in ("thigh", "shin", "foot", "toe")}
    points = {
        name: np.einsum("fij,flj->fli", motion[:, :3, :3], getattr(clip, name)) + motion[:, None, :3, 3]
        for name in ("ball", "tip")
    }
    return replace(clip, **moved, **points)


@pytest.mark.parametrize("boards", [True, False], ids=["on", "off"])
@pytest.mark.parametrize("speed", [0.3, 1.2])
def test_a_clip_that_goes_along_with_a_belt_from_the_middle_on_or_until_there_is_told(speed, boards) -> None:
    """Its figure would be carried twice. Made for a floor, or aboard all the time, it is right and nothing is told."""
    clip = make_walk(seconds=6.0).clip
    middle = clip.ball[clip.frames // 2, 0, 0]
    whole = moving(times(clip), speed=(0.0, speed, 0.0))
    sides = plate(along=(middle, np.inf)), plate(along=(-np.inf, middle))
    belt, floor = sides if boards else sides[::-1]
    ground = Parts((Part("Belt", belt, whole), Part("Floor", floor)))
    late, early = np.maximum(times(clip) - 3.0, 0.0), np.minimum(times(clip), 3.0)
    partly = carried(clip, moving(late if boards else early, speed=(0.0, speed, 0.0)))
    told = [[note.code for note in plant(made, ground).notes] for made in (partly, clip, carried(clip, whole))]
    assert ["carried_partly" in codes for codes in told] == [True, False, False]


def test_a_walk_from_a_floor_over_a_slow_belt_and_off_again_stands_on_both() -> None:
    clip = make_walk(seconds=8.0).clip
    belt = Part("Belt", plate(0.0, along=(2.0, 5.0)), moving(times(clip), speed=(0.0, 0.25, 0.0)))
    ground = Parts((belt, Part("Floor", plate(along=(-9.0, 2.0))), Part("Floor", plate(along=(5.0, 99.0)))))
    plan = plant(clip, ground)
    report = figures(clip, planted(clip, plan), plan, ground)
    assert report["after"]["drift"] < 0.001
    assert report["after"]["short_frames"] == 0
    names = [anchor.support for anchor in plan.anchors]
    assert {"Belt", "Floor"} == set(names)
    ridden = plan.hips_offset[:, 1]
    assert ridden[0] == pytest.approx(0.0, abs=1e-4) and ridden[-1] > 0.1
    assert np.ptp(ridden[-60:]) < 0.01


def test_what_moves_elsewhere_changes_nothing() -> None:
    clip = make_walk().clip
    far = Part("Car", plate(0.0, along=(50.0, 60.0)), moving(times(clip), speed=(3.0, 0.0, 0.0)))
    alone, beside = plant(clip, HILLS), plant(clip, Parts((Part("Hills", HILLS), far)))
    assert (beside.rotations == alone.rotations).all() and (beside.hips_offset == alone.hips_offset).all()
    assert {anchor.support for anchor in beside.anchors} == {"Hills"}


def test_a_part_of_a_planting_on_a_platform_is_that_part() -> None:
    clip = make_walk().clip
    ground = Parts((Part("Raft", plate(), moving(times(clip), speed=(0.2, 0.3, 0.1), turning=0.1)),))
    plan, rows = plant(clip, ground), slice(100, 180)
    after = planted(clip, plan)
    whole = figures(clip, after, plan, ground)
    part = figures(clip.cut(rows), after.cut(rows), plan.cut(rows), ground.cut(rows))
    assert part["after"]["drift"] <= whole["after"]["drift"] + 1e-12
    assert part["after"]["penetration"] <= whole["after"]["penetration"] + 1e-12


def test_hips_moved_by_an_earlier_run_carry_the_feet() -> None:
    clip = make_walk().clip
    ground = Parts((Part("Raft", plate(), moving(times(clip), speed=(0.2, 0.3, 0.0))),))
    whole = plant(clip, ground)
    again = plant(clip, ground, offset=np.repeat(whole.hips_offset[:, None], 2, axis=1))
    assert (again.hips_offset == 0.0).all()
    assert again.miss.max() < 1e-6
    assert again.rotations == pytest.approx(whole.rotations, abs=0.02)


def test_drift_is_that_from_anchors_that_turn_with_their_support() -> None:
    clip = make_walk(slide=0.05, roll=0.3, noise=0.004).clip
    motion = moving(times(clip), turning=1.0)
    plan = plant(clip, Parts((Part("Raft", plate(), motion),)))
    after, report = plan.apply(clip), plan.report()
    for span in report["spans"]:
        rows, leg = slice(span["start"], span["end"] + 1), span["leg"]
        points = {"heel": move_points(after.foot[rows, leg], plan.sole.heel[leg]), "ball": after.ball[rows, leg]}
        anchor = move_points(motion[rows] @ np.linalg.inv(motion[span["start"]]), np.array(span["anchor"]))
        away = np.linalg.norm(points[span["part"]] - anchor, axis=1)
        assert span["drift"] == span["after"]["drift"] == pytest.approx(away.max(), abs=1e-9)
