"""The ends of tokens in their texts, as arrays: one tokenizer, many documents, no object per token."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.alignment.places import place
from bytepair.errors import BytepairError
from bytepair.study.explain.stages import StagesBeforeModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bytepair.sources.utf8 import Utf8Batch
    from bytepair.tokenizer import Tokenizer


class JoinedTexts:
    """The documents of a batch joined, with a separator byte after each.

    So each place belongs to one document only, the end of a document and an empty document included.

    Attributes:
        data: All bytes.
        starts: The start of each document.
        sizes: The bytes of each document.
        ends: The end of each document's separator.

    Example:
        >>> lines = JoinedTexts([b"low", b"", b"e"])
        >>> lines.starts.tolist(), lines.ends.tolist(), lines.document(np.array([3, 4, 5])).tolist()
        ([0, 4, 5], [4, 5, 7], [0, 0, 1])
    """

    def __init__(self, texts: list[bytes]) -> None:
        self.bytes = b"\n".join([*texts, b""])
        self.data = np.frombuffer(self.bytes, np.uint8)
        self.sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        self.ends = np.cumsum(self.sizes + 1)
        self.starts = self.ends - self.sizes - 1
        self._cut = np.append((self.data & 0xC0) == 0x80, False)

    def document(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the documents that these ends lie in."""
        return np.searchsorted(self.ends, places, "left")

    def complete(self, places: NDArray[np.int64]) -> None:
        """Move places within a character to its end, in place."""
        for _ in range(3):
            places += self._cut[places]


@dataclass(frozen=True, slots=True, eq=False)
class EncodedBatch:
    """The ids of a batch.

    Attributes:
        ids: The ids of all documents.
        offsets: The start of each document's ids, and the end of the last.
        ends: The end of each id's characters in `JoinedTexts`, in bytes, ascending.
    """

    ids: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    ends: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of ids of each document."""
        return np.diff(self.offsets)

    def within(self, number: int, start: int, end: int, *, is_last: bool) -> list[int]:
        """The ids of a document that end between two places; the last passage also has those at its very end."""
        ends = self.ends[self.offsets[number] : self.offsets[number + 1]]
        low, high = np.searchsorted(ends, (start, end), "right")
        first, last = self.offsets[number] + low, self.offsets[number] + (len(ends) if is_last else high)
        ids: list[int] = self.ids[first:last].tolist()
        return ids


class Locator:
    """Encodes batches and locates the ends of tokens.

    Args:
        tokenizer: The tokenizer.
        meant: The bytes that its tokens represent (`stands_for`).
        options: ``special`` and ``added``, as `Tokenizer.encode` takes them.
        threads: The most threads that encode.
    """

    def __init__(
        self, tokenizer: Tokenizer, meant: dict[int, bytes], options: dict[str, Any], threads: int | None
    ) -> None:
        self.tokenizer, self.meant, self.options, self._threads = tokenizer, meant, options, threads

    @cached_property
    def stages(self) -> StagesBeforeModel:
        """The tokenizer's stages before its model."""
        return StagesBeforeModel(self.tokenizer.spec)

    def encode(self, batch: Utf8Batch, lines: JoinedTexts) -> EncodedBatch:
        """Encode a batch.

        Raises:
            EncodeError: As `Tokenizer.encode`, and so are the other errors; with the place of the document.
        """
        options = {"special": "raise", "added": "match"} | self.options
        try:
            found = place(self.tokenizer, batch.texts, **options, threads=self._threads, joins=False)
        except BytepairError as error:
            if error.row is not None:
                batch.blame(error, error.row)
            raise
        # An empty token, such as a prefix space, belongs to the next character.
        ends = np.maximum(found.ends(), 1) + np.repeat(lines.starts, np.diff(found.offsets))
        lines.complete(ends)
        return EncodedBatch(found.ids, found.offsets, ends)
