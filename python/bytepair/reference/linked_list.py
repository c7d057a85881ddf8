"""A heap over the positions: the last stage of "Slow Data".

The one idea over ``positions.py``: do not search the table for the most frequent pair, keep the pairs in a heap, as V5
(``heap.py``) does. But here heap entries are as lazy as positions: a pair has one, and when it comes up and is stale
it is corrected and pushed back. Over V5 it goes to the occurrences themselves, not to the pieces that hold them:
one long text without any pieces is no worse than many short ones.

Complexity: O(symbols of all pieces x log) in all, as each merge of an occurrence removes a node; ``first_seen`` also
reads all positions of a pair whenever its entry comes up. Biggest weakness: memory, since every symbol of the text is a
node and is stored in sets of positions, stale ones included.

Source: "Slow Data".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any

from bytepair.reference.linked import train_on
from bytepair.reference.positions import PositionedText
from bytepair.reference.ties import heap_key
from bytepair.reference.training import Merge, State

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from bytepair.reference.pairs import Pair
    from bytepair.reference.training import Counts, TrainerOptions, Training


@dataclass
class HeapedText(PositionedText):
    """A linked text with positions, and its pairs with the most frequent first.

    Example:
        >>> text = HeapedText(State.start({"aaa": 2}, merges=9))
        >>> text.choose()
        Merge(left=b'a', right=b'a', count=4)
    """

    entries: list[tuple[int, Any, Pair]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Link the symbols, and enter every pair."""
        super().__post_init__()
        self.entries = [self.entry(pair) for pair in self.table if self.state.rules.allows(pair)]
        heapify(self.entries)

    def place(self, pair: Pair) -> int:
        """Find the first node of a pair, and forget the positions where it no longer is. O(positions)."""
        self.positions[pair] = {node for node in self.positions[pair] if self.pair_at(node) == pair}
        return min(self.positions[pair])

    def entry(self, pair: Pair) -> tuple[int, Any, Pair]:
        """Return the heap entry of a pair as it is now: (-count, key under the tie policy, pair)."""
        return -self.table[pair], heap_key(pair, self.state.rules.ties, ids=self.state.ids, place=self.place), pair

    def choose(self) -> Merge | None:
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
                return Merge(*pair, -entry[0]) if -entry[0] >= self.state.rules.min_frequency else None
        return None

    def merge(self, pair: Pair) -> set[Pair]:
        """Merge a pair wherever it occurs, and push the pairs that come into being. O(positions x log positions)."""
        born = super().merge(pair)
        for new in born:
            if self.state.rules.allows(new):
                heappush(self.entries, self.entry(new))
        return born


def train_linked_list(counts: Counts, merges: int, **options: Unpack[TrainerOptions]) -> Training:
    """Learn merges on a linked list of all symbols, with positions and a heap.

    Takes, returns and raises the same as `Trainer`.

    Complexity: O(symbols of all pieces x log).

    Source: "Slow Data".

    Example:
        >>> train_linked_list({"aaabdaaabace": 1}, 3).pairs
        [(b'a', b'a'), (b'a', b'b'), (b'aa', b'ab')]
    """
    return train_on(HeapedText(State.start(counts, merges, **options)))
