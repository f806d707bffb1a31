# SPDX-License-Identifier: MIT
"""The builds for SSE2, AVX2 and AVX-512 give the same digits; a processor without them runs the next lesser one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
DIGEST = """
import hashlib, sys
sys.path.append(sys.argv[1])
import ik2bone, limbs, numpy as np
rng = np.random.default_rng(3)
ROWS = 200
digest = hashlib.sha256()
for dtype in (np.float32, np.float64):
    for kind in limbs.ANCESTORS:
        pose = limbs.poses(rng, ROWS, kind)
        target = limbs.pose_targets(rng, pose, (0.0, 1.3))
        target[::17] = pose.end[::17]
        target[5::23] = pose.root[5::23, :3, 3]
        pose, target = pose.astype(dtype), target.astype(dtype)
        number = lambda low, high: rng.uniform(low, high, ROWS).astype(dtype)
        vector = lambda: rng.normal(size=(ROWS, 3)).astype(dtype)
        every = dict(pole=vector(), pole_weight=number(0, 1), twist=number(-9, 9), hinge=vector())
        every |= dict(soften=number(0.5, 1), weight=number(0, 1), min_angle=number(0, 1), max_angle=number(1, 3.2))
        every |= dict(cone_axis=vector(), cone_angle=number(0, 2))
        goal = limbs.affine(rng.normal(size=(ROWS, 3, 3)), np.zeros((ROWS, 3)))
        whole = every | dict(end_matrix=pose.end_matrix, end_goal=goal, roll="hinge")
        points = pose.root[:, :3, 3], pose.mid[:, :3, 3], pose.end
        joints = pose.root, pose.mid, pose.end
        for options, more in (({}, {}), ({"bend": "nearest"}, {}), (every, whole)):
            solved = ik2bone.solve(*points, target, **options)
            turned = ik2bone.solve_pose(*joints, target, **more)
            turns = ik2bone.orient(*joints, solved.mid, solved.end, hinge=vector(), roll="hinge")
            for array in (*solved, *turned, *turns):
                digest.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
        digest.update(ik2bone.pole_of(*points).tobytes())
        digest.update(ik2bone.hinge_of(pose.root, pose.mid, pose.end).tobytes())
print(digest.hexdigest())
"""


def digest_of(vectors: str | None) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "IK2BONE_VECTORS"}
    if vectors:
        environment["IK2BONE_VECTORS"] = vectors
    command = [sys.executable, "-c", DIGEST, str(TESTS)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("vectors", ["sse2", "avx2"])
def test_every_build_gives_the_digits_of_the_best(vectors):
    assert digest_of(vectors) == digest_of(None)
