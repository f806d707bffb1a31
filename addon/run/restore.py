# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore Source Action: sources take the place of planted actions again, for every output."""

from collections.abc import Sequence

from bpy.types import Action, NlaStrip, Object

from ..keys import actions
from . import layers, records
from .layers import Layer


def is_planted(armature: Object) -> bool:
    """Whether an armature plays a planted action, planted NLA strips, or a layer, with or without its source."""
    planted = records.source_of(layers.shown_action(armature)) or _planted_strips(armature)
    return bool(planted or layers.find_without_source(armature))


def restore(armature: Object) -> str:
    """Make an armature play its sources again, and return their names."""
    strips, layer = _planted_strips(armature), layers.find(armature)
    if strips:
        return _restore_strips(armature, strips)
    if layer is None and records.source_of(actions.assigned(armature).action):
        return _restore_action(armature)
    return _restore_under(armature, layer or layers.find_without_source(armature))


def _restore_action(armature: Object) -> str:
    """Make the armature play the source of its planted action, which stays in the file; return the source's name."""
    present = actions.assigned(armature)
    actions.assign(armature, actions.counterpart(present, records.source_of(present.action)))
    return _give_back(armature, present.action)


def _restore_under(armature: Object, layer: Layer) -> str:
    """Make the armature play the source as before the layer, unless it was deleted, and remove the layer."""
    armature.animation_data.use_tweak_mode = False
    if layer.source:
        layers.set_aside(lambda *_: None, layer)
    name = _give_back(armature, layer.corrections.action)
    layers.remove(layer)
    return name


def _planted_strips(armature: Object) -> list[NlaStrip]:
    """The NLA strips that play planted actions, for an armature without an action of its own."""
    return [strip for strip in actions.strips_alone(armature) if records.source_of(strip.action)]


def _restore_strips(armature: Object, strips: Sequence[NlaStrip]) -> str:
    """Make NLA strips play the sources of their planted actions, and return the sources' names."""
    names = {}
    for strip in strips:
        planted = actions.assignment_of(strip)
        actions.put(strip, actions.counterpart(planted, records.source_of(planted.action)))
        names[_give_back(armature, planted.action)] = None
    return ", ".join(names)


def _give_back(armature: Object, planted: Action) -> str:
    """Reset unkeyed properties, copy the contacts to the source, and return the source's name, or that it was deleted.

    With the contacts on the source, the next run starts from them. Contacts that cannot be read are not copied; the
    message says so.
    """
    source, record = records.source_of(planted), records.read(planted)
    records.put_back(armature, record)
    if source is None:
        return f"{armature.name} without its layer, whose source was deleted"
    wrong = records.trouble(planted) or records.trouble(source)
    if source.is_editable and "contacts" in record and not wrong:
        records.store_contacts(source, record["contacts"])
    return f"{source.name} without the contacts, for {wrong}" if wrong else source.name
