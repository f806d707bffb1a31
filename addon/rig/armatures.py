# SPDX-License-Identifier: GPL-3.0-or-later
"""The armatures that a run plants, from the active object, the selection and the mode."""

import bpy
import numpy as np
from bpy.types import Context, Object

from ..ground.choose import deformers, shows_collection
from ..keys import actions
from ..pose.evaluate import with_parents

# The name of the context pointer with which a panel passes its armature to its buttons.
HANDED = "ik2bone_armature"
ARMATURE = bpy.types.Object.bl_rna.properties["type"].enum_items["ARMATURE"].value


def find_armatures(context: Context) -> list[Object]:
    """The armatures that a run plants: the armature of the active object, then the other selected armatures.

    The armature of the active object is the object itself, one that deforms the object, or one parented under it. In
    pose mode the posed armatures count as selected. A selected armature that plays nothing, for instance a prop, is
    left out if others remain. If no armature is chosen in these ways, the only visible armature is planted.
    """
    # The context has `objects_in_mode` only where there is a window.
    posed = getattr(context, "objects_in_mode", ())
    selected = posed if context.mode == "POSE" else context.view_layer.objects.selected
    first = _of_active(context)
    chosen = list(dict.fromkeys(ob for ob in (first, *selected) if ob and ob.type == "ARMATURE"))
    if chosen:
        return [ob for ob in chosen if ob in (first, *posed) or actions.played_by(ob)] or chosen
    visible = [ob for ob in _armatures() if ob.visible_get()]
    return visible if len(visible) == 1 else []


def _of_active(context: Context) -> Object | None:
    """The active object if it is an armature, else one that deforms it or is parented under it; None without any.

    Of armatures under it a visible one comes first: others may be hidden, removed, or in another scene.
    """
    active = active_object(context)
    near = (ob for ob in (active, *deformers(active)) if ob and ob.type == "ARMATURE")
    found = next(near, None)
    if found or active is None:
        return found
    under = (ob for ob in _armatures() if active in with_parents(ob))
    return min(under, key=lambda ob: not ob.visible_get(), default=None)


def active_object(context: Context) -> Object | None:
    """The active object, also if only `Context.temp_override` sets it, which the view layer does not know."""
    return context.active_object if hasattr(context, "active_object") else context.view_layer.objects.active


def _armatures() -> list[Object]:
    """All armatures of the file, found in bulk: panels ask on each redraw, and a loop over 5,000 objects takes 3 ms."""
    kinds = np.empty(len(bpy.data.objects), np.int32)
    bpy.data.objects.foreach_get("type", kinds)
    return [bpy.data.objects[int(place)] for place in np.flatnonzero(kinds == ARMATURE)]


def why_no_armature(context: Context) -> str:
    """A sentence about why there is no armature to plant, and what to do."""
    active = active_object(context)
    collection = active.instance_collection if active and shows_collection(active) else None
    if collection and any(ob.type == "ARMATURE" for ob in collection.all_objects):
        remedy = "make a library override of it" if collection.library else "make the instance real"
        return f"{active.name} only shows an armature of the collection {collection.name}: {remedy}"
    return "Needs an armature: make one active, or an object that it deforms"


def find_armature(context: Context) -> Object | None:
    """The armature that a panel passes to its buttons, else the first that a run plants; None without any.

    The selection is read last, because Blender searches all objects for it, which takes 0.3 ms for 5,000 objects.
    """
    return getattr(context, HANDED, None) or _of_active(context) or next(iter(find_armatures(context)), None)
