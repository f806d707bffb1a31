# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing keys to a range of frames of one F-curve in bulk, while the curve outside the range keeps its shape."""

from collections.abc import Mapping
from functools import lru_cache
from math import ceil, floor, nan
from typing import Any

import bpy
import numpy as np
from bpy.types import FCurve, bpy_struct
from ik2bone.arrays import Array, Mask
from numpy.typing import NDArray

from .handmade import sign, signature
from .keyframes import HANDLES, KEY, SAME_FRAME, Columns, Frames, Keys, column, inside, number_of, put, read, times
from .splines import fit, halves, has_room, split, straight

# Evaluating a curve on more frames than this takes longer than checking whether the curve is flat (40 microseconds).
MANY = 100
# The attributes of a curve besides keys, samples and modifiers.
OWN = ("extrapolation", "mute", "lock", "hide", "select", "auto_smoothing", "color_mode", "color")
# The attributes of a key that shape the piece of curve after it.
PIECE = ("interpolation", "easing", "amplitude", "back", "period")
# The attributes of keys as Blender adds them. Setting one attribute of 1,000 keys takes 50 microseconds, half the time
# of an evaluation, so these are not set again.
ADDED: dict[str, str | bool] = {
    "easing": "AUTO",
    "handle_left_type": "AUTO_CLAMPED",
    "handle_right_type": "AUTO_CLAMPED",
}
ADDED |= dict.fromkeys(("select_control_point", "select_left_handle", "select_right_handle"), True)
# Up to 4.3, before actions had slots, Blender ignores curves in muted groups.
GROUPS_ARE_MUTED = not hasattr(bpy.types, "ActionSlot")
# Our keys are LINEAR, like those of Blender's own baking: a smooth curve would overshoot between frames, and move a
# standing foot into the ground.
BAKED = {"interpolation": "LINEAR", "type": "GENERATED", **ADDED}
# Pieces with these interpolations can be cut in two. All other interpolations are formulas for the whole piece.
CUT = ("CONSTANT", "LINEAR", "BEZIER")


def evaluate(curve: FCurve, frames: Frames) -> Array:
    """The values (F,) of the curve.

    Values on keys and of flat curves are read in bulk, which is 15 times as fast and gives the same bits.
    """
    if _is_modified(curve):
        return _evaluated(curve, frames)
    keys = column(curve, "co")
    if len(keys) == len(frames) and (keys[:, 0] == frames).all():
        return keys[:, 1].astype(float)
    # In clips with a higher frame rate than the scene's, there are keys between the frames.
    rows = keys[:, 0].searchsorted(frames)
    if rows[-1] < len(keys) and (keys[rows, 0] == frames).all():
        # Of several keys on one frame only one counts, and the evaluation knows which.
        if np.all(np.diff(keys[rows[0] : rows[-1] + 2, 0]) > 0.0):
            return keys[rows, 1].astype(float)
    elif len(frames) > MANY and 0 < len(keys) < len(frames) and _is_flat(curve, keys[0, 1]):
        return np.full(len(frames), keys[0, 1], float)
    return _evaluated(curve, frames)


def _evaluated(curve: FCurve, frames: Frames) -> Array:
    return np.array([curve.evaluate(frame) for frame in frames.tolist()])


def _is_flat(curve: FCurve, value: float) -> bool:
    """Whether all keys and handles have this value, and no interpolation leaves it between keys."""
    kinds = {number_of("interpolation", kind) for kind in CUT}
    flat = all((column(curve, name)[:, 1] == value).all() for name in ("co", *HANDLES))
    return flat and kinds.issuperset(column(curve, "interpolation").tolist())


def _is_modified(curve: FCurve) -> bool:
    return bool(curve.modifiers) and any(not modifier.mute for modifier in curve.modifiers)


def span(curve: FCurve) -> tuple[float, float]:
    """The first and last frame of the curve's keys, NaN without keys. It does not read the keys."""
    return tuple(curve.range()) if len(curve.keyframe_points) else (nan, nan)


def copy(source: FCurve, target: FCurve) -> None:
    """Make the curve `target` equal to `source`, a curve of the same property in another action."""
    clear(target)
    keys = read(source)
    _replace(target, keys)
    if source.sampled_points:
        points = np.array([point.co for point in source.sampled_points])
        _replace(target, _baked(*points.T))
        target.convert_to_samples(round(points[0, 0]), round(points[-1, 0]) + 1)
    for modifier in source.modifiers:
        new = target.modifiers.new(modifier.type)
        if points := list(getattr(modifier, "control_points", ())):
            for point in points:
                new.control_points.add(point.frame)
            # Setting an attribute of a single point may crash Blender 4.2 to 5.2, which takes the point for a modifier.
            for name in ("min", "max"):
                new.control_points.foreach_set(name, [getattr(point, name) for point in points])
        set_properties(new, properties_of(modifier))
    for name in OWN:
        setattr(target, name, getattr(source, name))
    if len(keys):
        # Blender has computed automatic handles again meanwhile, which may differ in the last bit.
        put(target, keys, HANDLES)


def properties_of(owner: bpy_struct) -> dict[str, Any]:
    """The values of all properties of a modifier, or of other data, that can be set."""
    return {p.identifier: getattr(owner, p.identifier) for p in owner.bl_rna.properties if not p.is_readonly}


def set_properties(owner: bpy_struct, values: Mapping[str, Any]) -> None:
    """Set properties twice, because some of them limit others."""
    for name, value in [*values.items()] * 2:
        setattr(owner, name, value)


def clear(curve: FCurve) -> None:
    """Remove keys, samples and modifiers."""
    if curve.sampled_points:
        curve.convert_to_keyframes(0, 1)
    curve.keyframe_points.clear()
    _remove_modifiers(curve)


def _remove_modifiers(curve: FCurve) -> None:
    for modifier in list(curve.modifiers):
        curve.modifiers.remove(modifier)


def is_locked(curve: FCurve) -> bool:
    """Whether the curve or its group is locked."""
    return curve.lock or bool(curve.group and curve.group.lock)


def is_muted(curve: FCurve) -> bool:
    """Whether Blender ignores the curve because it is muted."""
    return curve.mute or (GROUPS_ARE_MUTED and bool(curve.group and curve.group.mute))


def trouble(curve: FCurve) -> str | None:
    """Why a key inserted in the curve would have no effect; None if it would."""
    states = {
        "is locked": is_locked(curve),
        "is muted": is_muted(curve),
        "has modifiers": _is_modified(curve),
        "consists of samples": len(curve.sampled_points) > 0,
    }
    return next((name for name, is_so in states.items() if is_so), None)


def trouble_beyond(curve: FCurve, frame: int, before: bool) -> str | None:
    """Why the curve cannot be cut at a frame without a change of its part `before` or after it; None if it can."""
    keyed = times(curve)
    beyond = keyed <= frame - SAME_FRAME if before else keyed >= frame + SAME_FRAME
    if not beyond.any():
        return "goes on in a straight line beyond its keys" if curve.extrapolation == "LINEAR" else None
    return None if np.any(np.abs(keyed - frame) < SAME_FRAME) else _trouble_of_cut(curve, frame, before)


def _trouble_of_cut(curve: FCurve, frame: int, before: bool) -> str | None:
    """Why the part `before` or after a frame would not keep its shape if the curve were cut there; None if it would."""
    left = int(np.count_nonzero(times(curve) < frame)) - 1
    kind = curve.keyframe_points[left].interpolation if left >= 0 else "LINEAR"
    if kind not in CUT:
        return f"eases by {kind}"
    keys = read(curve, ("co", *HANDLES))[max(left, 0) : left + 2]
    if kind != "BEZIER" or len(keys) < 2:
        return None
    part = halves(_points(*keys), frame)[0 if before else 1]
    return None if has_room(part) else "has handles that overlap too far"


def repeats(curve: FCurve) -> bool:
    """Whether modifiers repeat the curve beyond its keys."""
    return any(modifier.type == "CYCLES" and not modifier.mute for modifier in curve.modifiers)


def goes_on(curve: FCurve) -> bool:
    """Whether the curve may change beyond its keys."""
    return curve.extrapolation == "LINEAR" or _is_modified(curve)


def unmute(curve: FCurve) -> None:
    """Unmute a curve and its group; the group's other curves are muted one by one instead."""
    if is_muted(curve) and not curve.mute:
        for other in curve.group.channels:
            other.mute = True
        curve.group.mute = False
    curve.mute = False


def bake(curve: FCurve, bounds: tuple[int, int]) -> None:
    """Replace modifiers and samples by keys over the action's `bounds`: modifiers change keys, samples refuse them."""
    if curve.sampled_points:
        curve.convert_to_keyframes(bounds[0], bounds[1] + 1)
    if _is_modified(curve):
        frames = np.arange(bounds[0], bounds[1] + 1)
        values = evaluate(curve, frames)
        _remove_modifiers(curve)
        write(curve, frames, values)


def keep_beside(curve: FCurve, frames: Frames, values: Array, bounds: tuple[int, int]) -> None:
    """Add keys beside the first and the last frame where values on whole frames outside would change otherwise.

    Without such a key, the piece of curve from a distant key to the first written one would change with it. `bounds`
    are the first and last frame of the whole action; at these only keys beyond them matter.
    """
    beside, keyed = [], span(curve)
    for row, step in ((0, -1), (-1, 1)):
        frame, bound = int(frames[row]), bounds[row]
        goes_on = frame != bound or step * (keyed[row] - frame) >= SAME_FRAME
        changes = goes_on and np.float32(values[row]) != np.float32(curve.evaluate(frame))
        if changes or (goes_on and trouble_beyond(curve, frame, step < 0)):
            beside.append(_frames_beside(curve, frame + step, step, bound))
    beside = [where for where in beside if len(where)]
    # Both sides are evaluated before one is written, because writing rounds handles that the other side may depend on.
    shown = [evaluate(curve, where) for where in beside]
    for where, kept in zip(beside, shown, strict=True):
        write(curve, where, kept)


def _frames_beside(curve: FCurve, frame: int, step: int, bound: int) -> Frames:
    """The frames, `frame` among them, whose keys hold the curve beyond `frame`; none if a key is beside it already."""
    keyed = times(curve)
    ahead = step * (keyed - frame)
    if np.any((ahead > SAME_FRAME - 1.0) & (ahead < SAME_FRAME)):
        return np.arange(0)
    left, start, end = int(np.count_nonzero(keyed < frame)) - 1, frame, frame
    if 0 <= left < len(keyed) - 1 and _trouble_of_cut(curve, frame, step < 0):
        start, end = ceil(keyed[left] + SAME_FRAME), floor(keyed[left + 1] - SAME_FRAME)
    elif curve.extrapolation == "LINEAR" and not np.any(ahead > 0.0):
        start, end = min(frame, bound), max(frame, bound)
    return np.arange(start, end + 1)


def write(curve: FCurve, frames: Frames, values: Array, rows: NDArray[np.intp] | None = None) -> None:
    """Replace all keys between the first and the last frame by a key on every frame, or on some `rows` of them.

    Between `rows` the curve is smooth. Keys outside keep frame, value, interpolation and type. The handles at the first
    and last frame are those of the present curve cut there, so that values outside stay where the value at the cut does
    not change.
    """
    start, end = span(curve)
    if not (start <= frames[0] - SAME_FRAME or end >= frames[-1] + SAME_FRAME):
        _replace(curve, _ours(frames, values) if rows is None else sign(_smooth(frames, values, rows)))
        return
    new, keys = _baked(frames, values) if rows is None else _smooth(frames, values, rows), read(curve)
    before, first, _ = _cut(keys, float(frames[0]), curve.evaluate(frames[0]))
    _, last, after = _cut(keys, float(frames[-1]), curve.evaluate(frames[-1]))
    if len(before):
        new["handle_left"][0] = first["handle_left"] + (new["co"][0] - first["co"])
        _free(before[-1:], new[:1])
    if len(after):
        new["handle_right"][-1] = last["handle_right"] + (new["co"][-1] - last["co"])
        for name in PIECE:
            new[name][-1] = last[name]
        _free(new[-1:], after[:1])
    keys = np.concatenate([before, sign(new), after])
    _replace(curve, keys)
    _put_back(curve, keys, ~inside(keys["co"][:, 0], frames))


def _cut(keys: Keys, frame: float, value: float) -> tuple[Keys, np.void, Keys]:
    """Cut a curve at a frame, without a change of its shape: the keys before, a key on the frame, and the keys after.

    `value` is the curve's value on the frame. A key that exists there is kept bit for bit, so that writing twice equals
    writing once.
    """
    ahead = keys["co"][:, 0] - frame
    before, here, after = keys[ahead <= -SAME_FRAME], keys[np.abs(ahead) < SAME_FRAME], keys[ahead >= SAME_FRAME]
    if len(here):
        return before, here[-1], after
    key = _baked(np.array([frame]), np.array([value]))[0]
    if len(before) and before["interpolation"][-1] not in [number_of("interpolation", kind) for kind in CUT]:
        before["interpolation"][-1] = key["interpolation"]
    elif len(before):
        for name in PIECE:
            key[name] = before[name][-1]
    left, right = _pieces(before[-1:], key, after[:1])
    if len(before):
        before["handle_right"][-1], key["handle_left"] = left
    if len(after):
        key["handle_right"], after["handle_left"][0] = right
    return before, key, after


def _pieces(before: Keys, key: np.void, after: Keys) -> tuple[Array, Array]:
    """The handles (2, 2) of the pieces before and after a new key. Beyond the outermost keys pieces are straight."""
    here = key["co"].astype(float)
    if len(before) and len(after):
        left, right = split(_points(before[0], after[0]), here[0])
        return left[1:3], right[1:3]
    ends = [side["co"][0].astype(float) if len(side) else here for side in (before, after)]
    return straight(ends[0], here)[1:3], straight(here, ends[1])[1:3]


def _points(key: np.void, next_key: np.void) -> Array:
    """Control points (4, 2) of the piece between two keys."""
    return np.array([key["co"], key["handle_right"], next_key["handle_left"], next_key["co"]], float)


def _free(*sides: Keys) -> None:
    """Make handles free, because Blender adapts automatic handles to a new neighbour, which changes the other side."""
    for side in sides:
        side["handle_left_type"] = side["handle_right_type"] = number_of("handle_left_type", "FREE")


def _smooth(frames: Frames, values: Array, rows: NDArray[np.intp]) -> Keys:
    """New keys on some rows, not signed yet. The smooth pieces between them fit all values by least squares."""
    keys, (inner, _) = _baked(frames[rows], values[rows]), fit(values[:, None], rows)
    keys["interpolation"] = number_of("interpolation", "BEZIER")
    thirds = np.diff(frames[rows]) / 3.0
    keys["handle_right"][:-1] = np.column_stack([frames[rows[:-1]] + thirds, inner[:, 0, 0]])
    keys["handle_left"][1:] = np.column_stack([frames[rows[1:]] - thirds, inner[:, 1, 0]])
    _free(keys)
    return keys


def _baked(frames: Frames, values: Array) -> Keys:
    """New linear keys, not signed yet."""
    keys = np.zeros(len(frames), KEY)
    for name in ("co", *HANDLES):
        keys[name][:, 0], keys[name][:, 1] = frames, values
    for name, item in BAKED.items():
        keys[name] = number_of(name, item)
    keys["back"] = bpy.types.Keyframe.bl_rna.properties["back"].default
    return keys


def _ours(frames: Frames, values: Array) -> dict[str, NDArray]:
    """New linear keys, signed, without the attributes that Blender sets itself."""
    keys = {"co": np.empty((len(frames), 2), np.float32), **_alike(len(frames))}
    keys["co"][:, 0], keys["co"][:, 1] = frames, values
    return keys | {"period": signature(keys)}


@lru_cache(maxsize=1)
def _alike(count: int) -> dict[str, NDArray]:
    """The attributes that all new keys share, as arrays of this length."""
    keys = _baked(np.zeros(count), np.zeros(count))
    return {name: keys[name].copy() for name in KEY.names if name not in {"co", *HANDLES, *ADDED}}


def _replace(curve: FCurve, keys: Columns) -> None:
    """Replace the curve's keys. Attributes that are not given keep the values that Blender sets itself."""
    curve.keyframe_points.clear()
    curve.keyframe_points.add(len(keys["co"]))
    names = keys.keys() if isinstance(keys, Mapping) else keys.dtype.names
    known = {name for name, item in ADDED.items() if name not in names or (keys[name] == number_of(name, item)).all()}
    # Blender computes automatic handles.
    known |= set(HANDLES) if known >= {"handle_left_type", "handle_right_type"} else set()
    put(curve, keys, [name for name in names if name not in known])
    curve.update()


def _put_back(curve: FCurve, keys: Keys, rows: Mask) -> None:
    """Set the handles of some keys again.

    Blender has computed automatic handles anew meanwhile, which differ in the last bits, by 0.00003 at frame 5000.
    """
    present = read(curve, HANDLES)
    for name in HANDLES:
        present[name][rows] = keys[name][rows]
    put(curve, present, HANDLES)
