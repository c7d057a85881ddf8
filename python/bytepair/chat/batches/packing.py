"""Several examples in one row, so that little or nothing is padding.

Which row an example goes to is decided in ``fitting.py``; what comes out is in ``packed.py``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from bytepair.chat.batches.attention import Placed, find_segments
from bytepair.chat.batches.fitting import best_fit, in_order
from bytepair.chat.batches.packed import MATRICES, Packed
from bytepair.chat.batches.padding import IGNORED, Tensors, check_length, check_pad_id, columns, converter, does_not_fit
from bytepair.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bytepair.chat.batches.padding import Example

Strategy = Literal["best_fit", "in_order"]
"""How examples are put into rows."""


def pack(
    examples: Sequence[Example],
    length: int,
    *,
    pad_id: int,
    strategy: Strategy = "best_fit",
    too_long: Literal["raise", "truncate", "drop"] = "raise",
    return_tensors: Tensors = "np",
) -> Packed:
    """Puts examples into rows of one length, each whole and in one row; what is left over of a row is padded.

    The result depends on nothing but the arguments. With ``"best_fit"`` the longest example goes first, and each into
    the row with the least room that is enough, the first such row: few rows, in time n log(n * length) for n examples.
    In a row examples are in the order given, and rows are in the order of their first example. With ``"in_order"`` a
    row ends where the next example does not fit.

    Args:
        examples: What is packed.
        length: Tokens of a row.
        pad_id: The id of padding.
        strategy: ``"best_fit"`` or ``"in_order"``.
        too_long: What becomes of an example of more than `length` tokens: ``"raise"``, ``"truncate"`` (its end is cut
            off) or ``"drop"``. The result lists them.
        return_tensors: ``"np"`` for arrays, ``"pt"`` for tensors of torch.

    Returns:
        The rows, and which example lies where.

    Raises:
        LimitError: An example is longer than `length`, or has no token (``row`` says which); or there are more cells
            than `cu_seqlens` can count, 2**31 - 1.
        ValueError: An option that means nothing, or an example that is padded, or whose arrays differ in length.
        ImportError: There is no torch.

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
    converter(return_tensors)
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
    packed = _fill(all_columns, placed, (len(rows), length), pad_id, return_tensors)
    return replace(packed, dropped=dropped, truncated=truncated)


def flatten(examples: Sequence[Example], *, return_tensors: Tensors = "np") -> Packed:
    """Puts examples one behind the other into a single row without padding.

    Args:
        examples: What is put together.
        return_tensors: ``"np"`` for arrays, ``"pt"`` for tensors of torch.

    Returns:
        One row of as many tokens as there are; no row if there is no example.

    Raises:
        LimitError: An example has no token, or there are more tokens than `cu_seqlens` can count.
        ValueError: An option that means nothing, or an example that is padded, or whose arrays differ in length.
        ImportError: There is no torch.

    Example:
        >>> from types import SimpleNamespace
        >>> examples = [SimpleNamespace(input_ids=[n] * n, labels=[n] * n, attention_mask=[1] * n) for n in (3, 2)]
        >>> flat = flatten(examples)
        >>> flat.input_ids.tolist(), flat.labels.tolist(), flat.cu_seqlens.tolist()
        ([[3, 3, 3, 2, 2]], [[-100, 3, 3, -100, 2]], [0, 3, 5])
    """
    converter(return_tensors)
    all_columns = _columns(examples)
    placed = []
    start = 0
    for number, arrays in enumerate(all_columns):
        placed.append(Placed(number, 0, start, start + len(arrays[0])))
        start = placed[-1].end
    return _fill(all_columns, placed, (int(bool(placed)), start), 0, return_tensors)


def _columns(examples: Sequence[Example]) -> list[tuple[NDArray[np.int64], ...]]:
    all_columns = [columns(example, number) for number, example in enumerate(examples)]
    for number, arrays in enumerate(all_columns):
        if not len(arrays[0]):
            raise LimitError("an example has no token", row=number, remedy="leave it out: there is nothing to train")
        if not arrays[1].all():
            raise ValueError(f"example {number} is padded: its attention_mask has zeros; pack examples without padding")
    return all_columns


def _fill(
    all_columns: Sequence[tuple[NDArray[np.int64], ...]],
    placed: Sequence[Placed],
    shape: tuple[int, int],
    pad_id: int,
    tensors: Tensors,
) -> Packed:
    import numpy as np  # noqa: PLC0415 (as above)

    cu_seqlens, longest = find_segments(placed, *shape)
    arrays = {name: np.zeros(shape, np.int64) for name in MATRICES}
    arrays["input_ids"].fill(pad_id)
    arrays["labels"].fill(IGNORED)
    counting = np.arange(shape[1])
    ends = [0] * shape[0]
    untrained = []
    row, segment = -1, 0
    for item in placed:
        segment = segment + 1 if item.row == row else 1
        row, size = item.row, item.end - item.start
        ends[row] = item.end
        place = (row, slice(item.start, item.end))
        ids, _, labels = all_columns[item.example]
        arrays["input_ids"][place] = ids[:size]
        arrays["attention_mask"][place] = 1
        arrays["labels"][row, item.start + 1 : item.end] = labels[1:size]
        arrays["segment_ids"][place] = segment
        arrays["position_ids"][place] = counting[:size]
        if (labels[1:size] == IGNORED).all():
            untrained.append(item.example)
    for row, end in enumerate(ends):
        arrays["position_ids"][row, end:] = counting[: shape[1] - end]
    convert = converter(tensors)
    return Packed(
        **{name: convert(array) for name, array in arrays.items()},
        cu_seqlens=convert(cu_seqlens),
        max_seqlen=longest,
        examples=tuple(placed),
        untrained=tuple(sorted(untrained)),
    )
