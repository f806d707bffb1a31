# SPDX-License-Identifier: MIT
"""Numbers from objects that the core cannot read where they lie."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # where all arguments lend memory, the solver works without numpy
    from numpy.typing import NDArray


def numbers_of(given: Any, lends: bool) -> NDArray[Any] | tuple[type[Exception], str]:
    """The numbers of an object as float64, by numpy; or the kind of error, and what came instead of numbers.

    `lends` tells whether the object has a buffer; float32 in the other byte order stays float32. Refused are None,
    which numpy would read as NaN, and text and bytes, which it would parse.
    """
    if given is None or isinstance(given, str) or (lends and _holds_bytes(given)):
        return TypeError, type(given).__name__
    import numpy as np

    try:
        found = np.asarray(given)
    except ValueError:
        # A buffer in a format that numpy does not know, or lists of different lengths.
        return (TypeError, type(given).__name__) if lends else (ValueError, "a ragged sequence")
    kind = found.dtype.kind
    if kind in "fiub":
        return np.asarray(found, np.float32 if lends and kind == "f" and found.itemsize == 4 else np.float64)
    if kind == "O" and all(map(_is_number, found.flat)):
        with suppress(TypeError, ValueError, OverflowError):
            return np.asarray(found, np.float64)
    of = f" of {found.dtype}" if found.ndim or found is given else ""
    return TypeError, type(given).__name__ + of


def _holds_bytes(given: Any) -> bool:
    """Whether an object is bytes, or a view of bytes that was not cast to numbers; a released view holds nothing."""
    with suppress(ValueError):
        given = given.obj if isinstance(given, memoryview) and given.format == "B" else given
    return isinstance(given, bytes | bytearray)


def _is_number(given: Any) -> bool:
    return hasattr(given, "__float__") or hasattr(given, "__index__")
