"""How tokens cut the characters of a text, and where several tokenizers cut them otherwise."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Interval = tuple[int, int]
"""Characters of a text: the first, and the one behind the last."""

Cluster = tuple[int, int, tuple[int, ...]]
"""Characters that some tokens are from which share characters, and how these are cut."""


def clusters(ids: Sequence[int], places: Sequence[Interval], sizes: Mapping[int, int]) -> set[Cluster]:
    """How the characters of a text are cut: its tokens, those together that share characters.

    Of tokens that share characters it counts how many bytes each has: `sizes` by id. Those that are from no character
    cut nothing. Linear.
    """
    found: list[tuple[int, int, list[int]]] = []
    for id, (start, end) in zip(ids, places, strict=True):
        if start == end:
            continue
        if found and start < found[-1][1]:
            first, last, cut = found[-1]
            found[-1] = first, max(last, end), cut
        else:
            found.append((start, end, []))
        found[-1][2].extend((start, end, sizes[id]))
    # One token alone is cut nowhere, whatever its bytes are.
    return {(start, end, tuple(cut) if len(cut) > 3 else ()) for start, end, cut in found}


def differing(cuts: Sequence[set[Cluster]]) -> list[tuple[Interval, ...]]:
    """For each tokenizer where its cuts are not those of the first; for the first where any other's are not its own."""
    others = [_merged(cluster[:2] for cluster in cuts[0] ^ other) for other in cuts[1:]]
    return [_merged(chain.from_iterable(others)), *others]


def _merged(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """What these cover; those that share a character are one, and those that only touch are not."""
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return tuple(merged)
