"""What several readers need: sizes of blocks, texts without some of them, and documents that are too long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bytepair.errors import LimitError
from bytepair.sources.parts import ArrowTexts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_MOST = 4 << 20  # read at once: enough for the disk, and little beside what is made of it


def block_bytes(batch_bytes: int) -> int:
    """How many bytes are read at once, so that what is held stays near `batch_bytes`."""
    return max(min(batch_bytes // 4, _MOST), 1)


def too_long(longest: int, *, file: str, byte: int | None = None, row: int | None = None) -> LimitError:
    """The error for a document that is longer than it may be."""
    return LimitError(
        f"the document has more than {longest} bytes",
        file=file,
        byte=byte,
        row=row,
        remedy='pass a larger longest, or leave such documents out with bad="skip"',
        cli_remedy="use a larger --longest, or leave such documents out with --bad skip",
    )


def joined(texts: Sequence[bytes]) -> ArrowTexts:
    """Texts that are objects, in one buffer.

    Example:
        >>> joined([b"low", b"lower"]).offsets.tolist()
        [0, 3, 8]
    """
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return ArrowTexts(np.frombuffer(b"".join(texts), np.uint8), np.concatenate(([0], np.cumsum(lengths))))


def kept(texts: ArrowTexts, keep: NDArray[np.bool_]) -> ArrowTexts:
    """Some of the texts, closed up. Runs of them are copied at once; a step of Python for each run.

    Example:
        >>> kept(joined([b"a", b"bc", b"d"]), np.array([True, False, True])).to_list()
        [b'a', b'd']
    """
    if keep.all():
        return texts
    edges = np.flatnonzero(np.diff(np.concatenate(([False], keep, [False]))))
    bounds = texts.offsets[edges].reshape(-1, 2)
    data = [texts.data[start:end] for start, end in bounds.tolist()]
    lengths = np.diff(texts.offsets)[keep]
    return ArrowTexts(
        np.concatenate(data) if data else np.empty(0, np.uint8),
        np.concatenate(([0], np.cumsum(lengths))),
        texts.gap,
    )
