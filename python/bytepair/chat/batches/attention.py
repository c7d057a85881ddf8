"""Attention boundaries between the examples of a packed row: segment ends and masks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


class Placed(NamedTuple):
    """The place of an example in packed rows.

    Attributes:
        example: Its index among the examples.
        row: The row that holds it.
        start: The index of its first token in that row.
        end: The index after its last token.
    """

    example: int
    row: int
    start: int
    end: int


def block_mask(segment_ids: NDArray[np.int64], *, additive: bool = False) -> NDArray[Any]:
    """Make a block-diagonal causal mask: a token attends to itself and to earlier tokens of its own segment.

    Padding attends to padding, so that no row of the softmax is empty (NaN). The mask has length * length cells for
    each row; use it for attention that does not take `cu_seqlens`.

    Args:
        segment_ids: `ExampleRows.segment_ids`: numpy, shape (rows, tokens).
        additive: Return float32 values to add to scores (0, or the least float32) instead of booleans.

    Returns:
        Shape (rows, 1, tokens, tokens), as transformers takes it: bool, True where a token (third axis) may attend to
        another (fourth axis); or float32.

    Example:
        >>> import numpy as np
        >>> block_mask(np.array([[1, 1, 2]]))[0, 0].astype(int).tolist()
        [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    """
    import numpy as np  # noqa: PLC0415 (numpy is imported on first use)

    ids = np.asarray(segment_ids)
    if ids.ndim != 2:
        raise ValueError(f"segment_ids has the shape {ids.shape}; it must be (rows, tokens)")
    allowed = (ids[:, None, :, None] == ids[:, None, None, :]) & np.tri(ids.shape[1], dtype=np.bool_)
    return np.where(allowed, np.float32(0), np.finfo(np.float32).min) if additive else allowed


def find_segments(placed: Sequence[Placed], rows: int, length: int) -> tuple[NDArray[np.int32], int]:
    """Compute the segment starts in the flattened rows, followed by the end; and the longest segment in tokens."""
    import numpy as np  # noqa: PLC0415 (as above)

    _check_cells(rows, length)
    at = np.array([(item.row * length + item.start, item.row * length + item.end) for item in placed], np.int64)
    # Each end is the start of another segment or of padding; an empty row has no segment.
    ends = np.unique(np.append(at, [0, rows * length]))
    return ends.astype(np.int32), int(np.diff(ends).max(initial=0))


def cu_seqlens(position_ids: NDArray[Any]) -> tuple[NDArray[np.int32], int]:
    """Recompute `ExampleRows.cu_seqlens` and `max_seqlen` from stored position ids.

    Args:
        position_ids: The position ids of any packed rows, in any order: numpy, shape (rows, tokens), 0 at the start of
            each segment, padding included.

    Returns:
        The segment starts in the flattened rows followed by the end, int32 of shape (segments + 1,); and the longest
        segment in tokens.

    Raises:
        LimitError: There are more than 2**31 - 1 cells.
        ValueError: A row does not begin with a segment.

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
