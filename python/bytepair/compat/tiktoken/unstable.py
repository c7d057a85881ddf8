"""tiktoken's rules for unstable tokens (those that could change if the text continued) and for incomplete UTF-8.

The rules are tiktoken's and do not find every completion.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair.compat.tiktoken.specials import Specials

_SPACE = b" \n\t"


class Encodes(Protocol):
    """The part of `Encoding` that these rules need."""

    _specials: Specials

    @property
    def _mergeable_ranks(self) -> dict[bytes, int]: ...
    @property
    def _sorted_tokens(self) -> list[bytes]: ...
    def encode_ordinary(self, text: str) -> list[int]: ...  # noqa: D102 (documented there)
    def encode_ordinary_batch(self, text: list[str]) -> list[list[int]]: ...  # noqa: D102 (documented there)
    def decode_bytes(self, tokens: Sequence[int]) -> bytes: ...  # noqa: D102 (documented there)
    def decode_single_token_bytes(self, token: int) -> bytes: ...  # noqa: D102 (documented there)
    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]: ...
    def _encode_stretch(self, text: str) -> list[int]: ...
    def _pieces(self, text: str) -> list[str]: ...


def encode_bytes(encoding: Encodes, data: bytes) -> list[int]:
    """Encode bytes; those after the valid UTF-8 are merged with the last piece before them."""
    try:
        return encoding.encode_ordinary(data.decode())
    except UnicodeDecodeError as error:
        valid = error.start
    ids, last = _encode(encoding, data[:valid].decode(), frozenset())
    last = _with_space_before(encoding, ids, last)
    rest = encoding.decode_bytes(ids[len(ids) - last :]) + data[valid:]
    return ids[: len(ids) - last] + encoding._encode_single_piece(rest)


def encode_with_unstable(encoding: Encodes, text: str, allowed: frozenset[str]) -> tuple[list[int], list[list[int]]]:
    """The stable ids, and completions of the rest; see `Encoding.encode_with_unstable`."""
    ids, last = _encode(encoding, text, allowed)
    last = _with_space_before(encoding, ids, last)
    stable, rest = ids[: len(ids) - last], encoding.decode_bytes(ids[len(ids) - last :])
    if not rest:
        return stable, []
    single = sorted(map(encoding._mergeable_ranks.__getitem__, _beginning_with(encoding, rest)))
    completions: set[tuple[int, ...]] = set()
    texts: list[str] = []
    for cut in range(1, len(rest)):
        # A token that begins in the unstable rest and extends beyond the end of the text.
        for token in _beginning_with(encoding, rest[cut:]):
            longer = rest[:cut] + token
            try:
                texts.append(longer.decode())
            except UnicodeDecodeError:
                completions.add(_until(encoding, _merge(encoding, longer), len(rest)))
    for row in encoding.encode_ordinary_batch(texts):
        completions.add(_until(encoding, row, len(rest)))
    character = _last_character(rest)
    if character and len(character) < len(rest):
        # White space may be split before its last character.
        before = rest[: -len(character)]
        completions.add((*_merge(encoding, before), *_merge(encoding, character)))
    completions.difference_update((id,) for id in single)
    return stable, [*([id] for id in single), *map(list, sorted(completions))]


def _encode(encoding: Encodes, text: str, allowed: frozenset[str]) -> tuple[list[int], int]:
    """The ids of a text, and the number of ids of its last piece; 0 if that is a special token."""
    ids: list[int] = []
    start = 0
    for begin, end, id in encoding._specials.places(text, allowed):
        ids += encoding._encode_stretch(text[start:begin])
        ids.append(id)
        start = end
    pieces = encoding._pieces(text[start:])
    if not pieces:
        return ids, 0
    ids += encoding._encode_stretch(text[start:])
    return ids, len(encoding._encode_single_piece(pieces[-1]))


def _with_space_before(encoding: Encodes, ids: list[int], last: int) -> int:
    """Extend `last` by preceding white-space tokens if it begins with one: patterns split space by what follows it."""
    if last and _is_space(encoding, ids[len(ids) - last]):
        while last < len(ids) and _is_space(encoding, ids[len(ids) - last - 1]):
            last += 1
    return last


def _is_space(encoding: Encodes, id: int) -> bool:
    token = encoding.decode_single_token_bytes(id)
    return not token.strip(_SPACE) and encoding._mergeable_ranks.get(token) == id


def _beginning_with(encoding: Encodes, start: bytes) -> list[bytes]:
    """The tokens that begin with these bytes, in order."""
    tokens = encoding._sorted_tokens
    # The least byte string greater than all that begin with `start`.
    stem = start.rstrip(b"\xff")
    end = bisect_left(tokens, stem[:-1] + bytes([stem[-1] + 1])) if stem else len(tokens)
    return tokens[bisect_left(tokens, start) : end]


def _until(encoding: Encodes, ids: list[int], size: int) -> tuple[int, ...]:
    """The shortest prefix of the ids with at least `size` bytes."""
    for number, id in enumerate(ids, 1):
        size -= len(encoding.decode_single_token_bytes(id))
        if size <= 0:
            return tuple(ids[:number])
    return tuple(ids)


def _merge(encoding: Encodes, piece: bytes) -> list[int]:
    """Encode a piece by merges alone, even if it is a token."""
    ids = encoding._encode_single_piece(piece)
    if len(ids) > 1 or len(piece) == 1:
        return ids
    # The piece is a token, hence short: find out whether merges produce it.
    ranks = encoding._mergeable_ranks
    parts = [piece[place : place + 1] for place in range(len(piece))]
    while len(parts) > 1:
        pairs = [ranks.get(parts[place] + parts[place + 1]) for place in range(len(parts) - 1)]
        known = [rank for rank in pairs if rank is not None]
        if not known:
            break
        place = pairs.index(min(known))
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return [ranks[part] for part in parts]


def _last_character(data: bytes) -> bytes:
    """The bytes of the last character if it has Unicode's White_Space property; else empty."""
    for size in range(1, min(4, len(data)) + 1):
        try:
            character = data[-size:].decode()
        except UnicodeDecodeError:
            continue
        # str.isspace includes the ASCII separators, White_Space does not.
        is_space = len(character) == 1 and character.isspace() and character not in "\x1c\x1d\x1e\x1f"
        return data[-size:] if is_space else b""
    return b""
