# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit the numbers of the demo's walk to measured walks, and print them in the form of gait.py and walker.py.

python -m demo.fit_gait [FOLDER]. FOLDER holds the clips that the tests use. The default is the folder that the
environment variable IK2BONE_DATA names, or ../shared/data.

One walk is OpenSim's gait2354: joint angles, and heel strikes measured by force plates. The others are recorded clips
of the CMU collection. In these, heel strike is the frame on which the ankle is farthest ahead of the hips, and toe-off
the one on which the ankle is farthest behind: J. Zeni, J. Richards and J. Higginson, Two simple methods for determining
gait events during treadmill and overground walking using kinematic data, Gait & Posture 27 (2008).
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demo import session

Array = NDArray[np.float64]

OPENSIM = "contacts/gait2354_walk1"
CLIPS = ("fbx/cmu_07_01_walk.fbx", "bvh/cmu_ic_002_01_walk.bvh")
JOINTS = ("thigh", "knee", "foot")
HARMONICS = 6
NEAR = 0.25  # The least time (s) between two events of one foot.
FLAT = (0.2, 0.4)  # The sole lies on the floor between these shares of the stride.


@dataclass(frozen=True)
class Strides:
    """One person's strides from heel strike to heel strike.

    phase    (N,) phases of the samples, 0 to 1
    degrees  (3, N) angles of JOINTS: pitch of the thigh, flexion of the knee, and pitch of the sole
    seconds  mean duration of a stride
    stance   mean share of the stride for which the foot stands
    """

    phase: Array
    degrees: Array
    seconds: float
    stance: float


def measure(folder: Path) -> list[Strides]:
    """The strides of each person. Blender reads the clips."""
    bpy = session.start()
    from demo import character  # needs mathutils, which can be imported only after bpy

    people = [read_opensim(folder)]
    for name in CLIPS:
        session.reset(bpy)
        people.append(read_clip(character.load(bpy, str(folder / name))))
    return people


def read_opensim(folder: Path) -> Strides:
    """One stride of each leg. The file ends before the strides do: angles from before a stride fill its end.

    Up to 0.04 s of a stride are without angles.
    """
    _, _, table = (folder / f"{OPENSIM}_ik.mot").read_text().partition("endheader\n")
    names, *rows = [line.split() for line in table.splitlines() if line.strip()]
    column = dict(zip(names, np.array(rows, float).T, strict=True))
    contacts = [line.split(",") for line in (folder / f"{OPENSIM}_contacts.csv").read_text().splitlines()]
    return _joined([_opensim_leg(column, [row for row in contacts if row[0] == side]) for side in "RL"])


def _opensim_leg(column: dict[str, Array], contacts: list[list[str]]) -> Strides:
    """The stride from the start of the first contact that was measured whole to the start of the next contact."""
    whole = next(number for number, row in enumerate(contacts) if row[3:5] == ["no", "no"])
    (start, end), strike = map(float, contacts[whole][1:3]), float(contacts[whole + 1][1])
    side = contacts[whole][0].lower()
    thigh = column["pelvis_tilt"] + column[f"hip_flexion_{side}"]
    knee = -column[f"knee_angle_{side}"]
    phase = (column["time"] - start) / (strike - start) % 1
    return _strides(phase, thigh, knee, thigh - knee + column[f"ankle_angle_{side}"], strike - start, end - start)


def read_clip(walking) -> Strides:
    """All whole strides of a clip, sampled as planting does, that walks in one direction."""
    clip = walking.clip
    forward = np.array([np.cos(walking.way.heading), np.sin(walking.way.heading)])
    joints = (clip.hip, clip.knee, clip.ankle, clip.ball)
    hip, knee, ankle, ball = (points[..., :2] @ forward + 1j * points[..., 2] for points in joints)
    thigh, shin = (np.degrees(np.angle(1j * bone)) for bone in (knee - hip, ankle - knee))
    foot = np.degrees(np.angle(ball - ankle))
    ahead = (ankle - hip.mean(axis=1, keepdims=True)).real
    found = []
    for leg in range(clip.legs):
        strikes, leaves = (_peaks(sign * ahead[:, leg], clip.fps) for sign in (1, -1))
        for first, last in pairwise(strikes):
            frames = slice(first, last)
            angles = thigh[frames, leg], (thigh - shin)[frames, leg], foot[frames, leg]
            stance = next(frame for frame in leaves if frame > first) - first
            phase = np.arange(last - first) / (last - first)
            found.append(_strides(phase, *angles, (last - first) / clip.fps, stance / clip.fps))
    return _joined(found)


def _peaks(values: Array, fps: float) -> list[int]:
    """The frames whose value is the largest within NEAR. Frames within NEAR of the clip's ends are left out."""
    near = round(NEAR * fps)
    inner = range(near, len(values) - near)
    return [frame for frame in inner if values[frame] == values[frame - near : frame + near + 1].max()]


def _strides(phase: Array, thigh: Array, knee: Array, foot: Array, seconds: float, stance: float) -> Strides:
    """A stride whose pitch of the foot counts from that of the flat sole."""
    flat = np.median(foot[(phase > FLAT[0]) & (phase < FLAT[1])])
    return Strides(phase, np.stack([thigh, knee, foot - flat]), seconds, stance / seconds)


def _joined(strides: list[Strides]) -> Strides:
    degrees = np.concatenate([each.degrees for each in strides], axis=1)
    means = (float(np.mean([getattr(each, name) for each in strides])) for name in ("seconds", "stance"))
    return Strides(np.concatenate([each.phase for each in strides]), degrees, *means)


def fit(people: list[Strides]) -> NDArray[np.complex128]:
    """The coefficients (3, 1 + HARMONICS) of exp(2 pi i k phase); the real part of the sum is the degrees of JOINTS.

    The fit is by least squares. Every person has the same weight, whatever the number of samples.
    """
    phase = np.concatenate([each.phase for each in people])
    weight = np.concatenate([np.full(each.phase.shape, each.phase.size**-0.5) for each in people])
    degrees = np.concatenate([each.degrees for each in people], axis=1)
    waves = np.exp(2j * np.pi * np.arange(HARMONICS + 1) * phase[:, None])
    columns = np.concatenate([waves.real, -waves.imag[:, 1:]], axis=1)
    found = np.linalg.lstsq(weight[:, None] * columns, (weight * degrees).T, rcond=None)[0].T
    return found[:, : HARMONICS + 1] + 1j * np.pad(found[:, HARMONICS + 1 :], ((0, 0), (1, 0)))


def main(folder: Path) -> None:
    """Measure the walks in `folder`, fit the coefficients and print them."""
    people = measure(folder)
    for joint, row in zip(JOINTS, fit(people), strict=True):
        terms = ", ".join(f"{term:.1f}" for term in row[1:])
        print(f"{joint.upper()} = ({row[0].real:.1f}, {terms})")
    seconds, stance = (np.mean([getattr(each, name) for each in people]) for name in ("seconds", "stance"))
    print(f"TOE_OFF = {stance:.2f}", f"# A stride takes {seconds:.2f} s.", sep="\n")


if __name__ == "__main__":
    default = os.environ.get("IK2BONE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
    main(Path(*sys.argv[1:2] or [default]))
    session.leave(0)
