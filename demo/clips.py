# SPDX-License-Identifier: GPL-3.0-or-later
"""Importing a recorded clip into the current scene, ready for planting."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from demo import session

# Files of game characters have many actions. Those with these words in their names show best what planting does.
WALKS = ("walk", "run", "jog", "move")


def reading():
    """The module of the add-on that reads files."""
    return import_module(f"{session.ADDON}.batch.read")


def read(what: str, path: Path):
    """The result of the function `what` of the add-on's reading module for a file. Raises ValueError if it refuses.

    Output is silenced, because Blender's importers print a traceback besides raising the error.
    """
    try:
        with session.silence():
            return getattr(reading(), what)(path)
    except import_module(f"{session.ADDON}.errors").Refusal as refusal:
        raise ValueError(str(refusal)) from None


def load(_bpy, path: str | Path, action: str | None = None):
    """Import the clip at `path` as the add-on's batch does, and return the armature.

    It plays the action named `action`, by default the file's first.
    """
    armature = read("read_clip", Path(path))
    if action is not None:
        play(armature, action)
    return armature


def play(armature, name: str) -> None:
    """Let the armature play only the action of this name. Raises ValueError if the armature has no such action."""
    actions = reading().actions_of(armature)
    if name not in actions:
        raise ValueError(f"{armature.name} has no action named {name}, only: {', '.join(actions) or 'none at all'}")
    reading().play(armature, actions[name])


def load_walk(bpy, path: str | Path, action: str | None = None):
    """As `load`, but by default the armature plays the first action whose name has a word of WALKS, else the first.

    The names of the file's other actions are printed, so that `ACTION=` can name one. A file without actions becomes a
    clip of one frame that holds the pose.
    """
    armature = load(bpy, path, action)
    actions = list(reading().actions_of(armature))
    if not actions:
        _key_pose(bpy.context.scene, armature)
    elif action is None and len(actions) > 1:
        chosen = next((name for word in WALKS for name in actions if word in name.lower()), actions[0])
        others = ", ".join(name for name in actions if name != chosen)
        session.tell(f"{Path(path).name}: action {chosen}; ACTION= names another of {others}")
        play(armature, chosen)
    return armature


def _key_pose(scene, armature) -> None:
    """Key the present pose as a clip of one frame."""
    for bone in armature.pose.bones:
        mode = {"QUATERNION": "quaternion", "AXIS_ANGLE": "axis_angle"}.get(bone.rotation_mode, "euler")
        bone.keyframe_insert(f"rotation_{mode}", frame=1)
    scene.frame_start = scene.frame_end = 1
