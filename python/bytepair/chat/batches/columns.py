"""The arrays of an example to train on, and the options that `pad`, `pack` and `flatten` share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

from bytepair.errors import LimitError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

IGNORED = -100
"""The label of a token that is not trained: the losses of torch and transformers ignore it."""

COLUMNS = ("input_ids", "attention_mask", "labels")
"""The arrays of an example, one integer a token in each."""

Tensors = Literal["np", "pt"]
"""The library of the arrays: numpy or torch."""


class Example(Protocol):
    """An example: three arrays of one length. `ChatExample` is one, and so is a mapping with these keys."""

    @property
    def input_ids(self) -> NDArray[np.int64]:
        """The ids."""

    @property
    def attention_mask(self) -> NDArray[np.int64]:
        """1 for each token."""

    @property
    def labels(self) -> NDArray[np.int64]:
        """The id of a trained token, else -100; not shifted."""


def columns(example: Example | Mapping[str, Any], row: int) -> tuple[NDArray[np.int64], ...]:
    """Return the arrays of an example, in the order of `COLUMNS`, or raise ValueError for what is wrong with them."""
    import numpy as np  # noqa: PLC0415 (only padding and packing need it)

    arrays = []
    for name in COLUMNS:
        array = np.asarray(example[name] if isinstance(example, Mapping) else getattr(example, name))
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise ValueError(
                f"{name} of example {row} is of type {array.dtype} and shape {array.shape}; "
                "it must be integers in one dimension"
            )
        arrays.append(array.astype(np.int64, copy=False))
    if len({len(array) for array in arrays}) > 1:
        lengths = ", ".join(f"{len(array)} {name}" for name, array in zip(COLUMNS, arrays, strict=True))
        raise ValueError(f"example {row} has {lengths}; there must be as many of each")
    if not arrays[1].all():
        raise ValueError(f"example {row} is padded: its attention_mask has zeros; pass examples without padding")
    return tuple(arrays)


def does_not_fit(tokens: int, length: int, row: int, remedy: str) -> LimitError:
    """The error for an example that is longer than a row."""
    return LimitError(f"an example has {tokens} tokens, and a row {length}", row=row, remedy=remedy)


def check_pad_id(pad_id: object) -> None:
    """Raise ValueError unless `pad_id` can be an id."""
    if not isinstance(pad_id, int) or isinstance(pad_id, bool) or pad_id < 0:
        raise ValueError(f"pad_id={pad_id!r} is not an id; use a whole number from 0, such as tok.token_id('<|end|>')")


def check_length(name: str, value: object) -> None:
    """Raise ValueError unless `value` is None or a number of tokens."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise ValueError(f"{name}={value!r} is not a number of tokens; use a whole number from 1, or None")
