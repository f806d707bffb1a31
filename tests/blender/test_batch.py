# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of clips planted by the command line: what is written, what is told, and what a stopped run leaves."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import biped
import fingerprint
import numpy as np
import pytest
from planted import heads

RISE = 0.1


@pytest.fixture
def command(addon):
    """The command as Blender calls it, and the modules behind it."""
    return addon("batch.command")


@pytest.fixture
def reading(addon):
    return addon("batch.read")


@pytest.fixture
def files(bpy, walker, tmp_path):
    """A folder with the walker as bvh and glb, and a ground that rises along its way as obj."""
    export_bvh(bpy, walker, tmp_path / "walk.bvh")
    bpy.ops.export_scene.gltf(filepath=str(tmp_path / "model.glb"), export_animation_mode="ACTIVE_ACTIONS")
    slope = biped.make_slope(bpy, rise=RISE)
    bpy.data.objects.remove(walker)
    slope.select_set(True)
    bpy.ops.wm.obj_export(filepath=str(tmp_path / "slope.obj"), export_selected_objects=True)
    return tmp_path


def export_bvh(bpy, armature, path):
    bpy.context.view_layer.objects.active = armature
    bpy.ops.export_anim.bvh(filepath=str(path), frame_start=1, frame_end=biped.LAST, rotate_mode="NATIVE")


def run(command, folder, *arguments, ground="slope.obj"):
    """The exit status, and where results go."""
    given = [str(folder / text) if text.endswith((".bvh", ".glb", ".blend")) else text for text in arguments]
    output = folder / "planted"
    grounds = ["--ground", str(folder / ground)] if ground else []
    return command.run([*given, *grounds, "--output", str(output)]), output


def report_of(output, name="walk"):
    return json.loads((output / f"{name}.json").read_text())


def error_of(output, name="walk"):
    """Why the only action of a file was not planted."""
    (entry,) = report_of(output, name)["actions"]
    return entry["error"]


def height_over_slope(bpy, armature):
    """Heights of the balls over the slope, of the lower foot on every frame."""
    balls = heads(bpy, armature, range(5, biped.LAST - 5), ("toe.L", "toe.R"))
    return (balls[..., 2] - RISE * balls[..., 1]).min(axis=1)


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
            raise RuntimeError("Error: Python: Traceback\nRuntimeError: the mesh is being edited\nLocation: here:1\n")
        write(path)

    monkeypatch.setitem(addon("batch.plant").WRITERS, ".bvh", refuse)
    status, output = run(command, files, "walk.bvh", "model.glb", "--kind", "bvh")
    assert status == command.NOT_PLANTED and report_of(output, "model")["written"] == ["model.bvh"]
    assert error_of(output) == "walk.bvh cannot be written: RuntimeError: the mesh is being edited"


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


def test_a_bvh_file_that_fails_leaves_the_armature_as_it_was_for_the_next(bpy, walker, addon, command, monkeypatch):
    def fail(**_):
        raise RuntimeError("the disk is full")

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


def test_a_stopped_run_leaves_no_report_and_no_half_file(addon, command, files, monkeypatch):
    def stop(path):
        raise KeyboardInterrupt

    monkeypatch.setitem(addon("batch.plant").WRITERS, ".blend", stop)
    with pytest.raises(KeyboardInterrupt):
        run(command, files, "walk.bvh")
    assert not list((files / "planted").iterdir())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["walk.bvh", "sub/walk.bvh"], "2 clips are named walk"),
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


def test_ground_results_and_hidden_files_in_a_folder_are_no_clips(bpy, command, files, capfd):
    (files / "._walk.bvh").touch()
    (files / "model.glb").unlink()
    bpy.ops.export_scene.gltf(filepath=str(files / "ground.glb"))
    for _ in range(2):
        arguments = [str(files), "--ground", str(files / "ground.glb"), "--output", str(files / "planted")]
        assert command.run([*arguments, "--kind", "bvh"]) == command.PLANTED
        assert "[1/1] walk.bvh: planted 1 of 1" in capfd.readouterr().out


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
