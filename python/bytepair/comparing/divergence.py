"""The first place of a document where two tokenizers differ, and the stage that it is from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bytepair._core import normalize
from bytepair.comparing.vocabularies import spell, spells_spaces

if TYPE_CHECKING:
    from bytepair.comparing.places import Locator
    from bytepair.tokenizer import Tokenizer

_AROUND = 200
"""Bytes around a passage that are looked at first."""

_SHOWN = 60
"""Characters of an excerpt, and so many tokens or pieces of it, that are kept."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token in a document: its id, its interval in bytes, and the number of its piece."""

    id: int
    start: int
    end: int
    piece: int


def cause(a: Locator, b: Locator, text: bytes, start: int, end: int) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The first stage that does something else between two bytes of a text, and what it gives there in both.

    Stages are looked at in the passage alone: its added tokens, what it is after the normalizers, and where pieces end
    in it. So what differs in tokens of the same pieces is the model's, wherever these pieces begin and end.
    """
    mine, low_a, high_a = _tokens(a, text, start, end)
    theirs, low_b, high_b = _tokens(b, text, start, end)
    found = [_added(side, text, tokens) for side, tokens in ((a, mine), (b, theirs))]
    if found[0] != found[1]:
        return "added tokens", _contents(found[0]), _contents(found[1])
    low, high = min(low_a, low_b), max(high_a, high_b)
    normalized = [_normalized(side.tokenizer, text, (start, end), (low, high)) for side in (a, b)]
    if normalized[0] != normalized[1]:
        return "normalizers", (normalized[0][:_SHOWN],), (normalized[1][:_SHOWN],)
    if _unlike_text(a, b, mine, theirs):
        return "split", _spelled(a, mine), _spelled(b, theirs)
    pieces = [_pieces(tokens) for tokens in (mine, theirs)]
    if pieces[0] != pieces[1]:
        return "split", _excerpts(text, pieces[0]), _excerpts(text, pieces[1])
    return "model", (), ()


def shown_tokens(tokenizer: Tokenizer, ids: list[int]) -> tuple[tuple[str, int], ...]:
    """Tokens as text, with their ids."""
    return tuple((spell(tokenizer.token_bytes(id)), id) for id in ids[:_SHOWN])


def excerpts(text: bytes, start: int, end: int) -> tuple[str, str, str]:
    """What stands before, in and behind a passage, each cut off behind some characters."""
    before = text[max(start - 4 * _SHOWN, 0) : start].decode("utf-8", "ignore")[-_SHOWN:]
    after = text[end : end + 4 * _SHOWN].decode("utf-8", "ignore")[:_SHOWN]
    return before, _excerpt(text, start, end), after


def _excerpt(text: bytes, start: int, end: int) -> str:
    shown = text[start : min(end, start + 4 * _SHOWN)].decode("utf-8", "ignore")
    return shown if len(shown) <= _SHOWN and start + 4 * _SHOWN >= end else shown[:_SHOWN] + "…"


def _tokens(locator: Locator, text: bytes, start: int, end: int) -> tuple[list[Token], int, int]:
    """The tokens of a text that end in a passage, and the window of the text that they were found in.

    A window is large enough if a larger one gives the same tokens; the whole text always is.
    """
    around = _AROUND
    before: list[tuple[int, int, int]] | None = None
    while True:
        low, high = _cut(text, start - around), _cut(text, end + around)
        ids, offsets, pieces, _ = locator.tokenizer.located(text[low:high], **locator.options)
        found = [
            Token(id, low + first, low + last, piece)
            for id, (first, last), piece in zip(ids, offsets, pieces, strict=True)
            if max(start, 0) < max(low + last, 1) <= end
        ]
        now = [(token.id, token.start, token.end) for token in found]
        if now == before or (low == 0 and high == len(text)):
            return found, low, high
        before, around = now, around * 4


def _cut(text: bytes, place: int) -> int:
    """The next place to the left that is between two characters, or an end of the text."""
    place = min(max(place, 0), len(text))
    while 0 < place < len(text) and text[place] & 0xC0 == 0x80:
        place -= 1
    return place


def _added(locator: Locator, text: bytes, tokens: list[Token]) -> list[tuple[int, int, str]]:
    contents = {token.id: token.content for token in locator.tokenizer.spec.added_tokens}
    return [
        (token.start, token.end, contents[token.id])
        for token in tokens
        # What is unknown has the id of an added token in most vocabularies, and is none.
        if token.id in contents
        and (token.id != locator.unknown or text[token.start : token.end].strip() == contents[token.id].encode())
    ]


def _normalized(tokenizer: Tokenizer, text: bytes, passage: tuple[int, int], around: tuple[int, int]) -> str:
    """What the normalizers make of a passage; seen in what is around it, for they can look there."""
    (start, end), (low, high) = passage, around
    spec = tokenizer.spec
    if not spec.normalizers:
        return text[start:end].decode()
    window = text[low:high].decode()
    first, last = len(text[low:start].decode()), len(text[low:end].decode())
    made, offsets = normalize(spec.normalizers, window, offsets=True)
    kept = "".join(
        character
        for character, (begin, stop) in zip(made, offsets, strict=True)
        if first <= begin and max(stop, first) <= last and begin < last
    )
    return kept.replace("\u2581", " ") if spells_spaces(spec) else kept


def _unlike_text(a: Locator, b: Locator, mine: list[Token], theirs: list[Token]) -> bool:
    """Whether the pieces hold other text, though they are from the same: a space that was put before it, or taken away.

    What a model was given is what its tokens stand for together, but for one that spells them otherwise, or does not
    know it.
    """
    if not (a.is_literal and b.is_literal):
        return False
    found = [
        [None if token.id == side.unknown else side.meant.get(token.id) for token in tokens]
        for side, tokens in ((a, mine), (b, theirs))
    ]
    if any(token is None for tokens in found for token in tokens):
        return False
    return b"".join(filter(None, found[0])) != b"".join(filter(None, found[1]))


def _spelled(locator: Locator, tokens: list[Token]) -> tuple[str, ...]:
    pieces: dict[int, bytes] = {}
    for token in tokens:
        pieces[token.piece] = pieces.get(token.piece, b"") + locator.meant.get(token.id, b"")
    return tuple(spell(piece)[:_SHOWN] for piece in [*pieces.values()][:_SHOWN])


def _contents(added: list[tuple[int, int, str]]) -> tuple[str, ...]:
    return tuple(content for _, _, content in added)


def _excerpts(text: bytes, pieces: list[tuple[int, int]]) -> tuple[str, ...]:
    return tuple(_excerpt(text, *piece) for piece in pieces[:_SHOWN])


def _pieces(tokens: list[Token]) -> list[tuple[int, int]]:
    pieces: dict[Any, tuple[int, int]] = {}
    for token in tokens:
        start, _ = pieces.get(token.piece, (token.start, 0))
        pieces[token.piece] = (start, token.end)
    return list(pieces.values())
