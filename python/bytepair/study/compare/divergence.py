"""The first difference of two tokenizers in a document, and the stage that causes it."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from bytepair import _core
from bytepair._core import normalize
from bytepair.model.meanings import spells_spaces

if TYPE_CHECKING:
    from bytepair.study.compare.places import Locator
    from bytepair.tokenizer import Tokenizer

_AROUND = 200
"""Bytes around a passage in the first window."""

_MARK = "\u2581"

_SHOWN = 60
"""The most characters of an excerpt, and the most tokens or pieces of it, that are kept."""


_Cause = tuple[str, tuple[str, ...], tuple[str, ...]]
"""A stage, and its output in both tokenizers."""


class _Stretch(NamedTuple):
    """Text for the model: as it is spelled there, and as it is read, where U+2581 may be a space."""

    spelled: str
    read: str

    def differs(self, other: _Stretch) -> bool:
        """Whether neither spelling nor reading is the same."""
        return self.spelled != other.spelled and self.read != other.read


class _Piece(NamedTuple):
    """A piece or an added token: its interval in bytes, its text for the model, and which of both it is."""

    start: int
    end: int
    text: _Stretch
    is_added: bool


def cause(a: Locator, b: Locator, text: bytes, start: int, end: int, *, same_model: bool) -> _Cause:
    """The first stage that differs between two bytes of a text, and its output there in both.

    Stages are compared in the passage alone: its added tokens, its normalized text, and the ends of pieces in it. A
    difference in tokens of equal pieces is the model's, wherever these pieces begin and end. But if both have equal
    models, a difference of the pieces beyond the passage is the cause, and is searched.
    """
    windows = [_window(side, text, start, end) for side in (a, b)]
    low, high = min(low for low, _ in windows), max(high for _, high in windows)
    # Different models may spell a space differently; within one model a space and U+2581 are distinct.
    spells = [not same_model and spells_spaces(side.tokenizer.spec) for side in (a, b)]
    stages = [
        _WindowStages(side, text, low, high, spells=of, alone=of and spells[0] != spells[1])
        for side, of in zip((a, b), spells, strict=True)
    ]
    found = _cause_in(stages, text, start, end)
    if found is None and same_model:
        pieces = [piece for side in stages for piece in side.pieces(start, end)]
        first, last = (min(piece.start for piece in pieces), max(piece.end for piece in pieces)) if pieces else (0, 0)
        found = _cause_in(stages, text, first, last)
    return found or ("model", (), ())


def _cause_in(stages: list[_WindowStages], text: bytes, start: int, end: int) -> _Cause | None:
    """The first stage before the model that differs between two bytes; None if none does."""
    pieces = [side.pieces(start, end) for side in stages]
    added = [[piece for piece in found if piece.is_added] for found in pieces]
    names = [[(piece.start, piece.end, piece.text.read) for piece in found] for found in added]
    if names[0] != names[1]:
        return "added tokens", _texts(added[0]), _texts(added[1])
    normalized = [side.normalized(start, end) for side in stages]
    if normalized[0].differs(normalized[1]):
        return "normalizer", (normalized[0].read[:_SHOWN],), (normalized[1].read[:_SHOWN],)
    places = [[(max(piece.start, start), min(piece.end, end)) for piece in found] for found in pieces]
    if places[0] != places[1]:
        return "split", _excerpts(text, places[0]), _excerpts(text, places[1])
    for one, other in zip(*pieces, strict=True):
        if one.text.differs(other.text) and one[:2] == other[:2]:
            # Normalizers can have changed it beyond the passage.
            whole = [side.normalized(one.start, one.end) for side in stages]
            if not whole[0].differs(whole[1]):
                return "split", _texts(pieces[0]), _texts(pieces[1])
    return None


class _WindowStages:
    """The output of a tokenizer's stages for a window of a text."""

    def __init__(self, locator: Locator, text: bytes, low: int, high: int, *, spells: bool, alone: bool) -> None:
        window = text[low:high].decode()
        self._spells = spells
        self._at = [low, *(low + size for size in accumulate(len(character.encode()) for character in window))]
        self._pieces = [
            _Piece(
                self._at[found.start],
                self._at[found.end],
                _Stretch(found.text, found.text.replace(_MARK, " ") if alone else found.text),
                found.added is not None,
            )
            for found in locator.stages.segments(window, locator.options)
        ]
        normalizers = locator.tokenizer.spec.normalizers
        if normalizers:
            self._made, self._offsets = normalize(normalizers, window, offsets=True)
        else:
            self._made, self._offsets = window, [(at, at + 1) for at in range(len(window))]

    def pieces(self, start: int, end: int) -> list[_Piece]:
        """The pieces and added tokens that overlap an interval of bytes."""
        low = self._at[0]
        return [
            piece
            for piece in self._pieces
            # An empty piece, such as a prefix space, belongs to the next character.
            if max(piece.end, low + 1) > start and (piece.start < end or piece.start == piece.end == end)
        ]

    def normalized(self, start: int, end: int) -> _Stretch:
        """The normalized text of an interval of bytes, from the normalized window, since normalizers use context."""
        first, last = bisect_left(self._at, start), bisect_left(self._at, end)
        kept = "".join(
            character
            for character, (begin, stop) in zip(self._made, self._offsets, strict=True)
            if first <= begin and max(stop, first) <= last and begin < last
        )
        return _Stretch(kept, kept.replace(_MARK, " ") if self._spells else kept)


def shown_tokens(tokenizer: Tokenizer, ids: list[int]) -> tuple[tuple[bytes, int], ...]:
    """The first tokens, with their ids."""
    return tuple((tokenizer.token_bytes(id), id) for id in ids[:_SHOWN])


def excerpts(text: bytes, start: int, end: int) -> tuple[str, str, str]:
    """The text before, in and after a passage, each cut off."""
    before = text[max(start - 4 * _SHOWN, 0) : start].decode("utf-8", "ignore")[-_SHOWN:]
    after = text[end : end + 4 * _SHOWN].decode("utf-8", "ignore")[:_SHOWN]
    return before, _excerpt(text, start, end), after


def _excerpt(text: bytes, start: int, end: int) -> str:
    shown = text[start : min(end, start + 4 * _SHOWN)].decode("utf-8", "ignore")
    return shown if len(shown) <= _SHOWN and start + 4 * _SHOWN >= end else shown[:_SHOWN] + "…"


def _window(locator: Locator, text: bytes, start: int, end: int) -> tuple[int, int]:
    """A part of a text whose tokens in a passage are those of the text.

    It is large enough if a larger one has the same tokens; the whole text always is.
    """
    around = _AROUND
    before: list[tuple[int, int, int]] | None = None
    while True:
        low, high = _cut(text, start - around), _cut(text, end + around)
        ids, offsets, _, _ = _core.locate(locator.tokenizer, text[low:high], **locator.options)
        now = [
            (id, low + first, low + last)
            for id, (first, last) in zip(ids, offsets, strict=True)
            if max(start, 0) < max(low + last, 1) <= end
        ]
        if now == before or (low == 0 and high == len(text)):
            return low, high
        before, around = now, around * 4


def _cut(text: bytes, place: int) -> int:
    """The nearest character boundary at or before a place, or an end of the text."""
    place = min(max(place, 0), len(text))
    while 0 < place < len(text) and text[place] & 0xC0 == 0x80:
        place -= 1
    return place


def _texts(pieces: list[_Piece]) -> tuple[str, ...]:
    return tuple(piece.text.read[:_SHOWN] for piece in pieces[:_SHOWN])


def _excerpts(text: bytes, pieces: list[tuple[int, int]]) -> tuple[str, ...]:
    return tuple(_excerpt(text, *piece) for piece in pieces[:_SHOWN])
