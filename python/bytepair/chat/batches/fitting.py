"""Which row each example goes to."""

from __future__ import annotations

import heapq
from typing import NamedTuple, TypeAlias

Sizes: TypeAlias = "list[tuple[int, int]]"
"""Examples: the number of each, and how many tokens it has."""


class Placed(NamedTuple):
    """The place of an example in packed rows.

    Attributes:
        example: Its index among the examples.
        row: The row that holds it.
        start: The index of its first token in that row.
        end: The index after its last token.
    """

    example: int
    row: int
    start: int
    end: int


def in_order(sizes: Sizes, length: int) -> list[Sizes]:
    """Ends a row where the next example does not fit.

    Args:
        sizes: Each at most `length`.
        length: Tokens of a row.

    Example:
        >>> in_order([(0, 3), (1, 4), (2, 2), (3, 1)], 6)
        [[(0, 3)], [(1, 4), (2, 2)], [(3, 1)]]
    """
    rows: list[Sizes] = []
    room = -1
    for number, size in sizes:
        if size > room:
            rows.append([])
            room = length
        rows[-1].append((number, size))
        room -= size
    return rows


def best_fit(sizes: Sizes, length: int) -> list[Sizes]:
    """Puts the longest first, each into the first of the rows with the least room that is enough.

    This is known as best-fit decreasing: it needs at most 11/9 of the fewest rows possible, and one.

    Args:
        sizes: Each at most `length`.
        length: Tokens of a row.

    Returns:
        Rows in the order of their first example, examples in theirs. Time is n log(n * length) for n examples.

    Example:
        >>> best_fit([(0, 3), (1, 4), (2, 2), (3, 1)], 6)
        [[(0, 3), (3, 1)], [(1, 4), (2, 2)]]
    """
    rows: list[Sizes] = []
    rooms = _Rooms(length)
    for number, size in sorted(sizes, key=lambda item: (-item[1], item[0])):
        found = rooms.take(size)
        if found is None:
            found = (len(rows), length)
            rows.append([])
        row, room = found
        rows[row].append((number, size))
        rooms.put(row, room - size)
    return sorted(map(sorted, rows))


class _Rooms:
    """Rows by the room that is left in them, in a binary tree over 0 to `most` that says which rooms there are.

    Nodes are numbered from 1 at the root, and the two below a node are twice its number and one more.
    """

    def __init__(self, most: int) -> None:
        self.leaves = 1 << most.bit_length()
        self.there: set[int] = set()
        self.rows: dict[int, list[int]] = {}

    def put(self, row: int, room: int) -> None:
        """Adds a row."""
        heapq.heappush(self.rows.setdefault(room, []), row)
        node = room + self.leaves
        while node and node not in self.there:
            self.there.add(node)
            node //= 2

    def take(self, size: int) -> tuple[int, int] | None:
        """Takes out the first row of those with the least room that is at least `size`, and says its room."""
        node = size + self.leaves
        while node not in self.there:
            # Up until there is a neighbour on the right, whose rooms are all greater.
            while node & 1:
                node //= 2
            if not node:
                return None
            node += 1
        while node < self.leaves:
            node = 2 * node + (2 * node not in self.there)
        room = node - self.leaves
        row = heapq.heappop(self.rows[room])
        if not self.rows[room]:
            self._remove(node)
        return row, room

    def _remove(self, node: int) -> None:
        del self.rows[node - self.leaves]
        self.there.remove(node)
        node //= 2
        while node and self.there.isdisjoint((2 * node, 2 * node + 1)):
            self.there.remove(node)
            node //= 2
