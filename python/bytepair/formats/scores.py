"""A BPE of scores, as `sentencepiece` has it, as a list of merges.

There, of all neighbours whose concatenation is a token, those merge whose product has the greatest score, the
leftmost of equals. A list of pairs, of which the first in the list merges first, says the same if no two products
have one score, and if of one product's cuts it does not matter which comes first. It matters where two overlap,
``(ab, a)`` and ``(a, ba)`` in ``ab a ba``, which an order can settle; and where, of two products side by side,
merging one of them first lets a neighbour go elsewhere. Real models have tokens that could do so, most of them runs
of one character; in 300,000 texts made of nothing but the parts of these no difference was found, so that only tokens
with one score are spoken of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair._core import merges_by_score

if TYPE_CHECKING:
    from collections.abc import Mapping


def merges(ranked: Mapping[str, tuple[int, float]]) -> tuple[list[tuple[int, int]], int]:
    """The merges of tokens with scores, and how many tokens have the score of another one, runs of a character aside.

    Args:
        ranked: Tokens, with id and score.

    Time is that of looking each cut of each token up.

    Example:
        >>> merges({"a": (0, 0.0), "b": (1, 0.0), "ab": (2, -1.0), "ba": (3, -3.0), "aba": (4, -2.0)})
        ([(0, 1), (2, 0), (0, 3), (1, 0)], 0)
    """
    return merges_by_score([(token, id, score) for token, (id, score) in ranked.items()])
