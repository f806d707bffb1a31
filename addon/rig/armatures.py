# SPDX-License-Identifier: GPL-3.0-or-later
"""Which armatures the context means."""

import bpy
import numpy as np
from bpy.types import Context, Object

from ..ground.choose import deformers, is_under, shows_collection

# The pointer by which panels hand their armature to their buttons.
HANDED = "ik2bone_armature"
ARMATURE = bpy.types.Object.bl_rna.properties["type"].enum_items["ARMATURE"].value


def find_armatures(context: Context) -> list[Object]:
    """What a run plants: the armature of the active object first, and every other one that is selected.

    The active object's is itself, else the one deforming or parented under it. Where nothing is chosen so, the only
    visible armature is. In pose mode the armatures that are posed count as selected. Selected ones that play nothing,
    as props do, are left out beside others.
    """
    # Blender names the objects of a mode only where there is a window.
    posed = getattr(context, "objects_in_mode", ())
    selected = posed if context.mode == "POSE" else context.view_layer.objects.selected
    first = _of_active(context)
    chosen = list(dict.fromkeys(ob for ob in (first, *selected) if ob and ob.type == "ARMATURE"))
    if chosen:
        return [ob for ob in chosen if ob in (first, *posed) or ob.animation_data] or chosen
    visible = [ob for ob in _armatures() if ob.visible_get()]
    return visible if len(visible) == 1 else []


def _of_active(context: Context) -> Object | None:
    """The armature that the active object means."""
    active = active_object(context)
    near = (ob for ob in (active, *deformers(active)) if ob and ob.type == "ARMATURE")
    return next(near, None) or next((ob for ob in _armatures() if active and is_under(ob, active)), None)


def active_object(context: Context) -> Object | None:
    """The active object, that of `Context.temp_override` included, which the view layer does not know."""
    return context.active_object if hasattr(context, "active_object") else context.view_layer.objects.active


def _armatures() -> list[Object]:
    """Every armature of the file; panels ask on each redraw, and a look at 5,000 objects one by one takes 3 ms."""
    kinds = np.empty(len(bpy.data.objects), np.int32)
    bpy.data.objects.foreach_get("type", kinds)
    return [bpy.data.objects[int(place)] for place in np.flatnonzero(kinds == ARMATURE)]


def why_no_armature(context: Context) -> str:
    """What to do where there is no armature to plant."""
    active = active_object(context)
    collection = active.instance_collection if active and shows_collection(active) else None
    if collection and any(ob.type == "ARMATURE" for ob in collection.all_objects):
        remedy = "make a library override of it" if collection.library else "make the instance real"
        return f"{active.name} only shows an armature of the collection {collection.name}: {remedy}"
    return "Needs an armature: make one active, or an object that it deforms"


def find_armature(context: Context) -> Object | None:
    """The first of the armatures that a run plants; a panel hands its own to the buttons in it.

    What is selected is asked for last: Blender looks through all objects for it, which takes 0.3 ms for 5,000.
    """
    return getattr(context, HANDED, None) or _of_active(context) or next(iter(find_armatures(context)), None)
