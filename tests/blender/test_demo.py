# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo in real Blender: its walk as the scene shows it, its ground, its body, and one run from end to end."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import biped
import fingerprint
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


def run_demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "demo", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture
def walk(bpy):
    """The generated clip as planting sees it."""
    from demo import character

    return character.load(bpy, "walk")


def test_the_walk_stands_without_sliding_on_a_flat_floor(walk):
    clip = walk.clip
    speed = np.linalg.norm(np.gradient(clip.ball, axis=0), axis=-1) * clip.fps
    for leg in range(2):
        ends = np.flatnonzero(np.diff(np.pad(speed[:, leg] < 0.35 * clip.leg, 1).astype(int)))
        spans = [span for span in ends.reshape(-1, 2) if np.diff(span) > 0.2 * clip.fps]
        assert len(spans) >= 6
        for start, end in spans:
            ball = clip.ball[start:end, leg]
            assert np.linalg.norm(ball - ball.mean(axis=0), axis=1).max() < 0.02 * clip.leg


def test_the_walks_soles_touch_the_floor_and_stay_over_it(bpy, walk):
    bones, lowest = walk.armature.data.bones, []
    points = {}
    for side in "LR":
        toe = bones[f"toe.{side}"]
        points[f"foot.{side}"] = [bones[f"heel.02.{side}"].head_local, _under(toe.head_local)]
        points[toe.name] = [_under(toe.tail_local)]
    for frame in walk.frames:
        bpy.context.scene.frame_set(frame)
        pose = walk.armature.pose.bones
        moved = [pose[name].matrix @ bones[name].matrix_local.inverted() @ p for name, ps in points.items() for p in ps]
        lowest.append(min(point.z for point in moved))
    assert np.abs(lowest).max() < 0.01 * walk.clip.leg


def _under(point):
    """The point of a flat sole under a joint."""
    return type(point)((point.x, point.y, 0.0))


def test_the_walk_is_keyed_in_quaternions_of_unit_length(walk):
    curves = fingerprint.curves_of(walk.armature.animation_data.action)
    assert {curve.data_path.rpartition(".")[2] for curve in curves} == {"rotation_quaternion", "location"}
    thigh = [curve for curve in curves if curve.data_path == 'pose.bones["thigh.L"].rotation_quaternion']
    keys = np.array([[key.co.y for key in curve.keyframe_points] for curve in thigh])
    assert np.allclose(np.linalg.norm(keys, axis=0), 1, atol=1e-6)
    assert np.sum(keys[:, 1:] * keys[:, :-1], axis=0).min() > 0


@pytest.mark.parametrize("kind", ["hills", "hills+steps"])
def test_the_mesh_of_a_ground_lies_at_the_heights_of_its_function(bpy, ground_of, kind):
    from demo import grounds

    place = {"centre": (3.0, -2.0), "base_height": 0.4, "leg": 1.7, "seed": 3, "heading": 2.0}
    mesh = grounds.make_ground(bpy, kind, size=(22.0, 9.0), **place)
    assert 95_000 < sum(len(face.vertices) - 2 for face in mesh.data.polygons) < 115_000
    bpy.context.view_layer.update()
    ground = ground_of(mesh, leg=1.7)
    points = np.random.default_rng(0).uniform(-3, 3, (200, 3)) + [3, -2, 0]
    hits, _normals, found = ground(points, np.array([0.0, 0.0, -1.0]))
    assert found.all()
    assert np.abs(hits[:, 2] - grounds.world_heights(kind, points[:, :2], **place)).max() < 0.002 * 1.7


def test_the_body_stands_on_its_soles_and_follows_the_bones(bpy, walk):
    from demo import figure

    scene = bpy.context.scene
    scene.frame_set(1)
    body = figure.make_body(bpy, walk.armature, walk.feet)
    for frame in (1, 60):
        scene.frame_set(frame)
        shown = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
        points = np.array([shown.matrix_world @ vertex.co for vertex in shown.data.vertices])
        hips = np.array(walk.armature.matrix_world @ walk.armature.pose.bones["spine"].head)
        assert np.abs(points[:, 2].min()) < 0.02
        assert np.abs(points[:, :2].mean(axis=0) - hips[:2]).max() < 0.2
        assert 1.8 < points[:, 2].max() < 2.1
    assert all(len(vertex.groups) == 1 for vertex in body.data.vertices)


def test_one_run_leaves_picture_file_and_figures(bpy, tmp_path):
    done = run_demo("--samples", "1", "--out", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / "walk-hills+steps"
    names = {"picture.png", "planted.blend", "report.json", "report.txt"}
    names |= {"report.png"} if find_spec("matplotlib") else set()
    assert {path.name for path in folder.iterdir()} == names
    assert (folder / "report.txt").read_text().partition("\n\n")[0] in done.stdout
    report = json.loads((folder / "report.json").read_text())
    assert report["after"]["penetration"] < 0.1 * report["before"]["penetration"]
    assert report["after"]["knee_pop"] <= 10.0
    assert report["after"]["foot_pop"] <= 0.04 * report["leg"]
    _look_at_picture(bpy, folder / "picture.png")
    _look_at_file(bpy, folder / "planted.blend")


@pytest.mark.parametrize(("kind", "files"), [("platform", ["report"]), ("bridge", ["report-over", "report-under"])])
def test_feet_that_miss_what_moves_or_lies_below_are_ringed_before_and_not_after(
    bpy, tmp_path, monkeypatch, kind, files
):
    from demo import picture, show

    drawn = []
    monkeypatch.setattr(picture, "draw", lambda _bpy, rows, *_: drawn.extend(rows))
    shown = show.show(bpy, "walk", kind, tmp_path, 1)
    before, after = ([len(shot.misses) for shot in row.shots] for row in drawn)
    assert sum(count > 0 for count in before) >= 4
    assert not any(after)
    deepest = max(abs(miss.height) for shot in drawn[0].shots for miss in shot.misses) / shown.reports[files[0]]["leg"]
    assert f"{sum(before)} feet ringed, off the ground by up to {100 * deepest:.0f} % of the leg" in drawn[0].caption[0]
    assert "every foot that stands is on the ground" in drawn[1].caption[0]
    assert list(shown.reports) == files
    bpy.ops.wm.open_mainfile(filepath=str(shown.folder / "planted.blend"))
    planted = [thing for thing in bpy.data.objects if thing.type == "ARMATURE"]
    assert len(planted) == len(files)
    assert all("ik2bone" in armature.animation_data.action for armature in planted)


@pytest.mark.parametrize(("closed", "area"), [(True, 1.2 * 0.5), (False, 1.2 * 3.0)])
def test_pictures_show_closed_meshes_cut_open_and_a_wall_under_others(bpy, closed, area):
    from demo import solids, terrain

    solid = solids.box((-1.0, -1.0, 0.0), (1.0, 1.0, 0.5))
    top = [face for face in solid.faces if (solid.points[face][:, 2] > 0.4).all()]
    thing = solids.add_object(bpy, "ground", [solid if closed else solids.Solid(solid.points, top)])
    bpy.context.view_layer.update()
    axes = np.eye(3)
    piece = terrain.cut_terrain(bpy, thing, terrain.Cut(0.2 * axes[1], axes[0], axes[1], -0.5, 0.7, 0.6, 3.0))
    assert sum(face.area for face in piece.section.data.polygons) == pytest.approx(area, rel=1e-5)
    corners = np.array([vert.co for vert in piece.surface.data.vertices])
    assert np.allclose([corners.min(axis=0)[:2], corners.max(axis=0)[:2]], [[-0.5, 0.2], [0.7, 0.8]])


def _look_at_picture(bpy, path: Path) -> None:
    """Both rows hold both colours of legs; red rings are in the upper one."""
    image = bpy.data.images.load(str(path))
    pixels = np.array(image.pixels[:]).reshape(image.size[1], image.size[0], 4)[..., :3]
    assert pixels.shape[1] >= 1600
    assert pixels.shape[0] >= 700
    after, before = np.array_split(pixels, 2)
    for row in (before, after):
        red, green, blue = np.moveaxis(row, -1, 0)
        assert (blue > 1.5 * red).mean() > 0.003
        assert ((red > 1.5 * blue) & (green > 0.25)).mean() > 0.003
    marks = [np.sum((row[..., 0] > 0.8) & (row[..., 1] < 0.2)) for row in (before[:-150], after[:-150])]
    assert marks[0] > 10 * marks[1]


def _look_at_file(bpy, path: Path) -> None:
    """It shows the character with its body, the ground and the camera, playing the planted action."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    armature = bpy.data.objects["walk"]
    assert armature.animation_data.action.name == "walk.planted"
    assert getattr(armature.animation_data, "action_slot", True)
    assert bpy.data.objects["body"].modifiers["bones"].object == armature
    assert len(bpy.data.collections["Demo ground"].objects) == 1
    assert bpy.context.scene.camera is not None
    assert {thing.type for thing in bpy.data.objects} == {"ARMATURE", "MESH", "CAMERA", "LIGHT"}
    assert [thing.name for thing in bpy.data.objects if thing.type == "MESH"] == ["body", "hills+steps"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--clip", "nowhere.bvh"), "demo: there is no clip nowhere.bvh"),
        (("--clip", __file__), "demo: a clip is expected as one of .bvh, .fbx, .gltf, .glb, .blend, got test_demo.py"),
        (
            ("--ground", "sand"),
            "demo: a ground is expected to be a file or one of hills, steps, slope, flat, platform, bridge, stairs, "
            "ladder, got sand",
        ),
        (
            ("--ground", "hills+stairs"),
            "demo: stairs is a ground by itself and cannot be added to others, got hills+stairs",
        ),
        (("--ground", "nowhere.obj"), "demo: there is no ground nowhere.obj"),
        (("--samples", "0"), "demo: samples a pixel are expected to be at least 1, got 0"),
    ],
)
def test_bad_input_gets_one_sentence(bpy, tmp_path, arguments, sentence):
    done = run_demo(*arguments, "--out", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.strip() == sentence
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_told_before_blender_starts(tmp_path):
    (tmp_path / "file").touch()
    done = run_demo("--out", str(tmp_path / "file"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"demo: the folder {tmp_path / 'file'} cannot be made: File exists\n"


def test_a_folder_that_is_read_only_is_told(tmp_path, monkeypatch):
    from demo.__main__ import make_folder

    # Whoever runs the tests may be allowed to write anywhere.
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(PermissionError, match=f"^nothing can be written into the folder {tmp_path}$"):
        make_folder(tmp_path)


@pytest.mark.parametrize("kind", [".bvh", ".fbx", ".gltf", ".glb", ".blend", ".obj"])
@pytest.mark.parametrize("content", ["", "this is no clip\n" * 20])
def test_files_that_cannot_be_read_are_told_in_one_sentence_with_their_name(bpy, tmp_path, capfd, kind, content):
    from demo import clips

    path = tmp_path / f"broken{kind}"
    path.write_text(content)
    with pytest.raises(ValueError, match=f"^broken{kind} (cannot be read as a {kind} file|holds no mesh)") as told:
        clips.read("read_ground" if kind == ".obj" else "read_clip", path)
    assert "\n" not in str(told.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("size", "place", "times"),
    [(2.0, (0.0, 0.0, 0.0), True), (60.0, (200.0, 0.0, 5.0), False), (60.0, (0, 0, 9), False)],
)
def test_a_ground_of_another_size_or_place_is_brought_under_the_clip_and_told(bpy, walk, capsys, size, place, times):
    from demo import grounds
    from demo.solids import Solid, add_object

    corners = size / 2 * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    plane = add_object(bpy, "plane", [Solid(corners, [[0, 1, 2, 3]])])
    plane.location = place
    grounds.fit(bpy, [plane], walk.way, "plane.obj")
    bpy.context.view_layer.update()
    low, high = grounds._bounds([plane])
    feet = walk.clip.ball.reshape(-1, 3)
    assert (low[:2] < feet.min(axis=0)[:2]).all() and (high[:2] > feet.max(axis=0)[:2]).all()
    assert low[2] == pytest.approx(walk.way.floor, abs=1e-5)
    assert (plane.matrix_world.to_scale().x > 1.0) == times
    told = capsys.readouterr().out
    assert told.startswith(f"demo: plane.obj is {size:.3g} by {size:.3g} and does not lie under the clip's way")
    before = plane.matrix_world.copy()
    grounds.fit(bpy, [plane], walk.way, "plane.obj")
    assert plane.matrix_world == before and capsys.readouterr().out == ""


def export(bpy, path, names):
    """The tests' walker as a file with so many actions."""
    walker = biped.make_walker(bpy)
    animation = walker.animation_data
    action, animation.action = animation.action, None
    if not names:
        walker.animation_data_clear()
    for name in names:
        track = animation.nla_tracks.new()
        track.name = name
        track.strips.new(name, 1, action)
    bpy.ops.export_scene.gltf(filepath=str(path), export_animation_mode="NLA_TRACKS")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return path


def test_of_several_actions_the_first_that_walks_is_shown_and_the_others_are_told(bpy, tmp_path, capfd):
    from demo import clips

    path = export(bpy, tmp_path / "all.glb", ["idle", "Running", "Walking_B"])
    assert "Walking_B" in clips.load_walk(bpy, path).animation_data.action.name
    assert "ACTION= names another of idle, Running\n" in capfd.readouterr().out
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert "idle" in clips.load_walk(bpy, path, "idle").animation_data.action.name
    with pytest.raises(ValueError, match="has no action named dance, only: idle, Running, Walking_B"):
        clips.play(bpy.context.object, "dance")


def test_a_character_without_animation_is_planted_as_a_pose(bpy, tmp_path):
    from demo import character, show

    look = character.load(bpy, str(export(bpy, tmp_path / "still.glb", [])))
    assert len(look.frames) == 1
    show.lay_stage(bpy, "hills", look)
    (report,) = show.plant(bpy, [look.armature]).values()
    assert report["after"]["penetration"] < 1e-4 < report["before"]["penetration"] + report["before"]["float"]


def test_a_pose_is_shown_before_as_it_was_though_its_hips_have_no_keys(bpy, tmp_path, monkeypatch):
    from demo import picture, show

    lowest = []

    def draw(_bpy, rows, *_):
        lowest.extend(min(picture._points(row.shots[0].figure)[:, 2]) for row in rows)

    monkeypatch.setattr(picture, "draw", draw)
    shown = show.show(bpy, str(export(bpy, tmp_path / "still.glb", [])), "stairs", tmp_path, 1)
    before, after = lowest
    assert after - before == pytest.approx(shown.reports["report"]["before"]["penetration"], abs=0.01)
    assert after - before > 0.05
