"""What keeps the examples of a row apart for attention: where segments end, and masks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bytepair.chat.packing import Placed


def block_mask(segment_ids: NDArray[np.int64], *, additive: bool = False) -> NDArray[Any]:
    """Which token may attend to which: to itself and to those before it in its own segment.

    Padding attends to padding, so that no token attends to nothing, which would make a softmax of it NaN. The mask has
    length * length cells for each row: it is for attention that takes no `cu_seqlens`.

    Args:
        segment_ids: Of a `Packed`: numpy, shape (rows, tokens).
        additive: Numbers that are added to scores, 0 and the least float32, in place of truth values.

    Returns:
        Shape (rows, 1, tokens, tokens), as transformers takes it: bool, True where a token (third axis) may attend to
        another (fourth axis); or float32.

    Example:
        >>> import numpy as np
        >>> block_mask(np.array([[1, 1, 2]]))[0, 0].astype(int).tolist()
        [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    """
    import numpy as np  # noqa: PLC0415 (only who wants arrays waits for it)

    ids = np.asarray(segment_ids)
    if ids.ndim != 2:
        raise ValueError(f"segment_ids have the shape {ids.shape}; they must be (rows, tokens)")
    allowed = (ids[:, None, :, None] == ids[:, None, None, :]) & np.tri(ids.shape[1], dtype=np.bool_)
    return np.where(allowed, np.float32(0), np.finfo(np.float32).min) if additive else allowed


def find_segments(placed: Sequence[Placed], rows: int, length: int) -> tuple[NDArray[np.int32], int]:
    """Where segments start in the flattened rows, and the end; and how many tokens the longest has.

    Args:
        placed: What lies in the rows.
        rows: How many there are, none of them empty.
        length: Tokens of a row.

    Raises:
        LimitError: There are more cells than 32 bits can count.
    """
    import numpy as np  # noqa: PLC0415 (as above)

    if rows * length > 2**31 - 1:
        raise LimitError(
            f"{rows} rows of {length} tokens are more cells than cu_seqlens can count (2147483647)",
            remedy="pack the examples in several parts",
        )
    at = np.array([(item.row * length + item.start, item.row * length + item.end) for item in placed], np.int64)
    # Every end is the start of another segment, or of padding; of rows without examples there are none.
    ends = np.unique(np.append(at, [0, rows * length]))
    return ends.astype(np.int32), int(np.diff(ends).max(initial=0))
