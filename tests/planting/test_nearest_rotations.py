# SPDX-License-Identifier: MIT
"""The rotations nearest to matrices, against their singular values."""

from __future__ import annotations

import numpy as np
import pytest
from ik2bone.rotations import matrix_from_vector, nearest_rotations

SEED = 20261122


def turns(count):
    return matrix_from_vector(np.random.default_rng(SEED).normal(0.0, 2.0, (count, 3)))


def nearest_by_singular_values(matrices):
    left, _, right = np.linalg.svd(matrices)
    return left @ right * np.sign(np.linalg.det(left @ right))[..., None, None]


def made_of(sizes, count=200):
    """Matrices with these singular values, turned at random on both sides."""
    both = turns(2 * count)
    return both[:count] @ np.diag(sizes) @ both[count:]


def assert_rotations(matrices):
    np.testing.assert_allclose(
        matrices @ np.swapaxes(matrices, -1, -2), np.broadcast_to(np.eye(3), matrices.shape), atol=1e-14
    )
    assert (np.linalg.det(matrices) > 0.0).all()


def test_rotations_stay_as_they_are():
    np.testing.assert_allclose(nearest_rotations(turns(200)), turns(200), atol=1e-15)


SIZES = {
    "nearly one": (1.3, 1.0, 0.9),
    "mirrored": (1.3, 1.0, -0.9),
    "all the same": (2.0, 2.0, 2.0),
    "long": (1e3, 1.0, 1.0),
    "thin": (1.0, 1.0, 1e-5),
    "nearly flat": (1.0, 0.8, 1e-12),
    "flat": (1.0, 0.8, 0.0),
    "tiny": (1e-90, 2e-90, 3e-90),
    "huge": (1e90, 2e90, 3e90),
}


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_the_nearest_rotation_is_that_of_the_singular_values(sizes):
    matrices = made_of(sizes)
    found = nearest_rotations(matrices)
    assert_rotations(found)
    np.testing.assert_allclose(found, nearest_by_singular_values(matrices), atol=1e-14)


def test_matrices_of_one_direction_turn_it_as_they_do():
    start, end = turns(50)[:, 0], turns(50)[:, 1]
    found = nearest_rotations(2.0 * end[:, :, None] * start[:, None, :])
    assert_rotations(found)
    turned = (found @ start[..., None])[..., 0]
    np.testing.assert_allclose(np.abs(np.sum(turned * end, axis=-1)), 1.0, atol=1e-14)


def test_nothing_at_all_is_no_turn():
    np.testing.assert_array_equal(nearest_rotations(np.zeros((2, 3, 3))), [np.eye(3)] * 2)


def test_a_flat_matrix_changes_no_other():
    matrices = made_of((1.3, 1.0, 0.9), 3)
    alone = nearest_rotations(matrices)
    matrices = np.concatenate([matrices, np.zeros((1, 3, 3))])
    np.testing.assert_allclose(nearest_rotations(matrices)[:3], alone, atol=1e-15)


def test_any_shape_of_stack_will_do():
    matrices = made_of((1.3, 1.0, 0.9), 6)
    alone = nearest_rotations(matrices)
    np.testing.assert_array_equal(nearest_rotations(matrices.reshape(3, 2, 3, 3)), alone.reshape(3, 2, 3, 3))
    np.testing.assert_allclose(nearest_rotations(matrices[0]), alone[0], atol=1e-15)
    assert nearest_rotations(np.zeros((0, 3, 3))).shape == (0, 3, 3)


def test_what_has_an_inverse_does_not_go_to_lapack(monkeypatch):
    """`numpy.linalg.svd` spread 3x3 matrices over threads: beside a busy machine plans took twice as long."""
    matrices = made_of((1.3, 1.0, 0.9))
    monkeypatch.setattr(np.linalg, "svd", None)
    assert_rotations(nearest_rotations(matrices))
