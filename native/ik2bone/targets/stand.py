# SPDX-License-Identifier: MIT
"""Feet that stand on their soles: the list of stages from contacts to targets."""

from dataclasses import replace

import numpy as np

from ..anchors.choose import find_anchors
from ..anchors.lying import as_on_level
from ..arrays import Mask
from ..clip import Clip
from ..contacts.standing import Contacts, feet_that_stand, hurried
from ..contacts.steady import steady_feet
from ..ground.query import Ground
from ..rotations import level_part, move_points
from ..settings import Settings
from ..sole.measure import Sole
from .blend import Held, Targets, blend_targets, places_of
from .follow import follow_ground, lay_on_ground
from .heel import raise_anchors, raise_heels, resting_contacts
from .lock import hold_feet
from .swing import lift_swings


def stand(clip: Clip, sole: Sole, ground: Ground, settings: Settings, rides: bool) -> Held:
    """Return when feet stand on their soles, and their targets."""
    steady, still = steady_feet(clip)
    # Contacts of a clip that keeps to the ground already are found by heights over the ground.
    level = as_on_level(steady, ground)
    floor = sole if level is steady else replace(sole, floor=clip.floors[0])
    mode = "ALWAYS" if settings.always(clip.frames) else settings.contacts
    feet = feet_that_stand(level, floor, mode, settings.marks)
    if feet.locked:
        targets, contacts, resting = locked_targets(steady, sole, feet, ground, settings, rides)
        grounded = any(anchor.found for anchor in targets.anchors)
    else:
        follow = lay_on_ground if settings.always(clip.frames) else follow_ground
        targets, grounded = follow(steady, sole, ground, settings)
        contacts = resting = feet.standing
    if steady is not clip:
        targets = replace(targets, turn=targets.turn @ still, to_ankle=clip.ankle - clip.ball)
    free, locked = np.zeros(contacts.shape[:2]), np.full(clip.legs, feet.locked)
    return Held(contacts, resting, targets, free, hurried(feet, contacts), locked, grounded, feet.notes)


def locked_targets(
    clip: Clip, sole: Sole, feet: Contacts, ground: Ground, settings: Settings, rides: bool
) -> tuple[Targets, Mask, Mask]:
    """Return the targets of feet that stand on anchors and swing from one to the next, their contacts (F, L, 2), and
    their resting contacts, on which the heel does not roll. A figure that `rides` goes along with its anchors.
    """
    heel = move_points(clip.foot, sole.heel)
    contacts, anchors = find_anchors(clip, sole, heel, feet, ground, settings, rides)
    hold = hold_feet(clip, heel, contacts, places_of(anchors), feet.firm, feet.added.any(axis=-1), sole.ball_height)
    targets = blend_targets(clip, hold, anchors, rides)
    resting = resting_contacts(clip, targets.placed(heel - clip.ball), targets, contacts)
    if settings.use_slope:
        targets = raise_heels(clip, sole, targets, contacts, settings.enforced(contacts), ground)
    else:
        targets = blend_targets(clip, hold, raise_anchors(clip, sole, targets, contacts, ground), rides)
    swings = ~(contacts[..., 0] | contacts[..., 1])
    if swings.any():
        targets = lift_swings(clip, sole, targets, swings, ground)
    lost = swings.all(axis=0)
    if lost.any():
        carried = clip.moved(level_part(targets.ride, clip.up))
        targets = targets.with_legs(lost, follow_ground(carried, sole, ground, settings)[0])
    return targets, contacts, resting
