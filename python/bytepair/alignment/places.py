"""Where the tokens of many texts are, in bytes: one tokenizer, arrays, no object per token."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from bytepair import _core
from bytepair.errors import BytepairError
from bytepair.model.cache import cached
from bytepair.model.meanings import SPACE, stands_for, unknown_of
from bytepair.model.models import BytePair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bytepair.call.options import Added, Special
    from bytepair.tokenizer import Tokenizer

_FORMS = {"NFC", "NFD", "NFKC", "NFKD"}

Prefix: TypeAlias = Literal["always", "unless there", "never"]

# The greatest share of a text that is located alone: it is encoded twice.
_MOST_CHANGED = 0.1

# The length of a token that stands for other text wherever it is, or is as long or longer, as the core has it.
_UNKNOWN = np.iinfo(np.uint8).max


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """The ids of some texts and their places, in bytes of each text.

    A token for a part of a character ends with its bytes where no stage changed the text around it, and has the place
    of the whole character elsewhere. What a normal form joined to a character is of the character's token.

    Attributes:
        ids: The ids of all texts.
        offsets: The start of each text's ids, and the end of the last.
        covers: Whether the tokens of each text lie side by side, so that their lengths say where they are.
        lengths: The length of each token where they do; 0 for one that has the place of that behind it, such as a space
            in front that the text does not have.
        places: The start and end of each token where they do not, starts ascending; no rows if all texts are covered.
    """

    ids: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    covers: NDArray[np.bool_]
    lengths: NDArray[np.uint8]
    places: NDArray[np.int64]

    @property
    def columns(self) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.uint8], NDArray[np.int64]]:
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
        covered = np.repeat(self.covers, np.diff(self.offsets))
        empty = np.flatnonzero((self.lengths == 0) & covered)
        if len(empty):
            others = np.append(np.flatnonzero((self.lengths > 0) | ~covered), len(ends) - 1)
            ends[empty] = ends[others[np.searchsorted(others, empty)]]
        places = np.stack((starts, ends), axis=1)
        if self.covers.all():
            return places
        return np.where(covered[:, None], places, self.places)


def place(
    tokenizer: Tokenizer,
    texts: Sequence[bytes],
    *,
    special: Special,
    added: Added,
    threads: int | None,
    joins: bool = True,
) -> Placed:
    """Encode texts and place their ids.

    Tokens have the length of their bytes where the stages before the model kept the text, or only put marks for its
    spaces; elsewhere the tokenizer itself locates them: in the parts that normal forms change, if these are few.

    Args:
        tokenizer: The tokenizer.
        texts: The texts, in UTF-8.
        special: As `Tokenizer.encode` takes it.
        added: Likewise.
        threads: The most threads that encode.
        joins: Whether what a normal form joined to a character is of its token. If not, the character has the place of
            its first part, as in `Tokenizer.offsets`.

    Raises:
        EncodeError: As `Tokenizer.encode_batch`, and so are the other errors.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"low": 5}, vocab_size=258)
        >>> found = place(tok, [b"a low", b"a"], special="raise", added="match", threads=1)
        >>> found.covers.tolist(), found.lengths.tolist(), found.ends().tolist()
        ([True, True], [1, 1, 3, 1], [1, 2, 5, 1])
    """
    known = cached(tokenizer, "lengths", _lengths)
    if known is None:
        return _all_located(tokenizer, texts, special, added, joins)
    changes: list[NDArray[np.int64] | None] = []
    if tokenizer.spec.is_byte_level and tokenizer.spec.normalizers:
        changes = [_core.may_change(tokenizer, text) for text in texts]
        pairs = zip(texts, changes, strict=True)
        if not any(change is None or (joins and _few(change, text)) for text, change in pairs):
            return _all_located(tokenizer, texts, special, added, joins)
    ids, offsets = _core.encode_batch_flat(tokenizer, texts, special=special, added=added, threads=threads)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    lengths, covers = _core.token_lengths(ids, offsets, sizes, known.of, known.prefixed(texts))
    for number, change in enumerate(changes):
        if change is None:
            continue
        text, own, found = texts[number], slice(offsets[number], offsets[number + 1]), None
        if joins and _few(change, text):
            found = _core.text_lengths(tokenizer, text, ids[own], known.of, change, special=special, added=added)
        covers[number] = found is not None
        if found is not None:
            lengths[own] = found
    rows = np.flatnonzero(~covers).tolist()
    places = np.zeros((len(ids) if rows else 0, 2), np.int64)
    for number in rows:
        places[offsets[number] : offsets[number + 1]] = _located(tokenizer, texts[number], special, added, joins)[1]
    return Placed(ids, offsets, covers, lengths, places)


def _few(changes: NDArray[np.int64], text: bytes) -> bool:
    return int(changes[1::2].sum() - changes[::2].sum()) <= _MOST_CHANGED * len(text)


def _all_located(tokenizer: Tokenizer, texts: Sequence[bytes], special: Special, added: Added, joins: bool) -> Placed:
    found: list[tuple[NDArray[np.uint32], NDArray[np.int64]]] = []
    try:
        found.extend(_located(tokenizer, text, special, added, joins) for text in texts)
    except BytepairError as error:
        error.row = len(found)
        raise
    offsets = np.cumsum([0, *(len(ids) for ids, _ in found)], dtype=np.int64)
    if len(found) == 1:
        ids, places = found[0]
    else:
        ids = np.concatenate([np.empty(0, np.uint32), *(ids for ids, _ in found)])
        places = np.concatenate([np.empty((0, 2), np.int64), *(places for _, places in found)])
    return Placed(ids, offsets, np.zeros(len(texts), np.bool_), np.zeros(len(ids), np.uint8), places)


@dataclass(frozen=True, slots=True, eq=False)
class _Lengths:
    """How many bytes of text each token stands for, where the stages before the model keep the text.

    No length is too large, but for the space in front of a text. So if they add up to a text's bytes, each is right.

    Attributes:
        of: The length of each id; `_UNKNOWN` for a longer token, for an added one
            behind which a space is put, and at last for other ids.
        prefix: When a space is put in front of a text: ``"unless there"`` if it does not begin with one.
    """

    of: NDArray[np.uint8]
    prefix: Prefix

    def prefixed(self, texts: Sequence[bytes]) -> NDArray[np.bool_]:
        """Whether a space is put in front of each text."""
        if self.prefix != "unless there":
            return np.full(len(texts), self.prefix == "always")
        marks = (b" ", SPACE.encode())
        return np.fromiter((not text.startswith(marks) for text in texts), np.bool_, len(texts))


def _lengths(tokenizer: Tokenizer) -> _Lengths | None:
    spec = tokenizer.spec
    prefix = _prefix(tokenizer)
    if prefix is None:
        return None
    of = np.zeros(tokenizer.vocab_size + 1, np.uint8)
    of[-1] = _UNKNOWN
    known = stands_for(spec)
    ids, lengths = (np.fromiter(column, np.int64, len(known)) for column in (known, map(len, known.values())))
    of[ids] = np.minimum(lengths, _UNKNOWN)
    # What an unknown token stands for depends on the text.
    unknown = unknown_of(spec)
    if unknown is not None:
        of[unknown] = 0
    for one in spec.added_tokens:
        of[one.id] = min(len(one.content.encode()), _UNKNOWN) if prefix == "never" else _UNKNOWN
    return _Lengths(of, prefix)


def _prefix(tokenizer: Tokenizer) -> Prefix | None:
    """When a space is put in front of a text; None if the stages may change more than that and the marks of spaces."""
    spec = tokenizer.spec
    if spec.prefix_space:
        return None
    if spec.is_byte_level:
        return "never" if set(spec.normalizers) <= _FORMS and not spec.pre_tokenizers else None
    model = spec.vocabulary
    named = model.alphabet if isinstance(model, BytePair) else None
    if named is None or named.continuing_subword_prefix or named.end_of_word_suffix or named.separator:
        return None
    steps = (*spec.normalizers, *spec.pre_tokenizers)
    return _prefix_of_marks([json.loads(step) if step.startswith("{") else {} for step in steps])


def _prefix_of_marks(steps: list[dict[str, Any]]) -> Prefix | None:
    prefix = {"type": "Prepend", "prepend": SPACE}
    spaces = {"type": "Replace", "content": SPACE, "pattern": {"String": " "}}
    match steps:
        case [one, two] if [one, two] == [prefix, spaces]:
            return "always"
        case [one] if one == spaces:
            return "never"
        case [{"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme}]:
            return "never" if scheme == "never" else "unless there"
    return None


def _located(
    tokenizer: Tokenizer, text: bytes, special: Special, added: Added, joins: bool
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The ids of a text, and the start and end of each in bytes, starts ascending."""
    ids, flat = _core.locate_bytes(tokenizer, text, special=special, added=added)
    places = flat.reshape(-1, 2)
    spec = tokenizer.spec
    if joins and spec.is_byte_level and spec.normalizers and _prefix(tokenizer) == "never":
        # A character has all the text that a normal form joined to it, and so has each token of a part of it.
        np.maximum(places[:-1, 1], places[1:, 0], out=places[:-1, 1])
        places[-1:, 1] = len(text)
        first = np.flatnonzero(np.diff(places[:, 0], prepend=-1))
        if len(first) < len(ids):
            ends = np.maximum.reduceat(places[:, 1], first)
            places[:, 1] = np.repeat(ends, np.diff(first, append=len(ids)))
    return ids, places
