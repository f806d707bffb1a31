# SPDX-License-Identifier: GPL-3.0-or-later
"""Planting all actions of a character one after the other, with one outcome."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import TypeVar

import bpy
from bpy.types import Object

from ..errors import Refusal
from ..keys import actions
from ..keys.actions import LAYER, SOURCE, Assignment
from ..progress import Stages, part_of
from ..properties import PlantingOptions
from . import records
from .transaction import on_error, pose_of, set_pose, switch

Result = TypeVar("Result")


def planting_each(
    armature: Object, options: PlantingOptions, undo: ExitStack, plant: Callable[[ExitStack], Stages[Result]]
) -> Stages[tuple[dict[str, Result], dict[str, str]]]:
    """The results of `plant` by action, and by action the reasons why others were refused and stay unchanged.

    In the end the armature plays the planted form of its action. So do its NLA strips if it has no action of its own:
    their actions are planted as if the armature played them by itself, at the actions' own times.
    """
    _refuse_unsuitable(armature, options)
    present, pose, strips = actions.assigned(armature), pose_of(armature), actions.strips_alone(armature)
    own = list(dict.fromkeys(map(actions.assignment_of, strips))) or [present]
    every, planted, refused = [*_others(armature, own), *own], {}, {}
    if strips:
        on_error(undo, _play_strips, armature)
        armature.animation_data.use_nla = False
    for number, motion in enumerate(every):
        name = (records.source_of(motion.action) or motion.action).name
        try:
            with ExitStack() as kept:
                switch(kept, armature, motion)
                set_pose(armature, pose)
                planted[name] = yield from part_of(plant(kept), number / len(every), (number + 1) / len(every))
                for strip in [strip for strip in strips if actions.assignment_of(strip) == motion]:
                    on_error(kept, actions.put, strip, motion)
                    actions.put(strip, actions.assigned(armature))
                undo.push(kept.pop_all())
        except Refusal as refusal:
            refused[name], kind = str(refusal), type(refusal)
    if not planted:
        raise kind(f"none of the {len(every)} actions of {armature.name} can be planted: {name}: {refused[name]}")
    if strips:
        # An action that is assigned again by undo needs the NLA to be off.
        on_error(undo, setattr, armature.animation_data, "use_nla", False)
        _play_strips(armature)
    elif name in refused:
        switch(undo, armature, present)
    return planted, refused


def _play_strips(armature: Object) -> None:
    armature.animation_data.action = None
    armature.animation_data.use_nla = True


def _refuse_unsuitable(armature: Object, options: PlantingOptions) -> None:
    data = armature.animation_data
    if options.frame_range == "CURRENT":
        raise Refusal("the present pose belongs to one action: choose other frames to plant all actions")
    if options.output == "NLA_LAYER":
        raise Refusal("an NLA layer lies over what the armature plays: choose another output to plant all actions")
    if data and data.use_tweak_mode:
        raise Refusal(f"{armature.name} is in tweak mode: leave it to plant all actions")
    if data is None or not (data.action or actions.strips_alone(armature)):
        raise Refusal(f"{armature.name} should play an action, by itself or in NLA strips, to plant all actions")
    if any(LAYER in action for action in actions.played_by(armature)) and not data.action:
        raise Refusal(f"{armature.name} has an NLA layer over its strips: restore that first to plant all actions")


def _others(armature: Object, own: Sequence[Assignment]) -> Iterator[Assignment]:
    """The other actions for an armature: those that fit its bones, that no other object plays, and that are no poses
    of an asset library.
    """
    elsewhere = {action for ob in bpy.data.objects if ob != armature for action in actions.played_by(ob)}
    shown = {action for motion in own for action in (motion.action, records.source_of(motion.action))}
    known = elsewhere - set(actions.played_by(armature)) | shown
    for action in bpy.data.actions:
        if action not in known and SOURCE not in action and LAYER not in action:
            motion = actions.fitting(armature, action)
            if _fits(armature, motion) and not _is_library_pose(motion):
                yield motion


def _fits(armature: Object, motion: Assignment) -> bool:
    """Whether the armature has most of the bones that the curves animate."""
    names = motion.curves.bones()
    return 2 * len(names & set(armature.pose.bones.keys())) > len(names)


def _is_library_pose(motion: Assignment) -> bool:
    """Whether an action is an asset with a single frame."""
    span = actions.frame_span(motion)
    return motion.action.asset_data is not None and span is not None and span[0] == span[1]
