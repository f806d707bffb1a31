# SPDX-License-Identifier: GPL-3.0-or-later
"""Planting by the operator on objects that move, judged from the scene: feet keep their place on what they stand on."""

from __future__ import annotations

import numpy as np
import pytest
from biped import LAST, make_bones, make_mesh
from planted import plant, record_of

FRAMES = range(1, LAST + 1)
MOVES = {
    "sideways": ("location", (0.0, 0.0, 0.0), (1.5, 0.0, 0.0)),
    "up and back": ("location", (0.0, 0.0, 0.0), (0.0, -0.6, 1.2)),
    "turning": ("rotation_euler", (0.0, 0.0, 0.0), (0.0, 0.0, 0.5)),
    "tilting": ("rotation_euler", (0.0, -0.1, 0.0), (0.0, 0.15, 0.0)),
}


@pytest.fixture
def deck(bpy):
    """A large plate at the height of the walker's floor."""
    corners = [(-9.0, -9.0, 0.0), (9.0, -9.0, 0.0), (9.0, 9.0, 0.0), (-9.0, 9.0, 0.0)]
    return make_mesh(bpy, "Deck", corners, [(0, 1, 2, 3)])


def move(ob, name, start, end):
    for frame, value in ((1, start), (LAST, end)):
        setattr(ob, name, value)
        ob.keyframe_insert(name, frame=frame)


def in_deck(bpy, armature, deck, bones=("toe.L", "toe.R")):
    """Heads of bones (F, B, 3) in the deck's space."""
    rows = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        back = deck.matrix_world.inverted() @ armature.matrix_world
        rows.append([np.array(back @ armature.pose.bones[bone].head) for bone in bones])
    return np.array(rows)


def drifts(record, path):
    """How far each ball strays from its mean place on the deck."""
    found = []
    for span in record["contacts"]:
        if span["part"] == "ball":
            part = path[span["start"] - 1 : span["end"], span["leg"]]
            found.append(np.linalg.norm(part - part.mean(axis=0), axis=1).max())
    return np.array(found)


@pytest.mark.parametrize("carried", [False, True], ids=["made for a floor", "parented"])
@pytest.mark.parametrize("kind", MOVES)
def test_feet_keep_their_place_on_a_deck_that_moves(bpy, walker, deck, kind, carried) -> None:
    move(deck, *MOVES[kind])
    if carried:
        bpy.context.scene.frame_set(1)
        walker.parent = deck
        walker.matrix_parent_inverse = deck.matrix_world.inverted()
    bpy.context.scene.frame_set(17)
    plant(bpy, surface="Deck")
    record = record_of(walker)
    assert bpy.context.scene.frame_current == 17
    path = in_deck(bpy, walker, deck)
    assert len(drifts(record, path)) >= 4
    assert drifts(record, path).max() < 0.001
    assert record["report"]["after"]["drift"] < 0.001
    assert record["report"]["after"]["short_frames"] == 0
    assert record["report"]["after"]["penetration"] < 0.01
    assert {span["support"] for span in record["contacts"]} == {"Deck"}
    assert any("moves with Deck" in sentence for sentence in record["report"]["told"]) == carried


def test_feet_keep_their_place_on_a_deck_that_a_bone_of_another_rig_carries(bpy, walker, deck) -> None:
    """It counts as a part of that rig's character unless it is named."""
    lift = make_bones(bpy, "Lift", [("arm", None, (0.0, 0.0, 0.0), (0.0, 1.0, 0.0))])
    deck.parent, deck.parent_type, deck.parent_bone = lift, "BONE", "arm"
    deck.matrix_parent_inverse.translation.y = -1.0
    move(lift.pose.bones["arm"], "location", (0.0, 0.0, 0.0), (0.3, 0.0, 0.8))
    bpy.context.view_layer.objects.active = walker
    plant(bpy, surface="Deck")
    record = record_of(walker)
    assert drifts(record, in_deck(bpy, walker, deck)).max() < 0.001 and record["report"]["surfaces"] == ["Deck"]
    assert np.ptp([span["anchor"][2] for span in record["contacts"]]) > 0.5


def test_anchors_are_told_in_the_space_of_what_they_are_on(bpy, walker, deck) -> None:
    move(deck, *MOVES["turning"])
    plant(bpy, surface="Deck")
    for span in record_of(walker)["contacts"]:
        bpy.context.scene.frame_set(span["start"])
        there = np.array(deck.matrix_world) @ [*span["local"], 1.0]
        np.testing.assert_allclose(there[:3], span["anchor"], atol=1e-5)


def test_a_part_planted_on_a_moving_deck_is_what_the_whole_would_be(bpy, walker, deck) -> None:
    move(deck, *MOVES["up and back"])
    plant(bpy, surface="Deck")
    whole = in_deck(bpy, walker, deck)
    bpy.ops.ik2bone.restore()
    bpy.data.actions.remove(bpy.data.actions["walk.planted"])
    plant(bpy, surface="Deck", frame_range="CUSTOM", frame_start=20, frame_end=40)
    assert np.abs(in_deck(bpy, walker, deck)[19:40] - whole[19:40]).max() < 1e-4
    assert record_of(walker)["report"]["after"]["drift"] < 0.001


def test_the_present_pose_is_set_on_a_moving_deck_where_that_is_now(bpy, walker, deck) -> None:
    move(deck, *MOVES["up and back"])
    bpy.context.scene.frame_set(31)
    height = deck.matrix_world.translation.z
    plant(bpy, surface="Deck", frame_range="CURRENT")
    bpy.context.view_layer.update()
    assert height > 0.3
    toes = [walker.matrix_world @ walker.pose.bones[name].head for name in ("toe.L", "toe.R")]
    assert min(toe.z for toe in toes) == pytest.approx(height + 0.02, abs=0.02)


def test_a_deck_that_turns_far_under_a_standing_foot_is_told(bpy, walker, deck) -> None:
    move(deck, "rotation_euler", (0.0, 0.0, 0.0), (0.0, 0.0, 4.0))
    plant(bpy, surface="Deck")
    told = record_of(walker)["report"]["told"]
    assert any("Deck turns" in sentence and "parent" in sentence for sentence in told)


def test_planting_again_on_a_moving_deck_gives_the_same_keys(bpy, walker, deck) -> None:
    from planted import values_of

    move(deck, *MOVES["sideways"])
    plant(bpy, surface="Deck")
    first = values_of(walker, FRAMES)
    plant(bpy, surface="Deck")
    assert values_of(walker, FRAMES) == first
