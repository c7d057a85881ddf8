"""The positions of each pair, cleaned lazily: the third stage of "Slow Data".

The one idea over ``linked.py``: do not visit every node to find a pair, know the nodes where it began. A node that is
entered is never taken out when its pair goes away, which would cost as much as to enter it; it is looked at when the
pair is merged, and passed over then.

Complexity: O(positions x log positions) for each merge, and O(pairs) to choose it. Biggest weakness: that choice, which
reads the whole table at every step, and now dominates.

Source: "Slow Data".
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bytepair.reference.linked import LinkedText, train_on
from bytepair.reference.training import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Unpack

    from bytepair.reference.pairs import Pair
    from bytepair.reference.training import Counts, TrainerOptions, Training


@dataclass
class PositionedText(LinkedText):
    """A linked text that knows where its pairs are, and for some also where they were.

    Example:
        >>> text = PositionedText(State.start({"aaa": 2}, merges=9))
        >>> text.positions[b"a", b"a"]
        {1, 2}
    """

    positions: defaultdict[Pair, set[int]] = field(default_factory=lambda: defaultdict(set))

    def add(self, node: int, sign: int) -> None:
        """Add the pair at a node to the table and the node to its positions, or take it out of the table. O(1)."""
        super().add(node, sign)
        pair = self.pair_at(node)
        if sign > 0 and b"" not in pair:
            self.positions[pair].add(node)

    def nodes(self, pair: Pair) -> Iterable[int]:
        """Return the positions of a pair in order, and forget them. O(positions x log positions)."""
        return sorted(self.positions.pop(pair))


def train_positions(counts: Counts, merges: int, **options: Unpack[TrainerOptions]) -> Training:
    """Learn merges on a linked list of all symbols, with the positions of each pair.

    Takes, returns and raises the same as `Trainer`.

    Complexity: O(merges x pairs + symbols of all pieces x log).

    Source: "Slow Data".

    Example:
        >>> train_positions({"aaabdaaabace": 1}, 3).pairs
        [(b'a', b'a'), (b'a', b'b'), (b'aa', b'ab')]
    """
    return train_on(PositionedText(State.start(counts, merges, **options)))
