# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run keeps for the next one: the sample of one armature, its plan, and the meshes of one ground.

Nothing here is Blender's data, which undo and loading a file replace. Each is told by a fingerprint of the content of
all that it was made from, and a plan is compared by the package; so nothing kept is ever stale.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

import bpy
import ik2bone
import numpy as np
from bpy.app.handlers import persistent
from bpy.types import FCurve, Object, PoseBone
from ik2bone.plan import Plan
from numpy.typing import NDArray

from ..keys import actions, fcurves
from ..pose.curves import tell_all
from ..pose.evaluate import may_move
from ..pose.sample import Sample, sampling
from ..rig.find import Leg
from ..stages import Stages

# Longer clips are not kept: these take about 100 MB, 5 kB a frame.
LONGEST = 20_000
# The most bytes of vertices and triangles of kept meshes.
MOST = 100_000_000

OBJECT = (
    *("location", "rotation_mode", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale"),
    *("delta_location", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale"),
    *("parent_type", "matrix_parent_inverse", "matrix_world"),
)
BONE = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")
CURVE = ("data_path", "array_index", "mute", "is_valid", "extrapolation", "auto_smoothing")
OTHERS = {"COLLECTION", "POINTER"}
REST = {"matrix_local": 16, "length": 1}

_samples: dict[bytes, Sample] = {}
_plans: list[Plan] = []
_meshes: dict[bytes, tuple[ik2bone.Mesh, int]] = {}


def forget() -> None:
    """Keep nothing any longer."""
    _samples.clear()
    _plans.clear()
    _meshes.clear()


def sampled(armature: Object, limbs: Sequence[Leg], hips: str | None, frames: Sequence[int]) -> Stages[Sample]:
    """As `sampling`, or the kept one if it was made from the same."""
    told = _fingerprint(armature, limbs, hips, frames)
    if told is None or told not in _samples:
        _samples.clear()
        found = yield from sampling(armature, limbs, hips, frames)
        if told is None or not found.in_bulk or len(frames) > LONGEST:
            return found
        _samples[told] = found
    return _samples[told]


def last_plan() -> Plan | None:
    """The plan that a next one may take over parts of."""
    return _plans[-1] if _plans else None


def keep_plan(plan: Plan) -> Plan:
    """Keep a plan in place of the last one."""
    _plans[:] = [plan] if plan.clip.frames <= LONGEST else []
    return plan


def mesh(vertices: NDArray[np.float32], triangles: NDArray[np.int32]) -> ik2bone.Mesh:
    """The mesh of these vertices and triangles, or the kept one of the same."""
    told = blake2b(repr((vertices.shape, vertices.dtype)).encode() + vertices.tobytes() + triangles.tobytes()).digest()
    found, size = _meshes.pop(told, None) or (ik2bone.Mesh(vertices, triangles), vertices.nbytes + triangles.nbytes)
    # The one used last comes last, and the others go first.
    _meshes[told] = found, size
    while sum(size for _, size in _meshes.values()) > MOST:
        del _meshes[next(iter(_meshes))]
    return found


def _fingerprint(armature: Object, limbs: Sequence[Leg], hips: str | None, frames: Sequence[int]) -> bytes | None:
    """What tells whether F-curves give the same sample again; None where they do not tell all."""
    names = [name for limb in limbs for name in limb.bones] + [name for name in (hips,) if name]
    if not tell_all(armature, names) or not _is_placed_by_curves(armature):
        return None
    bones = {bone.path_from_id(): bone for name in names for bone in _line(armature.pose.bones[name])}
    content = blake2b()
    for part in _parts(armature, bones):
        content.update(part)
    render = bpy.context.scene.render
    content.update(repr((limbs, hips, list(frames), render.fps, render.fps_base)).encode())
    return content.digest()


def _is_placed_by_curves(armature: Object) -> bool:
    """Whether nothing but curves of its own action moves the armature."""
    data, parent = armature.animation_data, armature.parent
    driven = any(not driver.data_path.startswith("pose.bones[") for driver in (data.drivers if data else ()))
    carried = parent is not None and (may_move(parent) or armature.parent_type not in {"OBJECT", "ARMATURE"})
    return not (driven or carried or armature.constraints)


def _line(bone: PoseBone) -> list[PoseBone]:
    return [bone, *bone.parent_recursive]


def _parts(armature: Object, bones: dict[str, PoseBone]) -> Iterator[bytes]:
    """The content that a sample is made of, piece by piece; `bones` by their paths."""
    yield _values(armature, OBJECT)
    curves = [curve for curve in actions.curves_of(actions.assigned(armature)) if _tells_of(curve, bones)]
    keyed = {(c.data_path, c.array_index) for c in curves if not c.mute and (c.keyframe_points or c.sampled_points)}
    for bone in bones.values():
        yield bone.rotation_mode.encode()
        for name in BONE:
            path = bone.path_from_id(name)
            values = enumerate(getattr(bone, name))
            yield repr([None if (path, i) in keyed else value for i, value in values]).encode()
    rest = armature.data.bones
    for name, size in REST.items():
        flat = np.empty(size * len(rest), np.float32)
        rest.foreach_get(name, flat)
        yield flat.tobytes()
    yield repr([(bone.name, bone.parent and bone.parent.name, bone.use_connect) for bone in rest]).encode()
    for curve in curves:
        yield _values(curve, CURVE)
        yield from _shape(curve)


def _tells_of(curve: FCurve, bones: dict[str, PoseBone]) -> bool:
    """Whether the curve is of one of the bones, or of the object."""
    path = curve.data_path
    return not path.startswith("pose.bones[") or path.startswith(tuple(bones))


def _shape(curve: FCurve) -> Iterator[bytes]:
    yield fcurves.read(curve).tobytes()
    yield repr([tuple(point.co) for point in curve.sampled_points]).encode()
    for modifier in curve.modifiers:
        yield _values(modifier, [p.identifier for p in modifier.bl_rna.properties if p.type not in OTHERS])
        points = getattr(modifier, "control_points", ())
        yield repr([(point.frame, point.min, point.max) for point in points]).encode()


def _values(owner: Any, names: Sequence[str]) -> bytes:
    """Properties as text; vectors and matrices number by number, because their own text is rounded."""
    return repr([_plain(getattr(owner, name)) for name in names]).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, str | int | float | bool | None):
        return value
    return np.array(value).tolist() if hasattr(value, "__len__") else str(value)


@persistent
def _on_load(*_: Any) -> None:
    forget()


def register() -> None:
    """Keep nothing over the loading of a file."""
    bpy.app.handlers.load_pre.append(_on_load)


def unregister() -> None:
    """Forget all."""
    forget()
    bpy.app.handlers.load_pre.remove(_on_load)
