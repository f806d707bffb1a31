# SPDX-License-Identifier: GPL-3.0-or-later
"""Every action of a character planted, one after the other, with one outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TypeVar

import bpy
from bpy.types import Object

from ..errors import Refusal
from ..keys import actions
from ..keys.actions import LAYER, SOURCE, Assignment
from ..pose.curves import BONE_PATH
from ..properties import PlantingOptions
from ..stages import Stages, part_of
from . import records
from .transaction import pose_of, set_pose, switch

Result = TypeVar("Result")


def planting_each(
    armature: Object, options: PlantingOptions, undo: ExitStack, plant: Callable[[ExitStack], Stages[Result]]
) -> Stages[tuple[dict[str, Result], dict[str, str]]]:
    """What `plant` makes of each action by name, and why others were refused, which stay as they are.

    The armature comes to play what is made of the action that it plays.
    """
    present, pose = actions.assigned(armature), pose_of(armature)
    _refuse_unsuitable(armature, present, options)
    every, planted, refused = [*_others(armature, present), present], {}, {}
    for number, motion in enumerate(every):
        name = (records.source_of(motion.action) or motion.action).name
        try:
            with ExitStack() as own:
                switch(own, armature, motion)
                set_pose(pose)
                planted[name] = yield from part_of(plant(own), number / len(every), (number + 1) / len(every))
                undo.push(own.pop_all())
        except Refusal as refusal:
            refused[name] = str(refusal)
    if not planted:
        raise Refusal(f"none of the {len(every)} actions of {armature.name} can be planted: {name}: {refused[name]}")
    if name in refused:
        switch(undo, armature, present)
    return planted, refused


def _refuse_unsuitable(armature: Object, present: Assignment, options: PlantingOptions) -> None:
    if options.frame_range == "CURRENT":
        raise Refusal("the present pose belongs to one action: choose other frames to plant all actions")
    if options.output == "NLA_LAYER":
        raise Refusal("an NLA layer lies over what the armature plays: choose another output to plant all actions")
    if present.action is None or actions.strip_of(armature):
        raise Refusal(f"{armature.name} should play an action by itself, not in NLA strips, to plant all actions")


def _others(armature: Object, present: Assignment) -> Iterator[Assignment]:
    """The motions of an armature but for the present one: those that fit its bones and that no other object plays."""
    elsewhere = {action for ob in bpy.data.objects if ob != armature for action in actions.played_by(ob)}
    known = elsewhere - set(actions.played_by(armature)) | {present.action, records.source_of(present.action)}
    for action in bpy.data.actions:
        if action not in known and SOURCE not in action and LAYER not in action:
            motion = actions.fitting(armature, action)
            if _fits(armature, motion):
                yield motion


def _fits(armature: Object, motion: Assignment) -> bool:
    """Whether the curves are of bones, most of which the armature has."""
    matches = {BONE_PATH.match(curve.data_path) for curve in actions.curves_of(motion)}
    names = {bpy.utils.unescape_identifier(match[1]) for match in matches if match}
    return 2 * len(names & set(armature.pose.bones.keys())) > len(names)
