"""Where the tokens of many texts are, in bytes: one tokenizer, arrays, no object per token."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair import _core
from bytepair._core import normalize
from bytepair.model.cache import cached
from bytepair.model.meanings import SPACE, stands_for
from bytepair.model.models import BytePair
from bytepair.model.token_spelling import unknown_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bytepair.call.options import Added, Special
    from bytepair.tokenizer import Tokenizer

_FORMS = {"NFC", "NFD", "NFKC", "NFKD"}


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """The ids of some texts and their places, in bytes of each text.

    A token for a part of a character ends with its bytes where no stage changed the text, and has the place of the
    whole character elsewhere.

    Attributes:
        ids: The ids of all texts.
        offsets: The start of each text's ids, and the end of the last.
        covers: Whether the tokens of each text lie side by side, so that their lengths say where they are.
        lengths: The length of each token where they do; 0 for a space in front that the text does not have.
        places: The start and end of each token where they do not, starts ascending; no rows if all texts are covered.
    """

    ids: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    covers: NDArray[np.bool_]
    lengths: NDArray[np.uint32]
    places: NDArray[np.int64]

    @property
    def columns(self) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.uint32], NDArray[np.int64]]:
        """What the core takes to align them."""
        return self.offsets, self.covers, self.lengths, self.places

    def ends(self) -> NDArray[np.int64]:
        """Where the text of each token ends, in its text."""
        counts = np.diff(self.offsets)
        ends = np.cumsum(self.lengths, dtype=np.int64)
        ends -= np.repeat(np.append(0, ends)[self.offsets[:-1]], counts)
        if not self.covers.all():
            ends = np.where(np.repeat(self.covers, counts), ends, self.places[:, 1])
        return ends

    def all_places(self) -> NDArray[np.int64]:
        """Where the text of each token starts and ends, in its text."""
        ends = self.ends()
        starts = ends - self.lengths
        # What is in front of a text has the place of the token behind it.
        empty = np.flatnonzero((self.lengths == 0) & np.repeat(self.covers, np.diff(self.offsets)))
        ends[empty] = ends[empty + 1]
        places = np.stack((starts, ends), axis=1)
        if self.covers.all():
            return places
        return np.where(np.repeat(self.covers, np.diff(self.offsets))[:, None], places, self.places)


def place(
    tokenizer: Tokenizer, texts: Sequence[bytes], *, special: Special, added: Added, threads: int | None
) -> Placed:
    """Encode texts and place their ids.

    Tokens have the length of their bytes where the stages before the model kept the text, or only put marks for its
    spaces; elsewhere the tokenizer itself locates them.

    Args:
        tokenizer: The tokenizer.
        texts: The texts, in UTF-8.
        special: As `Tokenizer.encode` takes it.
        added: Likewise.
        threads: The most threads that encode.

    Raises:
        EncodeError: As `Tokenizer.encode_batch`, and so are the other errors.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"low": 5}, vocab_size=258)
        >>> found = place(tok, [b"a low", b"a"], special="raise", added="match", threads=1)
        >>> found.covers.tolist(), found.lengths.tolist(), found.ends().tolist()
        ([True, True], [1, 1, 3, 1], [1, 2, 5, 1])
    """
    ids, offsets = _core.encode_batch_flat(tokenizer, texts, special=special, added=added, threads=threads)
    known = cached(tokenizer, "lengths", _lengths)
    if known is None:
        lengths, covers = np.zeros(len(ids), np.uint32), np.zeros(len(texts), np.bool_)
    else:
        lengths = known.of[ids]
        covers = _covers(tokenizer, texts, offsets, lengths, known.added[ids] if known.has_prefix else None)
    rows = np.flatnonzero(~covers).tolist()
    places = np.zeros((len(ids) if rows else 0, 2), np.int64)
    for number in rows:
        found = _located(tokenizer, texts[number], special, added)
        # Marks that a normal form put in another order overlap; what they are part of starts with the first.
        found[:, 0] = np.minimum.accumulate(found[::-1, 0])[::-1]
        places[offsets[number] : offsets[number + 1]] = found
    return Placed(ids, offsets, covers, lengths, places)


@dataclass(frozen=True, slots=True, eq=False)
class _Lengths:
    """How many bytes of text each token stands for, where the stages before the model keep the text.

    No length is too large, but for the space in front of a text. So if they add up to a text's bytes, each is right.

    Attributes:
        of: The length of each id.
        added: Whether each id is an added token.
        has_prefix: Whether a space is put in front of each text and behind each added token.
    """

    of: NDArray[np.uint32]
    added: NDArray[np.bool_]
    has_prefix: bool


def _lengths(tokenizer: Tokenizer) -> _Lengths | None:
    spec = tokenizer.spec
    if spec.prefix_space or spec.pre_tokenizers:
        return None
    if spec.is_byte_level:
        if not set(spec.normalizers) <= _FORMS:
            return None
        has_prefix = False
    else:
        if not isinstance(spec.model, BytePair) or spec.model.alphabet is None:
            return None
        named = spec.model.alphabet
        steps = [json.loads(step) if step.startswith("{") else {} for step in spec.normalizers]
        prefix = {"type": "Prepend", "prepend": SPACE}
        spaces = {"type": "Replace", "content": SPACE, "pattern": {"String": " "}}
        if steps not in ([spaces], [prefix, spaces]) or named.continuing_subword_prefix or named.end_of_word_suffix:
            return None
        has_prefix = prefix in steps
    of, added = np.zeros(tokenizer.vocab_size, np.uint32), np.zeros(tokenizer.vocab_size, np.bool_)
    for id, token in stands_for(spec).items():
        of[id] = len(token)
    # What an unknown token stands for depends on the text.
    unknown = unknown_id(spec.model)
    if unknown is not None:
        of[unknown] = 0
    for one in spec.added_tokens:
        of[one.id], added[one.id] = len(one.content.encode()), True
    return _Lengths(of, added, has_prefix)


def _covers(
    tokenizer: Tokenizer,
    texts: Sequence[bytes],
    offsets: NDArray[np.int64],
    lengths: NDArray[np.uint32],
    added: NDArray[np.bool_] | None,
) -> NDArray[np.bool_]:
    """Whether the lengths of each text's tokens are right.

    If which are `added` tokens is given, there is a space in front of each text: it is taken off the first length.
    """
    covers = np.ones(len(texts), np.bool_)
    if added is not None:
        first = offsets[:-1][np.diff(offsets) > 0]
        lengths[first] -= lengths[first] > 0
        covers &= _sums(added, offsets) == 0
    covers &= _sums(lengths, offsets) == np.fromiter(map(len, texts), np.int64, len(texts))
    if tokenizer.spec.is_byte_level and tokenizer.spec.normalizers:
        covers &= np.fromiter((_is_kept(tokenizer, text) for text in texts), np.bool_, len(texts))
    return covers


def _sums(values: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum of each text's values."""
    if len(offsets) == 2:
        return np.array([values.sum(dtype=np.int64)])
    sums: NDArray[np.int64] = np.diff(np.append(0, np.cumsum(values, dtype=np.int64))[offsets])
    return sums


def _is_kept(tokenizer: Tokenizer, text: bytes) -> bool:
    if text.isascii():
        return True
    whole = text.decode()
    return normalize(tokenizer.spec.normalizers, whole) == whole


def _located(tokenizer: Tokenizer, text: bytes, special: Special, added: Added) -> NDArray[np.int64]:
    """The start and end of each id in a text, in bytes."""
    whole = text.decode()
    # A token with `single_word` that is rejected inside a word can hide others, which are found without it.
    hides = any(token.single_word for token in tokenizer.spec.added_tokens)
    if hides or _core.find_added(tokenizer, whole):
        places: list[Any] = _core.locate(tokenizer, text, special=special, added=added)[1]
        return np.array(places, np.int64).reshape(-1, 2)
    # Without added tokens the options have no effect, and this makes no object per id.
    found = _core.locate_trusted(tokenizer, whole, [])[1].reshape(-1, 2).astype(np.int64)
    if len(text) == len(whole):
        return found
    data = np.frombuffer(text, np.uint8)
    characters = np.append(np.flatnonzero((data & 0xC0) != 0x80), len(text))
    return characters[found]
