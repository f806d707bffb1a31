# SPDX-License-Identifier: GPL-3.0-or-later
"""Choosing the objects of the scene that feet are planted on."""

from collections.abc import Iterator, Sequence
from itertools import chain

import bpy
from bpy.types import Collection, Context, LayerCollection, Object

from ..errors import Refusal, required_names
from ..keys import actions
from ..pose.evaluate import with_parents
from ..pose.skins import bone_shapes_of

# The collection into which the glTF importer puts its bone shapes.
IMPORTER_COLLECTION = "glTF_not_exported"


def find_surfaces(context: Context, armature: Object, name: str) -> list[Object]:
    """The objects to plant on: those that are named, or for "" every visible ground.

    `name` is an object, a collection, or several of these separated by commas. Surfaces are meshes, and empties that
    instance a collection with meshes. The view layer must be up to date.
    """
    if name:
        enabled, known = enabled_objects(context), [*context.view_layer.objects.keys(), *bpy.data.collections.keys()]
        names = required_names("surface", "objects or collections", name, known)
        found = [ob for part in names for ob in _named_surfaces(context, armature, part, enabled)]
        return list(dict.fromkeys(found))
    solid = [ob for ob in context.view_layer.objects if ob.visible_get() and ob.display_type not in {"WIRE", "BOUNDS"}]
    return grounds_among(solid, armature)


def hidden_grounds(context: Context, armature: Object) -> list[Object]:
    """The animated objects that would be ground if they were not hidden in viewports."""
    hidden = [ob for ob in context.view_layer.objects if ob and ob.hide_viewport and ob.animation_data]
    return grounds_among(hidden, armature)


def bone_shapes() -> set[Object]:
    """The objects that are custom shapes of pose bones, or that an importer made for that."""
    imported = (each for each in bpy.data.collections if each.name.startswith(IMPORTER_COLLECTION))
    shapes = (bone_shapes_of(ob) for ob in bpy.data.objects if ob.pose)
    return set().union(*shapes, *(collection.objects for collection in imported))


def _named_surfaces(context: Context, armature: Object, name: str, enabled: set[Object]) -> list[Object]:
    chosen = context.view_layer.objects.get(name)
    if chosen is None:
        return _collection_surfaces(armature, name, enabled)
    if chosen.type != "MESH" and not shows_collection(chosen):
        raise Refusal(f"surface '{name}' should be a mesh, but it is of type {chosen.type}")
    if armature in deformers(chosen):
        raise Refusal(f"surface '{name}' belongs to the character that is to be planted on it")
    if chosen.type != "MESH" and not _holds_ground(chosen.instance_collection, bone_shapes()):
        raise Refusal(f"surface '{name}' shows a collection without meshes to plant on")
    if chosen not in enabled:
        raise Refusal(f"surface '{name}' is disabled in viewports, so it has no shape to plant on")
    return [chosen]


def _collection_surfaces(armature: Object, name: str, enabled: set[Object]) -> list[Object]:
    collection: Collection | None = bpy.data.collections.get(name)
    if collection is None:
        raise Refusal(f"there is no object and no collection named '{name}' to plant on in this view layer")
    found = grounds_among([ob for ob in collection.all_objects if ob in enabled], armature)
    if not found:
        raise Refusal(f"collection '{name}' holds no mesh to plant on")
    return found


def grounds_among(objects: Sequence[Object], armature: Object | None = None) -> list[Object]:
    """The objects that can be planted on: none that belongs to a character, or that is `armature` or under it."""
    shapes = bone_shapes() if objects else set()
    return [ob for ob in objects if _is_ground(ob, shapes) and armature not in with_parents(ob)]


def enabled_objects(context: Context) -> set[Object]:
    """The objects that viewports show on some frames, unless the eye hides them: only these have a reliable shape.

    Blender's `is_evaluated` is also set for disabled objects that a property refers to, as the panel's setting does
    after a run.
    """
    return set(_enabled_in(context.view_layer.layer_collection))


def _enabled_in(layer: LayerCollection) -> Iterator[Object]:
    if not layer.collection.hide_viewport:
        for ob in () if layer.exclude else layer.collection.objects:
            if not ob.hide_viewport or _is_animated_in_hiding(ob):
                yield ob
        for inner in layer.children:
            yield from _enabled_in(inner)


def _is_animated_in_hiding(ob: Object) -> bool:
    """Whether keys or a driver hide and show the object in viewports. For Blender, muted ones count, too."""
    drivers = ob.animation_data.drivers if ob.animation_data else ()
    curves = chain(drivers, *(played.curves for played in actions.assignments(ob)))
    return any(curve.data_path == "hide_viewport" for curve in curves)


def shows_collection(ob: Object) -> bool:
    """Whether an object instances a collection."""
    return bool(ob.type == "EMPTY" and ob.instance_type == "COLLECTION" and ob.instance_collection)


def _is_ground(ob: Object, shapes: set[Object]) -> bool:
    if ob in shapes or any(True for _ in deformers(ob)):
        return False
    return ob.type == "MESH" or (shows_collection(ob) and _holds_ground(ob.instance_collection, shapes))


def _holds_ground(collection: Collection, shapes: set[Object]) -> bool:
    return any(_is_ground(ob, shapes) for ob in collection.all_objects)


def deformers(ob: Object | None) -> Iterator[Object]:
    """The armatures that deform or carry the object or one of its parents, so that hair counts as part of its body."""
    for part in with_parents(ob):
        yield from (m.object for m in part.modifiers if m.type == "ARMATURE" and m.object)
        if part.parent and part.parent.type == "ARMATURE" and part.parent_type in {"ARMATURE", "BONE"}:
            yield part.parent
