"""Passages: the texts between shared token boundaries, and their tokens in both tokenizers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bytepair.study.compare.places import EncodedBatch, JoinedTexts

_WINDOW = 1 << 20
"""Bytes that are cut at a time, if they hold a shared boundary."""


@dataclass(frozen=True, slots=True, eq=False)
class Passages:
    """Some passages, in order.

    Attributes:
        starts: The start of each in `JoinedTexts`.
        ends: The end of each; the last of a document includes the byte after it, and may hold nothing else.
        tokens_a: The tokens of the first that end in it.
        tokens_b: The tokens of the second that end in it.
        differs: Whether the two differ in boundaries or in the number of tokens.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    tokens_a: NDArray[np.int64]
    tokens_b: NDArray[np.int64]
    differs: NDArray[np.bool_]


def passages(lines: JoinedTexts, a: EncodedBatch, b: EncodedBatch) -> Iterator[Passages]:
    """Cut a batch into passages. Ends of documents are shared boundaries.

    Complexity:
        Linear in bytes and tokens; memory for a window, and for the longest passage.

    Example:
        >>> import bytepair as bp
        >>> from bytepair.sources.inputs import Given
        >>> from bytepair.sources.utf8 import Utf8Batch
        >>> from bytepair.study.compare.places import JoinedTexts, Locator
        >>> from bytepair.model.meanings import stands_for
        >>> batch = Utf8Batch([b"slow lower"], 0, Given([b"slow lower"], "texts"), [0])
        >>> lines, found = JoinedTexts(batch.texts), []
        >>> for size in (258, 259):
        ...     tok = bp.train({"low": 5, "lower": 2}, vocab_size=size, split="gpt2")
        ...     found.append(Locator(tok, stands_for(tok.spec), {}, 1).encode(batch, lines))
        >>> [(one.ends.tolist(), one.tokens_a.tolist(), one.tokens_b.tolist()) for one in passages(lines, *found)]
        [([1, 4, 5, 8, 10, 11], [1, 1, 1, 1, 2, 0], [1, 1, 1, 1, 1, 0])]
    """
    low, size, whole = 0, _WINDOW, len(lines.data)
    while low < whole:
        high = min(low + size, whole)
        within = [places[_after(places, low) : _after(places, high)] - low for places in (a.ends, b.ends, lines.ends)]
        marks = [np.zeros(high - low + 1, np.bool_) for _ in within]
        for mark, places in zip(marks, within, strict=True):
            mark[places] = True
        ends = np.flatnonzero((marks[0] & marks[1]) | marks[2])
        if not len(ends):
            size *= 2
            continue
        unlike = np.flatnonzero(marks[0] ^ marks[1])
        mine, theirs, other = (
            np.diff(np.searchsorted(places, ends, "right"), prepend=0) for places in (*within[:2], unlike)
        )
        starts = np.concatenate(([0], ends[:-1]))
        yield Passages(starts + low, ends + low, mine, theirs, (mine != theirs) | (other > 0))
        low, size = low + int(ends[-1]), _WINDOW


def _after(places: NDArray[np.int64], place: int) -> int:
    return int(np.searchsorted(places, place, "right"))
