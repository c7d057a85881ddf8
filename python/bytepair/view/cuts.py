"""The cuts of a text by tokens, and the intervals where tokenizers cut differently."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Interval = tuple[int, int]
"""Characters of a text: start and end."""

Cluster = tuple[int, int, tuple[int, ...]]
"""The interval of tokens that share characters, and their cuts."""


def clusters(ids: Sequence[int], places: Sequence[Interval], sizes: Mapping[int, int]) -> set[Cluster]:
    """The cuts of a text: its tokens, grouped if they share characters.

    Tokens that share characters also differ by their sizes in bytes: `sizes` by id. Tokens without characters cut
    nothing. Linear.
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
    # A token alone has no cut inside, whatever its bytes are.
    return {(start, end, tuple(cut) if len(cut) > 3 else ()) for start, end, cut in found}


def differing(cuts: Sequence[set[Cluster]]) -> list[tuple[Interval, ...]]:
    """For each tokenizer the intervals cut differently from the first; for the first, from any other."""
    others = [_merged(cluster[:2] for cluster in cuts[0] ^ other) for other in cuts[1:]]
    return [_merged(chain.from_iterable(others)), *others]


def _merged(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """The union of intervals; overlapping ones are merged, touching ones are not."""
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return tuple(merged)
