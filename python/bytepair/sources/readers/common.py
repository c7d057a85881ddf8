"""Shared by readers: sizes of blocks, batches without documents, and the error for a document that is too long."""

from __future__ import annotations

import numpy as np

from bytepair.errors import LimitError
from bytepair.sources.documents import Documents, Fault
from bytepair.sources.flat_rows import FlatTexts

_MOST = 4 << 20  # read at once: enough for the disk, and little beside what is made of it


def block_bytes(batch_bytes: int) -> int:
    """The bytes per read, which keep memory near `batch_bytes`."""
    return max(min(batch_bytes // 4, _MOST), 1)


def too_long(longest: int, *, file: str | None, byte: int | None = None, row: int | None = None) -> LimitError:
    """The error for a document that is longer than it may be."""
    return LimitError(
        f"the document has more than {longest} bytes",
        file=file,
        byte=byte,
        row=row,
        remedy='pass a larger longest, or leave such documents out with bad="skip"',
        cli_remedy="use a larger --longest, or leave such documents out with --bad skip",
    )


def only_faults(faults: tuple[Fault, ...], passed: int, *, ids: bool = False) -> Documents:
    """A batch of nothing but faults.

    Args:
        faults: The faults.
        passed: As in `Documents`.
        ids: Whether the documents of the source have ids.
    """
    return Documents(FlatTexts.of([]), np.empty(0, np.int64), FlatTexts.of([]) if ids else None, faults, passed)
