# SPDX-License-Identifier: GPL-3.0-or-later
"""What leaves no trace: another action that plays for a while, and changes that an error, or Esc, takes back.

A run keeps an `ExitStack` of what takes its changes back, the last one first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import bpy
from bpy.types import Action, Context, Object, PoseBone

from ..keys import actions
from ..keys.actions import Assignment
from ..properties import IK2BONE_Settings
from . import records

BACKUP = ".ik2bone backup"
PLANTED = ".planted"
# Owners, names and values of transforms.
Pose = list[tuple[Object | PoseBone, str, tuple[float, ...]]]
TRANSFORMS = ("location", "rotation_quaternion", "rotation_axis_angle", "rotation_euler", "scale")


@contextmanager
def playing(armature: Object, assignment: Assignment) -> Iterator[None]:
    """Let the armature play another action for a while."""
    before = actions.assigned(armature)
    if assignment == before:
        yield
        return
    actions.assign(armature, assignment)
    try:
        yield
    finally:
        actions.assign(armature, before)


@contextmanager
def copy_playing(armature: Object, original: Assignment) -> Iterator[Assignment]:
    """A copy of an action, to be changed while the armature plays it."""
    copy = actions.copy(original)
    try:
        with playing(armature, copy):
            yield copy
    finally:
        bpy.data.actions.remove(copy.action)


def on_error(undo: ExitStack, call: Callable[..., Any], *arguments: Any) -> None:
    """Have something called if the run is refused, fails or is stopped."""

    def leave(error: type[BaseException] | None, *_: object) -> None:
        if error:
            call(*arguments)

    undo.push(leave)


def on_success(undo: ExitStack, call: Callable[..., Any], *arguments: Any) -> None:
    """Have something called at the end, unless the run is refused, fails or is stopped."""

    def leave(error: type[BaseException] | None, *_: object) -> None:
        if not error:
            call(*arguments)

    undo.push(leave)


def switch(undo: ExitStack, armature: Object, assignment: Assignment) -> None:
    """Let the armature play another action from here on."""
    on_error(undo, actions.assign, armature, actions.assigned(armature))
    actions.assign(armature, assignment)


def switch_to_copy(undo: ExitStack, armature: Object, original: Assignment) -> Assignment:
    """Let the armature play a copy of an action, named as a planted one, from here on."""
    copy = actions.copy(original)
    on_error(undo, bpy.data.actions.remove, copy.action)
    copy.action.name = named(original.action.name, PLANTED)
    switch(undo, armature, copy)
    return copy


def named(source: str, suffix: str) -> str:
    """The name of an action made from one of this name, which is cut where both together would be too long."""
    # In bytes of UTF-8, with one that ends the text.
    longest = bpy.types.ID.bl_rna.properties["name"].length_max - 1
    return source.encode()[: longest - len(suffix)].decode(errors="ignore") + suffix


def keep_curves(undo: ExitStack, assignment: Assignment) -> None:
    """Let an error bring the curves of an action back."""
    if not getattr(assignment.action, "slots", True):
        on_error(undo, actions.make_blank, assignment.action)
        return
    backup = actions.copy(assignment)
    # The name that Blender gives copies is the next one that a planted action would take.
    backup.action.name = BACKUP
    undo.callback(bpy.data.actions.remove, backup.action)
    on_error(undo, actions.overwrite, assignment, backup)


def keep_marks(undo: ExitStack, action: Action) -> None:
    """Let an error bring back what an action remembers of its planting, and whether it has a fake user."""
    on_error(undo, setattr, action, "use_fake_user", action.use_fake_user)
    on_error(undo, records.mark, action, records.marks_of(action))


def keep_settings(undo: ExitStack, settings: IK2BONE_Settings) -> None:
    """Let an error bring the panel's settings back, those that nobody has set to their defaults."""
    for name in (p.identifier for p in settings.bl_rna.properties if not p.is_readonly and p.identifier != "name"):
        if settings.is_property_set(name):
            on_error(undo, setattr, settings, name, getattr(settings, name))
        else:
            on_error(undo, settings.property_unset, name)


def keep_pose(undo: ExitStack, context: Context, armature: Object) -> None:
    """Let an error bring the pose back, with hand-set values of keyed channels, which a change of action drops."""
    before = pose_of(armature)

    def put_back() -> None:
        context.view_layer.update()
        set_pose(before)

    on_error(undo, put_back)


def pose_of(armature: Object) -> Pose:
    """Every transform of an armature and its bones."""
    owners = (armature, *armature.pose.bones)
    return [(owner, name, tuple(getattr(owner, name))) for owner in owners for name in TRANSFORMS]


def set_pose(pose: Pose) -> None:
    """Set these transforms again."""
    for attribute in pose:
        setattr(*attribute)
