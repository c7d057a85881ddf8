"""A batch of texts -> ids, offsets and words of all at once, with numpy; ``offsets`` has those of one text as lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair import _core
from bytepair.call.post_processors import spaces
from bytepair.call.spelling import spell_tokens
from bytepair.model.cache import cached

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bytepair.call.post_processing import PostProcessor
    from bytepair.model.compiled import CompiledTokenizer

_UNKNOWN = -1


class BatchOffsets:
    """The ids of texts, one text after the other, and the source of each id.

    Args:
        tok: The tokenizer.
        texts: The texts.
        reading: The options ``special``, ``added``, ``errors`` and ``threads`` of `Tokenizer.encode_batch`.

    Attributes:
        ids: The ids, uint32.
        bounds: The start of each text in `ids`, and the end of the last one, int64.
        offsets: The start and end of each id in its text, int64 of two columns: characters, or bytes of ``bytes``.
        first_offsets: Those of an id at the start of a row, where trimming makes them others; else None.
        words: The number of the word of each id in its text, uint32.
        surfaces: The tokens that the vocabulary spells differently, by their place in `ids`.

    Raises:
        BytepairError: As `Tokenizer.encode_batch`.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"low": 5}, vocab_size=258, split="gpt2")
        >>> reading = {"special": "raise", "added": "match", "errors": "strict", "threads": None}
        >>> found = BatchOffsets(tok, ["low low", "slow"], reading)
        >>> found.ids.tolist(), found.bounds.tolist(), found.words.tolist()
        ([257, 32, 257, 115, 257], [0, 3, 5], [0, 1, 1, 0, 0])
        >>> found.offset_list(3, 5), found.word_list(0, 3), found.token_list(0, 3)
        ([(0, 1), (1, 4)], [0, 1, 1], ['low', 'Ġ', 'low'])
    """

    def __init__(self, tok: CompiledTokenizer, texts: Sequence[str | bytes], reading: dict[str, Any]) -> None:
        self.ids, self.bounds, flat, self.words, self.surfaces = _core.locate_batch(tok, texts, **reading)
        self.offsets = flat.reshape(-1, 2)
        self.first_offsets: NDArray[np.int64] | None = None
        self._tok = tok

    def trim(self, processor: PostProcessor) -> None:
        """Takes white space at the ends of tokens out of their offsets, as a post-processor that does so first."""
        for _, add_prefix_space in processor.trims:
            leading, trailing = self._blanks().T
            first_offsets = _trimmed(self.offsets, np.where(leading == 1, 0, leading), trailing)
            self.offsets = _trimmed(self.offsets, leading, trailing)
            if add_prefix_space:
                # A single space at the front may be the prefix space, which is no character of the text.
                self.offsets = np.where((first_offsets[:, :1] == 0), first_offsets, self.offsets)
                self.first_offsets = first_offsets

    def _blanks(self) -> NDArray[np.int64]:
        """The numbers of white-space characters at the two ends of each id's token."""
        known = cached(self._tok, "blanks", lambda tok: np.full((tok.vocab_size, 2), _UNKNOWN))
        new = np.unique(self.ids[known[self.ids, 0] == _UNKNOWN]).tolist()
        if new:
            known[new] = [spaces(token) for token in spell_tokens(self._tok, new)]
        blanks: NDArray[np.int64] = known[self.ids]
        for place, surface in self.surfaces.items():
            blanks[place] = spaces(surface)
        return blanks

    def offset_list(self, start: int, end: int) -> list[tuple[int, int]]:
        """The offsets of the ids from `start` to `end`, which start a row."""
        found = _core.place_lists(self.offsets[start:end].reshape(-1), np.array([0, end - start]))[0]
        if found and self.first_offsets is not None:
            first, last = self.first_offsets[start].tolist()
            found[0] = first, last
        return found

    def word_list(self, start: int, end: int) -> list[int]:
        """The numbers of the words of these ids, as `Encoding.word_ids`."""
        found: list[int] = self.words[start:end].tolist()
        return found

    def text_list(self, start: int, end: int, first: int) -> list[int]:
        """The numbers of the texts of these ids, counted from `first`: of words that are encoded alone."""
        found: list[int] = (np.searchsorted(self.bounds, np.arange(start, end), "right") - (1 + first)).tolist()
        return found

    def token_list(self, start: int, end: int) -> list[str]:
        """The tokens of these ids, as `Encoding.tokens`."""
        found = spell_tokens(self._tok, self.ids[start:end].tolist())
        if self.surfaces:
            found = [self.surfaces.get(place, token) for place, token in enumerate(found, start)]
        return found


def _trimmed(offsets: NDArray[np.int64], leading: NDArray[np.int64], trailing: NDArray[np.int64]) -> NDArray[np.int64]:
    start, end = offsets.T
    start = np.where(leading > 0, np.minimum(start + leading, end), start)
    end = np.where((trailing > 0) & (end >= trailing), np.maximum(end - trailing, start), end)
    return np.stack((start, end), axis=1)
