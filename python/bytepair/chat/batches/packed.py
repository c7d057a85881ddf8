"""Examples in rows: what packing makes, in each of the ways in which attention is told where an example ends.

These are positions that start again, segment ids, and cumulative lengths (``cu_seqlens``) as the kernels for sequences
of varying length take them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bytepair.chat.batches.attention import Placed, find_segments
from bytepair.chat.batches.padding import converter

if TYPE_CHECKING:
    from collections.abc import Iterable

MATRICES = ("input_ids", "labels", "position_ids", "attention_mask", "segment_ids")
"""What there is for each cell of the rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Examples in rows of one length. Arrays are numpy's or torch's.

    Attributes:
        input_ids: int64 (rows, tokens).
        labels: The same shape; -100 at the first token of each example, which nothing in its own example predicts, and
            on padding.
        position_ids: The same shape; from 0 in each example, and from 0 in the padding, which is a segment of its own.
        attention_mask: The same shape; 0 on padding. It does not keep examples apart.
        segment_ids: The same shape; 1, 2, ... for the examples of a row, 0 on padding.
        cu_seqlens: int32 (segments + 1,): where segments start in the flattened rows, and the end. The padding of a row
            is a segment.
        max_seqlen: Tokens of the longest segment.
        examples: Where each example lies, by row and place.
        dropped: The numbers of examples that were too long and left out.
        truncated: The numbers of those whose end was cut off.
        untrained: The numbers of those in the rows that have no label left: they were cut off before it, or their first
            token was all that was trained.
    """

    input_ids: Any
    labels: Any
    position_ids: Any
    attention_mask: Any
    segment_ids: Any
    cu_seqlens: Any
    max_seqlen: int
    examples: tuple[Placed, ...]
    dropped: tuple[int, ...] = ()
    truncated: tuple[int, ...] = ()
    untrained: tuple[int, ...] = ()

    def __len__(self) -> int:
        return int(self.input_ids.shape[0])

    @property
    def fill(self) -> float:
        """The part of all cells that is no padding, from 0 to 1."""
        cells = len(self) * int(self.input_ids.shape[1])
        return sum(placed.end - placed.start for placed in self.examples) / cells if cells else 1.0

    def select(self, rows: Iterable[int]) -> Packed:
        """Some rows, in this order: a batch for one step of training, with the `cu_seqlens` of these rows.

        Args:
            rows: Their numbers; no number twice.

        Returns:
            The same, of these rows. `dropped` is empty, as what was left out is in no row.

        Raises:
            ValueError: A row twice, or one that there is not.

        Example:
            >>> from types import SimpleNamespace
            >>> from bytepair.chat.batches.packing import pack
            >>> examples = [SimpleNamespace(input_ids=[n] * n, labels=[n] * n, attention_mask=[1] * n) for n in (3, 4)]
            >>> batch = pack(examples, 5, pad_id=0).select([1])
            >>> batch.input_ids.tolist(), batch.cu_seqlens.tolist()
            ([[4, 4, 4, 4, 0]], [0, 4, 5])
        """
        chosen = list(rows)
        new = {row: number for number, row in enumerate(chosen)}
        if len(new) < len(chosen) or not all(0 <= row < len(self) for row in chosen):
            raise ValueError(f"rows must be different numbers from 0 to {len(self) - 1}, not {chosen[:9]}")
        examples = sorted(
            (placed._replace(row=new[placed.row]) for placed in self.examples if placed.row in new),
            key=lambda placed: (placed.row, placed.start),
        )
        there = {placed.example for placed in examples}
        ends, longest = find_segments(examples, len(chosen), int(self.input_ids.shape[1]))
        return Packed(
            **{name: getattr(self, name)[chosen] for name in MATRICES},
            cu_seqlens=converter("np" if _is_numpy(self.input_ids) else "pt")(ends),
            max_seqlen=longest,
            examples=tuple(examples),
            truncated=tuple(number for number in self.truncated if number in there),
            untrained=tuple(number for number in self.untrained if number in there),
        )

    def flash_arguments(self) -> dict[str, Any]:
        """What a model of transformers takes so that flash attention keeps examples apart.

        There is no attention mask among it: with one that has a 0, transformers passes over the boundaries. Whatever
        the number of rows, they are one row here, since positions that start again are looked for only there.

        Returns:
            ``input_ids``, ``labels`` and ``position_ids`` of shape (1, rows * tokens); ``cu_seq_lens_q`` and
            ``cu_seq_lens_k``, which are `cu_seqlens`; ``max_length_q`` and ``max_length_k``, which are `max_seqlen`.
        """
        names = ("input_ids", "labels", "position_ids")
        lengths = ("cu_seq_lens_q", "cu_seq_lens_k")
        most = ("max_length_q", "max_length_k")
        return {
            **{name: getattr(self, name).reshape(1, -1) for name in names},
            **dict.fromkeys(lengths, self.cu_seqlens),
            **dict.fromkeys(most, self.max_seqlen),
        }


def _is_numpy(array: object) -> bool:
    import numpy as np  # noqa: PLC0415 (only who wants arrays waits for it)

    return isinstance(array, np.ndarray)
