"""`Alignment`: the groups of tokens of two tokenizers that cover the same text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bytepair.call.ragged import Ragged

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """The tokens of a text by two tokenizers, in the finest groups that cover the same text.

    Group ``g`` has the ids ``a[g]`` of the first tokenizer and ``b[g]`` of the second. Two tokens are in one group if
    their places in the text overlap, or if a chain of such tokens leads from one to the other. A side is empty where
    the other tokenizer has a token for text that this one drops, or a token without text.

    Attributes:
        a: The ids of the first tokenizer, a row a group: ``a.ids`` are all, ``a.offsets`` the ends of groups.
        b: The ids of the second, likewise.
        places: Where the text of each group is, in bytes of its UTF-8: int64, shape ``(groups, 2)``.

    Example:
        >>> import bytepair as bp
        >>> small = bp.train({"low": 5}, vocab_size=258)
        >>> large = bp.train({"low": 5, "er": 4}, vocab_size=259)
        >>> found = bp.align("lower", small, large)
        >>> [(small.decode(a), large.decode(b)) for a, b in found], found.is_one_to_one.tolist()
        ([('low', 'low'), ('er', 'er')], [True, False])
        >>> found.b.offsets.tolist(), found.places.tolist()
        ([0, 1, 2], [[0, 3], [3, 5]])
    """

    a: Ragged
    b: Ragged
    places: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.uint32]]]:
        return zip(self.a, self.b, strict=True)

    @property
    def is_one_to_one(self) -> NDArray[np.bool_]:
        """Which groups have one token on each side: bool, shape ``(groups,)``."""
        counts_a, counts_b = (side.offsets[1:] - side.offsets[:-1] for side in (self.a, self.b))
        found: NDArray[np.bool_] = (counts_a == 1) & (counts_b == 1)
        return found

    def as_dict(self) -> dict[str, Any]:
        """The groups as lists, for JSON."""
        sides = {name: [ids.tolist() for ids in side] for name, side in (("a", self.a), ("b", self.b))}
        return {**sides, "places": self.places.tolist()}


@dataclass(frozen=True, slots=True, eq=False)
class AlignmentBatch:
    """The alignments of some texts, one behind the other in flat arrays.

    Attributes:
        groups: All groups. Their places are counted in each text anew.
        rows: Text ``i`` has the groups ``rows[i]`` to ``rows[i + 1]``: int64, shape ``(texts + 1,)``.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"low": 5}, vocab_size=258)
        >>> found = bp.align_batch(["low", "", "a low"], tok, tok)
        >>> len(found), found.rows.tolist(), found[2].places.tolist()
        (3, [0, 1, 1, 4], [[0, 1], [1, 2], [2, 5]])
    """

    groups: Alignment
    rows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows) - 1

    def __getitem__(self, row: int) -> Alignment:
        """The alignment of one text, as views; negative rows count from the end."""
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        row %= len(self)
        first, end = self.rows[row], self.rows[row + 1]

        def part(side: Ragged) -> Ragged:
            offsets = side.offsets[first : end + 1]
            return Ragged(side.ids[offsets[0] : offsets[-1]], offsets - offsets[0])

        return Alignment(part(self.groups.a), part(self.groups.b), self.groups.places[first:end])

    def __iter__(self) -> Iterator[Alignment]:
        return (self[row] for row in range(len(self)))
