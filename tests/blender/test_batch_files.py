# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that the command line writes: other programs read the planted motion from them, or the run tells why not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import biped
import fingerprint
import numpy as np
import pytest
from batch_run import error_of, height_over_slope, report_of, run
from planted import heads, plant


@pytest.mark.parametrize("keys", ["NEW_ACTION", "NLA_LAYER"])
@pytest.mark.parametrize("kind", ["bvh", "fbx", "glb"])
def test_other_kinds_of_files_hold_the_planted_motion(bpy, command, reading, files, kind, keys):
    _, output = run(command, files, "walk.bvh", "--kind", kind, "--keys", keys)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
    armature = reading.read_clip(output / f"walk.{kind}")
    assert np.abs(height_over_slope(bpy, armature) - 0.02).max() < 0.01


def test_what_an_exporter_cannot_write_is_told_and_does_not_stop_the_others(addon, command, files, monkeypatch):
    write = addon("batch.plant").WRITERS[".bvh"]

    def refuse(path):
        if "walk" in path:
            Path(path).write_text("HIERARCHY")
            raise RuntimeError("Error: Python: Traceback\nRuntimeError: the mesh is being edited\nLocation: here:1\n")
        write(path)

    monkeypatch.setitem(addon("batch.plant").WRITERS, ".bvh", refuse)
    status, output = run(command, files, "walk.bvh", "model.glb", "--kind", "bvh")
    assert status == command.NOT_PLANTED and report_of(output, "model")["written"] == ["model.bvh"]
    assert error_of(output) == "walk.bvh cannot be written: RuntimeError: the mesh is being edited"
    assert not list(output.glob(".*"))


@pytest.mark.parametrize("blocked", ["walk.blend", "walk.bvh", "walk.json"])
def test_a_result_that_the_system_refuses_is_told_and_does_not_stop_the_others(command, files, capfd, blocked):
    (files / "planted" / blocked).mkdir(parents=True)
    kind = "bvh" if blocked.endswith("bvh") else "blend"
    status, output = run(command, files, "walk.bvh", "model.glb", "--kind", kind)
    assert status == command.NOT_PLANTED and report_of(output, "model")["written"] == [f"model.{kind}"]
    assert f"{blocked} cannot be written: Is a directory" in capfd.readouterr().out
    assert not list(output.glob(".*"))


def test_a_file_that_is_not_there_is_told_and_does_not_stop_the_others(command, files):
    status, output = run(command, files, "gone.bvh", "model.glb")
    assert status == command.NOT_PLANTED and report_of(output, "model")["written"] == ["model.blend"]
    assert report_of(output, "gone")["error"] == f"there is no file {files / 'gone.bvh'}"


def test_an_action_that_cannot_be_written_does_not_stop_the_others(bpy, walker, command, tmp_path, capfd):
    still = walker.animation_data.action.copy()
    walker.animation_data.nla_tracks.new().strips.new("still", 1, still)
    walker.animation_data.action.name, still.name = "climb", "still"
    for frame in (1, biped.LAST):
        walker.location.y = 0.1 * frame
        walker.keyframe_insert("location", frame=frame)
    walker.location.y = 0.0
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    status, output = run(command, tmp_path, "walk.blend", "--all-actions", "--kind", "bvh", ground=None)
    told, lines = report_of(output), capfd.readouterr().out
    assert status == command.NOT_PLANTED and told["written"] == ["walk.still.bvh"]
    assert [(entry["action"], "report" in entry) for entry in told["actions"]] == [("climb", False), ("still", True)]
    assert "planted 1 of 2" in lines and "climb: Walker moves as an object, and bvh files hold bones alone" in lines


@pytest.mark.parametrize("kind", ["fbx", "bvh"])
def test_every_action_of_an_fbx_file_is_planted_on_request(bpy, walker, command, reading, tmp_path, kind):
    short = walker.animation_data.action.copy()
    short.name, short.use_fake_user = "short", True
    for curve in fingerprint.curves_of(short):
        while curve.keyframe_points[-1].co.x > 41.0:
            curve.keyframe_points.remove(curve.keyframe_points[-1])
    clip = tmp_path / "two.fbx"
    bpy.ops.export_scene.fbx(filepath=str(clip), bake_anim_use_nla_strips=False)
    status, output = run(command, tmp_path, str(clip), "--all-actions", "--kind", kind, ground=None)
    frames = [entry["report"]["frames"] for entry in report_of(output, "two")["actions"]]
    assert status == command.PLANTED and frames == [[1, 41], [1, biped.LAST]]
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
    for name, count in (("short", 41), ("walk", biped.LAST)):
        first, last = reading.read_clip(output / f"two.{name}.{kind}").animation_data.action.frame_range
        assert last - first == pytest.approx(count - 1, abs=0.1)


def test_actions_of_two_clips_with_dots_in_their_names_do_not_replace_one_another(bpy, walker, command, tmp_path):
    for stem, name in (("walk", "run.fast"), ("walk.run", "fast")):
        walker.animation_data.action.name = name
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / f"{stem}.blend"), copy=True)
    status, output = run(
        command, tmp_path, "walk.blend", "walk.run.blend", "--all-actions", "--kind", "bvh", ground=None
    )
    written = [report_of(output, stem)["written"] for stem in ("walk", "walk.run")]
    assert status == command.PLANTED and written == [["walk.run_fast.bvh"], ["walk.run.fast.bvh"]]


def test_a_bvh_file_that_fails_leaves_the_armature_as_it_was_for_the_next(bpy, walker, addon, command, monkeypatch):
    def fail(**_):
        raise RuntimeError("the disk is full")

    plant(bpy)
    before = heads(bpy, walker, [1], ["head"])
    module = addon("batch.plant")
    monkeypatch.setattr(module.bpy.ops, "export_anim", SimpleNamespace(bvh=fail))
    with pytest.raises(RuntimeError, match="the disk is full"):
        module._write_bvh("")
    np.testing.assert_allclose(heads(bpy, walker, [1], ["head"]), before, atol=1e-5)


def test_a_bvh_file_holds_where_the_object_stands(bpy, walker, command, reading, tmp_path):
    walker.location, walker.rotation_euler, walker.scale = (3.0, 1.0, 0.5), (0.0, 0.0, 0.7), (2.0, 2.0, 2.0)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    before = heads(bpy, walker, [1, biped.LAST], ["chest"])
    _, output = run(command, tmp_path, "walk.blend", "--kind", "bvh", "--no-use-hips", ground=None)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
    after = heads(bpy, reading.read_clip(output / "walk.bvh"), [1, biped.LAST], ["chest"])
    np.testing.assert_allclose(after, before, atol=1e-3)


@pytest.mark.parametrize("kind", ["bvh", "fbx", "glb"])
def test_files_of_every_kind_last_as_long_as_the_clip_at_a_fractional_frame_rate(
    bpy, walker, command, reading, tmp_path, kind
):
    bpy.context.scene.render.fps_base = 1.25
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    _, output = run(command, tmp_path, "walk.blend", "--kind", kind, ground=None)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
    first, last = reading.read_clip(output / f"walk.{kind}").animation_data.action.frame_range
    render = bpy.context.scene.render
    seconds = (last - first) * render.fps_base / render.fps
    np.testing.assert_allclose(seconds, (biped.LAST - 1) * 1.25 / 30, rtol=1e-4)


@pytest.mark.parametrize("kind", ["bvh", "fbx", "glb"])
def test_files_hold_all_planted_frames_whatever_the_scene_shows(bpy, walker, command, reading, tmp_path, kind):
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 20, 30
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    _, output = run(command, tmp_path, "walk.blend", "--kind", kind, ground=None)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
    bpy.context.scene.render.fps = 30
    first, last = reading.read_clip(output / f"walk.{kind}").animation_data.action.frame_range
    assert last - first == pytest.approx(biped.LAST - 1, abs=1e-3)


@pytest.mark.parametrize(("kind", "told"), [("bvh", "begin at -9"), ("fbx", "begin at -9"), ("glb", None)])
def test_planted_frames_before_zero_are_written_whole_or_refused(bpy, walker, command, tmp_path, kind, told):
    for curve in fingerprint.curves_of(walker.animation_data.action):
        for point in curve.keyframe_points:
            point.co.x -= 10.0
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    _, output = run(command, tmp_path, "walk.blend", "--kind", kind, ground=None)
    assert told in error_of(output) if told else report_of(output)["written"] == [f"walk.{kind}"]


@pytest.mark.parametrize("kind", ["bvh", "fbx"])
def test_a_clip_of_which_one_pose_was_planted_is_written(bpy, walker, command, tmp_path, kind):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    _, output = run(command, tmp_path, "walk.blend", "--kind", kind, "--frame-range", "CURRENT", ground=None)
    assert report_of(output)["written"] == [f"walk.{kind}"]


def test_a_clip_whose_object_moves_is_no_bvh_file(bpy, walker, command, tmp_path):
    for frame in (1, biped.LAST):
        walker.location.y = 0.1 * frame
        walker.keyframe_insert("location", frame=frame)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    status, output = run(command, tmp_path, "walk.blend", "--kind", "bvh", ground=None)
    assert status == command.NOT_PLANTED and not report_of(output)["written"]
    assert "Walker moves as an object, and bvh files hold bones alone" in error_of(output)


def test_an_fbx_file_holds_the_whole_motion_of_a_clip_far_from_the_origin(bpy, walker, command, reading, tmp_path):
    for curve in fingerprint.curves_of(walker.animation_data.action):
        for point in curve.keyframe_points if curve.data_path == 'pose.bones["hips"].location' else ():
            aside = 100.0 + 0.02 * (point.co.x % 2.0)
            for place in (point.co, point.handle_left, point.handle_right):
                place.y += aside
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    _, output = run(command, tmp_path, "walk.blend", "--kind", "fbx", ground=None)
    frames = np.arange(1, biped.LAST)
    before = heads(bpy, bpy.context.view_layer.objects.active, frames, ["chest"])
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
    bpy.context.scene.render.fps = 30
    # Importers put the time zero of a file on frame 1.
    after = heads(bpy, reading.read_clip(output / "walk.fbx"), frames + 1, ["chest"])
    np.testing.assert_allclose(after, before, atol=1e-3)


@pytest.mark.parametrize("scale", [(1.0, 1.0, 2.0), (-1.0, 1.0, 1.0)])
def test_a_clip_that_is_mirrored_or_scaled_unevenly_is_no_bvh_file(bpy, walker, command, tmp_path, scale):
    walker.scale = scale
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    status, output = run(command, tmp_path, "walk.blend", "--kind", "bvh", ground=None)
    assert status == command.NOT_PLANTED and not report_of(output)["written"]
    assert "Walker is mirrored or scaled unevenly, and bvh files hold neither" in error_of(output)


@pytest.mark.parametrize(("bone", "told"), [("thigh.L", "Walker has scaled bones"), ("foot.L", None), ("head", None)])
def test_a_clip_whose_feet_hang_under_scaled_bones_is_no_bvh_file(bpy, walker, command, tmp_path, bone, told):
    walker.pose.bones[bone].scale = (1.1, 1.1, 1.1)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    _, output = run(command, tmp_path, "walk.blend", "--kind", "bvh", ground=None)
    assert told in error_of(output) if told else report_of(output)["written"] == ["walk.bvh"]


@pytest.mark.parametrize("hide", ["itself", "its collection", "from the mouse"])
@pytest.mark.parametrize("kind", ["fbx", "glb"])
def test_an_armature_that_is_hidden_in_its_file_is_exported(bpy, walker, command, reading, tmp_path, kind, hide):
    inside = bpy.data.collections.new("Rigs")
    bpy.context.scene.collection.children.link(inside)
    inside.objects.link(walker)
    bpy.context.scene.collection.objects.unlink(walker)
    walker.hide_set(hide == "itself")
    walker.hide_select = hide == "from the mouse"
    bpy.context.view_layer.layer_collection.children["Rigs"].hide_viewport = hide == "its collection"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    status, output = run(command, tmp_path, "walk.blend", "--kind", kind, ground=None)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
    assert status == command.PLANTED and reading.read_clip(output / f"walk.{kind}").data.bones["thigh.L"]


@pytest.mark.parametrize("carried", [False, True])
def test_a_clip_whose_object_has_keys_is_enlarged_with_its_way(bpy, walker, command, tmp_path, carried):
    mover = walker
    if carried:
        mover = walker.parent = bpy.data.objects.new("Carrier", None)
        bpy.context.collection.objects.link(mover)
    for frame, way in ((1, 1.0), (biped.LAST, 3.0)):
        mover.location.y = way
        for name in ("location", "scale"):
            mover.keyframe_insert(name, frame=frame)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    before = heads(bpy, walker, [1, biped.LAST], ["chest"])
    run(command, tmp_path, "walk.blend", "--scale", "2", "--no-use-hips", ground=None)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "planted" / "walk.blend"))
    after = heads(bpy, bpy.data.objects["Walker"], [1, biped.LAST], ["chest"])
    np.testing.assert_allclose(after, 2.0 * before, atol=1e-4)
