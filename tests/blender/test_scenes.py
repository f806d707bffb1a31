# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo's platform, bridge and stairs: its walk planted on them, judged on the scene by what they are built of."""

from __future__ import annotations

import numpy as np
import pytest
from measures import judged_spans
from scene import watch

LEGS = [tuple(f"{bone}.{side}" for bone in ("thigh", "shin", "foot", "toe")) for side in "LR"]
# Shares of the leg: a foot that stands, and a sole that is deformed where it meets an edge.
STANDS, DEFORMS = 0.001, 0.004


@pytest.fixture
def planted(bpy):
    """Makes the demo's ground under its walk and plants it: the way, characters, their clips before and after, and the
    objects of the ground.
    """
    from demo import character, scenes, show

    def make(kind):
        walking = character.load(bpy, "walk")
        stage = show.lay_stage(bpy, kind, walking)
        walkers = character.cross(bpy, "walk", walking, scenes.DECK) if kind == "bridge" else [walking]
        before = [seen(bpy, walker) for walker in walkers]
        show.plant(bpy, [walker.armature for walker in walkers])
        return walking.way, walkers, before, [seen(bpy, walker) for walker in walkers], (*stage.grounds, *stage.props)

    return make


def seen(bpy, walker):
    return watch(bpy.context.scene, walker.armature, LEGS, walker.frames)


def motion_of(bpy, ob, frames):
    """World matrices (F, 4, 4) of an object."""
    rows = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        rows.append(np.array(ob.matrix_world))
    return np.array(rows)


def mapped(matrices, points):
    """Points (F, ..., 3) mapped by matrices (F, 4, 4)."""
    return np.einsum("fij,f...j->f...i", matrices[:, :3, :3], points) + matrices[:, :3, 3].reshape(
        len(points), *[1] * (points.ndim - 2), 3
    )


def spread(path):
    return np.linalg.norm(path - path.mean(axis=0), axis=1).max()


def soles(walker, clip):
    """Heel, under the ball, under the tip (F, L, 3, 3) of feet whose rest pose stands on the floor z = 0."""
    bones = walker.armature.data.bones
    feet = []
    for leg, (_, _, foot, toe) in enumerate(LEGS):
        heel = bones[toe.replace("toe", "heel.02")]
        parts = (
            (clip.foot, foot, (heel.head_local + heel.tail_local) / 2),
            (clip.foot, foot, bones[toe].head_local),
            (clip.toe, toe, bones[toe].tail_local),
        )
        rows = []
        for pose, name, place in parts:
            own = np.array(bones[name].matrix_local.inverted() @ type(place)((place.x, place.y, 0.0)))
            rows.append(mapped(pose[:, leg], np.tile(own, (clip.frames, 1))))
        feet.append(np.stack(rows, axis=1))
    return np.stack(feet, axis=1)


def in_legs(way, points):
    """Points (..., 3) in the space and the unit that the ground was built in."""
    cosine, sine = np.cos(way.heading), np.sin(way.heading)
    turn = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    return (points - [*way.centre, way.floor]) @ turn / way.leg


def test_feet_ride_on_the_platform_that_rises_and_turns(bpy, planted):
    from demo import scenes

    way, (walker,), (before,), (after,), (*_, platform) = planted("platform")
    leg, radius = way.leg, scenes.platform_radius(way)
    back = np.linalg.inv(motion_of(bpy, platform, walker.frames))
    source, result, sole = (
        mapped(back, path) / leg for path in (before.ball, after.ball, soles(walker, after)[..., :2, :])
    )
    ridden, slid = [], []
    for foot, start, end in judged_spans(before):
        frames = slice(start, end)
        world = spread(after.ball[frames, foot]) / leg
        if np.linalg.norm(result[start, foot, :2]) > radius:
            assert world < STANDS
            continue
        assert spread(result[frames, foot]) < STANDS
        assert np.abs(sole[frames, foot, :, 2].min(axis=1)).max() < DEFORMS
        ridden.append(world)
        slid.append(spread(source[frames, foot]))
    assert len(ridden) >= 6
    assert max(ridden) > 0.02 and max(slid) > 0.02


def test_two_walk_over_and_under_the_bridge_each_on_a_level_of_its_own(planted):
    from demo import grounds, scenes
    from demo.track import MARGIN

    way, walkers, befores, afters, _ = planted("bridge")
    length = way.size[0] / way.leg - 2 * MARGIN + scenes.BEYOND

    def deck(points):
        return scenes.DECK + scenes.ARCH * (1 - (2 * points[..., 0] / length) ** 2)

    def floor(points):
        return grounds.heights("hills", points[..., :2], scenes.SEED)

    for walker, before, after, level in zip(walkers, befores, afters, (deck, floor), strict=True):
        points = [in_legs(way, soles(walker, clip)) for clip in (before, after)]
        source, result = (path[..., 2] - level(path) for path in points)
        spans = judged_spans(before)
        assert len(spans) >= 12
        for foot, start, end in spans:
            assert spread(after.ball[start:end, foot]) < STANDS * way.leg
            assert np.abs(result[start:end, foot].min(axis=1)).max() < DEFORMS
        assert result.min() > -DEFORMS and result.max() < 0.6
        assert source.min() < -0.1


def depths(points):
    """How deep points (..., 2) lie in the stairs or under their floor (...), by the shortest way out."""
    from demo import scenes

    outline = scenes.stairs_outline(scenes.STEPS)
    line = np.concatenate([[[20.0, 0.0]], outline, [[-20.0, 0.0]]])
    start, way = line[:-1], np.diff(line, axis=0)
    share = np.clip(np.sum((points[..., None, :] - start) * way, axis=-1) / np.sum(way**2, axis=-1), 0.0, 1.0)
    away = np.linalg.norm(points[..., None, :] - start - share[..., None] * way, axis=-1).min(axis=-1)
    return np.where(_are_inside(points, outline) | (points[..., 1] < 0.0), away, 0.0)


def _are_inside(points, outline):
    """Whether points (..., 2) lie inside a polygon, by how often a level line to the right crosses it."""
    (x, z), ends = np.moveaxis(points[..., None, :], -1, 0), np.roll(outline, -1, axis=0)
    crossed = (outline[:, 1] > z) != (ends[:, 1] > z)
    rise = np.where(crossed, ends[:, 1] - outline[:, 1], 1.0)
    return np.sum(crossed & (x < outline[:, 0] + (z - outline[:, 1]) / rise * (ends - outline)[:, 0]), axis=-1) % 2 == 1


def test_no_sole_passes_through_a_tread_or_a_nosing(planted):
    way, (walker,), (before,), (after,), _ = planted("stairs")
    share = np.linspace(0.0, 1.0, 9)[:, None, None, None]
    worst = []
    for clip in (before, after):
        points = in_legs(way, soles(walker, clip))[..., [0, 2]]
        along = [points[..., i, :] * (1 - share) + points[..., i + 1, :] * share for i in (0, 1)]
        worst.append(float(depths(np.stack(along)).max()))
    assert worst[0] > 0.1
    # On one frame the tip of the toes rises past the first nosing by 0.0073.
    assert worst[1] < 2 * DEFORMS


@pytest.fixture
def open_stairs(monkeypatch):
    """Makes the demo's stairs steeper, of treads alone, with the floor to be seen between them: their ends (N, 2) along
    the way and their heights (N,).
    """
    from demo import scenes
    from demo.solids import box

    rise, depth, count, overhang, thickness = 0.2, 0.45, 5, 0.1, 0.05
    start = -scenes.LANDING / 2 - depth * np.arange(count, 0, -1) - overhang
    up = np.stack([start, start + depth + overhang], axis=1)
    up[-1, 1] = -up[-1, 0]
    ends, heights = np.concatenate([up, -up[:-1, ::-1]]), rise * np.array([*range(1, count + 1), *range(1, count)])

    def make(bpy, way):
        half = way.size[1] / way.leg / 2
        treads = [box((a, -half, z - thickness), (b, half, z)) for (a, b), z in zip(ends, heights, strict=True)]
        return [scenes._floor(bpy, "flat", way), scenes._place(bpy, "stairs", treads, way)]

    monkeypatch.setattr(scenes, "make_stairs", make)
    return ends, heights


def test_open_treads_are_climbed_to_the_top_though_there_is_a_floor_below(open_stairs, planted):
    ends, heights = open_stairs
    way, (walker,), (before,), (after,), _ = planted("stairs")
    points = in_legs(way, soles(walker, after))
    levels = []
    for foot, start, end in judged_spans(before):
        along, _, height = np.median(points[start:end, foot, 1], axis=0)
        on = (ends[:, 0] < along) & (along < ends[:, 1])
        assert height == pytest.approx(heights[on].max(initial=0.0), abs=DEFORMS)
        levels.append(float(height))
    assert max(levels) == pytest.approx(heights.max(), abs=DEFORMS)
    assert len(levels) >= 12 and sum(level > 0.1 for level in levels) >= 7


def test_no_footprint_on_the_stairs_lies_over_an_edge(planted):
    from demo import scenes

    way, (walker,), (before,), (after,), _ = planted("stairs")
    half = scenes.LANDING / 2 + scenes.STEPS * scenes.TREAD
    edges = half - scenes.TREAD * np.arange(scenes.STEPS) + scenes.NOSING
    edges = np.sort(np.concatenate([-edges, edges]))
    treads = {"before": [], "after": []}
    spans = judged_spans(before)
    for side, clip in (("before", before), ("after", after)):
        along = in_legs(way, soles(walker, clip))[..., 0]
        for foot, start, end in spans:
            assert side == "before" or spread(clip.ball[start:end, foot]) < STANDS * way.leg
            ends = np.searchsorted(edges, along[(start + end) // 2, foot])
            treads[side].append((ends.min(), ends.max()))
    assert any(first != last for first, last in treads["before"])
    assert all(first == last for first, last in treads["after"])
    assert len(set(treads["after"])) >= 7
