# SPDX-License-Identifier: GPL-3.0-or-later
"""Soles are read back from a record as they were written, and not at all where any of them is broken."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from ik2bone.targets.touch import measure_limbs
from planted import heads, plant
from walk import make_walk

LIMBS = [SimpleNamespace(foot=f"foot.{side}") for side in "LR"]


@pytest.fixture
def kept(addon):
    """The module, a clip, its soles, and what an action keeps of them."""
    soles, clip = addon("run.records"), make_walk(seconds=2.0).clip
    sole = measure_limbs(clip)
    return soles, clip, sole, json.loads(json.dumps(soles.soles_as_data(LIMBS, sole, clip.leg)))


def test_soles_are_read_back_as_they_were_written(kept):
    soles, clip, sole, data = kept
    known = soles.known_sole(LIMBS, clip, records_of(soles, data))
    for (name, row), (_, written) in zip(known.rows(), sole.rows(), strict=True):
        np.testing.assert_array_equal(row, written, err_msg=name)
    assert known.source == sole.source and known.floor == pytest.approx(sole.floor, abs=1e-3)


def records_of(records, soles):
    return records.read_record(json.dumps({"soles": soles}))[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [("leg", "long"), ("heel", [0.1, 0.2]), ("heel", [0.1, None, float("nan")]), ("lengths", [0.1, [0.2]]),
     ("ball_height", {}), ("source", 5), ("tip", None), ("leg", 9.0)],
)  # fmt: skip
def test_broken_soles_are_measured_anew(kept, name, value):
    soles, clip, _, data = kept
    data["foot.R"][name] = value
    assert soles.known_sole(LIMBS, clip, records_of(soles, data)) is None
    assert soles.known_sole(LIMBS[:1], clip.choose(np.array([True, False])), records_of(soles, data)) is not None


@pytest.mark.parametrize("first", ["NEW_ACTION", "IN_PLACE"])
@pytest.mark.parametrize("then", [{"frame_range": "CURRENT"}, {"output": "IN_PLACE"}])
def test_feet_that_stand_already_stay_where_they_are(bpy, walker, slope, first, then):
    plant(bpy, output=first)
    frames, stands = range(15, 26), "foot.R"
    once = heads(bpy, walker, frames, (stands,))
    bpy.context.scene.frame_set(20)
    plant(bpy, **then)
    np.testing.assert_allclose(heads(bpy, walker, frames, (stands,)), once, atol=1e-5)


@pytest.mark.parametrize("frames", [slice(0, 900), slice(0, 850), slice(0, 780), slice(30, 994)])
def test_idle_cut_off_a_recorded_clip_does_not_move_the_soles(bpy, addon, data, frames):
    from demo.clips import load

    armature = load(bpy, data / "bvh/cmu_131_01_startwalkstop.bvh")
    scene = bpy.context.scene
    numbers = range(scene.frame_start, scene.frame_end + 1)
    legs = addon("rig.find").find_legs(armature, (numbers[0], numbers[-1]))
    clip = addon("pose.sample").sample(armature, legs, None, list(numbers)).clip
    whole, part = measure_limbs(clip), measure_limbs(clip.cut(frames))
    assert clip.frames == 994
    assert np.abs(part.ball_height - whole.ball_height).max() <= 0.002 * clip.leg
    assert np.linalg.norm(part.heel - whole.heel, axis=-1).max() <= 0.006 * clip.leg
    assert abs(part.floor - whole.floor) <= 0.002 * clip.leg
