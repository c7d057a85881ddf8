"""Totals of documents, which add up over tasks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EXACT = 16
_STEPS = 4
"""Lengths below 16 are counted one by one; above, each power of two is four steps."""


@dataclass(slots=True)
class Amount:
    """Documents, the bytes of their texts, and their tokens, with those that frame them."""

    documents: int = 0
    bytes: int = 0
    tokens: int = 0

    def add(self, other: Amount) -> None:
        """Adds another one."""
        self.documents += other.documents
        self.bytes += other.bytes
        self.tokens += other.tokens


@dataclass(slots=True)
class Tally:
    """The totals of the documents of a task, or of many.

    Attributes:
        splits: What went to ``train`` and ``val``.
        groups: What came from each group of sources.
        unknown: How many tokens stand for what the vocabulary does not know.
        empty: Documents without any text, which are left out.
        bad: Documents that could not be used, by the kind of error.
        lengths: How many documents have how many tokens: by the least number of each step, see `step`.
        longest: The most tokens of a document.

    Example:
        >>> tally = Tally()
        >>> tally.count("train", "en", np.array([3, 40, 41]), 300)
        >>> tally.splits["train"], tally.lengths, tally.longest
        (Amount(documents=3, bytes=300, tokens=84), Counter({40: 2, 3: 1}), 41)
        >>> Tally.from_json(tally.to_json()) == tally
        True
    """

    splits: dict[str, Amount] = field(default_factory=dict)
    groups: dict[str, Amount] = field(default_factory=dict)
    unknown: int = 0
    empty: int = 0
    bad: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    longest: int = 0

    @property
    def whole(self) -> Amount:
        """All splits together."""
        return _sum(self.splits)

    def count(self, split: str, group: str, tokens: NDArray[np.int64], text_bytes: int) -> None:
        """Counts documents of one split and group.

        Args:
            split: Where they go.
            group: Where they are from.
            tokens: How many tokens each of them has.
            text_bytes: The bytes of all of them.
        """
        if not len(tokens):
            return
        amount = Amount(len(tokens), text_bytes, int(tokens.sum()))
        self.splits.setdefault(split, Amount()).add(amount)
        self.groups.setdefault(group, Amount()).add(amount)
        steps, many = np.unique(step(tokens), return_counts=True)
        self.lengths.update(dict(zip(steps.tolist(), many.tolist(), strict=True)))
        self.longest = max(self.longest, int(tokens.max()))

    def add(self, other: Tally) -> None:
        """Adds what other documents came to."""
        for mine, theirs in ((self.splits, other.splits), (self.groups, other.groups)):
            for name, amount in theirs.items():
                mine.setdefault(name, Amount()).add(amount)
        self.unknown += other.unknown
        self.empty += other.empty
        self.bad.update(other.bad)
        self.lengths.update(other.lengths)
        self.longest = max(self.longest, other.longest)

    def to_json(self) -> dict[str, Any]:
        """The same as plain data, in an order of its own."""

        def amounts(named: dict[str, Amount]) -> dict[str, Any]:
            return {
                name: {"documents": amount.documents, "bytes": amount.bytes, "tokens": amount.tokens}
                for name, amount in sorted(named.items())
            }

        return {
            "splits": amounts(self.splits),
            "groups": amounts(self.groups),
            "unknown": self.unknown,
            "empty": self.empty,
            "bad": dict(sorted(self.bad.items())),
            "lengths": {str(least): self.lengths[least] for least in sorted(self.lengths)},
            "longest": self.longest,
        }

    @classmethod
    def from_json(cls, table: dict[str, Any]) -> Tally:
        """The tally of `to_json`."""
        return cls(
            {name: Amount(**amount) for name, amount in table["splits"].items()},
            {name: Amount(**amount) for name, amount in table["groups"].items()},
            table["unknown"],
            table["empty"],
            Counter(table["bad"]),
            Counter({int(least): many for least, many in table["lengths"].items()}),
            table["longest"],
        )


def step(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The least length of the step in which each length is.

    Example:
        >>> step(np.array([0, 15, 16, 19, 20, 31, 32, 1000])).tolist()
        [0, 15, 16, 16, 20, 28, 32, 896]
    """
    # The exponent of a float is the place of the highest bit; lengths are far below 2^53.
    power = np.frexp(lengths.astype(np.float64))[1].astype(np.int64) - 1
    shift = np.maximum(power - (_STEPS.bit_length() - 1), 0)
    return np.where(lengths < _EXACT, lengths, lengths >> shift << shift)


def _sum(amounts: dict[str, Amount]) -> Amount:
    whole = Amount()
    for amount in amounts.values():
        whole.add(amount)
    return whole
