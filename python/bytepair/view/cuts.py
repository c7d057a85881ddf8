"""The cuts of a text by tokens, and the intervals where tokenizers cut differently."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

Interval = tuple[int, int]
"""Characters of a text: start and end."""

_END = (1 << 32) - 1


class Cuts(NamedTuple):
    """The cuts of a text by one tokenizer. Tokens without characters cut nothing.

    Attributes:
        alone: The intervals of tokens that share no character, ascending, each as one number: its start in the upper
            32 bits, its end in the lower ones.
        shared: For each group of tokens that share characters its interval, such a number, and the start, end and
            size in bytes of each token. Parts of one character differ by their sizes alone.
    """

    alone: NDArray[np.int64]
    shared: set[tuple[int, tuple[int, ...]]]


def cuts(ids: Sequence[int], starts: Sequence[int], ends: Sequence[int], size: Callable[[int], int]) -> Cuts:
    """The cuts of a text by tokens from `starts` to `ends`, which never go backwards; `size` is in bytes. Linear.

    Example:
        >>> found = cuts([7, 8, 9], [0, 2, 2], [2, 3, 3], {8: 1, 9: 2}.get)
        >>> [(int(key) >> 32, int(key) & _END) for key in found.alone], found.shared
        ([(0, 2)], {(8589934595, (2, 3, 1, 2, 3, 2))})
    """
    start, end = np.array(starts, np.int64), np.array(ends, np.int64)
    tokens = np.flatnonzero(start < end)
    start, end = start[tokens], end[tokens]
    is_first = np.append(True, start[1:] >= end[:-1])[: len(start)]
    is_last = np.append(is_first[1:], True)[: len(start)]
    keys = start << 32 | end
    firsts, lasts = np.flatnonzero(is_first & ~is_last).tolist(), np.flatnonzero(is_last & ~is_first).tolist()
    shared = set()
    for first, last in zip(firsts, lasts, strict=True):
        members = tokens[first : last + 1].tolist()
        cut = tuple(number for token in members for number in (starts[token], ends[token], size(ids[token])))
        shared.add((starts[members[0]] << 32 | ends[members[-1]], cut))
    return Cuts(keys[is_first & is_last], shared)


def differing(found: Sequence[Cuts]) -> list[tuple[Interval, ...]]:
    """For each tokenizer the intervals cut differently from the first; for the first, from any other.

    Overlapping intervals are merged, touching ones are not.
    """
    others = [_differing(found[0], other) for other in found[1:]]
    return [_merged(np.concatenate(([], *others))), *map(_merged, others)]


def _differing(first: Cuts, other: Cuts) -> NDArray[np.int64]:
    alone = np.setxor1d(first.alone, other.alone, assume_unique=True)
    return np.append(alone, _keys(key for key, _ in first.shared ^ other.shared))


def _keys(keys: Iterable[int]) -> NDArray[np.int64]:
    return np.fromiter(keys, np.int64)


def _merged(keys: NDArray[np.int64]) -> tuple[Interval, ...]:
    if not len(keys):
        return ()
    keys = np.sort(keys.astype(np.int64))
    start, end = keys >> 32, np.maximum.accumulate(keys & _END)
    firsts = np.flatnonzero(np.append(True, start[1:] >= end[:-1]))
    lasts = np.append(firsts[1:], len(keys)) - 1
    return tuple(zip(start[firsts].tolist(), end[lasts].tolist(), strict=True))
