"""The tokens and merges of two tokenizers side by side, by the bytes that they represent.

Each vocabulary assigns its own ids, and some spell a space as U+2581 or a byte as ``<0x0A>``, so only the bytes that a
token represents can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bytepair.errors import FormatError
from bytepair.model.models import BytePair
from bytepair.model.semantics import to_merges
from bytepair.study.compare.result import SharedMerges, SharedVocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bytepair.model.spec import TokenizerSpec
    from bytepair.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True, eq=False)
class TokenKeys:
    """A number for the bytes that each token represents, equal in both tokenizers.

    Attributes:
        a: The number of each id of the first; -1 for an id without a token.
        b: The number of each id of the second.
        in_a: Whether each number is a token of the first.
        in_b: Whether each number is a token of the second.
    """

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    in_a: NDArray[np.bool_]
    in_b: NDArray[np.bool_]


def keys(a: Tokenizer, b: Tokenizer, meant_a: dict[int, bytes], meant_b: dict[int, bytes]) -> TokenKeys:
    """Number the tokens of two tokenizers, added ones included, by the bytes that they represent."""
    numbers: dict[bytes, int] = {}
    found = []
    for tokenizer, meant in ((a, meant_a), (b, meant_b)):
        whole = {token.id: token.content.encode() for token in tokenizer.spec.added_tokens}
        of = np.full(tokenizer.vocab_size, -1, np.int64)
        for id, token in (meant | whole).items():
            of[id] = numbers.setdefault(token, len(numbers))
        found.append(of)
    of_a, of_b = found
    in_a, in_b = (np.isin(np.arange(len(numbers)), of) for of in found)
    return TokenKeys(of_a, of_b, in_a, in_b)


def vocabulary(
    meant_a: dict[int, bytes], meant_b: dict[int, bytes], used: tuple[float, float] | None
) -> SharedVocabulary:
    """Count the tokens that two vocabularies have in common.

    Example:
        >>> vocabulary({0: b"a", 1: b"b"}, {0: b"a", 1: b"c", 2: b"b"}, None).as_dict()["same_id"]
        1
    """
    mine, theirs = set(meant_a.values()), set(meant_b.values())
    same_id = sum(meant_b.get(id) == token for id, token in meant_a.items())
    return SharedVocabulary(len(mine), len(theirs), len(mine & theirs), same_id, *(used or (None, None)))


def merges(
    a: TokenizerSpec, b: TokenizerSpec, meant_a: dict[int, bytes], meant_b: dict[int, bytes]
) -> SharedMerges | None:
    """Count the merges that two models have in common, and find where their lists diverge."""
    mine, theirs = _pairs(a, meant_a), _pairs(b, meant_b)
    if mine is None or theirs is None:
        return None
    same = next(
        (place for place, (one, other) in enumerate(zip(mine, theirs, strict=False)) if one != other),
        min(len(mine), len(theirs)),
    )
    both = len(set(mine) & set(theirs))
    next_a, next_b = (pairs[same] if same < len(pairs) else None for pairs in (mine, theirs))
    return SharedMerges(len(mine), len(theirs), both, same, next_a, next_b)


def _pairs(spec: TokenizerSpec, meant: dict[int, bytes]) -> list[tuple[bytes, bytes]] | None:
    model = spec.model
    if not isinstance(model, BytePair):
        return None
    pairs = model.merges
    if pairs is None:
        try:
            pairs = to_merges(model).merges
        except FormatError:
            # A token is not made by two lower ones: its ranks do not form a list of merges.
            return None
    return [(meant[left], meant[right]) for left, right in pairs or ()]
