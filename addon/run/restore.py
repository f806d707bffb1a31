# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore Source Action: what was planted gives its place back to its source, whatever output it was."""

from collections.abc import Sequence

from bpy.types import Action, NlaStrip, Object

from ..keys import actions
from . import layers, records
from .layers import Layer


def is_planted(armature: Object) -> bool:
    """Whether an armature plays planted actions, by itself or in NLA strips, or a source under a layer."""
    return bool(records.source_of(layers.shown_action(armature)) or _planted_strips(armature))


def restore(armature: Object) -> str:
    """Let an armature play the sources of what it plays again, and tell their names."""
    strips, layer = _planted_strips(armature), layers.find(armature)
    if strips:
        return _restore_strips(armature, strips)
    return _restore_under(armature, layer) if layer else _restore_action(armature)


def _restore_action(armature: Object) -> str:
    """Let the armature play the source of its planted action again, and tell its name; the planted one is kept."""
    present = actions.assigned(armature)
    actions.assign(armature, actions.counterpart(present, records.source_of(present.action)))
    return _give_back(armature, present.action)


def _restore_under(armature: Object, layer: Layer) -> str:
    """Let the armature play the source as it did before the layer, of which nothing stays, and tell its name."""
    armature.animation_data.use_tweak_mode = False
    layers.set_aside(lambda *_: None, layer)
    name = _give_back(armature, layer.corrections.action)
    layers.remove(layer)
    return name


def _planted_strips(armature: Object) -> list[NlaStrip]:
    """The NLA strips that play planted actions, where those play alone."""
    return [strip for strip in actions.strips_alone(armature) if records.source_of(strip.action)]


def _restore_strips(armature: Object, strips: Sequence[NlaStrip]) -> str:
    """Let NLA strips play the sources of their planted actions again, and tell the names of these."""
    names = {}
    for strip in strips:
        planted = actions.assignment_of(strip)
        actions.put(strip, actions.counterpart(planted, records.source_of(planted.action)))
        names[_give_back(armature, planted.action)] = None
    return ", ".join(names)


def _give_back(armature: Object, planted: Action) -> str:
    """Bring back what planting changed beside the action that plays, and tell the name of the source.

    The source gets the contacts as they are by now, so that planting it again, by whomever, starts from them. Contacts
    that cannot be read stay where they are, which is told.
    """
    source, record = records.source_of(planted), records.read(planted)
    records.put_back(armature, record)
    wrong = records.trouble(planted) or records.trouble(source)
    if source.is_editable and "contacts" in record and not wrong:
        records.store_contacts(source, record["contacts"])
    return f"{source.name} without the contacts, for {wrong}" if wrong else source.name
