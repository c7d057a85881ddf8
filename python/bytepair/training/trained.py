"""The result of a training: its tokenizer, merges and statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bytepair.training.learning import with_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair.tokenizer import Tokenizer
    from bytepair.training.learning import Learned, Merge


@dataclass(frozen=True, slots=True)
class Statistics:
    """Numbers of a training.

    Attributes:
        rows: Rows of the counts table: distinct pieces, where there is one group of sources.
        pieces: Pieces of the text. With weights, `pieces`, `text_bytes` and `tokens` are in units of one over the
            common denominator of the weights.
        text_bytes: Bytes of the text.
        tokens: Tokens of the text under the new vocabulary.
        spilled: The number of sorted runs that went to disk because memory was short, and their bytes.
        peak_memory: Peak memory of the process, in bytes; None where the system does not report it.
    """

    rows: int
    pieces: int
    text_bytes: int
    tokens: int
    spilled: tuple[int, int]
    peak_memory: int | None

    @property
    def bytes_per_token(self) -> float:
        """Bytes of text for each token."""
        return self.text_bytes / max(self.tokens, 1)

    @property
    def tokens_per_piece(self) -> float:
        """Tokens for each piece, such as a word."""
        return self.tokens / max(self.pieces, 1)


class Trained:
    """A tokenizer, its merges with their counts, and the statistics of its training.

    Attributes:
        tokenizer: The tokenizer.
        statistics: The statistics.
        chosen_for: By parity, the group that each merge was chosen for, None for all together; else empty.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        statistics: Statistics,
        symbols: Sequence[bytes],
        learned: Sequence[Learned],
        chosen_for: Sequence[str | None] = (),
    ) -> None:
        self.tokenizer = tokenizer
        self.statistics = statistics
        self.chosen_for = list(chosen_for)
        self._symbols = symbols
        self._learned = learned

    @property
    def merges(self) -> list[Merge]:
        """The merges in order, each with the number of adjacent pairs when it was chosen."""
        return with_bytes(self._symbols, self._learned)
