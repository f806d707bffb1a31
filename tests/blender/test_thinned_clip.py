# SPDX-License-Identifier: GPL-3.0-or-later
"""Real clips, and the same with every second or fourth frame, stand in the same spots."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from ik2bone.clip import Clip
from ik2bone.plan import plant
from measures import measure, shortfalls
from walk import height_field, planted

WALK, SHORT, RUN = ("bvh/cmu_131_01_startwalkstop.bvh", "bvh/cmu_ic_002_01_walk.bvh", "fbx/cmu_09_11_run.fbx")
# Standing feet, and hips that follow them, agree within these on hills (leg lengths): the clip's own standing feet
# slide by 0.036, and at half the frames a contact of the first 128 frames is two.
STANDING, HIPS = 0.06, 0.045
# On steps an edge under a sole decides where it stands, and the frames a little of that. Feet for which two treads are
# nearly as good may stand on either: of the first clip 1 of 70, of the others none.
SPOT, ELSEWHERE = 0.07, 0.05


@pytest.fixture
def sampled(bpy, data, request) -> tuple[Clip, dict]:
    """A clip, and where the demo lays a ground under it."""
    from demo import clips, session, track

    chains, sampling = (import_module(f"{session.ADDON}.{name}") for name in ("rig.find", "pose.sample"))
    armature, scene = clips.load(bpy, data / request.param), bpy.context.scene
    frames = range(scene.frame_start, scene.frame_end + 1)
    clip = sampling.sample(armature, chains.find_legs(armature, (frames[0], frames[-1])), None, frames).clip
    way = track.find_track(clip)
    return clip, {"centre": way.centre, "base_height": way.floor, "leg": clip.leg, "heading": way.heading}


def ground_of(kind: str, place: dict):
    from demo.grounds import world_heights

    return height_field(lambda x, y: world_heights(kind, np.stack([x, y], axis=-1), **place))


def thinned(clip: Clip, step: int, first: int = 0) -> Clip:
    return replace(clip.cut(slice(first, None, step)), fps=clip.fps / step)


@pytest.mark.parametrize("sampled", [WALK], indirect=True)
def test_real_clip_stands_in_the_same_spots_at_any_frame_rate(sampled) -> None:
    clip, hills = sampled[0], ground_of("hills", sampled[1])
    thin = {step: thinned(clip, step) for step in (1, 2, 4)}
    plans = {step: plant(each, hills) for step, each in thin.items()}
    after = {step: planted(each, plans[step]) for step, each in thin.items()}
    for step, each in thin.items():
        every = slice(None, None, step)
        stands = plans[step].contacts.any(axis=-1) & plans[1].contacts[every].any(axis=-1)
        off = np.linalg.norm(after[step].ball - after[1].ball[every], axis=-1) / clip.leg
        lower = np.linalg.norm(plans[step].hips_offset - plans[1].hips_offset[every], axis=-1) / clip.leg
        assert off[stands].max() <= STANDING
        assert lower.max() <= HIPS
        assert not shortfalls(measure(each, after[step], hills, plans[step].sole.heel))


def apart(clip: Clip, ground, step: int) -> np.ndarray:
    """How far apart (leg lengths) a clip and what is left of it stand, by standings that both have."""
    most, found = plant(clip, ground), []
    for first in range(step):
        for anchor in plant(thinned(clip, step, first), ground).anchors:
            middle = first + step * (anchor.stance.start + anchor.stance.end - 1) / 2
            same = [a for a in most.anchors if a.part == anchor.part and a.stance.leg == anchor.stance.leg]
            same = [a for a in same if a.stance.start <= middle < a.stance.end]
            found += [np.linalg.norm(anchor.point - a.point) / clip.leg for a in same if anchor.part != "swing"]
    return np.array(found)


@pytest.mark.parametrize("sampled", [WALK, SHORT, RUN], indirect=True)
def test_real_clip_stands_on_the_same_steps_at_any_frame_rate(sampled) -> None:
    clip, place = sampled
    off = apart(clip, ground_of("steps", place), 2 if clip.fps < 90.0 else 4)
    assert len(off) >= 7
    assert (off > SPOT).mean() <= ELSEWHERE
