"""Rows of different lengths in one flat array: some of them, in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_PART = 1 << 20
_SHORT = 48
"""Rows that are shorter are rather moved item by item than one by one."""


def where(
    data: NDArray[Any], offsets: NDArray[np.int64], rows: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
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


def taken(
    data: NDArray[Any], starts: NDArray[np.integer[Any]], lengths: NDArray[np.integer[Any]]
) -> Iterator[NDArray[Any]]:
    """Some rows in the order that is asked for, about a million items at a time, or one row.

    Args:
        data: What all rows hold, flat.
        starts: Where each row begins.
        lengths: How many items each one has.

    Complexity:
        Linear in what is given. Memory is 16 bytes for each item of a part, besides it.

    Example:
        >>> list(taken(np.array([5, 6, 7, 8]), np.array([3, 0]), np.array([1, 2])))
        [array([8, 5, 6])]
    """
    ends = np.cumsum(lengths, dtype=np.int64)
    first = 0
    while first < len(ends):
        before = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, before + _PART, "right")), first + 1)
        count = int(ends[last - 1]) - before
        begins, sizes = starts[first:last], lengths[first:last]
        if count < (last - first) * _SHORT:
            index = np.repeat(begins - (ends[first:last] - sizes - before), sizes)
            index += np.arange(count)
            yield data[index]
        else:
            yield np.concatenate(
                [data[begin : begin + size] for begin, size in zip(begins.tolist(), sizes.tolist(), strict=False)]
            )
        first = last
