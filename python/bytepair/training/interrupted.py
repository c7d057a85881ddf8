"""The error of a training that Ctrl-C ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from bytepair.tokenizer import Tokenizer


class TrainingInterrupted(KeyboardInterrupt):
    """Ctrl-C while merges were learned; the merges learned before it are kept.

    Attributes:
        merges: The number of merges.
    """

    def __init__(self, merges: int, build: Callable[[], Tokenizer]) -> None:
        super().__init__(f"training was interrupted after {merges} merges")
        self.merges = merges
        self._build = build

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the merges so far, as training with that many merges makes it."""
        return self._build()
