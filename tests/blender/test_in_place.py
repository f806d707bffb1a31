# SPDX-License-Identifier: GPL-3.0-or-later
"""Planting in place: keys go into the action itself, what lies outside of the frames stays, and nothing leads back."""

from __future__ import annotations

import biped
import fingerprint
import numpy as np
import pytest
from planted import IN_PLACE, between, bone_curves, heads, outcome_of, plant, record_of, refused, values_of, written

FRAMES = np.arange(1, biped.LAST + 1)


def _curve(armature, bone="shin.L", index=1):
    path = f'pose.bones["{bone}"]'
    curves = fingerprint.curves_of(armature.animation_data.action)
    return next(c for c in curves if c.data_path.startswith(path) and c.array_index == index)


ALL = ("foot.L", "foot.R", "hips")


def _curve_along(armature):
    """The curve of the hips' location along the way."""
    curves = [c for c in fingerprint.curves_of(armature.animation_data.action) if c.data_path.endswith("location")]
    return max(curves, key=lambda curve: np.ptp([point.co.y for point in curve.keyframe_points]))


def _tails(bpy, armature):
    """Ways from heads to tails of the feet."""
    rows = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(int(frame))
        rows.append([armature.pose.bones[name].vector for name in ALL[:2]])
    return np.array(rows)


def test_keys_go_into_the_action_itself_and_feet_stand(bpy, walker, slope):
    action = walker.animation_data.action
    plant(bpy, **IN_PLACE)
    assert walker.animation_data.action == action and action.name == "walk"
    assert list(bpy.data.actions) == [action]
    assert "ik2bone_source" not in action and not action.use_fake_user
    after = record_of(walker)["report"]["after"]
    assert after["drift"] < 1e-4 and after["penetration"] < 1e-4
    assert record_of(walker)["source"] is None
    assert len({span["bone"] for span in record_of(walker)["contacts"]}) == 2


def test_it_writes_the_keys_that_a_new_action_gets(bpy, walker, slope):
    plant(bpy)
    new = values_of(walker, FRAMES)
    bpy.ops.ik2bone.restore()
    plant(bpy, **IN_PLACE)
    assert values_of(walker, FRAMES) == new


def test_other_curves_are_not_touched(bpy, walker, slope):
    walker.pose.bones["chest"].keyframe_insert("rotation_quaternion", frame=5.5)
    action = walker.animation_data.action
    untouched = {name: bone_curves(action, name) for name in ("chest", "head")}
    plant(bpy, **IN_PLACE)
    assert {name: bone_curves(action, name) for name in untouched} == untouched


def test_restoring_is_refused(bpy, walker, slope):
    plant(bpy, **IN_PLACE)
    with pytest.raises(RuntimeError, match="plays no planted action"):
        bpy.ops.ik2bone.restore()


def test_a_second_run_reads_the_keys_as_they_are(bpy, walker, slope):
    plant(bpy, **IN_PLACE)
    for curve in written(walker):
        if "hips" in curve.data_path and curve.array_index == 1:
            for point in curve.keyframe_points:
                point.co.y += 0.02
            curve.update()
    lifted = heads(bpy, walker, FRAMES, ("hips",))
    plant(bpy, **IN_PLACE, use_hips=False)
    np.testing.assert_array_equal(heads(bpy, walker, FRAMES, ("hips",)), lifted)
    report = record_of(walker)["report"]
    assert report["before"]["float"] > 0.015
    assert report["after"]["float"] < 2e-3


@pytest.mark.parametrize("bones", ["", "foot.R"])
def test_a_second_run_changes_little_and_knows_the_soles(bpy, walker, bones):
    biped.make_slope(bpy, rise=0.03, height=0.1)
    plant(bpy, **IN_PLACE)
    once = heads(bpy, walker, FRAMES, ("foot.L", "foot.R", "hips"))
    sole = record_of(walker)["report"]["feet"][1]["sole_height"]
    plant(bpy, **IN_PLACE, bones=bones)
    np.testing.assert_allclose(heads(bpy, walker, FRAMES, ("foot.L", "foot.R", "hips")), once, atol=0.035)
    stands = [span for span in record_of(walker)["contacts"] if span["part"] == "ball"]
    for span in stands:
        rows, foot = slice(span["start"] - 1, span["end"]), ("foot.L", "foot.R").index(span["bone"])
        again = heads(bpy, walker, FRAMES[rows], (span["bone"],))[:, 0]
        np.testing.assert_allclose(again, once[rows, foot], atol=0.003)
    assert record_of(walker)["report"]["feet"][-1]["sole_height"] == sole


@pytest.mark.parametrize("rise", [0.0, 0.3])
@pytest.mark.parametrize("travels", [True, False])
def test_many_runs_neither_lift_nor_tilt_what_stands(bpy, walker, rise, travels):
    if not travels:
        for point in _curve_along(walker).keyframe_points:
            point.co.y = 0.0
    biped.make_slope(bpy, rise=rise, height=0.3)
    plant(bpy, **IN_PLACE)
    once, tips = heads(bpy, walker, FRAMES, ALL), _tails(bpy, walker)
    for _ in range(3):
        plant(bpy, **IN_PLACE)
    np.testing.assert_allclose(heads(bpy, walker, FRAMES, ALL), once, atol=0.05)
    np.testing.assert_allclose(_tails(bpy, walker), tips, atol=0.15 * np.radians(4.0))


def test_without_strength_no_value_changes(bpy, walker, slope):
    before = values_of(walker, FRAMES)
    plant(bpy, **IN_PLACE, strength=0.0)
    assert values_of(walker, FRAMES) == before


def test_too_few_frames_within_the_action_are_refused(bpy, walker, slope):
    refused(bpy, "frames 30 to 31 are too few", **IN_PLACE, **between(30, 31))


def test_a_property_that_was_not_animated_is_keyed_on_the_frames_only(bpy, walker, slope):
    bag = fingerprint.bags_of(walker.animation_data.action)[0]
    for curve in [curve for curve in bag.fcurves if "foot.L" in curve.data_path]:
        bag.fcurves.remove(curve)
    walker.pose.bones["foot.L"].rotation_quaternion = (0.99, 0.1, 0.0, 0.0)
    plant(bpy, **IN_PLACE, **between(20, 40))
    curve = _curve(walker, "foot.L")
    assert [point.co.x for point in curve.keyframe_points] == list(range(20, 41))
    assert curve.evaluate(1) == curve.evaluate(61) == pytest.approx(0.1, abs=1e-6)


@pytest.mark.parametrize("state", ["is locked", "is muted", "has modifiers", "consists of samples"])
@pytest.mark.parametrize("given", [IN_PLACE, {"frame_range": "CURRENT"}], ids=["in place", "one pose"])
def test_curves_that_take_or_show_no_keys_are_refused(bpy, walker, slope, state, given):
    curve = _curve(walker)
    curve.lock, curve.mute = state == "is locked", state == "is muted"
    if state == "has modifiers":
        curve.modifiers.new("NOISE").strength = 0.1
    if state == "consists of samples":
        curve.convert_to_samples(1, 62)
    bpy.context.scene.frame_set(12)
    refused(bpy, f"the F-curve of rotation_quaternion of bone shin.L {state}", **given)


def test_modifiers_on_other_channels_are_no_trouble(bpy, walker, slope):
    walker.pose.bones["chest"].keyframe_insert("rotation_quaternion", frame=5)
    _curve(walker, "chest").modifiers.new("NOISE").strength = 0.1
    plant(bpy, **IN_PLACE)
    assert len(_curve(walker, "chest").modifiers) == 1


def test_a_curve_that_eases_across_an_end_of_the_frames_is_refused(bpy, walker, slope):
    biped.thin(walker, interpolation="BOUNCE")
    refused(bpy, "eases by BOUNCE, so it cannot be cut at frame 20", **IN_PLACE, **between(20, 61))
    plant(bpy, **IN_PLACE)


def test_a_curve_that_goes_on_straight_within_the_action_is_refused(bpy, walker, slope):
    curve = _curve(walker)
    while curve.keyframe_points[0].co.x < 30:
        curve.keyframe_points.remove(curve.keyframe_points[0])
    curve.extrapolation = "LINEAR"
    refused(bpy, "goes on in a straight line beyond its keys", **IN_PLACE, **between(20, 61))


def test_a_planted_action_loses_its_source_and_tells_so(bpy, walker, slope, options, addon):
    plant(bpy)
    outcome = outcome_of(addon, bpy, [walker], options(output="IN_PLACE"))
    told = "; ".join(outcome.warnings)
    assert "walk.planted is planted in place now, and no longer tied to its source walk" in told
    assert walker.animation_data.action.name == "walk.planted"
    assert "ik2bone_source" not in walker.animation_data.action
    assert bpy.data.actions["walk"].use_fake_user
    with pytest.raises(RuntimeError, match="plays no planted action"):
        bpy.ops.ik2bone.restore()


def test_a_new_action_after_it_starts_from_the_source_again_and_leads_back(bpy, walker, slope):
    plant(bpy)
    once = values_of(walker, FRAMES)
    plant(bpy, **IN_PLACE, strength=0.5)
    assert values_of(walker, FRAMES) != once
    plant(bpy)
    assert sorted(action.name for action in bpy.data.actions) == ["walk", "walk.planted"]
    assert values_of(walker, FRAMES) == once
    assert bpy.ops.ik2bone.restore() == {"FINISHED"}
    assert walker.animation_data.action.name == "walk"


@pytest.mark.parametrize("output", ["NEW_ACTION", "IN_PLACE"])
def test_corrections_come_and_go_over_the_frames_that_are_asked_for(bpy, walker, slope, output):
    before = heads(bpy, walker, FRAMES)
    plant(bpy)
    whole = np.abs(heads(bpy, walker, FRAMES) - before).max(axis=(1, 2))
    bpy.ops.ik2bone.restore()
    plant(bpy, output=output, blend_in=6, blend_out=12, **between(10, 50))
    shares = np.abs(heads(bpy, walker, FRAMES) - before).max(axis=(1, 2)) / whole
    assert (shares[:10] < 1e-4).all() and (shares[49:] < 1e-4).all()
    np.testing.assert_allclose(shares[15:37], 1.0, atol=0.1)
    assert (shares[10:14] < 0.95).all() and (shares[40:48] < 0.95).all()
    assert sum("fade" in sentence for sentence in record_of(walker)["report"]["told"]) == 2


def test_whoever_shares_the_action_is_told(bpy, walker, slope, options, addon):
    twin = biped.twin_of(bpy, walker)
    twin.animation_data.nla_tracks.new().strips.new("Walk strip", 1, bpy.data.actions["walk"])
    outcome = outcome_of(addon, bpy, [walker], options(output="IN_PLACE"))
    assert any("Walker.001 also plays walk and changes with it" in warning for warning in outcome.warnings)
    assert any("NLA strips play walk and change with it: Walk strip" in warning for warning in outcome.warnings)


def test_contacts_of_other_legs_stay_in_the_record(bpy, walker, slope):
    plant(bpy, **IN_PLACE)
    plant(bpy, **IN_PLACE, bones="foot.R")
    assert {span["bone"] for span in record_of(walker)["contacts"]} == {"foot.L", "foot.R"}


def test_a_new_action_can_be_planted_from_it(bpy, walker, slope):
    plant(bpy, **IN_PLACE)
    once = values_of(walker, FRAMES)
    plant(bpy)
    assert walker.animation_data.action.name == "walk.planted"
    bpy.ops.ik2bone.restore()
    assert values_of(walker, FRAMES) == once
    assert record_of(walker)["source"] is None


@pytest.mark.parametrize(
    ("module", "name", "function", "after"),
    [
        ("run.output", "keys", "write", 3),
        ("run.pipeline", "report", "figures", 0),
        ("run.pipeline", "properties", "store", 0),
    ],
)
def test_an_error_half_way_changes_nothing(bpy, walker, slope, addon, monkeypatch, module, name, function, after):
    owner = getattr(addon(module), name)
    call, left = getattr(owner, function), [after]

    def fail(*arguments, **given):
        left[0] -= 1
        if left[0] == -1:
            raise ArithmeticError("half way")
        return call(*arguments, **given)

    before = fingerprint.of_scene(bpy)
    with monkeypatch.context() as patch:
        patch.setattr(owner, function, fail)
        with pytest.raises(RuntimeError, match="half way"):
            bpy.ops.ik2bone.plant_feet(output="IN_PLACE")
    assert fingerprint.of_scene(bpy) == before
