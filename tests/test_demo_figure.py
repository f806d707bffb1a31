# SPDX-License-Identifier: MIT
"""The demo's body of solids for an animal on four legs."""

from __future__ import annotations

import numpy as np
import pytest

from demo.figure import TRUNK, Body, Foot, _head_and_tail

FACING = (1.0, -1.0)
# The bones of an animal that faces along X: parent and joint.
BONES = {
    "hip": (None, (0.0, 0.0, 1.0)),
    "tail": ("hip", (-0.1, 0.0, 1.0)),
    "tip": ("tail", (-0.5, 0.0, 0.9)),
    "spine": ("hip", (0.6, 0.0, 1.0)),
    "neck": ("spine", (1.2, 0.0, 1.1)),
    "head": ("neck", (1.5, 0.0, 1.4)),
}
PAIRS = {"hind": ("hip", 0.0), "front": ("spine", 1.1)}


def make_animal(facing):
    """The body and the feet of an animal on four legs that faces along X (1) or against X (-1)."""
    bones = dict(BONES)
    feet = []
    for pair, (parent, x) in PAIRS.items():
        for side, y in (("L", 0.15), ("R", -0.15)):
            names = [f"{bone}.{pair}.{side}" for bone in ("thigh", "shin", "foot")]
            for name, above, height in zip(names, (parent, *names), (0.95, 0.5, 0.05), strict=False):
                bones[name] = (above, (x, y, height))
            points = facing * np.array([[-0.05, 0, -0.05], [0.1, 0, -0.05], [0.15, 0, -0.05]]) * [1, 1, facing]
            feet.append(Foot(*names, None, *points))
    joints = {name: np.array(place) * [facing, 1, 1] for name, (_, place) in bones.items()}
    pose = {name: np.block([[np.eye(3), joint[:, None]], [np.zeros(3), 1.0]]) for name, joint in joints.items()}
    children = {name: [other for other, (parent, _) in bones.items() if parent == name] for name in bones}
    ends = {name: joint + [0.15 * facing, 0, 0] for name, joint in joints.items()}
    parents = {name: parent for name, (parent, _) in bones.items()}
    return Body(pose, pose, parents, children, ends, 0.9), feet


@pytest.mark.parametrize("facing", FACING)
def test_an_animal_has_its_head_over_the_foremost_legs_and_a_tail_behind(facing):
    body, feet = make_animal(facing)
    _head_and_tail(body, feet)
    assert {colour for _, colour, _ in body.parts} == {TRUNK}
    places = {bone: solid.points.mean(axis=0) * [facing, 1, 1] for bone, _, solid in body.parts}
    assert places["head"][0] > 1.4 and places["head"][2] > 1.3
    assert places["tail"][0] < -0.2
    widest = max(body.parts, key=lambda part: np.ptp(part[2].points[:, 1]) if part[0] in ("head", "tail") else 0.0)
    assert widest[0] == "head"
