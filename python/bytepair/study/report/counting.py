"""Counts of a tokenizer's ids in a corpus, and facts about each id as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair import _core
from bytepair.errors import BytepairError
from bytepair.model.token_spelling import unknown_id
from bytepair.study.report.measures import texts_of

if TYPE_CHECKING:
    from bytepair._core import EncodeStream
    from bytepair.study.report.reading import DecodedBatch, DecodedPart
    from bytepair.tokenizer import Tokenizer


class VocabularyArrays:
    """Facts about a tokenizer's ids, as arrays by id.

    Attributes:
        name: The name of the tokenizer.
        tokenizer: The tokenizer.
        size: One more than the highest id.
        counts: Whether text can become the id: all ids except special ones, the unknown token and holes.
        tokens: The bytes of each token in the vocabulary; the text of an added token.
        lengths: The number of bytes of text that each token represents.
        partial: Whether the token is one byte, a part of a character.
        unknown: The id of the unknown token; None for none.
    """

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        self.name, self.tokenizer = name, tokenizer
        spec = tokenizer.spec
        self.size = tokenizer.vocab_size
        self.tokens: dict[int, bytes] = dict(zip(spec.model.ids, spec.model.tokens, strict=True))
        self.lengths = np.zeros(self.size, np.int64)
        self.counts = np.zeros(self.size, np.bool_)
        self.partial = np.zeros(self.size, np.bool_)
        for id, text in zip(spec.model.ids, texts_of(spec.model.tokens, spec), strict=True):
            self.lengths[id] = len(text)
            self.partial[id] = len(text) == 1 and text[0] >= 0x80
        self.counts[list(self.tokens)] = True
        for added in spec.added_tokens:
            self.tokens[added.id] = added.content.encode()
            self.lengths[added.id] = len(self.tokens[added.id])
            self.counts[added.id] = not added.special
            self.partial[added.id] = False
        self.unknown = unknown_id(spec.model)
        if self.unknown is not None:
            self.counts[self.unknown] = False


class UseCounter:
    """Counts the uses of each id in a corpus.

    Attributes:
        ids: The count of each id.
    """

    def __init__(self, vocabulary: VocabularyArrays, options: dict[str, Any], threads: int | None) -> None:
        self._tokenizer = vocabulary.tokenizer
        self._options = options
        self._threads = threads
        self._stream: EncodeStream | None = None
        self.ids = np.zeros(vocabulary.size, np.int64)

    def add(self, batch: DecodedBatch) -> None:
        """Count the ids of some documents.

        Raises:
            BytepairError: As `encode_batch`, with the place in the corpus.
        """
        try:
            ids, _ = _core.encode_batch_flat(self._tokenizer, batch.texts, **self._options, threads=self._threads)
        except BytepairError as error:
            if error.row is not None:
                batch.blame(error, error.row)
            raise
        self._add(ids)

    def push(self, part: DecodedPart) -> None:
        """Count the ids of the next part of a document.

        Raises:
            BytepairError: As `encode_parts`, with the place in the corpus.
        """
        self._stream = self._stream or self._tokenizer.encode_stream(**self._options)
        try:
            self._add(self._stream.push(part.text))
            if part.ended:
                self._add(self._stream.finish())
                self._stream = None
        except BytepairError as error:
            part.blame(error)
            raise

    def _add(self, ids: Any) -> None:
        if len(ids):
            self.ids += np.bincount(ids, minlength=len(self.ids))
