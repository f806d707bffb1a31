# SPDX-License-Identifier: MIT
"""Read and write BVH motion files with numpy and ik2bone; the notebook bvh_clip.ipynb uses it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import ik2bone
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bvh:
    """A skeleton of J joints, parents before children, and its motion over F frames. Angles are in degrees.

    End sites are joints without channels, named after their parents. For each joint, `channels` has the names of its
    channels, and `columns` their columns in `motion` (F, C).
    """

    hierarchy: str
    names: list[str]
    parents: list[int]
    offsets: Array
    channels: list[list[str]]
    columns: list[list[int]]
    fps: float
    motion: Array

    def joint(self, name: str) -> int:
        """The number of the joint of this name."""
        if name not in self.names:
            raise ValueError(f"expected a joint of {', '.join(self.names)}, got {name}")
        return self.names.index(name)

    def translations(self) -> Array:
        """The local translations (F, J, 3): a joint's position channels if it has them, else its offset."""
        found = np.tile(self.offsets, (len(self.motion), 1, 1))
        for joint, (channels, columns) in enumerate(zip(self.channels, self.columns, strict=True)):
            for channel, column in zip(channels, columns, strict=True):
                if channel.endswith("position"):
                    found[:, joint, "XYZ".index(channel[0])] = self.motion[:, column]
        return found

    def rotations(self) -> Array:
        """The local rotations (F, J, 4): the product of the channels' rotations in the order of the file."""
        found = np.tile([1.0, 0.0, 0.0, 0.0], (len(self.motion), len(self.names), 1))
        for joint in range(len(self.names)):
            for axis, column in self.turns(joint):
                half = np.radians(self.motion[:, column]) / 2
                turn = np.zeros((len(half), 4))
                turn[:, 0], turn[:, 1 + axis] = np.cos(half), np.sin(half)
                found[:, joint] = ik2bone.multiply(found[:, joint], turn)
        return found

    def turns(self, joint: int) -> list[tuple[int, int]]:
        """The axis and column of each rotation channel of the joint, in the order of the file."""
        pairs = zip(self.channels[joint], self.columns[joint], strict=True)
        return [("XYZ".index(channel[0]), column) for channel, column in pairs if channel.endswith("rotation")]

    def moved(self, joint: int, offset: Array) -> Bvh:
        """The same motion with `offset` (F, 3) added to a joint's position channels."""
        motion = self.motion.copy()
        for channel, column in zip(self.channels[joint], self.columns[joint], strict=True):
            if channel.endswith("position"):
                motion[:, column] += offset[:, "XYZ".index(channel[0])]
        return replace(self, motion=motion)

    def turned(self, joint: int, rotations: Array) -> Bvh:
        """The same motion with a joint's rotation channels set to quaternions (F, 4)."""
        (first, second, third), columns = zip(*self.turns(joint), strict=True)
        matrix = ik2bone.aggregate([-1], np.zeros((1, 3)), rotations[:, None])[:, 0, :3, :3]
        # The angles of R = R_first(a) R_second(b) R_third(c), with sign 1 for the cyclic orders XYZ, YZX and ZXY.
        sign = 1.0 if (second - first) % 3 == 1 else -1.0
        angles = [
            np.arctan2(-sign * matrix[:, second, third], matrix[:, third, third]),
            np.arcsin(np.clip(sign * matrix[:, first, third], -1.0, 1.0)),
            np.arctan2(-sign * matrix[:, first, second], matrix[:, first, first]),
        ]
        motion = self.motion.copy()
        motion[:, columns] = np.degrees(np.unwrap(angles, axis=1)).T
        return replace(self, motion=motion)


def read(path: str | Path) -> Bvh:
    """Read a BVH file. Raises ValueError if the file is no BVH file or has too few or too many numbers."""
    hierarchy, found, motion = Path(path).read_text(errors="replace").partition("MOTION")
    if not (found and hierarchy.lstrip().startswith("HIERARCHY")):
        raise ValueError(f"{path}: expected a BVH file with HIERARCHY and MOTION")
    names, parents, offsets, channels = _read_hierarchy(hierarchy.split())
    ends = np.cumsum([len(each) for each in channels])
    columns = [list(range(end - len(each), end)) for each, end in zip(channels, ends, strict=True)]
    words = motion.split()
    frames, seconds, values = int(words[1]), float(words[4]), np.array(words[5:], float)
    if values.size != frames * ends[-1]:
        raise ValueError(f"{path}: expected {frames} frames of {ends[-1]} numbers, got {values.size} numbers")
    rows = values.reshape(frames, -1)
    return Bvh(hierarchy, names, parents, np.array(offsets), channels, columns, 1 / seconds, rows)


def _read_hierarchy(words: list[str]) -> tuple[list[str], list[int], list[list[float]], list[list[str]]]:
    """Names, parents, offsets and channels of all joints."""
    names: list[str] = []
    parents: list[int] = []
    offsets: list[list[float]] = []
    channels: list[list[str]] = []
    open_joints: list[int] = []
    for place, word in enumerate(words):
        if word in ("ROOT", "JOINT", "End"):
            parents.append(open_joints[-1] if open_joints else -1)
            names.append(f"{names[parents[-1]]} end" if word == "End" else words[place + 1])
            channels.append([])
        elif word == "{":
            open_joints.append(len(names) - 1)
        elif word == "}":
            open_joints.pop()
        elif word == "OFFSET":
            offsets.append([float(number) for number in words[place + 1 : place + 4]])
        elif word == "CHANNELS":
            channels[-1] = words[place + 2 : place + 2 + int(words[place + 1])]
    return names, parents, offsets, channels


def write(clip: Bvh, path: str | Path) -> None:
    """Write the clip as a BVH file, with the text of its hierarchy unchanged."""
    head = f"{clip.hierarchy}MOTION\nFrames: {len(clip.motion)}\nFrame Time: {1 / clip.fps:.9g}\n"
    rows = "\n".join(" ".join(f"{value:.6f}" for value in row) for row in clip.motion)
    Path(path).write_text(f"{head}{rows}\n")
