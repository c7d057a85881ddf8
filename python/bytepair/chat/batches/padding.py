"""Padding: examples of different lengths in rows of one length. The alternative without padding is `packing`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.chat.batches.attention import Placed
from bytepair.chat.batches.columns import Tensors, check_length, check_pad_id, columns, does_not_fit
from bytepair.chat.batches.example_rows import ExampleRows, fill, tensor_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bytepair.call.options import Side
    from bytepair.chat.batches.columns import Example


def pad(
    examples: Sequence[Example | Mapping[str, Any]],
    *,
    pad_id: int,
    side: Side = "right",
    length: int | None = None,
    to_multiple_of: int | None = None,
    return_tensors: Tensors = "np",
) -> ExampleRows:
    """Pads examples to one length, one example a row.

    Padding has the mask 0 and the label -100, also where the pad token is the eos token too: an eos that is part of an
    example keeps its label.

    Args:
        examples: The rows.
        pad_id: The id of padding.
        side: The side that is padded: ``"right"`` to train, ``"left"`` to generate.
        length: Tokens of a row; None for those of the longest example.
        to_multiple_of: Rounds the number of tokens up to a multiple of this.
        return_tensors: ``"np"`` for arrays of int64, ``"pt"`` for tensors of torch.

    Returns:
        The rows, as `pack` returns them; ``model(**rows.model_inputs())`` takes them.

    Raises:
        LimitError: An example is longer than `length` (``row`` is its number); or there are more cells than
            `cu_seqlens` can count, 2**31 - 1.
        ValueError: An option is invalid, or an example is padded, or its arrays differ in length.
        ImportError: torch is not installed.

    Example:
        >>> import numpy as np
        >>> from types import SimpleNamespace
        >>> def example(*ids):
        ...     row = np.array(ids)
        ...     return SimpleNamespace(input_ids=row, labels=row, attention_mask=np.ones_like(row))
        >>> rows = pad([example(5, 6, 2), example(7, 2)], pad_id=2)
        >>> rows.input_ids.tolist(), rows.labels.tolist()
        ([[5, 6, 2], [7, 2, 2]], [[-100, 6, 2], [-100, 2, -100]])
    """
    tensor_of(return_tensors)
    check_pad_id(pad_id)
    if side not in ("left", "right"):
        raise ValueError(f'side={side!r} is unknown; use "left" or "right"')
    check_length("length", length)
    check_length("to_multiple_of", to_multiple_of)
    all_columns = [columns(example, number) for number, example in enumerate(examples)]
    sizes = [len(arrays[0]) for arrays in all_columns]
    longest = max(sizes, default=0)
    if length is not None and longest > length:
        number = next(number for number, size in enumerate(sizes) if size > length)
        raise does_not_fit(sizes[number], length, number, "truncate it when it is encoded, or use a greater length")
    width = longest if length is None else length
    width += -width % (to_multiple_of or 1)
    starts = [0 if side == "right" else width - size for size in sizes]
    placed = [
        Placed(number, number, start, start + size)
        for number, (start, size) in enumerate(zip(starts, sizes, strict=True))
    ]
    return fill(all_columns, placed, (len(placed), width), pad_id, return_tensors)
