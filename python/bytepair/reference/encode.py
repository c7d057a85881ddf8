"""The naive encoders: from a piece to its tokens, by the definition.

The one idea: encoding repeats training on one piece. Among all neighbours that may be merged take the pair that was
learned first (the lowest rank; ties go left to right), merge this one occurrence, look again. Which pairs may be merged
has two meanings, which differ for some vocabularies. With `ranks` (tiktoken) any two neighbours whose bytes joined are
a token, and a piece that is a token is taken whole; with `merges` (Sennrich, tokenizers) only pairs of the merge list.

Complexity: O(symbols^2) for each piece. Biggest weakness: exactly that, on one long piece.

Source: the semantics of tiktoken and of tokenizers; `last_tokens` is the first step of the theory in the README of the
crate `bpe`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from bytepair.errors import EncodeError
from bytepair.reference.alphabet import initial_symbols

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from bytepair.reference.pairs import Pair


def encode_ranks(piece: bytes, ranks: Mapping[bytes, int]) -> list[bytes]:
    """Encode a piece with a vocabulary of ranked tokens.

    Args:
        piece: The bytes of one piece.
        ranks: Token -> rank.

    Raises:
        EncodeError: A byte is left that is no token; the error has its position.

    Complexity: O(bytes^2).

    Source: tiktoken.

    Example:
        >>> ranks = {token: rank for rank, token in enumerate([b"a", b"b", b"c", b"ab", b"cb", b"ac"])}
        >>> encode_ranks(b"abacb", ranks)
        [b'ab', b'a', b'cb']
    """
    if piece in ranks:
        return [piece]
    tokens = _merge_all(initial_symbols(piece), lambda pair: ranks.get(pair[0] + pair[1]))
    for position, token in enumerate(tokens):
        if token not in ranks:
            raise EncodeError(f"{token!r} is not a token", byte=sum(map(len, tokens[:position])))
    return tokens


def encode_merges(
    piece: bytes | Sequence[bytes], merges: Sequence[Pair], whole: Collection[bytes] | None = None
) -> list[bytes]:
    """Encode a piece with an explicit merge list.

    Args:
        piece: The bytes of one piece, or its initial symbols where these are not bytes (see `initial_symbols`).
        merges: The pairs that may be merged, first learned first. A pair listed twice has its last rank, as in
            tokenizers.
        whole: Tokens that are taken whole if the piece is one of them (`ignore_merges` in tokenizers).

    Complexity: O(symbols^2 + merges).

    Source: Sennrich, Haddow, Birch, 2016; tokenizers.

    Example:
        >>> merges = [(b"l", b"o"), (b"lo", b"w"), (b"e", b"r"), (b"low", b"er")]
        >>> encode_merges(b"lowest", merges)
        [b'low', b'e', b's', b't']
        >>> encode_merges(b"lowest", merges, whole={b"lowest"})
        [b'lowest']
    """
    symbols = initial_symbols(piece) if isinstance(piece, bytes) else piece
    if whole and b"".join(symbols) in whole:
        return [b"".join(symbols)]
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    return _merge_all(symbols, ranks.get)


def last_tokens(piece: bytes, encode: Callable[[bytes], Sequence[bytes]]) -> list[bytes]:
    """Return the last token of the encoding of each prefix of a piece.

    They hold the encoding of every prefix: the last token, then the last token of the prefix before it, and so on.

    Args:
        piece: The bytes of one piece.
        encode: An encoder of pieces.

    Returns:
        As many tokens as the piece has bytes; the n-th is that of the prefix of n bytes.

    Complexity: one encoding for each byte of the piece.

    Source: the README of the crate `bpe`.

    Example:
        >>> last_tokens(b"aba", lambda piece: encode_merges(piece, [(b"a", b"b")]))
        [b'a', b'ab', b'a']
    """
    return [encode(piece[:end])[-1] for end in range(1, len(piece) + 1)]


def _merge_all(symbols: Iterable[bytes], rank: Callable[[Pair], int | None]) -> list[bytes]:
    tokens = list(symbols)
    while True:
        ranked = [(found, at) for at, pair in enumerate(pairwise(tokens)) if (found := rank(pair)) is not None]
        if not ranked:
            return tokens
        _, at = min(ranked)
        tokens[at : at + 2] = [tokens[at] + tokens[at + 1]]
