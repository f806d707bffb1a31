# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips planted by the command line: which are read, what is told, and what a stopped run leaves."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from pathlib import Path

import biped
import fingerprint
import numpy as np
import pytest
from batch_run import error_of, export_bvh, height_over_slope, report_of, run
from planted import heads


def test_a_planted_clip_and_its_report_are_written(bpy, command, files):
    status, output = run(command, files, "walk.bvh")
    assert status == command.PLANTED
    told = report_of(output)
    (entry,) = told["actions"]
    assert told["written"] == ["walk.blend"] and entry["report"]["after"]["penetration"] < 1e-4
    assert entry["report"]["before"]["penetration"] > 0.01
    bpy.ops.wm.open_mainfile(filepath=str(output / "walk.blend"), load_ui=False)
    armature = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    assert armature.animation_data.action.name == f"{entry['action']}.planted"
    # Balls are 0.02 over the floor that the clip was made for, soles aligned with the slope.
    assert np.abs(height_over_slope(bpy, armature) - 0.02).max() < 0.01


def test_all_meshes_of_a_ground_count_whatever_one_is_named(bpy, command, files):
    biped.make_slope(bpy, "Ground").location.x = 100.0
    bpy.ops.wm.obj_export(filepath=str(files / "two.obj"))
    status, output = run(command, files, "walk.bvh", ground="two.obj")
    (entry,) = report_of(output)["actions"]
    assert status == command.PLANTED and {span["support"] for span in entry["report"]["spans"]} == {"Slope"}


def test_flags_are_the_operators_settings_and_angles_are_degrees(command, files, bpy):
    flags = [
        "--no-use-hips",
        "--max-slope",
        "30",
        "--contacts",
        "ALWAYS",
        "--frame-range",
        "CUSTOM",
        "--frame-end",
        "9",
    ]
    _, output = run(command, files, "walk.bvh", *flags)
    bpy.ops.wm.open_mainfile(filepath=str(output / "walk.blend"), load_ui=False)
    settings = json.loads(bpy.data.actions["walk.planted"]["ik2bone"])["settings"]
    assert (settings["use_hips"], settings["contacts"], settings["frame_end"]) == (False, "ALWAYS", 9)
    assert settings["max_slope"] == pytest.approx(np.radians(30))


def test_a_broken_file_is_told_by_its_name_and_the_others_are_planted(command, files, capfd):
    (files / "broken.bvh").write_text("no motion")
    status, output = run(command, files, "broken.bvh", "walk.bvh")
    assert status == command.NOT_PLANTED
    told = capfd.readouterr().out
    assert "broken.bvh cannot be read as a .bvh file: Exception: This is not a BVH file" in told
    # How far the folder is done.
    assert "[1/2] broken.bvh: " in told and "[2/2] walk.bvh: " in told
    assert "error" in report_of(output, "broken") and "report" in report_of(output)["actions"][0]


@pytest.mark.parametrize(
    ("made", "sentence"),
    # Blender 5.2 does not open an empty file.
    [("empty.obj", r"empty.obj (holds no mesh with faces|cannot be read)"), ("ground.xyz", "a ground is expected")],
)
def test_a_ground_that_is_none_is_told(command, files, capfd, made, sentence):
    (files / made).write_text("")
    status, _ = run(command, files, "walk.bvh", ground=made)
    assert status == command.NOT_PLANTED and re.search(sentence, capfd.readouterr().out)


@pytest.mark.parametrize(("clip", "ground"), [("clips", "slope.obj"), ("walk.bvh", "slope")])
def test_a_name_that_is_no_file_is_told_as_such_whatever_it_ends_with(command, files, capfd, clip, ground):
    status, _ = run(command, files, clip, ground=ground)
    assert status == command.NOT_PLANTED
    assert re.search(rf"] {clip}: there is no file \S*(clips|slope)$", capfd.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize("kind", ["blend", "fbx"])
def test_relative_paths_begin_in_the_working_folder_whatever_its_variable_says(
    bpy, walker, slope, command, tmp_path, monkeypatch, kind
):
    bpy.ops.wm.obj_export(filepath=str(tmp_path / "slope.obj"))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", "/")
    arguments = ["walk.blend", "--ground", "slope.obj", "--output", "planted", "--kind", kind]
    assert command.run(arguments) == command.PLANTED and (tmp_path / "planted" / f"walk.{kind}").is_file()


def test_a_clip_that_the_operator_refuses_is_told_with_its_sentence(bpy, command, files):
    armature = biped.make_bones(bpy, "Stick", [("stick", None, (0, 0, 0), (0, 0, 1))])
    armature.pose.bones["stick"].keyframe_insert("location", frame=1)
    export_bvh(bpy, armature, files / "stick.bvh")
    status, output = run(command, files, "stick.bvh")
    assert status == command.NOT_PLANTED
    assert "has no legs" in error_of(output, "stick")


def test_every_action_of_a_file_is_planted_on_request(bpy, command, files):
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
    walker = biped.make_walker(bpy)
    animation = walker.animation_data
    for name in ("first", "second"):
        animation.action.name = name
        track = animation.nla_tracks.new()
        track.name = name
        track.strips.new(name, 1, animation.action)
        animation.action = animation.action.copy()
    animation.action = None
    bpy.ops.export_scene.gltf(filepath=str(files / "both.glb"), export_animation_mode="NLA_TRACKS")
    status, output = run(command, files, "both.glb", "--all-actions", "--kind", "glb")
    told = report_of(output, "both")
    assert status == command.PLANTED and {entry["action"] for entry in told["actions"]} == {"first", "second"}
    assert set(told["written"]) == {"both.first.glb", "both.second.glb"}


def test_a_blend_file_is_planted_on_what_it_holds(bpy, command, files):
    biped.make_walker(bpy)
    bpy.ops.wm.save_as_mainfile(filepath=str(files / "scene.blend"))
    status, output = run(command, files, "scene.blend", "--strength", "0.5", ground=None)
    report = report_of(output, "scene")["actions"][0]["report"]
    assert status == command.PLANTED and report["surfaces"] == ["Slope"]


def test_a_clip_stands_whichever_way_up_its_file_is(bpy, command, reading, files):
    """Blender itself writes such files with Z up, the batch with Y up."""
    _, output = run(command, files, "walk.bvh", "--kind", "bvh")
    for path in (files / "walk.bvh", output / "walk.bvh"):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
        head, foot = heads(bpy, reading.read_clip(path), [3], ["head", "foot.L"])[0]
        assert head[2] - foot[2] > 1.0
    bpy.ops.import_anim.bvh(filepath=str(output / "walk.bvh"))
    head, foot = heads(bpy, bpy.context.object, [3], ["head", "foot.L"])[0]
    assert head[2] - foot[2] > 1.0


def test_files_that_have_a_report_are_left_as_they_are_on_request(command, files):
    run(command, files, "walk.bvh")
    before = (files / "planted" / "walk.blend").stat().st_mtime_ns
    status, output = run(command, files, "walk.bvh", "model.glb", "--resume")
    assert status == command.PLANTED and (output / "model.json").is_file()
    assert (output / "walk.blend").stat().st_mtime_ns == before
    run(command, files, "walk.bvh")
    assert (output / "walk.blend").stat().st_mtime_ns > before


def test_names_that_are_no_utf_8_do_not_stop_the_others(command, files, monkeypatch):
    name = os.fsdecode(b"m\xe4rsch.bvh")
    (files / "walk.bvh").rename(files / name)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "utf-8"))
    status, output = run(command, files, name, "model.glb")
    assert status == command.PLANTED and (output / "model.json").is_file()


def test_a_stopped_run_leaves_no_report_and_no_half_file(addon, command, files, monkeypatch):
    def stop(path):
        Path(path).write_text("BLENDER")
        raise KeyboardInterrupt

    monkeypatch.setitem(addon("batch.plant").WRITERS, ".blend", stop)
    with pytest.raises(KeyboardInterrupt):
        run(command, files, "walk.bvh")
    assert not list((files / "planted").iterdir())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["walk.bvh", "sub/walk.bvh"], "the results of 2 clips would be named walk and replace one another"),
        (["walk#1.bvh", "Walk%1.bvh"], "the results of 2 clips would be named walk_1 and replace one another"),
        (["walk.bvh", "--contacts", "NONSENSE"], "invalid choice: 'NONSENSE'"),
        (["walk.bvh", "--scale", "0"], "expected a number above zero, got 0"),
        (["walk.bvh", "--scale", "big"], "expected a number above zero, got big"),
        (["walk.bvh", "--strength", "5"], "argument --strength: expected a number from 0 to 1, got 5"),
        (["walk.bvh", "--max-slope", "nan"], "expected a number from 1 to 89, got nan"),
        (["walk.bvh", "--blend-in", "1.5"], "expected a whole number from 0 to 2.14748e+09, got 1.5"),
        (["walk.bvh", "--frame-start", "99999999999"], "2.14748e+09, got 99999999999"),
        ([], "the following arguments are required: CLIP"),
    ],
)
def test_wrong_arguments_are_told_and_nothing_is_written(command, files, capfd, arguments, sentence):
    status, output = run(command, files, *arguments)
    assert status == 2 and not output.exists() and sentence in capfd.readouterr().err


def test_ground_results_folders_and_hidden_files_in_a_folder_are_no_clips(bpy, command, files, capfd):
    (files / "._walk.bvh").touch()
    (files / "model.glb").unlink()
    (files / "folder.bvh").mkdir()
    bpy.ops.export_scene.gltf(filepath=str(files / "ground.glb"))
    for _ in range(2):
        arguments = [str(files), "--ground", str(files / "ground.glb"), "--output", str(files / "planted")]
        assert command.run([*arguments, "--kind", "bvh"]) == command.PLANTED
        assert "[1/1] walk.bvh: planted 1 of 1" in capfd.readouterr().out


def test_a_folder_without_clips_is_named_with_the_kinds_of_files_that_count(command, files, capfd):
    (files / "empty").mkdir()
    status, output = run(command, files, str(files / "empty"))
    told = " ".join(capfd.readouterr().err.split())
    assert status == 2 and not output.exists()
    assert "error: there are no clips in " in told
    assert "empty: expected files of .bvh, .fbx, .gltf, .glb, .blend" in told


def test_what_cannot_be_a_folder_is_told(command, files, capfd):
    assert command.run([str(files / "walk.bvh"), "--output", str(files / "slope.obj")]) == 2
    assert "slope.obj cannot be made a folder: File exists" in capfd.readouterr().err


@pytest.mark.parametrize("text", ["{", "[]", "3", "{}", '{"actions": []}'])
def test_a_file_that_is_no_report_does_not_stop_those_that_go_on(command, files, text):
    (files / "planted").mkdir()
    (files / "planted" / "walk.json").write_text(text)
    status, output = run(command, files, "walk.bvh", "--resume")
    assert status == command.PLANTED and report_of(output)["written"] == ["walk.blend"]


@pytest.mark.parametrize("kind", ["bvh", "glb"])
def test_results_replace_neither_the_clip_nor_the_ground(bpy, command, files, kind):
    clip, ground = files / "walk.bvh", files / "walk.glb"
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
    biped.make_slope(bpy)
    bpy.ops.export_scene.gltf(filepath=str(ground))
    before = {path: path.read_bytes() for path in (clip, ground)}
    status = command.run([*map(str, (clip, "--ground", ground, "--output", files, "--kind", kind))])
    assert status == command.NOT_PLANTED and "choose another folder" in error_of(files)
    assert {path: path.read_bytes() for path in before} == before


def test_only_the_armature_of_the_clip_is_planted_whatever_is_selected(bpy, command, files):
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
    names = [biped.make_walker(bpy, name).name for name in ("Walker", "Other")]
    for ob in bpy.data.objects:
        ob.select_set(True)
    bpy.ops.wm.save_as_mainfile(filepath=str(files / "several.blend"))
    _, output = run(command, files, "several.blend")
    bpy.ops.wm.open_mainfile(filepath=str(output / "several.blend"), load_ui=False)
    planted = [ob.name for ob in bpy.data.objects if ob.animation_data and "ik2bone" in ob.animation_data.action]
    assert len(planted) == 1 and planted[0] in names


def test_actions_whose_names_make_one_name_of_a_file_have_a_file_each(bpy, command, files):
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
    walker = biped.make_walker(bpy)
    other = walker.animation_data.action.copy()
    walker.animation_data.action.name, other.name = "run:1", "Run/1"
    walker.animation_data.nla_tracks.new().strips.new("other", 1, other)
    bpy.ops.wm.save_as_mainfile(filepath=str(files / "two.blend"))
    _, output = run(command, files, "two.blend", "--all-actions", "--kind", "bvh")
    assert report_of(output, "two")["written"] == ["two.run_1.bvh", "two.Run_1_2.bvh"]
    assert {path.name for path in output.glob("*.bvh")} == {"two.run_1.bvh", "two.Run_1_2.bvh"}


@pytest.mark.parametrize("name", ["Walker|walk", "walk_Walker"])
def test_actions_that_differ_by_the_name_of_the_armature_are_both_planted(bpy, command, files, name):
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
    walker = biped.make_walker(bpy)
    other = walker.animation_data.action.copy()
    other.name = name
    walker.animation_data.nla_tracks.new().strips.new("other", 1, other)
    bpy.ops.wm.save_as_mainfile(filepath=str(files / "two.blend"))
    _, output = run(command, files, "two.blend", "--all-actions")
    assert [entry["action"] for entry in report_of(output, "two")["actions"]] == ["walk", name]


def test_a_file_of_which_nothing_was_planted_is_not_written(command, files):
    status, output = run(command, files, "walk.bvh", "--bones", "tail")
    assert status == command.NOT_PLANTED and report_of(output)["written"] == [] and not list(output.glob("*.blend"))


def test_an_armature_that_the_view_layer_does_not_show_is_told(bpy, command, files):
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
    walker = biped.make_walker(bpy)
    bpy.data.scenes.new("Elsewhere").collection.objects.link(walker)
    bpy.context.scene.collection.objects.unlink(walker)
    bpy.ops.wm.save_as_mainfile(filepath=str(files / "other.blend"))
    status, output = run(command, files, "other.blend", ground=None)
    error = "other.blend holds no armature that its view layer has"
    assert status == command.NOT_PLANTED and report_of(output, "other")["error"] == error


def test_a_file_that_was_saved_in_edit_mode_is_planted(bpy, command, files):
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
    bpy.context.view_layer.objects.active = biped.make_walker(bpy)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.wm.save_as_mainfile(filepath=str(files / "edit.blend"))
    assert run(command, files, "edit.blend")[0] == command.PLANTED


def test_a_clip_in_other_units_is_enlarged_to_those_of_the_ground(bpy, command, files):
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
    walker = biped.make_walker(bpy)
    walker.scale = (0.01, 0.01, 0.01)
    bpy.context.view_layer.update()
    bpy.ops.export_anim.bvh(filepath=str(files / "small.bvh"), global_scale=0.01, frame_start=1, frame_end=biped.LAST)
    _, output = run(command, files, "small.bvh", "--scale", "100")
    assert report_of(output, "small")["actions"][0]["report"]["leg"] == pytest.approx(0.9, rel=0.01)


def test_a_ground_at_another_frame_rate_leaves_that_of_the_clip_and_moves_at_its_own(bpy, command, reading, files):
    slope = bpy.data.objects["Slope"]
    slope.shape_key_add(name="Basis")
    shape = slope.shape_key_add(name="Lifted")
    shape.points[0].co.z += 1.0
    for frame, height in ((1, 0.0), (13, 0.1)):
        slope.location.z = shape.value = height
        slope.keyframe_insert("location", frame=frame)
        shape.keyframe_insert("value", frame=frame)
    bpy.context.scene.render.fps, bpy.context.scene.frame_end = 12, 13
    bpy.ops.export_scene.fbx(filepath=str(files / "slope.fbx"), use_selection=True)
    _, output = run(command, files, "walk.bvh", ground="slope.fbx")
    assert report_of(output)["actions"][0]["report"]["fps"] == pytest.approx(30.0, rel=1e-4)
    bpy.ops.wm.open_mainfile(filepath=str(output / "walk.blend"), load_ui=False)
    (ground,) = bpy.data.collections["ik2bone ground"].objects
    owners = [ground.animation_data, ground.data.shape_keys.animation_data]
    curves = [curve for owner in owners for curve in fingerprint.curves_of(owner.action)]
    assert {curve.data_path for curve in curves} >= {"location", 'key_blocks["Lifted"].value'}
    assert [np.ptp(curve.range()) for curve in curves] == pytest.approx([30.0] * len(curves), abs=0.1)
