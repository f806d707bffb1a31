# SPDX-License-Identifier: MIT
"""Planting a known walk: feet stand on the ground, and what was good stays."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ik2bone.plan import NoGround, Settings, plant
from ik2bone.report import figures, summary, table
from ik2bone.rotations import matrix_from_vector
from ik2bone.sole.measure import measure_sole
from measures import measure
from walk import FLAT, HILLS, NOTHING, height_field, in_place, make_walk, matrices_of, planted


def degrees(turns) -> np.ndarray:
    return np.degrees(2 * np.arctan2(np.linalg.norm(turns[..., 1:], axis=-1), np.abs(turns[..., 0])))


def test_walk_stands_on_hills() -> None:
    clip = make_walk(slide=0.03, noise=0.001).clip
    plan = plant(clip, HILLS)
    before, after = (measure(clip, side, HILLS, plan.sole.heel) for side in (clip, planted(clip, plan)))
    assert after.spans >= 6
    assert after.drift <= 0.001 < before.drift
    assert after.clearance <= 0.003 < before.clearance
    assert after.toe_under <= 0.002
    assert after.heel_under <= 0.012
    assert after.knee_pop <= 10.0


def test_clean_walk_on_its_own_floor_stays() -> None:
    walk = make_walk()
    plan = plant(walk.clip, FLAT)
    moved = np.linalg.norm(planted(walk.clip, plan).ball - walk.clip.ball, axis=-1)
    assert np.abs(plan.hips_offset).max() <= 0.01
    assert moved[walk.standing].max() <= 0.005
    assert moved.max() <= 0.035
    assert degrees(plan.rotations)[walk.standing].max() <= 3.0


@pytest.mark.parametrize("fps", [24.0, 60.0, 240.0])
def test_swings_that_clear_the_ground_are_left_alone_at_any_frame_rate(fps) -> None:
    walk = make_walk(fps=fps)
    plan = plant(walk.clip, FLAT)
    moved = planted(walk.clip, plan).ball - walk.clip.ball
    assert np.abs(moved[..., 2]).max() <= 0.022


def test_hips_come_down_no_farther_than_they_may() -> None:
    """What is out of reach then is missed, and told by the report."""
    clip = make_walk().clip
    stairs = height_field(lambda x, y: 0.5 * np.floor(x / 1.1))
    free, bound = (plant(clip, stairs, Settings(max_drop=drop)) for drop in (0.5, 0.02))
    assert free.miss.max() < 1e-6
    assert bound.hips_offset[:, 2].min() > free.hips_offset[:, 2].min() + 0.05
    after = figures(clip, planted(clip, bound), bound, stairs)["after"]
    assert after["short_frames"] > 0
    assert after["short"] == pytest.approx(bound.miss.max(), abs=1e-6)


def test_foot_without_length_is_planted_all_the_same() -> None:
    clip = make_walk().clip
    plan = plant(replace(clip, ball=clip.ankle.copy(), tip=clip.ankle.copy()), HILLS)
    assert np.isfinite(plan.rotations).all() and np.isfinite(plan.hips_offset).all()


def test_steepest_slope_that_is_no_number_is_an_error() -> None:
    with pytest.raises(ValueError, match="max_slope: expected an angle in radians, got nan"):
        plant(make_walk().clip, HILLS, Settings(max_slope=np.nan))


def test_hips_stay_when_they_may_not_move() -> None:
    plan = plant(make_walk().clip, HILLS, Settings(use_hips=False))
    assert (plan.hips_offset == 0.0).all()
    assert plan.miss.max() > 0.0


def test_hips_that_were_rounded_lie_where_the_clip_has_them() -> None:
    clip = make_walk().clip
    noise = np.random.default_rng(0).normal(0.0, 1e-8, clip.hip.shape)
    plan, rounded = plant(clip, HILLS, Settings(use_hips=False)), plant(clip, HILLS, offset=noise)
    assert (plan.rotations == rounded.rotations).all() and (rounded.hips_offset == 0.0).all()


def test_hips_bring_every_foot_into_reach() -> None:
    assert plant(make_walk().clip, HILLS).miss.max() <= 1e-9


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_planting_does_not_depend_on_the_unit(scale) -> None:
    big = make_walk(scale=scale).clip

    def ground(points, down):
        hits, normals, found = HILLS(points / scale, down)
        return hits * scale, normals, found

    reference, other = plant(make_walk().clip, HILLS), plant(big, ground)
    assert other.rotations == pytest.approx(reference.rotations, abs=1e-5)
    assert other.hips_offset / scale == pytest.approx(reference.hips_offset, abs=1e-6)


def test_planting_does_not_depend_on_the_heading() -> None:
    angle = 1.1
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    def ground(points, down):
        hits, normals, found = HILLS(points @ turn, down)
        return hits @ turn.T, normals @ turn.T, found

    reference, other = plant(make_walk().clip, HILLS), plant(make_walk(turn=angle).clip, ground)
    assert other.rotations == pytest.approx(reference.rotations, abs=1e-4)


def test_floor_of_a_moved_walk_is_found_where_it_was_moved_to() -> None:
    clip = make_walk().clip
    up = {name: getattr(clip, name) + [0.0, 0.0, 3.0] for name in ("ball", "tip")}
    for name in ("thigh", "shin", "foot", "toe"):
        up[name] = getattr(clip, name).copy()
        up[name][..., 2, 3] += 3.0
    assert measure_sole(replace(clip, **up)).source == ("proportion", "proportion")
    sole = measure_sole(replace(clip, **up, floors=(3.0, 0.0)))
    assert sole.source == ("clip's floor", "clip's floor")
    assert sole.ball_height == pytest.approx(measure_sole(clip).ball_height)


def test_soles_are_taken_by_proportion_on_a_floor_that_is_nowhere_level_for_long() -> None:
    clip = make_walk(seconds=8.0).clip
    height = 0.12 * (np.arange(clip.frames) * 12 // clip.frames % 3 - 1.0)
    uneven = clip.moved(np.outer(height, clip.up))
    assert measure_sole(clip).source == ("clip's floor", "clip's floor")
    assert measure_sole(uneven).source == ("proportion", "proportion")


def test_no_surface_at_all_is_an_error() -> None:
    with pytest.raises(NoGround, match="no surface"):
        plant(make_walk().clip, NOTHING)


def test_ground_that_ends_is_told() -> None:
    def ground(points, down):
        hits, normals, found = HILLS(points, down)
        return hits, normals, found & (points[:, 0] < 1.5)

    plan = plant(make_walk().clip, ground)
    assert any("no surface below" in str(note) for note in plan.notes)
    assert np.isfinite(plan.rotations).all()


def test_clip_in_place_follows_the_ground_and_is_told() -> None:
    clip = in_place(make_walk().clip)
    plan = plant(clip, HILLS)
    assert not plan.locked.any()
    assert any("in place" in str(note) for note in plan.notes)
    low = (clip.ball[..., 2] < 0.06) & plan.contacts[..., 1]
    after = planted(clip, plan).ball
    height = after[..., 2] - HILLS(after.reshape(-1, 3), -clip.up)[0][:, 2].reshape(low.shape)
    assert np.abs(height[low] - 0.05).max() < 0.03


@pytest.mark.parametrize("ground", [HILLS, height_field(lambda x, _: 0.25 * x)], ids=["hills", "slope"])
def test_feet_of_a_clip_in_place_stand_on_the_ground_though_their_toes_reach_far_ahead(ground) -> None:
    clip = make_walk(roll=0.4).clip
    # Toes 0.25 legs long, whose tips lie deeper than the ball on any ground that rises.
    clip = in_place(replace(clip, tip=clip.ball + np.einsum("flij,j->fli", clip.foot[..., :3, :3], [0.25, 0.0, 0.0])))
    plan = plant(clip, ground)
    low = (clip.ball[..., 2] < 0.06) & plan.contacts[..., 1]
    after = planted(clip, plan).ball
    height = after[..., 2] - ground(after.reshape(-1, 3), -clip.up)[0][:, 2].reshape(low.shape)
    assert np.abs(height[low] - 0.05).mean() < 0.01
    assert np.abs(height[low] - 0.05).max() < 0.04


@pytest.mark.parametrize("fps", [24.0, 60.0])
def test_feet_of_a_clip_in_place_are_carried_over_an_edge_calmly(fps) -> None:
    # The edge lies under the hips: every foot steps up to it and is carried back over it while it stands.
    clip, step = in_place(make_walk(fps=fps).clip), height_field(lambda x, _: 0.18 * (x > -0.5))
    plan = plant(clip, step)
    after = measure(clip, planted(clip, plan), step, plan.sole.heel)
    assert after.foot_pop < 0.02
    assert after.knee_pop < 10.0
    assert max(after.toe_under, after.heel_under) < 1e-6


def drooping(walk):
    """A walk whose swinging toes, 0.25 leg long, hang down by up to 60 degrees, through the floor."""
    clip = walk.clip
    tilt = np.zeros(clip.ball.shape)
    for leg, swings in enumerate(~walk.standing.T):
        tilt[:, leg, 1] = np.radians(60.0) * swings * np.convolve(swings, np.hanning(15) / 7.0, mode="same")
    axes = matrix_from_vector(tilt) @ clip.foot[..., :3, :3]
    tip = clip.ball + np.einsum("flij,j->fli", axes, [0.25, 0.0, 0.0])
    return replace(clip, toe=matrices_of(clip.ball, axes), tip=tip)


@pytest.mark.parametrize(("make", "least"), [(lambda clip: clip, 0.022), (in_place, 1e-6)], ids=["walk", "in place"])
def test_feet_whose_toes_swing_under_their_own_floor_stay_there(make, least) -> None:
    clip = make(drooping(make_walk()))
    assert clip.tip[..., 2].min() < -0.08
    moved = planted(clip, plant(clip, FLAT)).ball - clip.ball
    assert np.abs(moved[..., 2]).max() <= least


def test_toes_of_a_clip_in_place_swing_under_no_other_ground_than_its_own_floor() -> None:
    clip = in_place(drooping(make_walk()))
    depths = {}
    for name, ground in (("own", FLAT), ("hills", HILLS)):
        after = planted(clip, plant(clip, ground))
        hits, _, _ = ground(after.tip.reshape(-1, 3), np.array([0.0, 0.0, -1.0]))
        depths[name] = (hits[:, 2] - after.tip.reshape(-1, 3)[:, 2]).max()
    assert depths["own"] == pytest.approx(-clip.tip[..., 2].min(), abs=1e-6)
    assert depths["hills"] < 0.001


def test_single_pose_is_set_onto_the_surface() -> None:
    clip = make_walk().clip.cut(slice(20, 21))
    plan = plant(clip, height_field(lambda x, y: 0.0 * x - 0.2))
    after = planted(clip, plan)
    assert after.ball[..., 2] == pytest.approx(plan.sole.ball_height[0] - 0.2, abs=1e-6)


def test_foot_that_never_stands_follows_the_ground() -> None:
    walk = make_walk().clip
    hop = replace(walk, **{name: getattr(walk, name).copy() for name in ("foot", "toe", "ball", "tip")})
    time = np.arange(walk.frames) / walk.fps
    swing = np.stack([np.sin(9.0 * time), 0.0 * time, 0.1 + 0.05 * np.cos(9.0 * time)], axis=-1)
    for array in (hop.ball, hop.tip):
        array[:, 1] += swing
    hop.foot[:, 1, :3, 3] += swing
    hop.toe[:, 1, :3, 3] += swing
    plan = plant(hop, HILLS)
    assert plan.contacts[:, 0].any() and not plan.contacts[:, 1].any()
    assert np.isfinite(plan.rotations).all()


def test_report_tells_figures_before_and_after() -> None:
    clip = make_walk(slide=0.04).clip
    plan = plant(clip, HILLS)
    report = figures(clip, planted(clip, plan), plan, HILLS, frames=np.arange(101, 101 + clip.frames))
    assert report["frames"] == [101, 100 + clip.frames]
    assert report["after"]["drift"] < 0.2 * report["before"]["drift"]
    assert report["after"]["penetration"] < 0.1 * report["before"]["penetration"]
    assert report["after"]["hips_offset"] == pytest.approx(np.linalg.norm(plan.hips_offset, axis=-1).max(), abs=1e-9)
    assert all(101 <= span["start"] <= span["end"] <= 100 + clip.frames for span in report["spans"])
    assert "drift" in summary(report) and "penetration" in table(report)


def test_report_counts_frames_out_of_reach() -> None:
    clip = make_walk().clip
    ground = height_field(lambda x, y: 0.0 * x - 0.3)
    plan = plant(clip, ground, Settings(use_hips=False))
    report = figures(clip, planted(clip, plan), plan, ground)
    assert report["after"]["short_frames"] > 0
    assert report["after"]["short"] == pytest.approx(plan.miss.max(), rel=1e-6)


def test_pose_laid_on_a_slope_twice_is_laid_once() -> None:
    walk = make_walk().clip
    slope = height_field(lambda x, y: 0.2 * x - 0.1)
    sole, pose = measure_sole(walk), walk.cut(slice(20, 21))
    once = planted(pose, plant(pose, slope, sole=sole))
    twice = planted(once, plant(once, slope, sole=sole))
    assert once.ankle != pytest.approx(pose.ankle, abs=0.02)
    assert twice.ankle == pytest.approx(once.ankle, abs=1e-6)


def test_always_lays_heel_and_ball_on_the_ground_in_every_frame() -> None:
    clip = make_walk().clip
    plan = plant(clip, FLAT, Settings(contacts="ALWAYS"))
    report = figures(clip, planted(clip, plan), plan, FLAT)
    assert plan.contacts.all()
    assert report["after"]["float"] <= 1e-6
    assert report["after"]["penetration"] <= 1e-6


def test_hips_that_lie_elsewhere_already_stay_there() -> None:
    clip = make_walk().clip
    whole = plant(clip, HILLS)
    offset = np.repeat(whole.hips_offset[:, None], 2, axis=1)
    again = plant(clip, HILLS, offset=offset)
    assert (again.hips_offset == 0.0).all()
    assert again.rotations == pytest.approx(whole.rotations, abs=1e-9)


@pytest.mark.parametrize("use_hips", [True, False])
def test_one_leg_planted_again_under_the_same_settings_is_planted_the_same(use_hips) -> None:
    clip, settings = make_walk().clip, Settings(strength=0.6, use_hips=use_hips)
    whole, left = plant(clip, HILLS, settings), np.array([True, False])
    # As a stored pose has it.
    offset = np.repeat(whole.hips_offset[:, None].astype(np.float32), 2, axis=1)
    again = plant(clip, HILLS, settings, offset=offset).choose(left)
    assert again.rotations == pytest.approx(whole.rotations[:, left], abs=1e-6)
    assert {anchor.stance for anchor in again.anchors} == {a.stance for a in whole.anchors if a.stance.leg == 0}


def test_part_of_a_planting_is_that_part() -> None:
    clip = make_walk().clip
    plan = plant(clip, HILLS)
    part = plan.cut(slice(100, 160))
    assert (part.rotations == plan.rotations[100:160]).all()
    report = figures(clip.cut(slice(100, 160)), planted(clip, plan).cut(slice(100, 160)), part, HILLS)
    assert report["after"]["drift"] < 0.002
    assert all(0 <= span["start"] <= span["end"] < 60 for span in report["spans"])


def test_frames_out_of_reach_are_counted_once_for_both_feet() -> None:
    clip = make_walk().clip
    ground = height_field(lambda x, y: 0.0 * x - 1.5)
    plan = plant(clip, ground, Settings(use_hips=False))
    report = figures(clip, planted(clip, plan), plan, ground)
    assert report["after"]["short_frames"] == clip.frames


ALONE = """
import sys, time
sys.path.append(sys.argv[1])
import numpy as np
from ik2bone import plant
from walk import height_field, make_walk

clip, ground = make_walk(seconds=9.0, fps=120.0).clip, height_field(lambda x, y: 0.1 * np.sin(2.0 * x))
plant(clip, ground)
process, thread = time.process_time(), time.thread_time()
plant(clip, ground)
process, thread = time.process_time() - process, time.thread_time() - thread
print((process - thread) / thread)
"""


def test_a_plan_leaves_the_other_processors_alone() -> None:
    # A product of long arrays with `@` wakes threads of OpenBLAS, which spin as long as the plan takes.
    synthetic = Path(__file__).parents[1] / "synthetic"
    told = subprocess.run([sys.executable, "-c", ALONE, synthetic], check=True, capture_output=True, text=True).stdout
    assert float(told) < 0.3
