# SPDX-License-Identifier: MIT
"""Toes that lie on the ground while the ball of their foot stands, however far the foot rolls over them."""

from __future__ import annotations

import numpy as np

from ..anchors.anchor import Anchor
from ..anchors.footprint import EVEN
from ..curves import come_to_rest, gaps, runs, smoothstep
from ..ground.query import ask
from ..model import Array, Clip, Ground, Mask, Note
from ..rotations import matrix_from_vector, nearest_rotations, shortest_turns, unit, vector_from_matrix
from ..sole.measure import Sole, apply
from .blend import Targets
from .toe_range import within_range

# Before a ball stands, and after it, its toes take so long (s) to be where they lie, and to be free again.
LAY_DOWN, LET_GO = 0.12, 0.2
# Toes that turn have other ground under their tips.
ROUNDS = 3


def lay_toes(clip: Clip, sole: Sole, targets: Targets, stands: Mask, ground: Ground) -> tuple[Array, Mask]:
    """Rotation vectors (F, L, 3) in toe bone space that lay the toes of standing balls (F, L) on the surface, and which
    of those (F, L) they only lay as far as toes go.

    They turn about the ball by the shortest way, so that they keep their heading. Feet without toe bones have zeros.
    """
    stands = stands & clip.has_toe
    if not stands.any():
        return np.zeros((clip.frames, clip.legs, 3)), stands
    laid, short = within_range(
        clip, sole, targets.turn, _laid(clip, sole, targets, _normals(clip, sole, targets), ground)
    )
    toes = nearest_rotations(targets.turn @ clip.toe[..., :3, :3] / clip.scale[..., 3, None, :])
    vectors = np.einsum("flji,flj->fli", toes, laid)
    for leg in range(clip.legs):
        _fade(vectors[:, leg], stands[:, leg], clip.fps)
    return vectors, short & stands


def tell_toes(short: Mask) -> list[Note]:
    """A note about toes (F, L) that would have had to turn farther than toes go."""
    count = sum(len(runs(short[:, leg])) for leg in range(short.shape[1]))
    return [Note("toes_short", {"count": count})] if count else []


def _normals(clip: Clip, sole: Sole, targets: Targets) -> Array:
    """What the soles lie along (F, L, 3): the slopes of anchors, else how the foot is turned."""
    normals = unit(np.einsum("flij,lj->fli", targets.turn @ clip.foot[..., :3, :3], sole.up))
    for anchor in targets.anchors:
        if anchor.part != "swing":
            normals[_span(anchor), anchor.stance.leg] = (anchor.turns(clip.frames) @ clip.up)[_span(anchor)]
    return normals


def _span(anchor: Anchor) -> slice:
    return slice(anchor.stance.start, anchor.stance.end)


def _laid(clip: Clip, sole: Sole, targets: Targets, normals: Array, ground: Ground) -> Array:
    """Rotation vectors (F, L, 3), world space, that lay toes along the normals and pitch their tips onto the ground."""
    toe = targets.turn @ clip.toe[..., :3, :3]
    upright = matrix_from_vector(shortest_turns(np.einsum("flij,lj->fli", toe, sole.toe_up), normals))
    tip = np.einsum("flij,flj->fli", upright @ targets.turn, apply(clip.toe, sole.tip) - clip.ball)
    aside = unit(np.cross(tip, normals))
    length = np.maximum(np.linalg.norm(tip, axis=-1), 1e-300)
    present = np.arcsin(np.clip(np.sum(tip * normals, axis=-1) / length, -1.0, 1.0))
    pitch = np.zeros_like(present)
    for _ in range(ROUNDS):
        moved = np.einsum("flij,flj->fli", matrix_from_vector(pitch[..., None] * aside), tip)
        goal = _ground_under(clip, sole, targets, normals, targets.ball + moved, ground) - targets.ball
        asked = np.arcsin(np.clip(np.sum(goal * normals, axis=-1) / length, -1.0, 1.0))
        pitch = asked - present
    return vector_from_matrix(matrix_from_vector(pitch[..., None] * aside) @ upright)


def _ground_under(clip: Clip, sole: Sole, targets: Targets, normals: Array, tip: Array, ground: Ground) -> Array:
    """Where the tips (F, L, 3) should lie: over or under them on the surface, or past an edge in the foot's plane."""
    under = targets.ball - sole.ball_height[:, None] * normals
    facing = np.maximum(normals @ clip.up, 1e-3)
    plane = tip + (np.sum((under - tip) * normals, axis=-1) / facing)[..., None] * clip.up
    hits, _, found = ask(ground, targets.asking(tip, clip.up), clip.up)
    near = found & (np.abs((hits - plane) @ clip.up) <= EVEN * clip.leg)
    return np.where(near[..., None], hits, plane)


def _fade(vectors: Array, stands: Mask, fps: float) -> None:
    """Replace what is between the standings (F,) by what leads there and away, with matching rates (F, 3 in place)."""
    rates = np.zeros_like(vectors)
    for start, end in runs(stands):
        if end - start > 1:
            rates[start:end] = np.gradient(vectors[start:end], axis=0)
    down, off = (max(round(time * fps), 1) for time in (LAY_DOWN, LET_GO))
    for start, end in gaps(stands):
        time, between = np.arange(1, end - start + 1), np.zeros_like(vectors[start:end])
        sides = ((start - 1, start > 0, off, time, 1.0), (end, end < len(stands), down, time[::-1], -1.0))
        for edge, there, frames, away, sign in sides:
            if there:
                share = away / min(frames, end - start + 1)
                between += (1.0 - smoothstep(share))[:, None] * vectors[edge]
                between += sign * frames * come_to_rest(share)[:, None] * rates[edge]
        vectors[start:end] = between
