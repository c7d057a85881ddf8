"""What readers give: documents in order, those that cannot be used, and those that are too long to be held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from bytepair.errors import BytepairError
    from bytepair.sources.parts import ArrowTexts


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """A document that cannot be used.

    Attributes:
        position: Where it is, as in `Documents`.
        error: What is wrong with it; names the file.
        data: What it is, as it was read (a line, a value), for those who keep such documents apart; None if it is too
            long, or nothing.
    """

    position: int
    error: BytepairError
    data: bytes | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """Some whole documents of one input, in the order of their positions.

    Attributes:
        texts: What they are, in one buffer; nobody has looked yet whether they are UTF-8.
        positions: Where each is: its first byte in the (decompressed) input for text and lines of JSON, its row for
            Parquet and Arrow, the number of its sample for tar.
        ids: The documents' own ids as UTF-8, if the source has them. An id that is null is empty.
        faults: Those among them that cannot be used; they are in none of the above.
        passed: How many bytes of the portion, as they are stored, have been read with them; for progress.
    """

    texts: ArrowTexts
    positions: NDArray[np.int64]
    ids: ArrowTexts | None
    faults: tuple[Fault, ...]
    passed: int


@dataclass(slots=True, eq=False)
class LongDocument:
    """One document of plain text that is too long to be held.

    Attributes:
        position: Where it is, as in `Documents`.
        id: Its own id, if the source has them.
        parts: Its bytes, cut anywhere, also within characters; to be used before the reader goes on, which passes over
            what is left of them. A ``LimitError`` is raised where the document turns out to be longer than it may be:
            that is a fault of this document alone. All other errors are those of the reader.
        passed: How many bytes of the portion, as they are stored, have been read by now.
    """

    position: int
    id: bytes | None
    parts: Iterator[bytes]
    passed: Callable[[], int]
