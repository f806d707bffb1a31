# SPDX-License-Identifier: GPL-3.0-or-later
"""Planting in place some of an action's frames: what lies outside of them stays, and corrections fade at their ends."""

from __future__ import annotations

import biped
import fingerprint
import numpy as np
import pytest
from planted import IN_PLACE, between, heads, plant, record_of, refused, values_of, written

FRAMES = np.arange(1, biped.LAST + 1)
QUARTERS = np.arange(-2.0, biped.LAST + 3.0, 0.25)


@pytest.mark.parametrize("interpolation", ["BEZIER", "LINEAR", "CONSTANT"])
@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "YZX"])
@pytest.mark.parametrize("span", [(20, 40), (1, 30), (25, 60)])
def test_what_lies_outside_of_the_frames_stays(bpy, slope, mode, interpolation, span):
    walker = biped.make_walker(bpy, mode=mode)
    biped.thin(walker, interpolation=interpolation)
    outside = [frame for frame in QUARTERS if not span[0] <= frame <= span[1] and 1 < frame < 60]
    before, keys = values_of(walker, outside), _keys_outside(walker, span)
    plant(bpy, **IN_PLACE, **between(*span))
    after = values_of(walker, outside)
    assert max(np.abs(np.subtract(before[name], after[name])).max() for name in before) <= 1e-6
    assert _keys_outside(walker, span) == keys
    for curve in written(walker):
        inside = [p.co.x for p in curve.keyframe_points if span[0] - 0.01 < p.co.x < span[1] + 0.01]
        assert inside == list(range(span[0], span[1] + 1))


@pytest.mark.parametrize(
    ("mode", "start", "step", "most"),
    [
        ("QUATERNION", 500, 5.21, 1e-6),
        ("QUATERNION", 1000, 7.3, 1e-6),
        ("QUATERNION", 5000, 7.3, 1e-6),
        ("YZX", 1000, 7.3, 1e-6),
        ("YZX", 5000, 7.3, 2.5e-6),
    ],
)
def test_what_lies_outside_stays_far_from_the_first_frame(bpy, slope, mode, start, step, most):
    """Angles are twice as large as what quaternions hold of the same turn."""
    walker = biped.make_walker(bpy, mode=mode)
    biped.thin(walker, step=step)
    for curve in fingerprint.curves_of(walker.animation_data.action):
        for point in curve.keyframe_points:
            for part in ("co", "handle_left", "handle_right"):
                getattr(point, part).x += start
        curve.update()
    outside = [start + frame for frame in FRAMES if not 15 <= frame <= 40]
    before = values_of(walker, outside)
    plant(bpy, **IN_PLACE, **between(start + 15, start + 40))
    after = values_of(walker, outside)
    assert max(np.abs(np.subtract(before[name], after[name])).max() for name in before) <= most


@pytest.mark.parametrize("output", ["NEW_ACTION", "IN_PLACE"])
def test_what_lies_outside_stays_where_handles_overlap(bpy, walker, slope, output):
    _set_handles(walker, 9.0)
    outside = [*range(1, 15), *range(41, 62)]
    before = values_of(walker, outside)
    plant(bpy, output=output, **between(15, 40))
    after = values_of(walker, outside)
    assert max(np.abs(np.subtract(before[name], after[name])).max() for name in before) <= 1e-6


def test_handles_too_long_for_a_cut_piece_are_refused(bpy, walker, slope):
    _set_handles(walker, 30.0)
    refused(bpy, "has handles that overlap too far, so it cannot be cut at frame 40", **IN_PLACE, **between(15, 40))


def _set_handles(walker, length):
    """Keys 12.37 frames apart with handles of some length."""
    biped.thin(walker, step=12.37)
    for curve in fingerprint.curves_of(walker.animation_data.action):
        for point in curve.keyframe_points:
            point.handle_left_type = point.handle_right_type = "FREE"
            point.handle_left = point.co.x - length, point.co.y + 0.03
            point.handle_right = point.co.x + length, point.co.y - 0.03
        curve.update()


def _keys_outside(armature, span):
    return {
        (curve.data_path, curve.array_index): [
            (point.co.x, point.co.y, point.interpolation, point.type)
            for point in curve.keyframe_points
            if not span[0] - 0.01 < point.co.x < span[1] + 0.01
        ]
        for curve in fingerprint.curves_of(armature.animation_data.action)
    }


@pytest.mark.parametrize("flips", ["quaternions", "angles"])
def test_what_lies_outside_stays_even_where_the_source_changes_its_numbers_inside(bpy, slope, flips):
    walker = biped.make_walker(bpy, mode="QUATERNION" if flips == "quaternions" else "XYZ")
    for curve in written(walker):
        for point in curve.keyframe_points:
            if point.co.x >= 28 and "rotation" in curve.data_path:
                point.co.y = -point.co.y if flips == "quaternions" else point.co.y + 2.0 * np.pi
        curve.update()
    outside = [*range(1, 20), *range(41, 62)]
    before = values_of(walker, outside)
    plant(bpy, **IN_PLACE, **between(20, 40))
    after = values_of(walker, outside)
    assert max(np.abs(np.subtract(before[name], after[name])).max() for name in before) <= 1e-6


def test_corrections_fade_to_zero_at_ends_within_the_action(bpy, walker, slope):
    before = heads(bpy, walker, FRAMES)
    plant(bpy, **IN_PLACE, **between(15, 50))
    moved = np.abs(heads(bpy, walker, FRAMES) - before).max(axis=(1, 2))
    assert (moved[:15] < 1e-6).all() and (moved[49:] < 1e-6).all()
    assert moved[28:35].max() > 0.02
    steps = np.diff(heads(bpy, walker, FRAMES), axis=0)
    assert np.linalg.norm(np.diff(steps, axis=0), axis=-1).max() < 0.05
    report = record_of(walker)["report"]
    assert report["after"]["drift"] < 1e-4
    assert all(span["start"] > 15 and span["end"] < 50 for span in report["spans"])
    assert sum("fade" in sentence for sentence in report["told"]) == 2


def test_corrections_do_not_fade_at_the_ends_of_the_action(bpy, walker, slope):
    before = heads(bpy, walker, (1, biped.LAST))
    plant(bpy, **IN_PLACE, **between(1, biped.LAST))
    assert np.abs(heads(bpy, walker, (1, biped.LAST)) - before).max() > 0.02
    assert not any("fade" in sentence for sentence in record_of(walker)["report"]["told"])


def test_keys_beyond_a_manual_frame_range_count_as_within_the_action(bpy, walker, slope):
    action = walker.animation_data.action
    action.use_frame_range, action.frame_start, action.frame_end = True, 10.0, 40.0
    outside = [*range(1, 10), *range(41, 62)]
    before = values_of(walker, outside)
    plant(bpy, **IN_PLACE)
    assert values_of(walker, outside) == before
    assert values_of(walker, [25]) != before
