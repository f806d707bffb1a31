# SPDX-License-Identifier: GPL-3.0-or-later
"""A run goes in stages: stopped at any of them it leaves everything as it was, and none of them takes long."""

from __future__ import annotations

import importlib
import itertools
import threading
import time
from types import SimpleNamespace

import biped
import fingerprint
import numpy as np
import pytest
from moved import drive_by_scene
from planted import heads, plant

from demo import session

GIVEN = [
    {},
    {"output": "IN_PLACE"},
    {"frame_range": "CURRENT"},
    {"frame_range": "CUSTOM", "frame_start": 10, "frame_end": 50, "use_hips": False},
]

# How much of a run is done.
SHARES = (0.1, 0.35, 0.5, 0.68, 0.75, 0.95)


def _pose_by_hand(bpy, walker):
    bpy.context.scene.frame_set(20)
    walker.pose.bones["hips"].location.x += 0.2
    walker.pose.bones["shin.L"].rotation_quaternion = (0.9, 0.1, 0.0, 0.0)


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("history", ["source", "planted", "driven"])
def test_stopped_at_any_stage_it_leaves_everything_as_it_was(bpy, walker, slope, options, addon, given, history):
    if history == "planted":
        plant(bpy)
    if history == "driven":
        drive_by_scene(walker, "location", bpy.context.scene, "frame_current", 0)
    _pose_by_hand(bpy, walker)
    before, stops, ended = fingerprint.of_scene(bpy), 0, False
    while not ended:
        stages = addon("run.pipeline").planting(bpy.context, [walker], options(**given))
        for _ in range(stops):
            if next(stages, None) is None:
                ended = True
                break
            # A window redraws meanwhile.
            bpy.context.view_layer.update()
        if not ended:
            stages.close()
            assert fingerprint.of_scene(bpy) == before
        stops += 1 + stops // 8
    assert stops > 5 and fingerprint.of_scene(bpy) != before


def test_a_stop_leaves_a_property_set_by_hand_that_only_the_source_animates(bpy, walker, slope, options, addon):
    hips = walker.pose.bones["hips"]
    hips["switch"] = 1.0
    hips.keyframe_insert('["switch"]', frame=1)
    plant(bpy)
    (bag,) = fingerprint.bags_of(walker.animation_data.action)
    bag.fcurves.remove(bag.fcurves.find('pose.bones["hips"]["switch"]'))
    hips["switch"] = 7.0
    stages = addon("run.pipeline").planting(bpy.context, [walker], options())
    next(stages)
    # As a window does between two stages.
    bpy.context.view_layer.update()
    stages.close()
    assert hips["switch"] == 7.0


@pytest.mark.parametrize("output", ["IN_PLACE", "NLA_LAYER"])
def test_undo_leaves_everything_as_it_was(bpy, walker, slope, output):
    bpy.ops.ed.undo_push(message="before")
    before = fingerprint.of_scene(bpy)
    plant(bpy, output=output)
    bpy.ops.ed.undo_push(message="Plant Feet")
    bpy.ops.ed.undo()
    assert fingerprint.of_scene(bpy) == before


def test_progress_only_grows_and_says_what_is_done(bpy, walker, slope, options, addon):
    twin = biped.twin_of(bpy, walker)
    steps = list(addon("run.pipeline").planting(bpy.context, [walker, twin], options()))
    shares = [step.share for step in steps]
    assert shares == sorted(shares) and 0.0 <= shares[0] < 0.1 and shares[-1] == 1.0
    assert {step.doing.split()[0] for step in steps} >= {"finding", "sampling", "writing", "keeping"}


def test_no_stage_of_a_long_clip_takes_a_second(bpy, walker, slope, options, addon):
    for curve in fingerprint.curves_of(walker.animation_data.action):
        curve.modifiers.new("CYCLES")
    action = walker.animation_data.action
    action.use_frame_range, action.frame_start, action.frame_end = True, 1, 6000
    began, longest = time.process_time(), 0.0  # a busy machine makes no stage longer
    for _ in addon("run.pipeline").planting(bpy.context, [walker], options()):
        longest, began = max(longest, time.process_time() - began), time.process_time()
    assert longest < 1.0


def test_work_aside_goes_on_while_the_run_waits_and_hands_its_errors_on(bpy, addon):
    progress = addon("progress")

    def fail():
        time.sleep(0.1)
        raise ArithmeticError("aside")

    waiting = progress.aside(fail, progress.Progress("working", 0.5))
    assert next(waiting) == ("working", 0.5)
    with pytest.raises(ArithmeticError, match="aside"):
        progress.finish(waiting)
    assert progress.finish(progress.aside(lambda: biped.LAST, progress.Progress("", 0.0))) == biped.LAST


def test_work_on_few_frames_waits_for_no_thread(bpy, addon):
    progress, own = addon("progress"), threading.get_ident()
    few, many = (progress.aside(threading.get_ident, ("", 0.0), progress.SHORT + more) for more in (0, 1))
    assert progress.finish(few) == own != progress.finish(many)


def test_work_aside_stops_with_the_run(bpy, addon):
    progress, threads = addon("progress"), threading.active_count()
    waiting = progress.aside(lambda: sum(itertools.chain.from_iterable([0] for _ in itertools.count())), ("", 0.0))
    next(waiting)
    assert threading.active_count() == threads + 1
    waiting.close()
    time.sleep(0.5)
    assert threading.active_count() == threads


def test_a_moving_ground_is_followed_in_stages_and_a_stop_leaves_no_scene(bpy, walker, slope, options, addon):
    for frame in (1, biped.LAST):
        slope.location.z = 0.001 * frame
        slope.keyframe_insert("location", frame=frame)
    before = fingerprint.of_scene(bpy)
    stages = addon("run.pipeline").planting(bpy.context, [walker], options())
    assert any(step.share > 0.4 and step.doing.startswith("sampling frame") for step in stages)
    assert len(bpy.data.scenes) == 2
    stages.close()
    assert fingerprint.of_scene(bpy) == before


def _disable(_bpy):
    addon_utils = importlib.import_module("addon_utils")
    addon_utils.disable(session.ADDON)
    addon_utils.enable(session.ADDON)


@pytest.mark.parametrize(
    "going",
    [_disable, lambda bpy: bpy.ops.ed.undo(), lambda bpy: bpy.ops.wm.read_homefile(use_empty=True)],
    ids=["add-on", "undone", "file"],
)
def test_a_run_ends_before_the_data_go_that_it_works_on(bpy, walker, slope, addon, monkeypatch, going):
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.ed.undo_push(message="After")
    module, left = addon("ui.operators"), []

    def cancel(_context):
        left.append(walker.name)
        module._running.clear()

    monkeypatch.setattr(module, "_running", [SimpleNamespace(cancel=cancel, _window=bpy.context.window)])
    going(bpy)
    assert left == ["Walker"] and not module._running


@pytest.fixture
def half_run(bpy, addon, options, monkeypatch):
    """A function that lets a run go on up to a share of it, as one does whose window is alive."""
    module = addon("ui.operators")

    def begin(share, **given):
        stages = addon("run.pipeline").planting(bpy.context, [bpy.data.objects["Walker"]], options(**given))
        while next(stages).share < share:
            pass
        run = SimpleNamespace(cancel=lambda _: (stages.close(), module._running.clear()), _window=bpy.context.window)
        monkeypatch.setattr(module, "_running", [run])

    return begin


@pytest.mark.parametrize("output", ["NEW_ACTION", "NLA_LAYER"])
def test_a_run_ends_before_another_one_starts(bpy, walker, slope, half_run, output):
    """Else each would bring actions back that the other one has removed, which crashed Blender."""
    frames = range(1, biped.LAST + 1, 10)
    plant(bpy, output=output)
    expected, names = heads(bpy, walker, frames), bpy.data.actions.keys()
    for share in SHARES:
        half_run(share, output=output, strength=0.5)
        plant(bpy, output=output)
        np.testing.assert_allclose(heads(bpy, walker, frames), expected, atol=1e-6)
        assert bpy.data.actions.keys() == names


def test_a_run_ends_before_the_source_is_restored(bpy, walker, slope, half_run):
    restored = 0
    for share in SHARES:
        plant(bpy, output="NLA_LAYER")
        half_run(share, output="NLA_LAYER", strength=0.5)
        if bpy.ops.ik2bone.restore.poll():
            bpy.ops.ik2bone.restore()
            data, restored = walker.animation_data, restored + 1
            assert data.action.name == "walk" and not data.nla_tracks
            assert bpy.data.actions.keys() == ["walk"]
    assert restored


def test_a_run_into_a_planted_action_has_nothing_to_restore(bpy, walker, slope, half_run):
    """It plays the source until keys are written, and then the planted action, which is not yet marked as one."""
    for share in SHARES:
        plant(bpy)
        half_run(share, strength=0.5)
        assert not bpy.ops.ik2bone.restore.poll()


def test_a_run_ends_before_a_file_is_saved(bpy, walker, slope, half_run, tmp_path):
    """Else the file would hold what the run has set aside, and drivers that read a scene which is soon gone."""
    drive_by_scene(walker, "location", bpy.context.scene, "frame_current", 0)
    before = fingerprint.of_scene(bpy)
    for share in SHARES:
        half_run(share)
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "walk.blend"))
        assert fingerprint.of_scene(bpy) == before


def test_a_run_that_something_else_ended_stays_so(bpy, addon):
    kind, event = addon("ui.operators").IK2BONE_OT_plant_feet, SimpleNamespace(type="TIMER")
    assert kind.modal(SimpleNamespace(), bpy.context, event) == {"CANCELLED"}
    kind.cancel(SimpleNamespace(), bpy.context)
