# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept between runs is used where nothing has changed, and never where anything has that it depends on."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from functools import wraps

import biped
import fingerprint
import numpy as np
import pytest
from changes import change_rest, shape
from ik2bone import stages as planting
from moved import parent_to_a_moving_empty
from planted import plant, values_of

FRAMES = range(1, biped.LAST + 1)


@pytest.fixture
def sampled(bpy, walker, slope, addon):
    """A function that samples the walker: what is kept or made anew, and whether it was kept."""
    progress, legs = addon("progress"), addon("rig.find").find_legs(walker, (1, biped.LAST))

    def sample(limbs=legs, hips="hips", frames=FRAMES):
        before = [id(value) for value, _ in addon("pose.sample").kept.values()]
        given = addon("pose.sample").Subject(bpy.data.objects["Walker"], limbs, hips), list(frames)
        found = progress.finish(addon("pose.sample").sampling(*given, keep=True))
        return found, id(found) in before

    addon("bounded").forget()
    return sample


def _arrays(clip):
    return {f.name: np.array(v) for f in fields(clip) if isinstance(v := getattr(clip, f.name), np.ndarray | tuple)}


def _curve(walker, bone, index=0):
    curves = fingerprint.curves_of(walker.animation_data.action)
    return next(c for c in curves if f'"{bone}"' in c.data_path and c.array_index == index)


def _move_key(bpy, walker):
    _curve(walker, "hips", 1).keyframe_points[30].co.y += 0.1


def _move_handle(bpy, walker):
    curve = _curve(walker, "thigh.L", 1)
    for point in curve.keyframe_points[10:20]:
        curve.keyframe_points.remove(point) if point.co.x % 2 else None
    curve.keyframe_points[10].handle_right_type = "FREE"
    curve.keyframe_points[10].handle_right.y += 0.3


def _mute(bpy, walker):
    _curve(walker, "thigh.L", 1).mute = True


def _add_modifier(bpy, walker):
    _curve(walker, "thigh.L", 1).modifiers.new("NOISE").strength = 0.3


def _remove_curves(bpy, walker):
    bag = fingerprint.bags_of(walker.animation_data.action)[0]
    for curve in [curve for curve in bag.fcurves if "shin.L" in curve.data_path]:
        bag.fcurves.remove(curve)


def _set_by_hand(bpy, walker):
    walker.pose.bones["hips"].rotation_quaternion = (0.99, 0.1, 0.0, 0.0)


def _scale_by_hand(bpy, walker):
    walker.pose.bones["shin.L"].scale = (1.1, 1.1, 1.1)


def _change_mode(bpy, walker):
    walker.pose.bones["thigh.L"].rotation_mode = "XYZ"


def _lengthen_toe(bpy, walker):
    with biped.editing(bpy, walker) as bones:
        bones["toe.L"].tail.y += 0.02


def _change_inheritance(bpy, walker):
    walker.data.bones["thigh.L"].use_inherit_rotation = False
    walker.pose.bones["hips"].rotation_quaternion = (0.99, 0.1, 0.0, 0.0)


def _move_object(bpy, walker):
    walker.location.x = 1.0


def _key_object(bpy, walker):
    for frame in (1, 60):
        walker.location.z = 0.01 * frame
        walker.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)


def _constrain(bpy, walker):
    target = biped.make_empty(bpy, "Target", (0.3, 0.0, 1.0))
    walker.pose.bones["hips"].constraints.new("COPY_LOCATION").target = target


def _constrain_for_some_frames(bpy, walker):
    _constrain(bpy, walker)
    constraint = walker.pose.bones["hips"].constraints[0]
    for frame, influence in ((20, 0.0), (25, 1.0), (30, 0.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)


def _drive(bpy, walker):
    walker.pose.bones["hips"].driver_add("rotation_quaternion", 1).driver.expression = "frame * 0.01"


def _play_another_action(bpy, walker):
    walker.animation_data.action = walker.animation_data.action.copy()
    _move_key(bpy, walker)


def _add_strip(bpy, walker):
    data = walker.animation_data
    action = bpy.data.actions["walk"]
    other = action.copy()
    data.action = other
    _move_key(bpy, walker)
    data.action = action
    data.action_influence = 0.5
    data.nla_tracks.new().strips.new("Strip", 1, other)


def _change_speed(bpy, walker):
    bpy.context.scene.render.fps = 60


def _step_with_a_handler(bpy, walker):
    def lift(scene, *_):
        walker.pose.bones["hips"].scale = (1.0 + 0.001 * scene.frame_current,) * 3

    bpy.app.handlers.frame_change_post.append(lift)


CHANGES = [
    _move_key, _move_handle, _mute, _add_modifier, _remove_curves, _set_by_hand, _scale_by_hand, _change_mode,
    change_rest, _lengthen_toe, _change_inheritance, _move_object, _key_object, parent_to_a_moving_empty, _constrain,
    _constrain_for_some_frames, _drive, _play_another_action, _add_strip, _change_speed, _step_with_a_handler,
]  # fmt: skip


def test_a_sample_is_kept_over_what_it_does_not_depend_on(bpy, walker, sampled):
    first, _ = sampled()
    bpy.context.scene.frame_set(33)
    walker.pose.bones["thigh.L"].rotation_quaternion = (0.9, 0.1, 0.0, 0.0)
    walker.pose.bones["chest"].keyframe_insert("location", frame=5)
    assert sampled() == (first, True)
    assert first.in_bulk


@pytest.mark.parametrize("change", CHANGES)
def test_a_sample_is_made_anew_after_a_change(bpy, walker, sampled, addon, change):
    first, handlers = sampled()[0], list(bpy.app.handlers.frame_change_post)
    assert sampled()[1]
    change(bpy, walker)
    bpy.context.view_layer.update()
    second, was_kept = sampled()
    assert not was_kept
    addon("bounded").forget()
    anew, _ = sampled()
    for name, row in _arrays(anew.clip).items():
        np.testing.assert_array_equal(getattr(second.clip, name), row, err_msg=name)
    differs = [name for name, row in _arrays(anew.clip).items() if not np.array_equal(getattr(first.clip, name), row)]
    assert differs or anew.clip.fps != first.clip.fps
    bpy.app.handlers.frame_change_post[:] = handlers


@pytest.mark.parametrize("given", [{"frames": range(1, 60)}, {"hips": None}])
def test_a_sample_of_something_else_is_made_anew(sampled, given):
    sampled()
    assert not sampled(**given)[1]


def test_limbs_that_are_stepped_are_not_kept(bpy, walker, sampled):
    _constrain_for_some_frames(bpy, walker)
    assert not sampled()[0].in_bulk
    assert not sampled()[1]


def _raise_vertex(bpy, slope):
    slope.data.vertices[2].co.z += 1.0
    slope.data.update()


def _flip_edge(bpy, slope):
    slope.data.clear_geometry()
    slope.data.from_pydata([(-10, -10, -1), (10, -10, -1), (10, 10, 1), (-10, 10, 1), (0, 0, 0.5)], [],
                           [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)])  # fmt: skip


def _lift(bpy, slope):
    slope.location.z = 0.05


def _let_move(bpy, slope):
    for frame in (1, 61):
        slope.location.y = 0.01 * frame
        slope.keyframe_insert("location", frame=frame)


def _modify(bpy, slope):
    slope.modifiers.new("Displace", "DISPLACE").strength = 0.1


def _add_ground(bpy, slope):
    biped.make_slope(bpy, "Other", rise=0.05, height=0.1)


def _hide(bpy, slope):
    biped.make_slope(bpy, "Other", rise=0.05, height=-0.1)
    slope.hide_set(True)


@pytest.mark.parametrize("change", [_raise_vertex, _flip_edge, _lift, _let_move, shape, _modify, _add_ground, _hide])
def test_the_ground_is_made_anew_after_a_change(bpy, walker, slope, addon, change):
    plant(bpy)
    first = values_of(walker, FRAMES)
    change(bpy, slope)
    bpy.context.view_layer.update()
    plant(bpy)
    second = values_of(walker, FRAMES)
    addon("bounded").forget()
    plant(bpy)
    assert values_of(walker, FRAMES) == second != first


@pytest.mark.parametrize(
    "given",
    [{"strength": 0.5}, {"use_hips": False}, {"use_slope": False}, {"contacts": "ALWAYS"}, {"max_drop": 0.0},
     {"direction": "NEAREST"}, {"bones": "foot.L"}, {"frame_range": "CUSTOM", "frame_start": 20, "frame_end": 40}],
)  # fmt: skip
def test_other_settings_give_what_they_give_without_anything_kept(bpy, walker, slope, addon, given):
    plant(bpy)
    plant(bpy, **given)
    second = values_of(walker, FRAMES)
    bpy.ops.ik2bone.restore()
    addon("bounded").forget()
    plant(bpy)
    addon("bounded").forget()
    plant(bpy, **given)
    assert values_of(walker, FRAMES) == second


def test_a_second_run_samples_only_what_it_has_written(bpy, walker, slope, addon, monkeypatch):
    module, calls = addon("pose.sample"), []
    sample, proven = module._sample, module.proven
    monkeypatch.setattr(module, "_sample", lambda *given: calls.append("made") or sample(*given))
    monkeypatch.setattr(module, "proven", lambda *given: calls.append("proven") or proven(*given))
    addon("bounded").forget()
    plant(bpy)
    assert calls == ["made", "proven", "made"]
    calls.clear()
    plant(bpy, strength=0.5)
    assert calls == ["made"]


def test_contacts_are_found_again_only_where_people_want_others_than_a_run_has_stored(
    bpy, walker, slope, addon, monkeypatch
):
    calls, hold_limbs = [], planting.hold_limbs

    @wraps(hold_limbs)
    def counted(*given):
        calls.append(given)
        return hold_limbs(*given)

    monkeypatch.setattr(planting, "hold_limbs", counted)
    addon("bounded").forget()
    plant(bpy)
    plant(bpy, strength=0.5)
    assert len(calls) == 1
    action, records = walker.animation_data.action, addon("run.records")
    first, *others = records.read(action)["contacts"]
    records.store_contacts(action, [first | {"state": "enforced"}, *others])
    plant(bpy, strength=0.4)
    assert len(calls) == 2
    assert "enforced" in {row["state"] for row in records.read(action)["contacts"]}


def test_a_sample_after_keying_is_what_it_is_without_the_one_before(bpy, walker, slope, addon):
    progress, sample = addon("progress"), addon("pose.sample")
    of = walker, addon("rig.find").find_legs(walker, (1, biped.LAST)), "hips"
    before = sample.sample(*of, FRAMES)
    plant(bpy)
    after = progress.finish(sample.sampling(sample.Subject(*of), list(FRAMES), before=before))
    anew = sample.sample(*of, FRAMES)
    assert not np.array_equal(after.clip.ball, before.clip.ball)
    for name, row in _arrays(anew.clip).items():
        exact = 1e-5 * anew.clip.leg if name == "tip" else 0.0
        np.testing.assert_allclose(getattr(after.clip, name), row, rtol=0.0, atol=exact, err_msg=name)


def test_the_mesh_of_an_unchanged_ground_is_made_once(bpy, walker, slope, addon):
    addon("bounded").forget()
    plant(bpy)
    meshes = list(addon("ground.meshes").kept.values())
    plant(bpy, strength=0.5)
    assert list(addon("ground.meshes").kept.values()) == meshes and len(meshes) == 1


def test_the_content_of_a_mesh_is_the_same_bit_for_bit(addon):
    content = addon("ground.meshes").Content
    points, corners = np.array([[0.0, -0.0, np.nan], [1.0, 2.0, 3.0]], np.float32), np.array([[0, 1, 1]], np.int32)
    given, same = (points, np.eye(4), corners), (points.copy(), np.eye(4), corners.copy())
    assert content(given) == content(same) and hash(content(given)) == hash(content(same))
    others = (np.where(points == 0.0, 0.0, points).astype(np.float32), 2.0 * np.eye(4), corners[:, ::-1])
    for place, other in enumerate(others):
        assert content(given) != content((*given[:place], other, *given[place + 1 :]))


def test_a_second_run_reads_each_curve_once_before_and_once_after(bpy, walker, slope, addon, monkeypatch):
    plant(bpy)
    channels, read = addon("keys.channels"), []
    values_of = channels.values_of
    monkeypatch.setattr(channels, "values_of", lambda curves, path, *given: (
        read.append(path) or values_of(curves, path, *given)))  # fmt: skip
    plant(bpy, strength=0.5)
    assert set(Counter(read).values()) == {2}


def test_memory_is_bounded(bpy, walker, slope, addon, monkeypatch):
    addon("bounded").forget()
    plant(bpy)
    for most, count in ((2 * biped.LAST, 2), (2 * biped.LAST - 1, 1), (biped.LAST - 1, 0)):
        monkeypatch.setattr(addon("pose.sample").kept, "most", most)
        monkeypatch.setattr(addon("run.pipeline").plans, "most", most)
        other = biped.make_walker(bpy, f"Other {count}")
        other.location.x = 0.1 * count
        bpy.context.view_layer.objects.active = other
        plant(bpy)
        assert len(addon("pose.sample").kept) == len(addon("run.pipeline").plans) == count
    monkeypatch.setattr(addon("ground.meshes").kept, "most", 0)
    plant(bpy)
    assert not addon("ground.meshes").kept


def test_what_was_used_last_stays(addon):
    bounded = addon("bounded").Bounded(2)
    for key in "aba":
        bounded.put(key, key.upper(), 1)
    bounded.put("c", "C", 1)
    assert bounded == {"a": ("A", 1), "c": ("C", 1)}
    assert bounded.put("d", "D", 3) == "D" and not bounded


def test_nothing_is_kept_over_the_loading_of_a_file(bpy, walker, slope, addon, tmp_path):
    plant(bpy)
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert addon("pose.sample").kept and addon("run.pipeline").plans and addon("ground.meshes").kept
    bpy.ops.wm.open_mainfile(filepath=path)
    assert not (addon("pose.sample").kept or addon("run.pipeline").plans or addon("ground.meshes").kept)


def test_runs_before_and_after_undo_give_the_same(bpy, walker, slope, addon):
    bpy.ops.ed.undo_push(message="before")
    plant(bpy)
    first = values_of(walker, FRAMES)
    bpy.ops.ed.undo_push(message="Plant Feet")
    bpy.ops.ed.undo()
    assert addon("pose.sample").kept
    plant(bpy)
    assert values_of(bpy.data.objects["Walker"], FRAMES) == first
