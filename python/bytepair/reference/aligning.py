"""The alignment of two tokenizations, by the definition.

The one idea: two tokens belong together if they cover a byte in common, or the same empty place; groups are what such
pairs connect. Tokens of one side can also overlap, where each has the place of a whole character.

Complexity: O(n^2) pairs of tokens. Biggest weakness: exactly that; places in order need only a look at the next token.

Source: the rule of `bytepair.align`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Place = tuple[int, int]


def align(a: Sequence[Place], b: Sequence[Place]) -> list[tuple[list[int], list[int]]]:
    """Group the tokens of two tokenizations of one text.

    Args:
        a: The start and end of each token by the first tokenizer.
        b: The same by the second.

    Returns:
        The tokens of each group by the first and by the second, as numbers in order; groups in the order of the text.

    Complexity: O(n^2) for n tokens.

    Source: the rule of `bytepair.align`.

    Example:
        >>> align([(0, 3), (3, 4)], [(0, 2), (2, 3), (3, 4)])
        [([0], [0, 1]), ([1], [2])]
    """
    tokens = [(place, 0, number) for number, place in enumerate(a)]
    tokens += [(place, 1, number) for number, place in enumerate(b)]
    groups: list[list[tuple[Place, int, int]]] = []
    for token in tokens:
        connected = [group for group in groups if any(_are_together(token, other) for other in group)]
        groups = [group for group in groups if group not in connected]
        groups.append([token, *(other for group in connected for other in group)])
    groups.sort(key=lambda group: min((place, number) for place, _, number in group))
    return [
        (
            sorted(number for _, side, number in group if side == 0),
            sorted(number for _, side, number in group if side == 1),
        )
        for group in groups
    ]


def _are_together(one: tuple[Place, int, int], other: tuple[Place, int, int]) -> bool:
    (first, side, _), (second, other_side, _) = one, other
    if first == second and first[0] == first[1]:
        return side != other_side
    return max(first[0], second[0]) < min(first[1], second[1]) or _lies_in(first, second) or _lies_in(second, first)


def _lies_in(inner: Place, outer: Place) -> bool:
    """Whether an empty place is within another."""
    return inner[0] == inner[1] and outer[0] < inner[0] < outer[1]
