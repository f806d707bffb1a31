# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of Plant Feet, declared once for the operator and for the panel's settings on the scene."""

from __future__ import annotations

from collections.abc import Iterator
from math import radians
from types import SimpleNamespace
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Context

from .errors import names_in
from .ground.choose import enabled_objects, grounds_among, shows_collection
from .rig.armatures import find_armature


def bone_suggestions(_owner: Any, context: Context, text: str) -> Iterator[str]:
    """The text up to its last comma, completed by each bone whose name contains the text behind that comma."""
    armature = find_armature(context)
    before, comma, typed = text.rpartition(",")
    for bone in armature.pose.bones if armature else ():
        if typed.strip().lower() in bone.name.lower():
            yield f"{before}{comma} {bone.name}" if comma else bone.name


def surface_suggestions(_owner: Any, context: Context, _text: str) -> Iterator[str]:
    """The names of objects of the view layer and of collections that can be planted on."""
    yield from (ob.name for ob in context.view_layer.objects if ob.type == "MESH" or shows_collection(ob))
    yield from (collection.name for collection in bpy.data.collections)


class PlantingOptions:
    """The options that the operator and the panel's settings share, with their defaults."""

    chains: EnumProperty(
        name="Limbs",
        description="Which limbs are planted",
        items=(
            ("AUTO", "Automatic", "The limbs of the selected bones in pose mode, else the legs"),
            ("LEGS", "Legs", "Every leg"),
            ("SELECTED", "Selected", "The limbs of the selected bones: legs, arms, or any three bones in a row"),
        ),
    )
    bones: StringProperty(
        name="Bones",
        description="Names of bones, separated by commas, whose limbs are planted whatever is chosen under Limbs",
        search=bone_suggestions,
        search_options={"SUGGESTION"},
    )
    frame_range: EnumProperty(
        name="Frames",
        description="Which frames are planted, never beyond the action",
        items=(
            ("ACTION", "Action", "The whole action, cut to the preview range when that is on"),
            ("SCENE", "Scene", "The frame range of the scene"),
            ("CURRENT", "Current Frame", "The present pose only"),
            ("CUSTOM", "Custom", "From the start frame to the end frame"),
        ),
    )
    frame_start: IntProperty(name="Start", description="First frame that is planted", default=1)
    frame_end: IntProperty(name="End", description="Last frame that is planted", default=250)
    blend_in: IntProperty(
        name="Blend In",
        description="Over how many frames corrections come where the frames start within the action, 0 for at once; "
        "In Place always takes some",
        min=0,
        soft_max=100,
    )
    blend_out: IntProperty(
        name="Blend Out",
        description="Over how many frames corrections go where the frames end within the action, 0 for at once; "
        "In Place always takes some",
        min=0,
        soft_max=100,
    )
    contacts: EnumProperty(
        name="Contacts",
        description="When the feet stand",
        items=(
            ("AUTO", "Detected", "Found from the motion of heels and toes"),
            ("ALWAYS", "Always", "The feet stand on every frame"),
            ("STORED", "Stored", "As stored on the action and edited there"),
        ),
    )
    direction: EnumProperty(
        name="Direction",
        description="Where to look for the surface",
        items=(
            ("DOWN", "Down", "Along the world's Z axis"),
            ("NEAREST", "Nearest", "The nearest point, for hands and feet on walls, rails and ladders"),
        ),
    )
    use_hips: BoolProperty(
        name="Move Hips",
        description="Let the hips move so that the legs, not the arms, reach the surface",
        default=True,
    )
    max_drop: FloatProperty(
        name="Max Hip Drop",
        description="How far the hips may come down for the legs to reach, in leg lengths",
        default=0.4,
        min=0.0,
        soft_max=1.0,
    )
    gives_way: EnumProperty(
        name="If Out of Reach",
        description="What happens first where a leg does not reach its place",
        items=(
            ("HEEL_HIPS", "Raise Heels First", "Heels rise, then the hips come down, then feet leave their anchors"),
            ("HIPS_HEEL", "Lower Hips First", "The hips come down, then heels rise, then feet leave their anchors"),
            ("HIPS", "Lower Hips Only", "The hips come down, then feet leave their anchors; heels stay down"),
        ),
    )
    use_slope: BoolProperty(
        name="Align to Slope",
        description="Align soles, and palms on wide surfaces, with the surface and keep their heading",
        default=True,
    )
    max_slope: FloatProperty(
        name="Steepest Slope",
        description="Steeper faces are walls and risers, which feet do not stand on",
        default=radians(50.0),
        min=radians(1.0),
        max=radians(89.0),
        subtype="ANGLE",
    )
    strength: FloatProperty(
        name="Strength",
        description="How much of the whole correction is applied",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    output: EnumProperty(
        name="Output",
        description="Where the keys are written",
        items=(
            ("NEW_ACTION", "New Action", "Into a copy of the action that remembers its source"),
            ("IN_PLACE", "In Place", "Into the action itself; nothing leads back but undo"),
            ("NLA_LAYER", "NLA Layer", "The corrections alone, into a strip over the action, with a live influence"),
        ),
    )
    all_actions: BoolProperty(
        name="All Actions",
        description="Plant every action of the character that fits its bones, not only the one that it plays",
    )
    sparse_keys: BoolProperty(
        name="Sparse Keys",
        description="For editing by hand, key controls of inverse kinematics where contacts start and end, hold those "
        "that stand still between, and leave as few other keys as the motion needs",
    )


# The names of all options.
OPTIONS = tuple(PlantingOptions.__annotations__)


class IK2BONE_Settings(PlantingOptions, bpy.types.PropertyGroup):
    """The panel's values: the shared options, with the surface as two pointers."""

    surface_object: PointerProperty(
        name="Surface",
        description="Mesh to plant on; without it and a collection, every visible mesh that is no part of a character",
        type=bpy.types.Object,
        poll=lambda _settings, ob: ob.type == "MESH" or shows_collection(ob),
    )
    surface_collection: PointerProperty(
        name="Collection",
        description="Collection whose meshes are planted on if no object is chosen as Surface",
        type=bpy.types.Collection,
    )


def surface_name(settings: IK2BONE_Settings) -> str:
    """The operator's `surface` that means the same as the settings' pointers: the object, else the collection.

    A collection with the name of an object is given by its surfaces, because that name would mean the object. Without
    any it is given by a comma, which is refused, because an empty text would mean every visible mesh.
    """
    chosen = settings.surface_object or settings.surface_collection
    if chosen is None or settings.surface_object or chosen.name not in settings.id_data.objects:
        return chosen.name if chosen else ""
    enabled = enabled_objects(bpy.context)
    return ",".join(ob.name for ob in grounds_among([ob for ob in chosen.all_objects if ob in enabled])) or ","


def store(settings: IK2BONE_Settings, options: PlantingOptions) -> None:
    """Copy the options of a run to the panel's settings."""
    for name in OPTIONS:
        setattr(settings, name, getattr(options, name))
    # The surfaces of a collection need not be stored if it is what the pointers hold.
    if settings.surface_object is None and options.surface == surface_name(settings):
        return
    chosen, collection = settings.id_data.objects.get(options.surface), bpy.data.collections.get(options.surface)
    # A text of several names cannot be stored in the two pointers.
    if chosen or collection or not options.surface:
        settings.surface_object = chosen
        settings.surface_collection = None if chosen else collection


def has_changed(settings: IK2BONE_Settings, stored: dict[str, Any]) -> bool:
    """Whether the settings differ from those in a record. Settings that are missing in the record do not count."""
    if any(name in stored and stored[name] != getattr(settings, name) for name in OPTIONS):
        return True
    surface = stored.get("surface")
    if not isinstance(surface, str) or surface == surface_name(settings):
        return False

    # A surface that was renamed or removed does not count as a change. Several names do: the pointers cannot hold them.
    known = {*settings.id_data.objects.keys(), *bpy.data.collections.keys()}
    return known.issuperset(names_in(surface, known))


def as_dict(options: PlantingOptions) -> dict[str, object]:
    """The options of a run as plain data, by name."""
    return {"surface": options.surface} | {name: getattr(options, name) for name in OPTIONS}


def plain(operator: Any) -> Any:
    """The options of an operator as plain values. Blender looks through all of its properties for each one read."""
    return SimpleNamespace(**as_dict(operator.properties))


PROPERTIES = [(bpy.types.Scene, "ik2bone", PointerProperty(type=IK2BONE_Settings))]
