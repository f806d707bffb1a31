# SPDX-License-Identifier: GPL-3.0-or-later
"""Trying something on an armature that must leave no trace when it fails: other actions, drafts, changed poses."""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import contextmanager

import bpy
from bpy.types import Action, Context, Object

from ..keys import actions
from ..keys.actions import Assignment
from ..properties import Settings
from . import records

BACKUP, DRAFT = ".ik2bone backup", ".ik2bone draft"
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


@contextmanager
def draft_of(armature: Object, original: Assignment) -> Iterator[Assignment]:
    """A copy of an action, playing from here on; it goes in the end unless the armature still plays it.

    On any error it goes too, and the armature plays what it did before.
    """
    before = actions.assigned(armature)
    draft = actions.copy(original)
    # The name that Blender gives copies is the next one that a planted action would take.
    draft.action.name = DRAFT
    actions.assign(armature, draft)
    try:
        yield draft
    except BaseException:
        actions.assign(armature, before)
        bpy.data.actions.remove(draft.action)
        raise
    if actions.assigned(armature) != draft:
        bpy.data.actions.remove(draft.action)


@contextmanager
def curves_kept_on_error(assignment: Assignment, paths: Container[str] | None = None) -> Iterator[None]:
    """On any error make the curves of an action, or only those of some `paths`, again what they were before."""
    backup = actions.copy(assignment)
    backup.action.name = BACKUP
    had_slots = bool(getattr(assignment.action, "slots", True))
    try:
        yield
    except BaseException:
        if had_slots:
            actions.overwrite(assignment, backup, paths)
        else:
            actions.make_blank(assignment.action)
        raise
    finally:
        bpy.data.actions.remove(backup.action)


@contextmanager
def marks_kept_on_error(action: Action) -> Iterator[None]:
    """On any error put back what an action remembers of its planting, and whether it has a fake user."""
    before, fake_user = records.marks_of(action), action.use_fake_user
    try:
        yield
    except BaseException:
        records.mark(action, before)
        action.use_fake_user = fake_user
        raise


@contextmanager
def settings_kept_on_error(settings: Settings) -> Iterator[None]:
    """On any error put the panel's settings back."""
    names = [p.identifier for p in settings.bl_rna.properties if not p.is_readonly and p.identifier != "name"]
    before = {name: getattr(settings, name) for name in names}
    try:
        yield
    except BaseException:
        for name, value in before.items():
            setattr(settings, name, value)
        raise


@contextmanager
def pose_kept_on_error(context: Context, armature: Object) -> Iterator[None]:
    """On any error put the pose back, hand-set values of keyed channels included: a change of action drops those."""
    owners = [armature, *armature.pose.bones]
    before = [{name: tuple(getattr(owner, name)) for name in TRANSFORMS} for owner in owners]
    try:
        yield
    except BaseException:
        context.view_layer.update()
        for owner, values in zip(owners, before, strict=True):
            for name, value in values.items():
                setattr(owner, name, value)
        raise
