# SPDX-License-Identifier: GPL-3.0-or-later
"""Skins are kept between runs where nothing has changed, and never where anything has that they depend on."""

from __future__ import annotations

import biped
import numpy as np
import pytest
from changes import change_rest, shape
from planted import plant
from test_skins import boot


@pytest.fixture
def skinned(bpy, walker, addon):
    """A function that finds the skins of the walker's boots: what is kept or made anew, and whether it was kept."""
    skins, legs = addon("pose.skins"), addon("rig.find").find_legs(walker, (1, biped.LAST))
    for side in biped.SIDES:
        boot(bpy, walker, side)
    bpy.context.view_layer.update()

    def find():
        before = [id(value) for value, _ in skins.kept.values()]
        found = skins.find_skins(bpy.data.objects["Walker"], legs)
        return found, id(found) in before

    skins.kept.clear()
    return find


def _boot(bpy):
    return bpy.data.objects["Boot.L"]


def _add_weight(bpy, _walker):
    _boot(bpy).vertex_groups["toe.L"].add(range(40), 1.5, "REPLACE")


def _set_weight(bpy, _walker):
    _boot(bpy).vertex_groups.new(name="shin.L").add(range(20), 0.1, "REPLACE")
    bpy.context.view_layer.update()
    for vertex in _boot(bpy).data.vertices[:20]:
        vertex.groups[1].weight = 5.0


def _take_weight(bpy, _walker):
    _boot(bpy).vertex_groups["foot.L"].remove(range(30))


def _rename_group(bpy, _walker):
    _boot(bpy).vertex_groups["toe.L"].name = "nothing"


def _remove_group(bpy, _walker):
    _boot(bpy).vertex_groups.remove(_boot(bpy).vertex_groups["foot.L"])


def _move_boot_vertex(bpy, _walker):
    _boot(bpy).data.vertices[3].co.z += 0.01


def _move_boot(bpy, _walker):
    _boot(bpy).location.z += 0.01


def _move_boot_within_walker(bpy, walker):
    _boot(bpy).parent, _boot(bpy).delta_location.z = walker, 0.01


def _shape_boot(bpy, _walker):
    shape(bpy, _boot(bpy))


def _thicken(bpy, _walker):
    _boot(bpy).modifiers.new("Solidify", "SOLIDIFY").thickness = 0.02


def _weigh_by_a_modifier(bpy, _walker):
    weigh = _boot(bpy).modifiers.new("Weigh", "VERTEX_WEIGHT_EDIT")
    weigh.vertex_group, weigh.default_weight, weigh.use_remove, weigh.remove_threshold = "foot.L", 0.0, True, 1.5


def _deform_no_more(bpy, _walker):
    _boot(bpy).modifiers["Armature"].show_viewport = False


def _carry_by_another_bone(bpy, walker):
    _boot(bpy).modifiers.clear()
    _boot(bpy).parent, _boot(bpy).parent_type, _boot(bpy).parent_bone = walker, "BONE", "toe.L"


def _take_another_mesh(bpy, _walker):
    _boot(bpy).data = bpy.data.objects["Boot.R"].data


def _add_body(bpy, walker):
    boot(bpy, walker, "L", lift=0.01).name = "Sock.L"


def _remove_body(bpy, _walker):
    bpy.data.objects.remove(_boot(bpy))


def _scale_walker(bpy, walker):
    walker.rotation_euler.x = 0.2


SKIN_CHANGES = [
    _add_weight, _set_weight, _take_weight, _rename_group, _remove_group, _move_boot_vertex, _move_boot,
    _move_boot_within_walker, _shape_boot, _thicken, _weigh_by_a_modifier, _deform_no_more, _carry_by_another_bone,
    _take_another_mesh, _add_body, _remove_body, _scale_walker, change_rest,
]  # fmt: skip


def _points_of(skins):
    return [np.array(value).tolist() for skin in skins for value in (skin.foot, skin.toe, skin.rest, skin.up)]


def test_skins_are_kept_over_what_they_do_not_depend_on(bpy, walker, skinned):
    first, _ = skinned()
    bpy.context.scene.frame_set(33)
    walker.pose.bones["thigh.L"].rotation_quaternion = (0.9, 0.1, 0.0, 0.0)
    walker.location.x = 2.0
    bpy.context.view_layer.update()
    walker.location.x = 0.0
    plant(bpy)
    found, was_kept = skinned()
    assert was_kept and found is first


@pytest.mark.parametrize("shown", [True, False])
@pytest.mark.parametrize("change", SKIN_CHANGES)
def test_skins_are_found_anew_after_a_change(bpy, walker, skinned, addon, change, shown):
    """That of a hidden mesh too, of whose edits Blender tells nothing."""
    _boot(bpy).hide_set(not shown)
    bpy.context.view_layer.update()
    first, _ = skinned()
    change(bpy, walker)
    bpy.context.view_layer.update()
    second, was_kept = skinned()
    assert not was_kept
    addon("pose.skins").kept.clear()
    anew, _ = skinned()
    assert _points_of(second) == _points_of(anew) != _points_of(first)


@pytest.mark.parametrize("change", [_add_weight, _move_boot_vertex])
def test_skins_are_found_anew_where_an_edit_comes_with_another_frame(bpy, walker, skinned, change):
    first, _ = skinned()
    change(bpy, walker)
    bpy.context.scene.frame_set(33)
    assert _points_of(skinned()[0]) != _points_of(first)


@pytest.mark.parametrize("name", ["depsgraph_update_post", "frame_change_post"])
def test_skins_are_found_anew_where_a_script_has_cleared_the_handlers(bpy, walker, skinned, name):
    first, handlers = skinned()[0], getattr(bpy.app.handlers, name)
    before = list(handlers)
    handlers.clear()
    _move_boot_vertex(bpy, walker)
    if name == "frame_change_post":
        bpy.context.scene.frame_set(33)
    bpy.context.view_layer.update()
    found, _ = skinned()
    handlers[:] = before
    assert _points_of(found) != _points_of(first)


def test_skins_are_found_anew_where_weights_were_edited_while_hidden(bpy, skinned):
    first, _ = skinned()
    _boot(bpy).hide_set(True)
    bpy.context.view_layer.update()
    _add_weight(bpy, None)
    bpy.context.view_layer.update()
    _boot(bpy).hide_set(False)
    bpy.context.view_layer.update()
    assert _points_of(skinned()[0]) != _points_of(first)


def test_skins_are_found_anew_where_undo_takes_weights_back(bpy, walker, skinned):
    bpy.ops.ed.undo_push(message="before")
    first, _ = skinned()
    _add_weight(bpy, None)
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="weights")
    second, _ = skinned()
    bpy.ops.ed.undo()
    assert _points_of(skinned()[0]) == _points_of(first) != _points_of(second)


def _weigh_by_distance(bpy):
    weigh = _boot(bpy).modifiers.new("Weigh", "VERTEX_WEIGHT_PROXIMITY")
    weigh.vertex_group, weigh.target = "foot.L", bpy.data.objects["Boot.R"]


def _mirror_at_another(bpy):
    _boot(bpy).modifiers.new("Mirror", "MIRROR").mirror_object = bpy.data.objects["Boot.R"]


def _parent_to_another(bpy):
    _boot(bpy).parent = bpy.data.objects["Boot.R"]


def _constrain(bpy):
    _boot(bpy).parent = bpy.data.objects["Walker"]
    _boot(bpy).constraints.new("COPY_LOCATION").target = bpy.data.objects["Boot.R"]


def _animate(bpy):
    _boot(bpy).parent = bpy.data.objects["Walker"]
    _boot(bpy).keyframe_insert("location")


@pytest.mark.parametrize("depend", [_weigh_by_distance, _mirror_at_another, _parent_to_another, _constrain, _animate])
def test_skins_are_found_anew_where_meshes_depend_on_other_things(bpy, skinned, depend):
    depend(bpy)
    skinned()
    assert not skinned()[1]


@pytest.mark.parametrize("change", ["mirror", "shape"])
def test_skins_are_found_anew_after_a_change_of_what_a_mesh_has(bpy, walker, skinned, addon, change):
    mirror = _boot(bpy).modifiers.new("Mirror", "MIRROR")
    shape(bpy, _boot(bpy))
    first, _ = skinned()
    if change == "mirror":
        mirror.use_axis = False, True, False
    else:
        _boot(bpy).data.shape_keys.key_blocks["Up"].value = 0.5
    bpy.context.view_layer.update()
    assert _points_of(skinned()[0]) != _points_of(first)


def test_a_character_whose_meshes_are_unchanged_is_not_evaluated_again(bpy, walker, skinned, addon, monkeypatch):
    _boot(bpy).parent = walker
    first, _ = skinned()
    monkeypatch.setattr(addon("pose.skins"), "private_scene", None)
    bpy.context.scene.frame_set(33)
    assert skinned() == (first, True)


def test_memory_of_skins_is_bounded(bpy, addon, skinned, monkeypatch):
    skins = addon("pose.skins")
    found, _ = skinned()
    monkeypatch.setattr(skins.kept, "most", 1 + sum(len(skin.foot) + len(skin.toe) for skin in found))
    assert skinned()[1]
    _move_boot_vertex(bpy, None)
    bpy.context.view_layer.update()
    skinned()
    assert len(skins.kept) == 1
    monkeypatch.setattr(skins.kept, "most", 1)
    skins.kept.clear()
    skinned()
    assert not skins.kept
