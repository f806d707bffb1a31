# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run keeps for the next one: the sample of one armature, its plan, and the meshes of one ground.

Nothing here is Blender's data, which undo and loading a file replace. Each is told by a fingerprint of the content of
all that it was made from, and a plan is compared by the package; so nothing kept is ever stale.
"""

from __future__ import annotations

from collections.abc import Sequence
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
REST = ("name", "parent", "use_connect", "matrix_local", "length")

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
    line = [bone for name in names for bone in (armature.pose.bones[name], *armature.pose.bones[name].parent_recursive)]
    bones = {bone.path_from_id(): bone for bone in line}
    # Curves of the object, and of the bones that are sampled and their ancestors.
    of_bones, played = tuple(bones), actions.curves_of(actions.assigned(armature))
    curves = [c for c in played if c.data_path.startswith(of_bones) or not c.data_path.startswith("pose.bones[")]
    keyed = {(c.data_path, c.array_index) for c in curves if not c.mute and (c.keyframe_points or c.sampled_points)}
    render = bpy.context.scene.render
    content = (
        *(limbs, hips, list(frames), render.fps, render.fps_base),
        *(_values(armature, OBJECT), [_values(bone, REST) for bone in armature.data.bones]),
        *([_unkeyed(bone, keyed) for bone in bones.values()], [_shape(curve) for curve in curves]),
    )
    return blake2b(repr(content).encode()).digest()


def _is_placed_by_curves(armature: Object) -> bool:
    """Whether nothing but curves of its own action moves the armature."""
    data, parent = armature.animation_data, armature.parent
    driven = any(not driver.data_path.startswith("pose.bones[") for driver in (data.drivers if data else ()))
    carried = parent is not None and (may_move(parent) or armature.parent_type not in {"OBJECT", "ARMATURE"})
    return not (driven or carried or armature.constraints)


def _unkeyed(bone: PoseBone, keyed: set[tuple[str, int]]) -> list[Any]:
    """A bone's rotation mode, and the values of its channels that no curve gives."""
    values = ((bone.path_from_id(name), i, value) for name in BONE for i, value in enumerate(getattr(bone, name)))
    return [bone.rotation_mode, *(None if (path, i) in keyed else value for path, i, value in values)]


def _shape(curve: FCurve) -> list[Any]:
    """All that a curve's values depend on."""
    modifiers = [
        _values(modifier, [p.identifier for p in modifier.bl_rna.properties if p.type not in OTHERS])
        + [(point.frame, point.min, point.max) for point in getattr(modifier, "control_points", ())]
        for modifier in curve.modifiers
    ]
    samples = [tuple(point.co) for point in curve.sampled_points]
    return [*_values(curve, CURVE), blake2b(fcurves.read(curve).tobytes()).digest(), samples, modifiers]


def _values(owner: Any, names: Sequence[str]) -> list[Any]:
    """Properties; vectors and matrices number by number, because their own text is rounded."""
    return [np.array(value).tolist() if hasattr(value := getattr(owner, name), "__len__") else value for name in names]


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
