"""Rows of different lengths in one flat array: texts of a buffer, and choosing rows in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_PART = 1 << 20
_SHORT = 48
"""Rows shorter than this are moved item by item rather than row by row."""


@dataclass(frozen=True, slots=True, eq=False)
class FlatTexts:
    """Texts in one buffer, without an object for each. Whether they are UTF-8 has not been checked.

    Attributes:
        data: The bytes of all texts, and possibly other bytes around them: uint8.
        offsets: One more than there are texts, never falling, within `data`: text i is
            ``data[offsets[i]:offsets[i + 1] - gap]``. The first offset need not be 0.
        gap: How many bytes follow each text and belong to none, such as a delimiter.

    Example:
        >>> FlatTexts(np.frombuffer(b"lowlower", np.uint8), np.array([0, 3, 8])).to_list()
        [b'low', b'lower']
        >>> FlatTexts(np.frombuffer(b"low, lower, ", np.uint8), np.array([0, 5, 12]), gap=2).lengths.tolist()
        [3, 5]
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    gap: int = 0

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> FlatTexts:
        """Copies texts into one buffer.

        Example:
            >>> FlatTexts.of([b"low", b"lower"]).offsets.tolist()
            [0, 3, 8]
        """
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        return cls(np.frombuffer(b"".join(texts), np.uint8), offsets_of(lengths))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> bytes:
        """One text, by its number from 0."""
        start, end = self.offsets[row : row + 2].tolist()
        return self.data[start : end - self.gap].tobytes()

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The bytes of each text."""
        return self.offsets[1:] - self.offsets[:-1] - self.gap

    def where(self, rows: NDArray[np.bool_]) -> FlatTexts:
        """The texts for which `rows` is true, in their order.

        Example:
            >>> FlatTexts.of([b"a", b"bc", b"d"]).where(np.array([True, False, True])).to_list()
            [b'a', b'd']
        """
        return self if rows.all() else FlatTexts(*where(self.data, self.offsets, rows), self.gap)

    def to_list(self) -> list[bytes]:
        """The texts as objects."""
        data = self.data.data
        return [bytes(data[start : end - self.gap]) for start, end in pairwise(self.offsets.tolist())]


def offsets_of(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The offsets, from 0, of rows with these lengths: one more than there are rows.

    Example:
        >>> offsets_of(np.array([2, 3])).tolist()
        [0, 2, 5]
    """
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def where(
    data: NDArray[Any], offsets: NDArray[np.int64], rows: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The rows for which `rows` is true, in their order; the same arrays if that is all of them and they start at 0.

    Args:
        data: The items of all rows, flat, and possibly others around them.
        offsets: Row i is ``data[offsets[i]:offsets[i + 1]]``.
        rows: Which rows to keep, shape ``(rows,)``.

    Complexity:
        Linear in the length of the data, one byte of memory for each item.

    Example:
        >>> where(np.array([5, 6, 7, 8]), np.array([0, 2, 3, 4]), np.array([True, False, True]))
        (array([5, 6, 8]), array([0, 2, 3]))
    """
    if offsets[0] == 0 and offsets[-1] == len(data) and rows.all():
        return data, offsets
    lengths = np.diff(offsets)
    return data[offsets[0] : offsets[-1]][np.repeat(rows, lengths)], offsets_of(lengths[rows])


def taken(
    data: NDArray[Any], starts: NDArray[np.integer[Any]], lengths: NDArray[np.integer[Any]]
) -> Iterator[NDArray[Any]]:
    """Rows in any order, about a million items at a time, or one row.

    Args:
        data: The items of all rows, flat.
        starts: Where each wanted row begins.
        lengths: How many items each wanted row has.

    Complexity:
        Linear in the items returned. Memory is 16 bytes for each item of a part, besides the part.

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
