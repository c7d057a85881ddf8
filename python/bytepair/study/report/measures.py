"""Counts of ids -> entropy, efficiency, ranks, lengths. Plain functions of numbers."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

import numpy as np

from bytepair.model.byte_alphabet import to_bytes
from bytepair.model.models import BytePair, Unigram
from bytepair.model.token_spelling import falls_back, named_byte, without_marks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bytepair.model.spec import TokenizerSpec

ORDER = 2.5
"""The order of the Rényi entropy that Zouhar et al. (2023) found to predict translation quality best."""

_RANKS_PER_DECADE = 12


def ratio(above: float, below: float) -> float | None:
    """A quotient; None if the divisor is 0.

    Example:
        >>> ratio(3, 2), ratio(3, 0)
        (1.5, None)
    """
    return above / below if below else None


def entropy(uses: NDArray[np.int64]) -> float | None:
    """The entropy of ids drawn by their counts, in bits per token; None if there are none.

    Example:
        >>> entropy(np.array([2, 1, 1, 0]))
        1.5
    """
    shares = _shares(uses)
    # A single share sums to -0.0.
    return None if shares is None else abs(float(-(shares * np.log2(shares)).sum()))


def renyi_efficiency(uses: NDArray[np.int64], vocabulary: int) -> float | None:
    """The Rényi entropy of order 2.5 over its maximum for a vocabulary: 1 if all tokens occur equally.

    Returns:
        From 0 to 1; None if nothing occurs, or there is one token only.

    Example:
        >>> renyi_efficiency(np.array([3, 3, 3, 3]), 4), renyi_efficiency(np.array([9, 0]), 2)
        (1.0, 0.0)
    """
    shares = _shares(uses)
    if shares is None or vocabulary < 2:
        return None
    return abs(log2(float((shares**ORDER).sum())) / (1 - ORDER) / log2(vocabulary))


def ranks(uses: NDArray[np.int64]) -> tuple[tuple[int, int], ...]:
    """About twelve ranks per decade, and how often the token of that rank occurs.

    Returns:
        Ranks from 1 on, and uses, which never rise; the first and the last rank that occurs are among them.

    Example:
        >>> ranks(np.array([1, 0, 7, 3]))
        ((1, 7), (2, 3), (3, 1))
    """
    falling = np.sort(uses[uses > 0])[::-1]
    if not len(falling):
        return ()
    steps = int(_RANKS_PER_DECADE * np.log10(len(falling))) + 1
    chosen = {round(10 ** (step / _RANKS_PER_DECADE)) for step in range(steps + 1)}
    chosen = {rank for rank in chosen if rank <= len(falling)} | {1, len(falling)}
    return tuple((rank, int(falling[rank - 1])) for rank in sorted(chosen))


def histogram(lengths: NDArray[np.int64], weights: NDArray[np.int64]) -> tuple[tuple[int, int], ...]:
    """Lengths, ascending, and the sum of the weights of each; those without weight are left out.

    Example:
        >>> histogram(np.array([1, 3, 1]), np.array([5, 1, 2]))
        ((1, 7), (3, 1))
    """
    kinds, at = np.unique(lengths, return_inverse=True)
    sums = np.zeros(len(kinds), np.int64)
    np.add.at(sums, at, weights)
    return tuple((int(kind), int(many)) for kind, many in zip(kinds, sums, strict=True) if many)


def texts_of(tokens: Iterable[bytes], spec: TokenizerSpec) -> list[bytes]:
    """The bytes of text that each token of the model represents, without the markers of the vocabulary.

    ``▁`` becomes a space, ``<0x0A>`` and a letter of the byte alphabet their byte; markers that a word continues or
    ends, such as ``##``, are removed.

    Example:
        >>> from bytepair.model.models import WordPiece
        >>> from bytepair.model.spec import TokenizerSpec
        >>> texts_of([b"##ing"], TokenizerSpec(WordPiece((b"##ing",), (0,))))
        [b'ing']
    """
    if spec.is_byte_level:
        return list(tokens)
    model = spec.model
    has_bytes = falls_back(model)
    bare = without_marks(model)
    in_bytes = any('"ByteLevel"' in step for step in (*spec.normalizers, *spec.pre_tokenizers))
    space = "▁".encode() if isinstance(model, (BytePair, Unigram)) else b" "

    def text(token: bytes) -> bytes:
        if has_bytes and (byte := named_byte(token)):
            return byte
        token = bare(token)
        if in_bytes and (spelled := to_bytes(token.decode())) is not None:
            return spelled
        return token.replace(space, b" ")

    return [text(token) for token in tokens]


def _shares(uses: NDArray[np.int64]) -> NDArray[np.float64] | None:
    found = uses[uses > 0]
    return found / found.sum() if len(found) else None
