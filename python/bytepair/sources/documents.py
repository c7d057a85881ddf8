"""Documents as readers yield them: whole ones in batches, faulty ones, and those too long to be held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from bytepair.errors import BytepairError
    from bytepair.sources.flat_rows import FlatTexts
    from bytepair.sources.source import Text


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """A document that cannot be used.

    Attributes:
        position: Where it is, as in `Documents`.
        error: The reason, with the name of the file.
        data: Its bytes as they were read (a line, a value), to be kept apart; None if it is too long, or has none.
    """

    position: int
    error: BytepairError
    data: bytes | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """Some whole documents of a file, in the order of their positions.

    Attributes:
        texts: Their texts, in one buffer. Whether they are UTF-8 has not been checked.
        positions: Where each is: its first byte in the (decompressed) input for text and lines of JSON, its row for
            Parquet and Arrow, the number of its sample for tar.
        ids: The documents' own ids as UTF-8, if the source has them. An id that is null is empty.
        faults: The documents among them that cannot be used; they are in none of the above.
        passed: How many bytes of the portion, as they are stored, have been read with them; for progress.
    """

    texts: FlatTexts
    positions: NDArray[np.int64]
    ids: FlatTexts | None
    faults: tuple[Fault, ...]
    passed: int


@dataclass(frozen=True, slots=True, eq=False)
class GivenDocuments:
    """Some documents of an iterable.

    Attributes:
        texts: Their texts. A ``str`` can hold lone surrogates, and bytes can be no UTF-8.
        positions: The number of each, from 0.
        passed: About how many bytes of memory the texts take up to these; for progress.
    """

    texts: list[Text]
    positions: range
    passed: int


@dataclass(slots=True, eq=False)
class LongDocument:
    """One document of plain text that is too long to be held.

    Attributes:
        position: Where it is, as in `Documents`.
        id: Its own id, if the source has them.
        parts: Its bytes, cut anywhere, also within characters; to be used before the reader goes on, which passes over
            the rest of them. A ``LimitError`` is raised where the document turns out to be longer than it may be:
            that is a fault of this document alone. All other errors are those of the reader.
        passed: How many bytes of the portion, as they are stored, have been read by now.
    """

    position: int
    id: bytes | None
    parts: Iterator[bytes]
    passed: Callable[[], int]
