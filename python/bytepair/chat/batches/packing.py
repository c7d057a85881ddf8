"""Packing: several examples in one row, with little or no padding.

``fitting`` chooses the row of each example, ``example_rows`` fills the rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from bytepair.chat.batches.attention import Placed
from bytepair.chat.batches.columns import Tensors, check_length, check_pad_id, columns, does_not_fit
from bytepair.chat.batches.example_rows import ExampleRows, fill, tensor_of
from bytepair.chat.batches.fitting import best_fit, in_order
from bytepair.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bytepair.chat.batches.columns import Example

Strategy = Literal["best_fit", "in_order"]
"""How examples are assigned to rows."""


def pack(
    examples: Sequence[Example | Mapping[str, Any]],
    length: int,
    *,
    pad_id: int,
    strategy: Strategy = "best_fit",
    too_long: Literal["raise", "truncate", "drop"] = "raise",
    return_tensors: Tensors = "np",
) -> ExampleRows:
    """Packs whole examples into rows of one length; the rest of a row is padding.

    The result is deterministic. With ``"best_fit"`` examples are placed from the longest to the shortest, each into the
    first row with the least sufficient room: few rows, in time n log(n * length) for n examples. Within a row examples
    keep their order, and rows are in the order of their first example. With ``"in_order"`` a row ends where the next
    example does not fit.

    Args:
        examples: The examples.
        length: Tokens of a row.
        pad_id: The id of padding.
        strategy: ``"best_fit"`` or ``"in_order"``.
        too_long: For an example of more than `length` tokens: ``"raise"``, ``"truncate"`` its end, or ``"drop"`` it.
            The result lists them.
        return_tensors: ``"np"`` for arrays, ``"pt"`` for tensors of torch.

    Returns:
        The rows, and the place of each example.

    Raises:
        LimitError: An example is longer than `length`, or has no token (``row`` is its number); or there are more cells
            than `cu_seqlens` can count, 2**31 - 1.
        ValueError: An option is invalid, or an example is padded, or its arrays differ in length.
        ImportError: torch is not installed.

    Example:
        >>> from types import SimpleNamespace
        >>> examples = [SimpleNamespace(input_ids=[n] * n, labels=[n] * n, attention_mask=[1] * n) for n in (3, 4, 2)]
        >>> packed = pack(examples, 5, pad_id=0)
        >>> packed.input_ids.tolist(), packed.labels.tolist()
        ([[3, 3, 3, 2, 2], [4, 4, 4, 4, 0]], [[-100, 3, 3, -100, 2], [-100, 4, 4, 4, -100]])
        >>> packed.position_ids.tolist(), packed.cu_seqlens.tolist()
        ([[0, 1, 2, 0, 1], [0, 1, 2, 3, 0]], [0, 3, 5, 9, 10])
    """
    check_length("length", length)
    if length is None:
        raise ValueError("length=None is not a number of tokens; flatten(examples) makes one row of any length")
    check_pad_id(pad_id)
    if strategy not in ("best_fit", "in_order"):
        raise ValueError(f'strategy={strategy!r} is unknown; use "best_fit" or "in_order"')
    if too_long not in ("raise", "truncate", "drop"):
        raise ValueError(f'too_long={too_long!r} is unknown; use "raise", "truncate" or "drop"')
    tensor_of(return_tensors)
    all_columns = _columns(examples)
    sizes = [(number, len(arrays[0])) for number, arrays in enumerate(all_columns)]
    longer = tuple(number for number, size in sizes if size > length)
    if longer and too_long == "raise":
        remedy = 'use a greater length, or too_long="truncate" or "drop"'
        raise does_not_fit(sizes[longer[0]][1], length, longer[0], remedy)
    if too_long == "drop":
        sizes = [(number, size) for number, size in sizes if size <= length]
    else:
        sizes = [(number, min(size, length)) for number, size in sizes]
    rows = best_fit(sizes, length) if strategy == "best_fit" else in_order(sizes, length)
    placed = []
    for row, numbers in enumerate(rows):
        start = 0
        for number, size in numbers:
            placed.append(Placed(number, row, start, start + size))
            start += size
    dropped, truncated = (longer, ()) if too_long == "drop" else ((), longer)
    packed = fill(all_columns, placed, (len(rows), length), pad_id, return_tensors)
    return replace(packed, dropped=dropped, truncated=truncated)


def flatten(examples: Sequence[Example | Mapping[str, Any]], *, return_tensors: Tensors = "np") -> ExampleRows:
    """Concatenates examples into a single row without padding.

    Args:
        examples: The examples.
        return_tensors: ``"np"`` for arrays, ``"pt"`` for tensors of torch.

    Returns:
        One row of all tokens; no row if there is no example.

    Raises:
        LimitError: An example has no token, or there are more tokens than `cu_seqlens` can count.
        ValueError: An option is invalid, or an example is padded, or its arrays differ in length.
        ImportError: torch is not installed.

    Example:
        >>> from types import SimpleNamespace
        >>> examples = [SimpleNamespace(input_ids=[n] * n, labels=[n] * n, attention_mask=[1] * n) for n in (3, 2)]
        >>> flat = flatten(examples)
        >>> flat.input_ids.tolist(), flat.labels.tolist(), flat.cu_seqlens.tolist()
        ([[3, 3, 3, 2, 2]], [[-100, 3, 3, -100, 2]], [0, 3, 5])
    """
    tensor_of(return_tensors)
    all_columns = _columns(examples)
    placed = []
    start = 0
    for number, arrays in enumerate(all_columns):
        placed.append(Placed(number, 0, start, start + len(arrays[0])))
        start = placed[-1].end
    return fill(all_columns, placed, (int(bool(placed)), start), 0, return_tensors)


def _columns(examples: Sequence[Example | Mapping[str, Any]]) -> list[tuple[NDArray[np.int64], ...]]:
    all_columns = [columns(example, number) for number, example in enumerate(examples)]
    for number, arrays in enumerate(all_columns):
        if not len(arrays[0]):
            raise LimitError("an example has no token", row=number, remedy="leave it out: there is nothing to train")
    return all_columns
