"""Examples of different lengths as arrays that a model takes: padding.

The other way, without padding, is in ``packing.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from bytepair.call.model_inputs import _tensors
from bytepair.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bytepair.call.truncation import Side

IGNORED = -100
"""The label of what is not trained: what the losses of torch and of transformers pass over."""

COLUMNS = ("input_ids", "attention_mask", "labels")
"""What an example has, an integer for each token."""

Tensors = Literal["np", "pt"]
"""What arrays are of: numpy, or torch."""


class Example(Protocol):
    """What can be put into a batch: three arrays of one length. `ChatExample` is one."""

    @property
    def input_ids(self) -> NDArray[np.int64]:
        """The ids."""

    @property
    def attention_mask(self) -> NDArray[np.int64]:
        """1 where there is a token."""

    @property
    def labels(self) -> NDArray[np.int64]:
        """The id where a token is trained, else -100; not shifted."""


def pad(
    examples: Sequence[Example],
    *,
    pad_id: int,
    side: Side = "right",
    length: int | None = None,
    to_multiple_of: int | None = None,
    return_tensors: Tensors = "np",
) -> dict[str, Any]:
    """Makes examples equally long by filling them.

    What is filled has the mask 0 and the label -100, also where the pad token is the eos token too: an eos that is part
    of an example keeps its label. Positions count from 0 at the first token of each row, on whichever side it is
    filled, and are 0 on padding: what ``generate`` of transformers derives from the mask.

    Args:
        examples: The rows.
        pad_id: The id that fills them.
        side: The end that is filled. Training asks for ``"right"``, generating for ``"left"``.
        length: How many tokens rows have; None for as many as the longest.
        to_multiple_of: What the number of tokens is rounded up to a multiple of.
        return_tensors: ``"np"`` for arrays of int64, ``"pt"`` for tensors of torch.

    Returns:
        ``input_ids``, ``attention_mask``, ``labels`` and ``position_ids``, each of shape (rows, tokens).

    Raises:
        LimitError: An example is longer than `length`; ``row`` says which.
        ValueError: An option that means nothing, or an example whose arrays differ in length.
        ImportError: There is no torch.

    Example:
        >>> import numpy as np
        >>> from types import SimpleNamespace
        >>> def example(*ids):
        ...     row = np.array(ids)
        ...     return SimpleNamespace(input_ids=row, labels=row, attention_mask=np.ones_like(row))
        >>> batch = pad([example(5, 6, 2), example(7, 2)], pad_id=2)
        >>> batch["input_ids"].tolist(), batch["labels"].tolist()
        ([[5, 6, 2], [7, 2, 2]], [[5, 6, 2], [7, 2, -100]])
    """
    import numpy as np  # noqa: PLC0415 (only who wants arrays waits for it)

    convert = converter(return_tensors)
    check_pad_id(pad_id)
    if side not in ("left", "right"):
        raise ValueError(f'side={side!r} is unknown; use "left" or "right"')
    check_length("length", length)
    check_length("to_multiple_of", to_multiple_of)
    rows = [columns(example, number) for number, example in enumerate(examples)]
    longest = max((len(row[0]) for row in rows), default=0)
    if length is not None and longest > length:
        number = next(number for number, row in enumerate(rows) if len(row[0]) > length)
        raise does_not_fit(
            len(rows[number][0]), length, number, "truncate it when it is encoded, or use a greater length"
        )
    width = longest if length is None else length
    width += -width % (to_multiple_of or 1)
    batch = {
        name: np.full((len(rows), width), filling, np.int64)
        for name, filling in zip(COLUMNS, (pad_id, 0, IGNORED), strict=True)
    }
    for number, row in enumerate(rows):
        count = len(row[0])
        place = slice(0, count) if side == "right" else slice(width - count, width)
        for name, column in zip(COLUMNS, row, strict=True):
            batch[name][number, place] = column
    mask = batch["attention_mask"]
    batch["position_ids"] = np.where(mask != 0, mask.cumsum(axis=1) - 1, 0)
    return {name: convert(array) for name, array in batch.items()}


def columns(example: Example, row: int) -> tuple[NDArray[np.int64], ...]:
    """The arrays of an example, in the order of `COLUMNS`.

    Raises:
        ValueError: They are not integers in one dimension each, or differ in length.
    """
    import numpy as np  # noqa: PLC0415 (as above)

    arrays = []
    for name in COLUMNS:
        array = np.asarray(getattr(example, name))
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise ValueError(
                f"{name} of example {row} is of type {array.dtype} and shape {array.shape}; "
                "it must be integers in one dimension"
            )
        arrays.append(array.astype(np.int64, copy=False))
    if len({len(array) for array in arrays}) > 1:
        lengths = ", ".join(f"{len(array)} {name}" for name, array in zip(COLUMNS, arrays, strict=True))
        raise ValueError(f"example {row} has {lengths}; there must be as many of each")
    return tuple(arrays)


def does_not_fit(tokens: int, length: int, row: int, remedy: str) -> LimitError:
    """Says that an example does not fit."""
    return LimitError(f"an example has {tokens} tokens, and a row {length}", row=row, remedy=remedy)


def converter(kind: str | None) -> Callable[[NDArray[Any]], Any]:
    """What makes of an array what `return_tensors` asks for; errors as `pad`."""
    convert = _tensors(kind)
    if convert is None:
        raise ValueError('return_tensors=None is not supported here; use "np" or "pt"')
    return convert


def check_pad_id(pad_id: object) -> None:
    """Raises ValueError for what cannot be an id."""
    if not isinstance(pad_id, int) or isinstance(pad_id, bool) or pad_id < 0:
        raise ValueError(f"pad_id={pad_id!r} is not an id; use a whole number from 0, such as tok.token_id('<|end|>')")


def check_length(name: str, value: object) -> None:
    """Raises ValueError for what cannot be a number of tokens; None is one that is not given."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise ValueError(f"{name}={value!r} is not a number of tokens; use a whole number from 1, or None")
