"""V5: a max-heap of the pairs, with lazy deletion.

The one idea over V4 (``inverted.py``): do not search the table for the most frequent pair, keep the pairs in a heap.
A heap cannot change an entry inside it, so a pair whose count changed is pushed again; the old entry is stale, is
recognised by its count when it comes up, and is dropped. When stale entries outnumber live ones the heap is built anew.

Two policies need care. ``greatest_bytes`` wants the greatest pair from a heap that pops the smallest, hence the
inverted strings of ``ties.inverted``. Under ``first_seen`` the place of a pair belongs to its key, and changes with the
text. But all occurrences of a pair come into being with the younger of its two tokens, at once; after that they only
vanish, so the place only moves later. An entry with an old place therefore comes up too early, never too late: look the
place up when it does, and push the entry back if the pair has moved. Places are byte offsets, because a symbol's number
in its piece falls with every merge to its left.

Complexity: O(log pairs) for each count that changes, and the symbols of the pieces that change; ``first_seen`` also
reads the holders of a pair whenever its entry comes up. Biggest weakness: a piece is rewritten as a whole for each
merge in it, so that one long piece makes training quadratic.

Source: V5 of "Building a Fast BPE Tokenizer from Scratch"; ``first_seen`` is an addition.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bytepair.reference.inverted import index_pairs, merge_holders
from bytepair.reference.pairs import Pair, count_pairs
from bytepair.reference.ties import heap_key
from bytepair.reference.training import Merge, State

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from bytepair.reference.training import Counts, TrainerOptions, Training


@dataclass
class PairHeap:
    """The pairs of a state, most frequent first.

    Args:
        state: The pieces, and the rules of the choice.
        table: Pair -> count, kept up to date by the trainer.
        holders: Pair -> the numbers of the pieces that hold it, likewise.

    Example:
        >>> state = State.start({"ab": 1, "cab": 1}, merges=9)
        >>> heap = PairHeap(state, count_pairs(state.pieces, state.counts), index_pairs(state))
        >>> heap.pop()
        Merge(left=b'a', right=b'b', count=2)
    """

    state: State
    table: dict[Pair, int]
    holders: defaultdict[Pair, set[int]]
    # Entries are (-count, key under the tie policy, pair): the smallest is the pair to merge.
    entries: list[tuple[int, Any, Pair]] = field(default_factory=list)
    places: dict[Pair, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Enter every pair."""
        self.compact()

    def find(self, pair: Pair) -> tuple[int, int]:
        """Find where a pair first occurs: number of the piece, byte offset in it. O(holders + symbols of a piece)."""
        number = min(self.holders[pair])
        offset = 0
        for neighbours in pairwise(self.state.pieces[number]):
            if neighbours == pair:
                break
            offset += len(neighbours[0])
        return number, offset

    def place(self, pair: Pair) -> tuple[int, int]:
        """Return the place where a pair was last found, which is never later than where it is now."""
        if pair not in self.places:
            self.places[pair] = self.find(pair)
        return self.places[pair]

    def entry(self, pair: Pair) -> tuple[int, Any, Pair]:
        """Return the entry of a pair as far as is known."""
        return -self.table[pair], heap_key(pair, self.state.rules.ties, ids=self.state.ids, place=self.place), pair

    def push(self, pair: Pair) -> None:
        """Enter a pair with its present count; one that is gone or too long is left out. O(log pairs)."""
        if pair in self.table and self.state.rules.allows(pair):
            heappush(self.entries, self.entry(pair))

    def pop(self) -> Merge | None:
        """Take the pair to merge, or None if no pair may be merged. O(log pairs) for each entry dropped."""
        while self.entries:
            negative, _, pair = heappop(self.entries)
            if -negative != self.table.get(pair):
                continue
            if self.state.rules.ties == "first_seen":
                known, self.places[pair] = self.places[pair], self.find(pair)
                if known != self.places[pair]:
                    self.push(pair)
                    continue
            return Merge(*pair, -negative) if -negative >= self.state.rules.min_frequency else None
        return None

    def compact(self) -> None:
        """Build the heap anew, without stale entries. O(pairs)."""
        self.entries = [self.entry(pair) for pair in self.table if self.state.rules.allows(pair)]
        heapify(self.entries)


def train_heap(counts: Counts, merges: int, *, compact: bool = True, **options: Unpack[TrainerOptions]) -> Training:
    """Learn merges with an inverted index and a heap.

    Takes, returns and raises the same as `Trainer`. Without ``compact`` stale entries stay until they come up.

    Complexity: O(changes x log pairs + symbols of all pieces that change).

    Source: V5 of "Building a Fast BPE Tokenizer from Scratch".

    Example:
        >>> train_heap({"low": 5, "lower": 2, "new": 6}, 2, ties="greatest_bytes").pairs
        [(b'o', b'w'), (b'l', b'ow')]
    """
    state = State.start(counts, merges, **options)
    table = count_pairs(state.pieces, state.counts)
    heap = PairHeap(state, table, index_pairs(state))
    for _ in range(merges):
        merge = heap.pop()
        if merge is None:
            break
        state.record(merge, table)
        for pair in merge_holders(state, table, heap.holders, merge.pair):
            heap.push(pair)
        if compact and len(heap.entries) > 2 * len(table):
            heap.compact()
    return state.training
