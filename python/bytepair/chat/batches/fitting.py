"""The assignment of examples to packed rows."""

from __future__ import annotations

import heapq
from typing import TypeAlias

Sizes: TypeAlias = "list[tuple[int, int]]"
"""Examples: the index and the number of tokens of each, at most those of a row."""


def in_order(sizes: Sizes, length: int) -> list[Sizes]:
    """Start a new row of `length` tokens when the next example does not fit.

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
    """Best-fit decreasing: place the longest examples first, each in the fullest row of `length` tokens that has room.

    Ties go to the first such row. It needs at most 11/9 of the minimum number of rows, plus one, in time
    O(n log(n * length)) for n examples. Rows are in the order of their first example, and the examples of a row in the
    given order.

    Example:
        >>> best_fit([(0, 3), (1, 4), (2, 2), (3, 1)], 6)
        [[(0, 3), (3, 1)], [(1, 4), (2, 2)]]
    """
    rows: list[Sizes] = []
    rooms = _FreeSpace(length)
    for number, size in sorted(sizes, key=lambda item: (-item[1], item[0])):
        found = rooms.take(size)
        if found is None:
            found = (len(rows), length)
            rows.append([])
        row, room = found
        rows[row].append((number, size))
        rooms.put(row, room - size)
    return sorted(map(sorted, rows))


class _FreeSpace:
    """Rows by their free space, with a binary tree over 0 to `most` that marks which amounts occur.

    The root is node 1; the children of node n are nodes 2n and 2n + 1.
    """

    def __init__(self, most: int) -> None:
        self.leaves = 1 << most.bit_length()
        self.there: set[int] = set()
        self.rows: dict[int, list[int]] = {}

    def put(self, row: int, room: int) -> None:
        """Add a row with this much free space."""
        heapq.heappush(self.rows.setdefault(room, []), row)
        node = room + self.leaves
        while node and node not in self.there:
            self.there.add(node)
            node //= 2

    def take(self, size: int) -> tuple[int, int] | None:
        """Remove and return the fullest row with at least `size` free, and its free space; ties go to the first row."""
        node = size + self.leaves
        while node not in self.there:
            # Climb to a node with a right sibling, whose leaves all have more space.
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
