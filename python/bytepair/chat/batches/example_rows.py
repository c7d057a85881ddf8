"""`ExampleRows`: examples in rows of one length, the result of `pad`, `pack` and `flatten`.

The boundaries of examples are stored in each form that attention takes: positions that restart, segment ids, and
cumulative lengths (``cu_seqlens``) for the kernels of variable-length sequences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bytepair.call.tensors import converter
from bytepair.chat.batches.attention import find_segments
from bytepair.chat.batches.columns import IGNORED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bytepair.chat.batches.attention import Placed
    from bytepair.chat.batches.columns import Tensors

MATRICES = ("input_ids", "labels", "position_ids", "attention_mask", "segment_ids")
"""The columns with a cell for each token of the rows."""


@dataclass(frozen=True, slots=True, eq=False)
class ExampleRows:
    """Examples in rows of one length: arrays of numpy or tensors of torch.

    Attributes:
        input_ids: int64 (rows, tokens).
        labels: The same shape; -100 on padding and at the first token of each example, which no token of its own
            example predicts.
        position_ids: The same shape; from 0 in each example, and from 0 in the padding, which is a segment of its own.
        attention_mask: The same shape; 0 on padding, else 1. It does not separate examples.
        segment_ids: The same shape; 1, 2, ... for the examples of a row, 0 on padding.
        cu_seqlens: int32 (segments + 1,): the start of each segment in the flattened rows, and the end. The padding of
            a row is a segment.
        max_seqlen: Tokens of the longest segment.
        examples: The place of each example, by row and start.
        dropped: The numbers of examples that were too long and left out.
        truncated: The numbers of examples whose end was cut off.
        untrained: The numbers of examples in the rows without a label: cut off before it, or only their first token was
            trained.
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
        """The share of cells that are not padding, from 0 to 1."""
        cells = len(self) * int(self.input_ids.shape[1])
        return sum(placed.end - placed.start for placed in self.examples) / cells if cells else 1.0

    def select(self, rows: Iterable[int]) -> ExampleRows:
        """Selects some rows, in this order: a batch for one training step, with the `cu_seqlens` of these rows.

        Args:
            rows: Their numbers, each once.

        Returns:
            These rows. `dropped` is empty: a dropped example is in no row.

        Raises:
            ValueError: A row is repeated or does not exist.

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
        return ExampleRows(
            **{name: getattr(self, name)[chosen] for name in MATRICES},
            cu_seqlens=tensor_of("np" if _is_numpy(self.input_ids) else "pt")(ends),
            max_seqlen=longest,
            examples=tuple(examples),
            truncated=tuple(number for number in self.truncated if number in there),
            untrained=tuple(number for number in self.untrained if number in there),
        )

    def model_inputs(self) -> dict[str, Any]:
        """The keyword arguments of a model for rows of one example each, such as those of `pad`.

        Returns:
            ``input_ids``, ``attention_mask``, ``labels`` and ``position_ids``.

        Raises:
            ValueError: A row holds several examples, which `attention_mask` does not separate.

        Example:
            >>> from types import SimpleNamespace
            >>> from bytepair.chat.batches.padding import pad
            >>> examples = [SimpleNamespace(input_ids=[n] * n, labels=[n] * n, attention_mask=[1] * n) for n in (1, 2)]
            >>> pad(examples, pad_id=0).model_inputs()["attention_mask"].tolist()
            [[1, 0], [1, 1]]
        """
        if len(self.examples) > len(self):
            raise ValueError(
                "a row holds several examples, which attention_mask does not separate; see flash_arguments"
            )
        return {name: getattr(self, name) for name in ("input_ids", "attention_mask", "labels", "position_ids")}

    def flash_arguments(self) -> dict[str, Any]:
        """The keyword arguments of a transformers model with which flash attention separates examples.

        They have no attention mask: given one with a 0, transformers ignores the boundaries. All rows become one,
        because transformers looks for positions that restart only in a single row.

        Returns:
            ``input_ids``, ``labels`` and ``position_ids`` of shape (1, rows * tokens); ``cu_seq_lens_q`` and
            ``cu_seq_lens_k``, which are `cu_seqlens`; ``max_length_q`` and ``max_length_k``, which are `max_seqlen`.
        """
        return {
            **{name: getattr(self, name).reshape(1, -1) for name in ("input_ids", "labels", "position_ids")},
            **dict.fromkeys(("cu_seq_lens_q", "cu_seq_lens_k"), self.cu_seqlens),
            **dict.fromkeys(("max_length_q", "max_length_k"), self.max_seqlen),
        }


def _is_numpy(array: object) -> bool:
    import numpy as np  # noqa: PLC0415 (only padding and packing need it)

    return isinstance(array, np.ndarray)


def tensor_of(kind: str | None) -> Callable[[NDArray[Any]], Any]:
    """The function that converts an array to the kind that `return_tensors` names."""
    convert = converter(kind)
    if convert is None:
        raise ValueError('return_tensors=None is not supported here; use "np" or "pt"')
    return convert


def fill(
    all_columns: Sequence[tuple[NDArray[np.int64], ...]],
    placed: Sequence[Placed],
    shape: tuple[int, int],
    pad_id: int,
    tensors: Tensors,
) -> ExampleRows:
    """Fills rows of a shape (rows, tokens) with the columns of examples, which are placed by row, then without gaps."""
    import numpy as np  # noqa: PLC0415 (as above)

    cu_seqlens, longest = find_segments(placed, *shape)
    arrays = {name: np.zeros(shape, np.int64) for name in MATRICES}
    arrays["input_ids"].fill(pad_id)
    arrays["labels"].fill(IGNORED)
    counting = np.arange(shape[1])
    # The padding of a row: up to its first example, and from the end of its last one.
    padding = [(0, 0)] * shape[0]
    untrained = []
    row, segment = -1, 0
    for item in placed:
        segment = segment + 1 if item.row == row else 1
        row, size = item.row, item.end - item.start
        padding[row] = (item.start if segment == 1 else padding[row][0], item.end)
        place = (row, slice(item.start, item.end))
        ids, _, labels = all_columns[item.example]
        arrays["input_ids"][place] = ids[:size]
        arrays["attention_mask"][place] = 1
        arrays["labels"][row, item.start + 1 : item.end] = labels[1:size]
        arrays["segment_ids"][place] = segment
        arrays["position_ids"][place] = counting[:size]
        if (labels[1:size] == IGNORED).all():
            untrained.append(item.example)
    for row, (start, end) in enumerate(padding):
        arrays["position_ids"][row, :start] = counting[:start]
        arrays["position_ids"][row, end:] = counting[: shape[1] - end]
    convert = tensor_of(tensors)
    return ExampleRows(
        **{name: convert(array) for name, array in arrays.items()},
        cu_seqlens=convert(cu_seqlens),
        max_seqlen=longest,
        examples=tuple(placed),
        untrained=tuple(sorted(untrained)),
    )
