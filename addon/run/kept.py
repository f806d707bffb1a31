# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run keeps for the next one: samples, skins, plans, and the meshes of the ground.

Nothing here is Blender's data, which undo and loading a file replace. Samples, skins and meshes are known by the
content of what they were made from, but for the weights of skins, edits of which Blender tells, and a plan is compared
by the package; so nothing kept is ever stale.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent
from ik2bone.plan import Plan

from ..bounded import Bounded
from ..ground import meshes
from ..pose import sample, skins

# By the names of armatures their last plans, which next ones may take over parts of: as large as samples.
plans: Bounded[Plan] = Bounded(sample.FRAMES)


def forget() -> None:
    """Keep nothing any longer."""
    for each in (sample.kept, plans, meshes.kept, skins.kept):
        each.clear()


@persistent
def _on_load(*_: Any) -> None:
    forget()


def register() -> None:
    """Keep nothing over the loading of a file, and no skins over an edit of a mesh."""
    bpy.app.handlers.load_pre.append(_on_load)
    bpy.app.handlers.depsgraph_update_post.append(skins.forget_edited)


def unregister() -> None:
    """Forget all."""
    forget()
    bpy.app.handlers.load_pre.remove(_on_load)
    bpy.app.handlers.depsgraph_update_post.remove(skins.forget_edited)
