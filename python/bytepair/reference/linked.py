"""The text as one linked list of symbols: the second stage of "Slow Data".

The one idea over V1 (``naive.py``): no list is written anew. A merge unlinks one node and changes the pairs around it
in the pair table, whatever the length of the piece. Nodes have a weight, the count of their piece, and walls
separate the pieces.

A pair next to itself is where such trainers go wrong: in ``aaa`` merging the first (a, a) uses up half of the second.
Two rules keep it right: occurrences are merged from left to right, each looked at again before it is; and the pairs
around it are taken out of the table as they are at that moment, never as they were before the step.

Complexity: O(merges x (symbols of all pieces + pairs)). Biggest weakness: every step visits every node to find the few
that begin the pair, and reads the whole table to choose it. In Python that is slower than it sounds, since following
links is dearer than reading a list.

Source: "Slow Data".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bytepair.reference.training import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Unpack

    from bytepair.reference.pairs import Pair
    from bytepair.reference.training import Counts, Merge, TrainerOptions, Training

# Node 0 is the end of a piece on either side. It has the empty symbol, like a node that was merged away.
WALL = 0


@dataclass
class LinkedText:
    """All pieces as nodes of a linked list; a node's number is its place in the text and never changes.

    Args:
        state: The pieces, and the rules of the choice.

    Example:
        >>> text = LinkedText(State.start({"aaa": 2}, merges=9))
        >>> text.table
        {(b'a', b'a'): 4}
        >>> text.merge((b"a", b"a"))
        {(b'aa', b'a')}
        >>> text.symbols, text.table
        ([b'', b'aa', b'', b'a'], {(b'aa', b'a'): 2})
    """

    state: State
    symbols: list[bytes] = field(default_factory=lambda: [b""])
    weights: list[int] = field(default_factory=lambda: [0])
    before: list[int] = field(default_factory=lambda: [WALL])
    after: list[int] = field(default_factory=lambda: [WALL])
    table: dict[Pair, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Link the symbols, and count every pair."""
        for symbols, count in zip(self.state.pieces, self.state.counts, strict=True):
            previous = WALL
            for symbol in symbols:
                self.after[previous] = len(self.symbols)
                self.symbols.append(symbol)
                self.weights.append(count)
                self.before.append(previous)
                self.after.append(WALL)
                previous = len(self.symbols) - 1
        for node in range(1, len(self.symbols)):
            self.add(node, 1)

    def pair_at(self, node: int) -> Pair:
        """Return the pair of a node and the next one; it holds an empty symbol if there is no such pair."""
        return self.symbols[node], self.symbols[self.after[node]]

    def pairs(self) -> Iterator[Pair]:
        """Return the pairs of the text in order. O(symbols of all pieces)."""
        return (pair for pair in map(self.pair_at, range(1, len(self.symbols))) if b"" not in pair)

    def add(self, node: int, sign: int) -> None:
        """Add the pair at a node to the table, or with the sign -1 take it out. O(1)."""
        pair = self.pair_at(node)
        if b"" in pair:
            return
        self.table[pair] = self.table.get(pair, 0) + sign * self.weights[node]
        if not self.table[pair]:
            del self.table[pair]

    def nodes(self, pair: Pair) -> Iterable[int]:
        """Return the nodes, in order, that the left symbol of a pair may be at. O(symbols of all pieces)."""
        return (node for node, symbol in enumerate(self.symbols) if symbol == pair[0])

    def choose(self) -> Merge | None:
        """Choose the pair to merge, or None if no pair may be merged. O(pairs)."""
        return self.state.pick(self.table, self.pairs())

    def merge(self, pair: Pair) -> set[Pair]:
        """Merge a pair wherever it occurs; return the pairs that come into being, though some may be gone again."""
        born: set[Pair] = set()
        for node in self.nodes(pair):
            if self.pair_at(node) != pair:
                continue
            right = self.after[node]
            around = self.before[node], node
            for neighbour in (*around, right):
                self.add(neighbour, -1)
            self.symbols[node] += self.symbols[right]
            self.symbols[right] = b""
            self.after[node] = self.after[right]
            self.before[self.after[right]] = node
            for neighbour in around:
                self.add(neighbour, 1)
                born.add(self.pair_at(neighbour))
        return born & self.table.keys()


def train_on(text: LinkedText) -> Training:
    """Learn merges on a linked text: choose, record, merge."""
    for _ in range(text.state.rules.merges):
        merge = text.choose()
        if merge is None:
            break
        text.state.record(merge, text.table)
        text.merge(merge.pair)
    return text.state.training


def train_linked(counts: Counts, merges: int, **options: Unpack[TrainerOptions]) -> Training:
    """Learn merges on a linked list of all symbols.

    Takes, returns and raises the same as `Trainer`.

    Complexity: O(merges x (symbols of all pieces + pairs)).

    Source: "Slow Data".

    Example:
        >>> train_linked({"aaabdaaabace": 1}, 3).pairs
        [(b'a', b'a'), (b'a', b'b'), (b'aa', b'ab')]
    """
    return train_on(LinkedText(State.start(counts, merges, **options)))
