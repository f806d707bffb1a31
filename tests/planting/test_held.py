# SPDX-License-Identifier: MIT
"""Clips whose poses are held, as in animation on twos: planted like those on ones, and still held afterwards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ik2bone.clip import ARRAYS, JOINTS, Clip
from ik2bone.contacts.spans import Marks
from ik2bone.plan import Settings, plant
from ik2bone.rotations import length_of, matrix_from_vector, turn_vectors
from ik2bone.timing import find_pose_starts, flowing, flowing_ways
from test_calibration_pose import spread_on_its_first_frame
from walk import FLAT, HILLS, make_walk

ON = [2, 3, 4]


def rows(clip, frames):
    return clip.having(**{name: getattr(clip, name)[frames] for name in ARRAYS})


def on(count, clip):
    """The clip with every pose held for `count` frames."""
    return rows(clip, np.arange(clip.frames) // count * count)


def largest(values):
    return np.abs(values).max()


@pytest.mark.parametrize("count", ON)
def test_held_poses_are_held_after_planting(count) -> None:
    clip = on(count, make_walk(fps=24.0).clip)
    plan = plant(clip, HILLS)
    after, same = plan.apply(clip), np.flatnonzero(np.arange(1, clip.frames) % count)
    assert plan.anchors
    assert max(largest(np.diff(getattr(after, name), axis=0)[same]) for name in JOINTS) == 0.0
    assert not np.diff(plan.contacts, axis=0)[same].any()


@pytest.mark.parametrize("count", ON)
def test_held_poses_of_joint_positions_are_held_after_planting_and_reach_their_targets(count) -> None:
    """The axes of their bones were averaged over the frames around, so that each frame was turned about others."""
    walk = make_walk(fps=24.0).clip
    left = matrix_from_vector(np.linspace(0.0, 1.0, walk.frames)[:, None, None] * walk.up)
    frames = np.arange(walk.frames) // count * count
    joints = [turn_vectors(left, each)[frames] for each in (walk.hip, walk.knee, walk.ankle, walk.ball)]
    clip = Clip.from_points(walk.fps, *joints)
    assert (clip.hip == joints[0]).all() and (clip.ankle == joints[2]).all()
    plan = plant(clip, HILLS)
    after, same = plan.apply(clip), np.flatnonzero(np.diff(frames) == 0)
    assert max(largest(np.diff(getattr(after, name), axis=0)[same]) for name in JOINTS) == 0.0
    assert largest(length_of(after.ankle - plan.targets.ankle) - plan.miss) < 1e-9


@pytest.mark.parametrize("count", ON)
def test_a_clip_with_held_poses_is_planted_like_the_same_on_ones(count) -> None:
    walk = make_walk(fps=24.0).clip
    ones, held = (plant(clip, HILLS) for clip in (walk, on(count, walk)))
    starts = np.arange(0, walk.frames, count)
    assert largest(np.median(held.hips_offset - ones.hips_offset, axis=0)) < 0.01 * walk.leg
    assert 0.65 < held.contacts[starts].sum() / ones.contacts[starts].sum() < 1.1
    after = held.report()["after"]
    assert max(after["drift"], after["penetration"]) < 0.002 * walk.leg


@pytest.mark.parametrize("count", ON)
def test_stored_contacts_of_held_poses_give_the_same_plan(count) -> None:
    clip = on(count, make_walk(fps=24.0).clip)
    plan = plant(clip, HILLS)
    nothing = np.zeros_like(plan.resting)
    again = plant(clip, HILLS, Settings(contacts="STORED", marks=Marks(plan.resting, nothing, nothing)))
    assert (again.contacts == plan.contacts).all()
    assert largest(again.rotations - plan.rotations) == 0.0


@pytest.mark.parametrize("fps", [24.0, 60.0])
def test_the_first_frames_of_poses_are_found_where_poses_are_held(fps) -> None:
    walk = make_walk(fps=fps).clip
    assert find_pose_starts(walk) is None
    for count in ON:
        starts = find_pose_starts(on(count, walk))
        assert starts is not None
        assert starts.tolist() == (np.arange(walk.frames) // count * count).tolist()


def test_stills_are_no_held_poses() -> None:
    walk = make_walk(fps=24.0).clip
    waits = rows(walk, np.concatenate([np.zeros(30, int), np.arange(walk.frames), np.full(30, walk.frames - 1)]))
    blocked, still = on(8, walk), rows(walk, np.zeros(24, int))
    assert all(
        find_pose_starts(clip) is None for clip in (waits, blocked, still, rows(walk, [0]), rows(walk, [0, 0, 1]))
    )


@pytest.mark.parametrize("count", ON)
def test_flowing_poses_pass_through_the_held_ones_with_rigid_bones(count) -> None:
    walk = make_walk(fps=24.0).clip
    held = on(count, walk)
    starts = find_pose_starts(held)
    flow = flowing(held, starts)
    first = np.unique(starts)
    for name in ARRAYS:
        assert getattr(flow, name)[first] == pytest.approx(getattr(held, name)[first], abs=1e-12)
    for length in (flow.knee - flow.hip, flow.ankle - flow.knee, flow.ball - flow.ankle, flow.tip - flow.ball):
        assert np.ptp(length_of(length), axis=0).max() < 1e-9
    steps = length_of(np.diff(flow.hip, axis=0))[: first[-1]]
    assert steps.std() < 0.02 * steps.mean()


def test_a_still_between_held_poses_stays_still_until_its_end() -> None:
    walk = make_walk(fps=24.0).clip
    held = rows(walk, np.concatenate([np.arange(40) // 2 * 2, np.full(24, 40), np.arange(40, walk.frames) // 2 * 2]))
    flow = flowing(held, find_pose_starts(held))
    assert largest(np.diff(flow.hip[40:60], axis=0)) < 1e-12
    assert largest(np.diff(flow.hip[62:66], axis=0)) > 0.01


def test_settings_of_a_range_are_held_with_the_poses() -> None:
    clip = on(2, make_walk(fps=24.0).clip)
    strength = np.linspace(0.0, 1.0, clip.frames)
    plan = plant(clip, FLAT, replace(Settings(), strength=strength))
    assert plan.strength.tolist() == strength[np.arange(clip.frames) // 2 * 2].tolist()


@pytest.mark.parametrize("count", ON)
def test_held_poses_whose_hips_an_earlier_plan_has_moved_are_planted_alike(count) -> None:
    clip = on(count, make_walk(fps=24.0).clip)
    plan = plant(clip, HILLS)
    again = plant(clip, HILLS, offset=np.repeat(plan.hips_offset[:, None], clip.legs, axis=1))
    assert largest(again.rotations - plan.rotations) < 1e-9


def test_ways_flow_as_poses_do() -> None:
    clip = on(2, make_walk(fps=24.0).clip)
    starts = find_pose_starts(clip)
    flow = flowing(clip, starts)
    assert flowing_ways(clip.hip, flow) == pytest.approx(flow.hip, abs=1e-12)


@pytest.mark.parametrize("count", ON)
def test_marks_that_begin_during_a_pose_count_for_the_whole_pose(count) -> None:
    clip = on(count, make_walk(fps=24.0).clip)
    first, nothing = 5 * count, np.zeros((clip.frames, clip.legs, 2), bool)
    mark, pose = nothing.copy(), slice(first, first + count)
    mark[first + 1, :, 1] = True
    stands = plant(clip, FLAT, Settings(marks=Marks(nothing, mark, nothing)))
    assert stands.enforced[pose, :, 1].all() and stands.contacts[pose, :, 1].all()
    never = plant(clip, FLAT, Settings(marks=Marks(nothing, nothing, mark)))
    assert plant(clip, FLAT).contacts[pose, :, 1].any() and not never.resting[pose, :, 1].any()


def test_contacts_of_poses_rest_and_enforced_ones_are_contacts() -> None:
    clip = on(4, make_walk(fps=24.0).clip)
    rng = np.random.default_rng(3)
    contacts = rng.random((clip.frames, clip.legs, 2)) < 0.7
    resting, enforced = (rng.random(contacts.shape) < 0.5 for _ in range(2))
    masks = {"contacts": contacts, "resting": contacts | resting, "enforced": contacts & enforced}
    starts = find_pose_starts(clip)
    plan = replace(plant(clip, FLAT), **masks).held(starts, starts)
    assert plan.enforced.any() and not (plan.enforced & ~plan.contacts).any()
    assert not (plan.contacts & ~plan.resting).any()


def test_held_poses_after_a_calibration_pose_are_planted_alike_after_an_earlier_plan() -> None:
    walk = spread_on_its_first_frame(make_walk(fps=24.0).clip)
    clip = rows(walk, np.append(0, 1 + np.arange(walk.frames - 1) // 2 * 2))
    plan = plant(clip, HILLS)
    nothing, offset = np.zeros_like(plan.resting), np.repeat(plan.hips_offset[:, None], clip.legs, axis=1)
    stored = Settings(contacts="STORED", marks=Marks(plan.resting, nothing, nothing))
    assert plan.notes[0].code == "calibration_pose"
    for settings in (None, stored):
        assert largest(plant(clip, HILLS, settings, offset=offset).rotations - plan.rotations) < 1e-9
