"""`Cover`: the shortest beginnings of encodings that spell a text; `Healing`: how to go on behind a prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bytepair.call.ragged import Ragged

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from bytepair.call.options import Ids
    from bytepair.model.compiled import CompiledTokenizer


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """The sequences of ids that a text can begin with if it begins with another one.

    A sequence is `head`, then row ``i`` of `stems`, then one id of row ``i`` of `lasts`. Iterating yields them as lists
    of ints; ``len(cover)`` is their number, which needs no list. The cover of the empty text is one sequence of no ids.

    Attributes:
        head: The ids that all sequences begin with: uint32.
        stems: The ids behind them and before the last one.
        lasts: The last ids of each stem, ascending.
    """

    head: NDArray[np.uint32]
    stems: Ragged
    lasts: Ragged

    def __len__(self) -> int:
        return len(self.lasts.ids) or len(self.stems)

    def __iter__(self) -> Iterator[list[int]]:
        head = self.head.tolist()
        for stem, lasts in zip(self.stems, self.lasts, strict=True):
            before = head + stem.tolist()
            if not lasts.size:
                yield before
            for last in lasts.tolist():
                yield [*before, last]


@dataclass(frozen=True, slots=True, eq=False)
class Healing:
    """How to go on behind a prompt that was cut anywhere.

    Attributes:
        back: How many ids at the end of the prompt to take back.
        prefix: The bytes that they spell, with which the continuation begins.
        mask: The ids that can come next: uint32 words, as of `Tokenizer.next_mask`.
    """

    back: int
    prefix: bytes
    mask: NDArray[np.uint32]


def cover(tokenizer: CompiledTokenizer, text: str | bytes) -> Cover:
    """As `Tokenizer.cover`."""
    head, stems, lasts = tokenizer._cover(text)
    return Cover(head, Ragged(*stems), Ragged(*lasts))


def heal(tokenizer: CompiledTokenizer, ids: Ids) -> Healing:
    """As `Tokenizer.heal`."""
    return Healing(*tokenizer._heal(ids))
