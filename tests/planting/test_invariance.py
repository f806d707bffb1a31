# SPDX-License-Identifier: MIT
"""What planting does not depend on: the heading of a noisy clip, its side, the axes of its bones, and own scales."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from gaits import make_gait, on_treadmill
from ik2bone import Clip, Mesh, Settings, find_contacts, plant
from ik2bone.rotations import median_point
from walk import FLAT, HILLS, height_field, make_keyed_walk, make_walk, overstretched

ANGLES = np.radians([15.0, 45.0, 60.0])


def about_up(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def turned_hills(turn):
    def ground(points, down):
        hits, normals, found = HILLS(points @ turn, down)
        return hits @ turn.T, normals @ turn.T, found

    return ground


def noisy(seed, noise=0.005) -> Clip:
    """A walk whose joints tremble by 5 mm."""
    clip, rng = make_walk(seconds=3.0, fps=30.0, roll=0.4).clip, np.random.default_rng(seed)
    joints = [getattr(clip, name) + rng.normal(0.0, noise, clip.hip.shape) for name in ("hip", "knee", "ankle", "ball")]
    return Clip.from_points(clip.fps, *joints, tip=joints[-1] + (clip.tip - clip.ball))


def turned(clip, turn) -> Clip:
    joints = [getattr(clip, name) @ turn.T for name in ("hip", "knee", "ankle", "ball")]
    return Clip.from_points(clip.fps, *joints, tip=clip.tip @ turn.T)


def mirrored(clip) -> Clip:
    """The clip as a mirror along its way shows it."""
    mirror = np.diag([1.0, -1.0, 1.0, 1.0])
    bones = {name: mirror @ getattr(clip, name) for name in ("thigh", "shin", "foot", "toe")}
    return replace(clip, **bones, ball=clip.ball @ mirror[:3, :3], tip=clip.tip @ mirror[:3, :3])


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("move", [lambda gait, style: gait, on_treadmill])
def test_contacts_of_noisy_paths_do_not_depend_on_the_heading(move, exact) -> None:
    for seed in range(8):
        gait = move(make_gait("walk", 30, noise=0.005, seed=seed), "walk")
        options = {"fps": gait.fps, "leg": gait.leg, "exact": exact}
        found = find_contacts(gait.heel, gait.ball, **options)
        for turn in map(about_up, ANGLES):
            assert (find_contacts(gait.heel @ turn.T, gait.ball @ turn.T, **options) == found).all()


@pytest.mark.parametrize("seed", range(6))
def test_a_plan_of_a_noisy_clip_does_not_depend_on_the_heading(seed) -> None:
    clip = noisy(seed)
    plan = plant(clip, HILLS)
    for turn in map(about_up, ANGLES):
        other = plant(turned(clip, turn), turned_hills(turn))
        assert (other.contacts == plan.contacts).all()
        assert other.rotations == pytest.approx(plan.rotations, abs=1e-5)
        assert other.hips_offset @ turn == pytest.approx(plan.hips_offset, abs=1e-6)


@pytest.mark.parametrize("contacts", ["AUTO", "ALWAYS"])
def test_a_plan_on_the_nearest_surface_does_not_depend_on_the_heading(contacts) -> None:
    x, y = np.meshgrid(np.arange(-1.0, 4.0, 0.1), np.arange(-1.0, 1.0, 0.1))
    vertices = np.stack([x, y, 0.1 * np.sin(3.0 * x) + 0.05 * np.cos(5.0 * y)], axis=-1).reshape(-1, 3)
    first = (x.shape[1] * np.arange(len(x) - 1)[:, None] + np.arange(x.shape[1] - 1)).reshape(-1, 1)
    triangles = np.concatenate([first + [0, 1, x.shape[1] + 1], first + [0, x.shape[1] + 1, x.shape[1]]])
    clip, settings = noisy(0), Settings(direction="NEAREST", contacts=contacts)
    plan = plant(clip, Mesh(vertices, triangles), settings)
    for turn in map(about_up, ANGLES):
        other = plant(turned(clip, turn), Mesh(vertices @ turn.T, triangles), settings)
        assert (other.contacts == plan.contacts).all()
        assert other.rotations == pytest.approx(plan.rotations, abs=1e-5)


@pytest.mark.parametrize("straight", [False, True])
def test_a_mirrored_clip_is_planted_as_the_mirror_image(straight) -> None:
    clip, mirror = make_walk(seconds=3.0).clip, np.diag([1.0, -1.0, 1.0])
    clip = overstretched(clip) if straight else clip
    image = mirrored(clip)
    plan, other = plant(clip, HILLS), plant(image, turned_hills(mirror))
    after, image = plan.apply(clip), other.apply(image)
    assert (other.contacts == plan.contacts).all()
    assert image.knee @ mirror == pytest.approx(after.knee, abs=1e-6)
    assert image.ankle @ mirror == pytest.approx(after.ankle, abs=1e-6)


def diagonal_steps(x, y):
    """Steps at 45 degrees across the way, where it is as near to step back as aside."""
    return 0.15 * np.floor((np.sqrt(0.5) * (x + y) + 0.2) / 0.62)


def anchors_of(clip, ground):
    return np.array([anchor.point for anchor in plant(clip, ground).anchors])


@pytest.mark.parametrize("seed", range(6))
def test_rounding_does_not_choose_between_places_that_are_as_good(seed) -> None:
    clip, ground = make_walk(seconds=4.0, fps=30.0, roll=0.4).clip, height_field(diagonal_steps)
    rounded = clip.moved(np.random.default_rng(seed).normal(0.0, 1e-9, (clip.frames, 3)))
    assert anchors_of(rounded, ground) == pytest.approx(anchors_of(clip, ground), abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_rounding_does_not_choose_which_of_two_feet_goes_which_way(seed) -> None:
    # Bars across the way, on which one foot may go aside and the other back, or the other way round: by 0.06 leg.
    ground = height_field(lambda x, y: 0.12 * (np.floor((np.cos(0.9) * x + np.sin(0.9) * y + 0.2) / 0.45) % 2))
    clip = make_walk(seconds=3.0, fps=30.0, slide=0.05).clip
    rounded = clip.moved(np.random.default_rng(seed).normal(0.0, 1e-9, (clip.frames, 3)))
    assert anchors_of(rounded, ground) == pytest.approx(anchors_of(clip, ground), abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_rounding_does_not_choose_which_of_two_feet_goes_farther(seed) -> None:
    # A hurried walk up a steep slope, on which each foot may make up for the climb instead of the next.
    clip = make_walk(seconds=6.0, fps=30.0).clip.having(fps=54.0)
    ground = height_field(lambda x, y: 0.72 * x + 0.226 * y)
    rounded = clip.moved(np.random.default_rng(seed).normal(0.0, 1e-9, (clip.frames, 3)))
    assert anchors_of(rounded, ground) == pytest.approx(anchors_of(clip, ground), abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_rounding_does_not_tell_that_a_walk_along_a_contour_keeps_to_the_slope(seed) -> None:
    """On a tightrope: the ground is as high under all stances, and all feet are as high over it."""
    slope, clip = height_field(lambda x, y: 0.27 * y), make_keyed_walk(24.0, 4.0)
    clip = clip.moved(np.broadcast_to(-clip.hip[:1] * [0.0, 1.0, 0.0], clip.hip.shape))
    turn = _rotation(np.random.default_rng(seed))

    def turned_slope(points, down):
        hits, normals, found = slope(points @ turn, down)
        return hits @ turn.T, normals @ turn.T, found

    joints = [getattr(clip, name) for name in ("hip", "knee", "ankle", "ball")]
    plain = plant(Clip.from_points(clip.fps, *joints), slope)
    plan = plant(Clip.from_points(clip.fps, *(joint @ turn.T for joint in joints), up=turn[:, 2]), turned_slope)
    assert plan.hips_offset @ turn == pytest.approx(plain.hips_offset, abs=1e-4)


def test_feet_of_the_mirror_image_step_aside_to_the_mirrored_side() -> None:
    clip, mirror = make_walk(seconds=4.0, fps=30.0, roll=0.4).clip, np.array([1.0, -1.0, 1.0])
    places = anchors_of(clip, height_field(diagonal_steps))
    assert np.abs(places - [anchor.origin for anchor in plant(clip, FLAT).anchors])[:, :2].max() > 0.05
    image = anchors_of(mirrored(clip), height_field(lambda x, y: diagonal_steps(x, -y)))
    assert image * mirror == pytest.approx(places, abs=1e-6)


@pytest.mark.parametrize("noise", [0.0, 0.005])
def test_a_plan_does_not_depend_on_the_axes_that_bones_have(noise) -> None:
    clip, rng = noisy(0, noise), np.random.default_rng(1)
    plan = plant(clip, HILLS)
    ankle = plan.apply(clip).ankle
    for _ in range(3):
        other, axes = {}, np.tile(np.eye(4), (4, 1, 1))
        axes[:, :3, :3] = [_rotation(rng) for _ in range(4)]
        for name, own in zip(("thigh", "shin", "foot", "toe"), axes, strict=True):
            other[name] = getattr(clip, name) @ own
        same = Clip(clip.fps, **other, ball=clip.ball, tip=clip.tip)
        assert plant(same, HILLS).apply(same).ankle == pytest.approx(ankle, abs=1e-8)


def _rotation(rng):
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return axes * np.sign(np.linalg.det(axes))


@pytest.mark.parametrize("joint", [2, 3])
@pytest.mark.parametrize("own", [(2.0, 1.0, 1.0), (1.0, 1.2, 0.7)])
def test_a_plan_does_not_depend_on_the_own_scales_of_foot_and_toe(joint, own) -> None:
    clip = make_walk(seconds=3.0, fps=30.0, roll=0.4).clip
    name, scale = ("foot", "toe")[joint - 2], clip.scale.copy()
    scale[:, :, joint] = own
    scaled = replace(clip, scale=scale, **{name: getattr(clip, name) * np.append(own, 1.0)})
    after, plain = (plant(each, HILLS).apply(each) for each in (scaled, clip))
    for place in ("hip", "knee", "ankle", "ball", "tip"):
        assert getattr(after, place) == pytest.approx(getattr(plain, place), abs=1e-8)


def test_the_median_point_is_the_median_on_a_line_and_turns_with_its_points() -> None:
    rng = np.random.default_rng(2)
    for count in (1, 2, 5, 8):
        numbers = rng.normal(size=count)
        assert median_point(numbers[:, None]) == pytest.approx(np.median(numbers), abs=1e-12)
    points, turn = rng.normal(size=(31, 3)), _rotation(rng)
    assert median_point(points @ turn.T) == pytest.approx(turn @ median_point(points), abs=1e-12)


def test_the_median_point_is_where_most_points_lie_however_many() -> None:
    points = np.concatenate([np.tile([1.0, 2.0, 3.0], (600, 1)), np.random.default_rng(3).normal(size=(400, 3))])
    assert median_point(np.random.default_rng(4).permutation(points)) == pytest.approx([1.0, 2.0, 3.0], abs=1e-12)
