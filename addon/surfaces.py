# SPDX-License-Identifier: GPL-3.0-or-later
"""The surfaces that feet stand on: which objects of the scene they are."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
from bpy.types import Collection, Context, Object

from .chains import Refusal

# The glTF importer keeps its bone shapes here.
IMPORTER_COLLECTION = "glTF_not_exported"


def find_surfaces(context: Context, armature: Object, name: str) -> list[Object]:
    """The meshes to plant on: the named object, those of the named collection, or for "" every visible ground."""
    # Objects that the calling script has just linked are missing from the view layer until then.
    context.view_layer.update()
    if name:
        return _named_surfaces(context, armature, name)
    shapes = bone_shapes()
    return [ob for ob in context.view_layer.objects if ob.visible_get() and _is_solid(ob) and _is_ground(ob, shapes)]


def bone_shapes() -> set[Object]:
    """Every object that some pose bone is drawn with."""
    posed = (ob.pose.bones for ob in bpy.data.objects if ob.pose)
    return {bone.custom_shape for bones in posed for bone in bones if bone.custom_shape}


def _named_surfaces(context: Context, armature: Object, name: str) -> list[Object]:
    chosen = context.view_layer.objects.get(name)
    if chosen is None:
        return _collection_surfaces(context, name)
    if chosen.type != "MESH":
        raise Refusal(f"surface '{name}' should be a mesh, but it is of type {chosen.type}")
    if armature in deformers(chosen):
        raise Refusal(f"surface '{name}' belongs to the character that is to be planted on it")
    if not _is_evaluated(context, chosen):
        raise Refusal(f"surface '{name}' is disabled in viewports, so it has no shape to plant on")
    return [chosen]


def _collection_surfaces(context: Context, name: str) -> list[Object]:
    collection: Collection | None = bpy.data.collections.get(name)
    if collection is None:
        raise Refusal(f"there is no object and no collection named '{name}' to plant on in this view layer")
    inside, shapes = set(context.view_layer.objects), bone_shapes()
    meshes = [ob for ob in collection.all_objects if ob in inside and _is_ground(ob, shapes)]
    found = [ob for ob in meshes if _is_evaluated(context, ob)]
    if not found:
        raise Refusal(f"collection '{name}' holds no mesh to plant on")
    return found


def _is_evaluated(context: Context, ob: Object) -> bool:
    """Whether the scene has worked out the object's shape, which it does not while that is disabled in viewports."""
    return bool(ob.evaluated_get(context.evaluated_depsgraph_get()).is_evaluated)


def _is_solid(ob: Object) -> bool:
    return ob.display_type not in {"WIRE", "BOUNDS"}


def _is_ground(ob: Object, shapes: set[Object]) -> bool:
    if ob.type != "MESH" or ob in shapes:
        return False
    if any(collection.name.startswith(IMPORTER_COLLECTION) for collection in ob.users_collection):
        return False
    return not any(True for _ in deformers(ob))


def deformers(ob: Object) -> Iterator[Object]:
    """Armatures that deform or carry the object or what it is parented to: a character's hair counts as its body."""
    part: Object | None = ob
    while part is not None:
        yield from (m.object for m in part.modifiers if m.type == "ARMATURE" and m.object)
        if part.parent and part.parent.type == "ARMATURE" and part.parent_type in {"ARMATURE", "BONE"}:
            yield part.parent
        part = part.parent
