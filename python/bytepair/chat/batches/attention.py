"""What keeps the examples of a row apart for attention: where segments end, and masks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bytepair.chat.batches.fitting import Placed


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

    _check_cells(rows, length)
    at = np.array([(item.row * length + item.start, item.row * length + item.end) for item in placed], np.int64)
    # Every end is the start of another segment, or of padding; of rows without examples there are none.
    ends = np.unique(np.append(at, [0, rows * length]))
    return ends.astype(np.int32), int(np.diff(ends).max(initial=0))


def cu_seqlens(position_ids: NDArray[Any]) -> tuple[NDArray[np.int32], int]:
    """Where segments start in packed rows that were kept as arrays: `Packed.cu_seqlens` and `Packed.max_seqlen` again.

    Args:
        position_ids: Of packed rows, any of them in any order: numpy, shape (rows, tokens), 0 at the start of each
            segment, padding included.

    Returns:
        The starts in the flattened rows and the end, int32 (segments + 1,); and how many tokens the longest has.

    Raises:
        LimitError: There are more cells than 32 bits can count.
        ValueError: A row does not start a segment.

    Example:
        >>> import numpy as np
        >>> starts, longest = cu_seqlens(np.array([[0, 1, 2, 0, 1], [0, 1, 2, 3, 0]]))
        >>> starts.tolist(), longest
        ([0, 3, 5, 9, 10], 4)
    """
    import numpy as np  # noqa: PLC0415 (as above)

    positions = np.asarray(position_ids)
    if positions.ndim != 2 or positions[:, :1].any():
        raise ValueError("position_ids must be (rows, tokens), and 0 at the start of each row")
    _check_cells(*positions.shape)
    starts = np.append(np.flatnonzero(positions.reshape(-1) == 0), positions.size)
    return starts.astype(np.int32), int(np.diff(starts).max(initial=0))


def _check_cells(rows: int, length: int) -> None:
    if rows * length > 2**31 - 1:
        raise LimitError(
            f"{rows} rows of {length} tokens are more cells than cu_seqlens can count (2147483647)",
            remedy="take fewer rows at a time",
        )
