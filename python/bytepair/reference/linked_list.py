"""The trainer of "Slow Data": one linked list of symbols over the whole text, and the positions of each pair.

The one idea over V5 (``heap.py``): go to the occurrences themselves, not to the pieces that hold them. A merge unlinks
one node and changes the three pairs around it, whatever the length of the piece; one long text without any pieces is no
worse than many short ones. Positions and heap entries are cleaned lazily: one that is no longer true is dropped, or put
right, when it comes up. Here nodes also have a weight, the count of their piece, and walls between the pieces.

A pair next to itself is where such trainers go wrong: in ``aaa`` merging the first (a, a) uses up half of the second.
Two rules keep it right: occurrences are merged from left to right, each looked at again before it is; and the pairs
around it are taken out of the table as they are at that moment, never as they were before the step.

Complexity: O(symbols of all pieces x log) in all, as each merge of an occurrence removes a node; ``first_seen`` also
reads all positions of a pair whenever its entry comes up. Biggest weakness: memory, since every symbol of the text is a
node and stands in sets of positions, stale ones included.

Source: "Slow Data".
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any

from bytepair.reference.ties import heap_key
from bytepair.reference.training import Merge, Settings, State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bytepair.reference.pairs import Pair
    from bytepair.reference.training import Training

# Node 0 stands for the end of a piece on either side. It has the empty symbol, and so has a node that was merged away.
WALL = 0


@dataclass
class LinkedText:
    """All pieces as nodes of a linked list; a node's number is its place in the text and never changes.

    Args:
        state: The pieces, and the rules of the choice.

    Example:
        >>> text = LinkedText(State.start({"aaa": 2}, Settings(merges=9, ties="smallest_bytes")))
        >>> text.table, text.positions[b"a", b"a"]
        ({(b'a', b'a'): 4}, {1, 2})
        >>> text.merge((b"a", b"a"))
        >>> text.symbols, text.table
        ([b'', b'aa', b'', b'a'], {(b'aa', b'a'): 2})
    """

    state: State
    symbols: list[bytes] = field(default_factory=lambda: [b""])
    weights: list[int] = field(default_factory=lambda: [0])
    before: list[int] = field(default_factory=lambda: [WALL])
    after: list[int] = field(default_factory=lambda: [WALL])
    table: dict[Pair, int] = field(default_factory=dict)
    positions: defaultdict[Pair, set[int]] = field(default_factory=lambda: defaultdict(set))
    entries: list[tuple[int, Any, Pair]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Link the symbols, and enter every pair."""
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
        self.entries = [self.entry(pair) for pair in self.table if self.state.settings.allows(pair)]
        heapify(self.entries)

    def pair_at(self, node: int) -> Pair:
        """Give the pair of a node and the next one; it holds an empty symbol if there is no such pair."""
        return self.symbols[node], self.symbols[self.after[node]]

    def add(self, node: int, sign: int) -> None:
        """Add the pair at a node to the table, or with the sign -1 take it out. O(1)."""
        pair = self.pair_at(node)
        if b"" in pair:
            return
        self.table[pair] = self.table.get(pair, 0) + sign * self.weights[node]
        if not self.table[pair]:
            del self.table[pair]
        if sign > 0:
            self.positions[pair].add(node)

    def place(self, pair: Pair) -> int:
        """Find the first node of a pair, and forget the positions where it no longer is. O(positions)."""
        self.positions[pair] = {node for node in self.positions[pair] if self.pair_at(node) == pair}
        return min(self.positions[pair])

    def entry(self, pair: Pair) -> tuple[int, Any, Pair]:
        """Give the heap entry of a pair as it is now: (-count, key under the tie policy, pair)."""
        return -self.table[pair], heap_key(pair, self.state.settings.ties, ids=self.state.ids, place=self.place), pair

    def pop(self) -> Merge | None:
        """Take the pair to merge, or None if no pair may be merged.

        No count rises and no place moves forward after a pair has come into being, so an entry that is not true any
        more comes up too early, and can be put right then.
        """
        while self.entries:
            entry = heappop(self.entries)
            pair = entry[2]
            if pair not in self.table:
                self.positions.pop(pair, None)
            elif entry != (now := self.entry(pair)):
                heappush(self.entries, now)
            else:
                return Merge(*pair, -entry[0]) if -entry[0] >= self.state.settings.min_frequency else None
        return None

    def merge(self, pair: Pair) -> None:
        """Merge a pair wherever it occurs, and push the pairs that come into being. O(positions x log positions)."""
        born: set[Pair] = set()
        for node in sorted(self.positions.pop(pair)):
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
        for new in born & self.table.keys():
            if self.state.settings.allows(new):
                heappush(self.entries, self.entry(new))


def train_linked_list(
    counts: Mapping[bytes, int] | Mapping[str, int],
    merges: int,
    *,
    ties: str = "lowest_ids",
    min_frequency: int = 1,
    max_token_length: int | None = None,
    alphabet: str = "bytes",
    end_of_word_suffix: str | None = None,
    trace: bool = False,
) -> Training:
    """Learn merges on a linked list of all symbols.

    Takes, returns and raises what `Trainer` says.

    Complexity: O(symbols of all pieces x log).

    Source: "Slow Data".

    Example:
        >>> train_linked_list({"aaabdaaabace": 1}, 3).pairs
        [(b'a', b'a'), (b'a', b'b'), (b'aa', b'ab')]
    """
    settings = Settings(merges, ties, min_frequency, max_token_length, alphabet, end_of_word_suffix, trace)
    state = State.start(counts, settings)
    text = LinkedText(state)
    for _ in range(merges):
        merge = text.pop()
        if merge is None:
            break
        state.record(merge, text.table)
        text.merge(merge.pair)
    return state.training
