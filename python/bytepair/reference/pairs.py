"""Pairs of neighbours: the three small functions that every trainer uses.

The one idea: byte-pair encoding knows only two acts, counting neighbours and joining them. Both live here once, so
that a trainer's file shows nothing but how it avoids doing them too often.

Complexity: each function reads its symbols once. Biggest weakness: a symbol is a whole byte string, compared byte by
byte, where a fast trainer would compare two integers (``byte_level.py`` shows that step).

Source: "A New Algorithm for Data Compression" (Gage, 1994), where the pair was two bytes and the new symbol a third.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Pair: TypeAlias = tuple[bytes, bytes]


def merge_pair(symbols: Iterable[bytes], pair: Pair) -> list[bytes]:
    """Join every occurrence of a pair, from left to right and without overlap.

    Args:
        symbols: The symbols of one piece.
        pair: The two neighbours to join; neither is empty.

    Returns:
        The symbols afterwards. No occurrence of the pair is left.

    Complexity: O(symbols).

    Example:
        >>> merge_pair([b"a", b"a", b"a", b"b"], (b"a", b"a"))
        [b'aa', b'a', b'b']
    """
    left, right = pair
    merged: list[bytes] = []
    for symbol in symbols:
        # A joined symbol is longer than `left`, so it is never taken for a left half: that is what forbids overlap.
        if symbol == right and merged and merged[-1] == left:
            merged[-1] = left + right
        else:
            merged.append(symbol)
    return merged


def add_pairs(table: dict[Pair, int], symbols: Iterable[bytes], count: int) -> None:
    """Add one piece's pairs to a pair table, or take them out again with a negative count.

    Every adjacent position counts, overlapping or not: ``aaa`` has the pair (a, a) twice.

    Args:
        table: Pair -> count, changed in place; a pair whose count becomes zero leaves it.
        symbols: The symbols of one piece.
        count: How often the piece occurs.

    Complexity: O(symbols).

    Example:
        >>> table = {}
        >>> add_pairs(table, [b"a", b"a", b"a"], 5)
        >>> table
        {(b'a', b'a'): 10}
        >>> add_pairs(table, [b"a", b"a", b"a"], -5)
        >>> table
        {}
    """
    for pair in pairwise(symbols):
        table[pair] = table.get(pair, 0) + count
        if not table[pair]:
            del table[pair]


def count_pairs(pieces: Sequence[Sequence[bytes]], counts: Sequence[int]) -> dict[Pair, int]:
    """Count the pairs of all pieces: the recount that every faster way has to equal.

    Args:
        pieces: The symbols of each piece.
        counts: How often each piece occurs, in the same order.

    Returns:
        Pair -> count, in the order in which the pairs are first met.

    Complexity: O(symbols of all pieces).

    Example:
        >>> count_pairs([[b"a", b"b"], [b"b", b"a", b"b"]], [3, 1])
        {(b'a', b'b'): 4, (b'b', b'a'): 1}
    """
    table: dict[Pair, int] = {}
    for symbols, count in zip(pieces, counts, strict=True):
        add_pairs(table, symbols, count)
    return table
