"""Rows of different lengths in one flat array: some of them, in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def where(data: NDArray[Any], offsets: NDArray[np.int64], rows: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The rows for which `rows` is true, in their order; the same arrays if that is all of them and they start at 0.

    Args:
        data: What all rows hold, flat, and possibly more around them.
        offsets: Row i is ``data[offsets[i]:offsets[i + 1]]``.
        rows: Which rows to keep, shape ``(rows,)``.

    Complexity:
        Linear in the length of the data, a byte of memory for each item.

    Example:
        >>> where(np.array([5, 6, 7, 8]), np.array([0, 2, 3, 4]), np.array([True, False, True]))
        (array([5, 6, 8]), array([0, 2, 3]))
    """
    if offsets[0] == 0 and offsets[-1] == len(data) and rows.all():
        return data, offsets
    lengths = np.diff(offsets)
    kept = np.zeros(int(rows.sum()) + 1, np.int64)
    np.cumsum(lengths[rows], out=kept[1:])
    return data[offsets[0] : offsets[-1]][np.repeat(rows, lengths)], kept
