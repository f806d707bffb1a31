# SPDX-License-Identifier: GPL-3.0-or-later
"""One F-curve: a key on every frame of a range, written in bulk, while the curve outside the range keeps its shape."""

from collections.abc import Mapping
from functools import lru_cache
from math import ceil, floor, nan

import bpy
import numpy as np
from bpy.types import FCurve
from ik2bone.arrays import Array, Mask
from numpy.typing import NDArray

from .handmade import sign, signature
from .keyframes import HANDLES, KEY, SAME_FRAME, Columns, Frames, Keys, column, inside, number_of, put, read, times
from .splines import fit, halves, has_room, split, straight

# Evaluating a curve on more frames than these takes longer than finding that it is flat (40 microseconds).
MANY = 100
# What a curve says about itself, besides keys, samples and modifiers.
OWN = ("extrapolation", "mute", "lock", "hide", "select", "auto_smoothing", "color_mode", "color")
# What a key says about the piece of curve that follows it.
PIECE = ("interpolation", "easing", "amplitude", "back", "period")
# What keys are that Blender adds: setting an attribute of 1,000 keys takes 50 microseconds, half as long as evaluating.
ADDED: dict[str, str | bool | float] = {
    "easing": "AUTO",
    "handle_left_type": "AUTO_CLAMPED",
    "handle_right_type": "AUTO_CLAMPED",
    "amplitude": 0.0,
    "back": 0.0,
}
ADDED |= dict.fromkeys(("select_control_point", "select_left_handle", "select_right_handle"), True)
# Up to 4.3, before actions had slots, Blender passes over the curves of muted groups.
GROUPS_ARE_MUTED = not hasattr(bpy.types, "ActionSlot")
# Our keys are LINEAR as Blender's own baking makes them: a smooth curve would overshoot between frames, into the
# ground, while a foot stands still.
BAKED = {"interpolation": "LINEAR", "type": "GENERATED", **ADDED}
# Pieces of these kinds can be cut in two; the others are formulas for the whole piece.
CUT = ("CONSTANT", "LINEAR", "BEZIER")


def evaluate(curve: FCurve, frames: Frames) -> Array:
    """Values of the curve (F,); those of keys, and of flat curves, are read in bulk, 15 times as fast and the same bit
    for bit.
    """
    if _is_modified(curve):
        return _evaluated(curve, frames)
    keys = column(curve, "co")
    if len(keys) == len(frames) and (keys[:, 0] == frames).all():
        return keys[:, 1].astype(float)
    # Clips of a higher rate have keys between the frames.
    rows = keys[:, 0].searchsorted(frames)
    if rows[-1] < len(keys) and (keys[rows, 0] == frames).all():
        # On a frame with several keys one of them counts.
        if np.all(np.diff(keys[rows[0] : rows[-1] + 2, 0]) > 0.0):
            return keys[rows, 1].astype(float)
    elif len(frames) > MANY and 0 < len(keys) < len(frames) and _is_flat(curve, keys[0, 1]):
        return np.full(len(frames), keys[0, 1], float)
    return _evaluated(curve, frames)


def _evaluated(curve: FCurve, frames: Frames) -> Array:
    return np.array([curve.evaluate(frame) for frame in frames.tolist()])


def _is_flat(curve: FCurve, value: float) -> bool:
    """Whether keys and handles all have one value, which pieces of the kinds that can be cut keep in between."""
    kinds = {number_of("interpolation", kind) for kind in CUT}
    flat = all((column(curve, name)[:, 1] == value).all() for name in ("co", *HANDLES))
    return flat and kinds.issuperset(column(curve, "interpolation").tolist())


def _is_modified(curve: FCurve) -> bool:
    return bool(curve.modifiers) and any(not modifier.mute for modifier in curve.modifiers)


def span(curve: FCurve) -> tuple[float, float]:
    """First and last frame of the curve's keys, not a number where it has none; they are not read for it."""
    return tuple(curve.range()) if len(curve.keyframe_points) else (nan, nan)


def copy(source: FCurve, target: FCurve) -> None:
    """Make a curve the same as another one, of the same property in another action."""
    _clear(target)
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
            # Not one by one: Blender takes a point that is set for a whole modifier, and may crash (4.2 to 5.2).
            for name in ("min", "max"):
                new.control_points.foreach_set(name, [getattr(point, name) for point in points])
        # Twice, because some values limit others.
        for name in [p.identifier for p in modifier.bl_rna.properties if not p.is_readonly] * 2:
            setattr(new, name, getattr(modifier, name))
    for name in OWN:
        setattr(target, name, getattr(source, name))
    if len(keys):
        # Blender has worked out the handles again meanwhile, down to the last bit not always the same.
        put(target, keys, HANDLES)


def _clear(curve: FCurve) -> None:
    """Take away keys, samples and modifiers."""
    if curve.sampled_points:
        curve.convert_to_keyframes(0, 1)
    curve.keyframe_points.clear()
    _remove_modifiers(curve)


def _remove_modifiers(curve: FCurve) -> None:
    for modifier in list(curve.modifiers):
        curve.modifiers.remove(modifier)


def is_locked(curve: FCurve) -> bool:
    """Whether the user has protected the curve or its group."""
    return curve.lock or bool(curve.group and curve.group.lock)


def is_muted(curve: FCurve) -> bool:
    """Whether Blender passes the curve over."""
    return curve.mute or (GROUPS_ARE_MUTED and bool(curve.group and curve.group.mute))


def trouble(curve: FCurve) -> str | None:
    """What keeps a key inserted in the curve from showing, if anything does."""
    states = {
        "is locked": is_locked(curve),
        "is muted": is_muted(curve),
        "has modifiers": _is_modified(curve),
        "consists of samples": len(curve.sampled_points) > 0,
    }
    return next((name for name, is_so in states.items() if is_so), None)


def trouble_beyond(curve: FCurve, frame: int, before: bool) -> str | None:
    """What keeps the curve from being cut at a frame without a change `before` or after it, if anything does."""
    keyed = times(curve)
    beyond = keyed <= frame - SAME_FRAME if before else keyed >= frame + SAME_FRAME
    if not beyond.any():
        return "goes on in a straight line beyond its keys" if curve.extrapolation == "LINEAR" else None
    return None if np.any(np.abs(keyed - frame) < SAME_FRAME) else _trouble_of_cut(curve, frame, before)


def _trouble_of_cut(curve: FCurve, frame: int, before: bool) -> str | None:
    """What keeps the part `before` or after a frame from keeping its shape where the curve is cut there."""
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


def silence(curve: FCurve) -> None:
    """Take away all that a curve could say once it is heard."""
    _clear(curve)
    if is_muted(curve) and not curve.mute:
        # The group is: its other curves stay unheard by themselves.
        for other in curve.group.channels:
            other.mute = True
        curve.group.mute = False
    curve.mute = False


def bake(curve: FCurve, bounds: tuple[int, int]) -> None:
    """Replace modifiers and samples, which would change or refuse keys, by keys over the action's whole `bounds`."""
    if curve.sampled_points:
        curve.convert_to_keyframes(bounds[0], bounds[1] + 1)
    if _is_modified(curve):
        frames = np.arange(bounds[0], bounds[1] + 1)
        values = evaluate(curve, frames)
        _remove_modifiers(curve)
        write(curve, frames, values)


def keep_beside(curve: FCurve, frames: Frames, values: Array, bounds: tuple[int, int]) -> None:
    """Put keys beside the first and the last frame where whole frames outside would not stay otherwise.

    A piece of curve that led from a key farther off to the written one would carry its change along. `bounds` are the
    whole action's first and last frame; beside those only keys beyond them matter.
    """
    beside, keyed = [], span(curve)
    for row, step in ((0, -1), (-1, 1)):
        frame, bound = int(frames[row]), bounds[row]
        goes_on = frame != bound or step * (keyed[row] - frame) >= SAME_FRAME
        changes = np.float32(values[row]) != np.float32(curve.evaluate(frame))
        if goes_on and (changes or trouble_beyond(curve, frame, step < 0)):
            beside.append(_frames_beside(curve, frame + step, step, bound))
    beside = [where for where in beside if len(where)]
    # All are read before any is written, which rounds the handles that the other side may go on by.
    shown = [evaluate(curve, where) for where in beside]
    for where, kept in zip(beside, shown, strict=True):
        write(curve, where, kept)


def _frames_beside(curve: FCurve, frame: int, step: int, bound: int) -> Frames:
    """Frames on which keys hold the curve beyond a frame, this among them; none where one is beside it already."""
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
    """Put a key on every frame, or on some `rows` of them with smooth pieces between, in place of all keys between the
    first and the last.

    Keys outside keep frame, value, interpolation and type. The handles at the seams are those of the present curve cut
    there, so that outside values stay where the first and the last value do not change.
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
    """The keys before a frame, one on it and those after it, of a curve with this value there, which keeps its shape.

    A key that is there stays as it is, bit for bit, so that writing twice is writing once.
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
    """The handles (2, 2) of the curve's pieces on both sides of a new key; past the ends the curve is straight."""
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
    """Keep Blender from moving automatic handles with a new neighbour, and with them the curve on the other side."""
    for side in sides:
        side["handle_left_type"] = side["handle_right_type"] = number_of("handle_left_type", "FREE")


def _smooth(frames: Frames, values: Array, rows: NDArray[np.intp]) -> Keys:
    """New keys on some rows, not signed yet, with pieces between them that are nearest to all values."""
    keys, (inner, _) = _baked(frames[rows], values[rows]), fit(values[:, None], rows)
    keys["interpolation"] = number_of("interpolation", "BEZIER")
    thirds = np.diff(frames[rows]) / 3.0
    keys["handle_right"][:-1] = np.column_stack([frames[rows[:-1]] + thirds, inner[:, 0, 0]])
    keys["handle_left"][1:] = np.column_stack([frames[rows[1:]] - thirds, inner[:, 1, 0]])
    _free(keys)
    return keys


def _baked(frames: Frames, values: Array) -> Keys:
    """New keys, not signed yet."""
    keys = np.zeros(len(frames), KEY)
    for name in ("co", *HANDLES):
        keys[name][:, 0], keys[name][:, 1] = frames, values
    for name, item in BAKED.items():
        keys[name] = number_of(name, item)
    return keys


def _ours(frames: Frames, values: Array) -> dict[str, NDArray]:
    """The same keys signed, by those attributes alone that Blender does not add."""
    keys = {"co": np.empty((len(frames), 2), np.float32), **_alike(len(frames))}
    keys["co"][:, 0], keys["co"][:, 1] = frames, values
    return keys | {"period": signature(keys)}


@lru_cache(maxsize=1)
def _alike(count: int) -> dict[str, NDArray]:
    """What so many keys of ours have in common."""
    keys = _baked(np.zeros(count), np.zeros(count))
    return {name: keys[name].copy() for name in KEY.names if name not in {"co", *HANDLES, *ADDED}}


def _replace(curve: FCurve, keys: Columns) -> None:
    """Give the curve these keys in place of its own; attributes that are not given are as Blender adds them."""
    curve.keyframe_points.clear()
    curve.keyframe_points.add(len(keys["co"]))
    names = keys.keys() if isinstance(keys, Mapping) else keys.dtype.names
    known = {name for name, item in ADDED.items() if name not in names or (keys[name] == number_of(name, item)).all()}
    # Blender works out automatic handles.
    known |= set(HANDLES) if known >= {"handle_left_type", "handle_right_type"} else set()
    put(curve, keys, [name for name in names if name not in known])
    curve.update()


def _put_back(curve: FCurve, keys: Keys, rows: Mask) -> None:
    """Set the handles of some keys, which Blender has worked out again meanwhile: those of automatic ones differ in
    their last bits, by 0.00003 at frame 5000.
    """
    present = read(curve, HANDLES)
    for name in HANDLES:
        present[name][rows] = keys[name][rows]
    put(curve, present, HANDLES)
