"""`Ragged`: rows of ids of different lengths in one flat array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """Rows of ids of different lengths in one flat array.

    Attributes:
        ids: All ids, row after row: uint32, shape ``(total,)``.
        offsets: Row ``i`` is ``ids[offsets[i]:offsets[i + 1]]``: int64, shape ``(rows + 1,)``.

    Example:
        >>> import bytepair as bp
        >>> rows = bp.train({"low": 5}, vocab_size=258).encode_batch_array(["low low", "", "w"])
        >>> len(rows), rows.offsets.tolist(), rows[0].tolist()
        (3, [0, 3, 3, 4], [257, 32, 257])
    """

    ids: NDArray[np.uint32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> NDArray[np.uint32]:
        """A view of one row's ids; negative rows count from the end."""
        rows = len(self)
        if not -rows <= row < rows:
            raise IndexError(f"row {row} of {rows}")
        row %= rows
        return self.ids[self.offsets[row] : self.offsets[row + 1]]

    def __iter__(self) -> Iterator[NDArray[np.uint32]]:
        return (self[row] for row in range(len(self)))
