# SPDX-License-Identifier: MIT
"""Checks of the arguments that users pass. Each error names the argument, what was expected and what was passed."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .rotations import is_flat

# Unit vectors and the last rows of matrices may be off by this much, a little more than the rounding of single
# precision.
ROUNDING = 1e-5


def number(name: str, value: Any, expected: str = "a number") -> float:
    """Return `value` as a float. Raises TypeError or ValueError if it is not a finite number."""
    # Readers of films give frame rates as fractions.
    if isinstance(value, Fraction):
        value = float(value) if abs(value) <= np.finfo(float).max else np.inf
    values = as_array(name, value, expected)
    if values.ndim or values.dtype.kind not in "fiu":
        raise TypeError(f"{name}: expected {expected}, got {_kind(value)}")
    if not np.isfinite(value):
        raise ValueError(f"{name}: expected {expected}, got {value}")
    return float(value)


def kind(name: str, value: Any, kinds: Any, expected: str) -> None:
    """Raise TypeError if `value` is an instance of none of the types `kinds`."""
    if not isinstance(value, kinds):
        raise TypeError(f"{name}: expected {expected}, got {_kind(value)}")


def boolean(name: str, value: Any) -> None:
    """Raise TypeError if `value` is neither True nor False."""
    kind(name, value, bool | np.bool_, "True or False")


def whole(name: str, value: Any) -> None:
    """Raise TypeError if `value` is not a whole number. True and False are not whole numbers."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name}: expected a whole number, got {_kind(value)}")


def one_of(name: str, value: Any, words: Sequence[str]) -> None:
    """Raise TypeError or ValueError if `value` is none of some words."""
    kind(name, value, str, f"one of {', '.join(words)}")
    if value not in words:
        raise ValueError(f"{name}: expected one of {', '.join(words)}, got {value!r}")


def as_array(name: str, value: Any, expected: str) -> NDArray[Any]:
    """Return `value` as a numpy array of any type and shape. Raises ValueError for masked values and ragged rows."""
    if isinstance(value, np.ma.MaskedArray) and np.any(value.mask):
        raise ValueError(f"{name}: expected {expected}, got masked values")
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"{name}: expected {expected}, got rows of different lengths") from None


def array(name: str, value: ArrayLike, shape: tuple[int | str, ...]) -> NDArray[np.float64]:
    """Return `value` as a finite float64 array. Words in its `shape`, like "frames", are any number above zero."""
    values = as_array(name, value, f"shape {_written(shape)}")
    if values.dtype.kind not in "fiu":
        raise TypeError(f"{name}: expected numbers of shape {_written(shape)}, got {_kind(value)}")
    _refuse_shape(name, values, shape)
    values = np.asarray(values, np.float64)
    if not np.isfinite(values).all():
        wrong = ~np.isfinite(values)
        raise ValueError(f"{name}: expected finite numbers, got {values[wrong][0]}{_at(shape, wrong)}")
    return values


def positions(name: str, value: ArrayLike, shape: tuple[int | str, ...]) -> NDArray[np.float64]:
    """Return `value` as points as in `array`. Raises ValueError where squares of their distances may not be finite."""
    points = array(name, value, shape)
    with np.errstate(over="ignore"):
        far = ~np.isfinite(np.square(2.0 * points).sum(axis=-1))
    if far.any():
        most = np.abs(points[far][0]).max()
        raise ValueError(f"{name}: expected positions whose squares are finite, got {most:g}{_at(shape, far)}")
    return points


def mask(name: str, value: Any, shape: tuple[int | str, ...]) -> NDArray[np.bool_]:
    """Return `value` as a boolean array. Its `shape` is given as in `array`."""
    values = as_array(name, value, f"shape {_written(shape)}")
    if values.dtype != bool:
        raise TypeError(f"{name}: expected booleans of shape {_written(shape)}, got {_kind(value)}")
    _refuse_shape(name, values, shape)
    return values


def some(name: str, value: Any, count: int) -> NDArray[np.bool_]:
    """Return `value` as a mask (count,). Raises ValueError if no row is True."""
    values = mask(name, value, (count,))
    if not values.any():
        raise ValueError(f"{name}: expected one or more of {count}, got none")
    return values


def part(name: str, frames: Any, count: int) -> None:
    """Raise an error if `frames` is no slice or array of indices, or selects none of `count` frames."""
    kind(name, frames, slice | np.ndarray, "a slice")
    if not len(np.arange(count)[frames]):
        raise ValueError(f"{name}: expected one or more of {count} frames, got {frames}")


def matrices(name: str, value: ArrayLike, shape: tuple[int | str, ...]) -> NDArray[np.float64]:
    """Return invertible affine matrices (..., 4, 4) with column vectors. Their `shape` is given as in `array`."""
    values = array(name, value, shape)
    if np.abs(values[..., 3, :] - [0.0, 0.0, 0.0, 1.0]).max() > ROUNDING:
        raise ValueError(f"{name}: expected matrices with the translation in the last column, got another last row")
    flat = is_flat(values[..., :3, :3])
    if flat.any():
        raise ValueError(f"{name}: expected invertible matrices, got a singular one{_at(shape, flat)}")
    return values


def unit_vector(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Return `value` as a vector (3,) of exactly unit length."""
    vector = array(name, value, (3,))
    length = float(np.linalg.norm(vector))
    if abs(length - 1.0) > ROUNDING:
        raise ValueError(f"{name}: expected a unit vector, got {vector.tolist()} of length {length:.6g}")
    return vector / length


def directions(name: str, value: ArrayLike, count: int) -> NDArray[np.float64]:
    """Return `value` as unit vectors (count, 3). Vectors that are not known are zero."""
    vectors = array(name, value, (count, 3))
    lengths = np.linalg.norm(vectors, axis=-1)
    wrong = (lengths > 0.0) & (np.abs(lengths - 1.0) > ROUNDING)
    if wrong.any():
        raise ValueError(f"{name}: expected unit vectors or zero, got one of length {lengths[wrong][0]:.6g}")
    return vectors


def apart(name: str, points: NDArray[np.float64], others: NDArray[np.float64], what: str) -> None:
    """Raise ValueError where joints (F, L, 3) lie on their parents `others` (F, L, 3), which `what` names, or so near
    that the square of the distance is zero.
    """
    together = np.square(points - others).sum(axis=-1) == 0.0
    if together.any():
        place = _at(points.shape, together)
        raise ValueError(f"{name}: expected a bone with length, got the same place as {what}{place}")


def _refuse_shape(name: str, values: NDArray[Any], shape: tuple[int | str, ...]) -> None:
    fits = len(values.shape) == len(shape) and all(
        got > 0 if isinstance(wanted, str) else got == wanted for got, wanted in zip(values.shape, shape, strict=True)
    )
    if not fits:
        raise ValueError(f"{name}: expected shape {_written(shape)}, got {_written(values.shape)}")


def _written(shape: tuple[int | str, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"


def _at(shape: tuple[int | str, ...], wrong: NDArray[np.bool_]) -> str:
    """The place of the first wrong value, for messages. Arrays of three or more axes run over frames and legs."""
    first = np.argwhere(wrong)[0]
    return f" on frame {first[0]}, leg {first[1]}" if len(shape) >= 3 else ""


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    return repr(value) if value is None or isinstance(value, (bool, str)) else type(value).__name__
