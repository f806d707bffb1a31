# SPDX-License-Identifier: GPL-3.0-or-later
"""A real clip of 120 frames a second, and the same with every second or fourth frame, stand in the same spots."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
from ik2bone.plant import plant
from measures import measure, shortfalls
from walk import height_field, planted

CLIP = "bvh/cmu_131_01_startwalkstop.bvh"
# Standing feet and hips agree within these (leg lengths): the clip's own standing feet slide by 0.036, and where they
# are held on the average depends on the frames.
STANDING, HIPS = 0.012, 0.03


def test_real_clip_stands_in_the_same_spots_at_any_frame_rate(bpy, data) -> None:
    from demo import clips, session, track
    from demo.grounds import world_heights

    chains, sampling = (import_module(f"{session.ADDON}.{name}") for name in ("chains", "sample"))
    armature, scene = clips.load(bpy, data / CLIP), bpy.context.scene
    frames = range(scene.frame_start, scene.frame_end + 1)
    clip = sampling.sample(armature, chains.find_legs(armature, (frames[0], frames[-1])), None, frames).clip
    way = track.find_track(clip)
    place = {"centre": way.centre, "base_height": way.floor, "leg": clip.leg, "heading": way.heading}
    hills = height_field(lambda x, y: world_heights("hills", np.stack([x, y], axis=-1), **place))
    thinned = {step: replace(clip.cut(slice(None, None, step)), fps=clip.fps / step) for step in (1, 2, 4)}
    plans = {step: plant(each, hills) for step, each in thinned.items()}
    after = {step: planted(each, plans[step]) for step, each in thinned.items()}
    for step, each in thinned.items():
        every = slice(None, None, step)
        stands = plans[step].contacts.any(axis=-1) & plans[1].contacts[every].any(axis=-1)
        off = np.linalg.norm(after[step].ball - after[1].ball[every], axis=-1) / clip.leg
        lower = np.linalg.norm(plans[step].hips_offset - plans[1].hips_offset[every], axis=-1) / clip.leg
        assert off[stands].max() <= STANDING
        assert lower.max() <= HIPS
        # Of spans of less than five frames the judge trims none, and then counts one in which the foot still moves.
        untrimmed = {"drift"} if step == 4 else set()
        assert shortfalls(measure(each, after[step], hills, plans[step].sole.heel)).keys() <= untrimmed
