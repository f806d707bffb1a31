# SPDX-License-Identifier: GPL-3.0-or-later
"""Constraints that leave keys shown: feet under bones that are turned and scaled by them stand as under others."""

from __future__ import annotations

import biped
import pytest
from planted import outcome_of, plant, record_of

OUTPUTS = [{}, {"output": "IN_PLACE"}, {"frame_range": "CURRENT"}]


def _constrain(bpy, armature, bone, kind, **settings):
    constraint = armature.pose.bones[bone].constraints.new(kind)
    if hasattr(constraint, "target"):
        constraint.target = bpy.data.objects.new("Target", None)
        bpy.context.collection.objects.link(constraint.target)
    for name, value in settings.items():
        setattr(constraint.target if name in ("rotation_euler", "scale") else constraint, name, value)
    bpy.context.view_layer.update()


@pytest.mark.parametrize("given", OUTPUTS)
@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("COPY_ROTATION", {"mix_mode": "ADD", "rotation_euler": (0.2, 0.0, 0.0)}),
        ("COPY_SCALE", {"scale": (1.2, 1.2, 1.2)}),
        ("LIMIT_ROTATION", {"use_limit_x": True, "min_x": 0.3, "max_x": 0.3, "owner_space": "LOCAL"}),
    ],
)
def test_hips_that_constraints_turn_or_scale_bring_feet_to_their_places(
    bpy, walker, options, addon, given, kind, settings
):
    biped.make_slope(bpy, rise=0.1)
    _constrain(bpy, walker, "hips", kind, **settings)
    bpy.context.scene.frame_set(20)
    outcome = outcome_of(addon, bpy, [walker], options(**given))
    after = outcome.reports[0]["after"]
    assert max(after["short"], after["drift"], after["penetration"]) < 1e-4
    assert after["hips_offset"] > 0.001


@pytest.mark.parametrize("bone", ["thigh.L", "shin.L"])
def test_bones_that_constraints_stretch_reach_as_those_with_such_a_scale_of_their_own(bpy, addon, bone):
    from demo import session

    found = []
    for constrained in (False, True):
        session.reset(bpy)
        walker = biped.make_walker(bpy)
        biped.make_slope(bpy, rise=0.1)
        if constrained:
            _constrain(bpy, walker, bone, "COPY_SCALE", scale=(1.0, 1.2, 1.0))
        else:
            walker.pose.bones[bone].scale.y = 1.2
        plant(bpy)
        found.append(record_of(walker)["report"]["after"])
    assert found[1]["short"] == 0.0
    for name in ("drift", "penetration"):
        assert found[1][name] == pytest.approx(found[0][name], abs=1e-4)


def test_a_switch_that_stands_at_forward_kinematics_is_no_reason_to_refuse(bpy, walker, slope):
    walker["ik_fk"] = 0.0
    _constrain(bpy, walker, "shin.L", "IK", chain_count=2)
    driver = walker.pose.bones["shin.L"].constraints["IK"].driver_add("influence").driver
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = walker, '["ik_fk"]'
    driver.expression = variable.name
    plant(bpy)
    assert record_of(walker)["report"]["after"]["drift"] < 1e-4


@pytest.mark.parametrize("strength", [0.0, 0.5])
def test_feet_that_stand_still_do_not_slide_under_less_than_the_whole_strength(bpy, walker, slope, strength):
    plant(bpy, strength=strength)
    report = record_of(walker)["report"]
    assert report["after"]["drift"] < 1e-5
    assert not any("slide" in sentence for sentence in report["told"])
