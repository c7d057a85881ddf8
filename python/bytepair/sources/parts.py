"""What a source is made of: files, and rows of separate texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Text: TypeAlias = str | bytes


@dataclass(frozen=True, slots=True, eq=False)
class ArrowTexts:
    """Texts in one buffer, without an object for each; nobody has looked yet whether they are UTF-8.

    Attributes:
        data: The bytes of all of them, and possibly of others around them.
        offsets: One more than there are texts, never falling, within `data`: text i is
            ``data[offsets[i]:offsets[i + 1] - gap]``. The first offset need not be 0.
        gap: How many bytes stand behind each text and belong to none, such as a delimiter.

    Example:
        >>> import numpy as np
        >>> ArrowTexts(np.frombuffer(b"lowlower", np.uint8), np.array([0, 3, 8])).to_list()
        [b'low', b'lower']
        >>> ArrowTexts(np.frombuffer(b"low, lower, ", np.uint8), np.array([0, 5, 12]), gap=2).lengths.tolist()
        [3, 5]
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    gap: int = 0

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> bytes:
        """One text, by its number from 0."""
        start, end = self.offsets[row : row + 2].tolist()
        return self.data[start : end - self.gap].tobytes()

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The bytes of each text."""
        return self.offsets[1:] - self.offsets[:-1] - self.gap

    def to_list(self) -> list[bytes]:
        """The same as objects."""
        data = self.data.data
        return [bytes(data[start : end - self.gap]) for start, end in pairwise(self.offsets.tolist())]


class Chunk(NamedTuple):
    """Some bytes of a file, cut anywhere, and how much of the part's `size` has been read with them."""

    data: bytes
    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some rows, each a text of its own.

    Attributes:
        texts: The texts. A ``str`` can hold lone surrogates, and bytes what is not UTF-8.
        first_row: The index of the first one in its part.
        position: How much of the part's `size` has been read with them; for an iterable, their bytes in memory.
        file: Where they are from, if from a file.
    """

    texts: list[Text] | ArrowTexts
    first_row: int
    position: int
    file: str | None = None

    def to_list(self) -> list[Text]:
        """The texts as objects."""
        return self.texts if isinstance(self.texts, list) else [*self.texts.to_list()]

    def place(self, index: int) -> dict[str, Any]:
        """Where text `index` of this batch is: the ``file`` and ``row`` of a `BytepairError`."""
        return {"file": self.file, "row": self.first_row + index}


@dataclass(frozen=True, slots=True)
class File:
    """A file of one text, or of lines of JSON.

    Attributes:
        group: The group of the source that it belongs to, if there are groups.
        path: Where it is.
        size: Its bytes on disk.
        field: The field of each line that holds a text; None if the file is one text.
        chunks: Opens the file and yields what it holds in pieces of bounded size; None if that is what is on the disk,
            so that the core can read it by itself.
    """

    group: str | None
    path: str
    size: int
    field: str | None = None
    chunks: Callable[[], Iterator[Chunk]] | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """Texts that are separate: of a file with rows, or of an iterable.

    Attributes:
        group: The group of the source that they belong to, if there are groups.
        path: Where they are; None for an iterable.
        size: Bytes on disk; None for an iterable.
        batches: Opens the file and yields its rows in batches of bounded size. What comes from an iterator can be had
            once.
    """

    group: str | None
    path: str | None
    size: int | None
    batches: Callable[[], Iterator[Batch]]


Part: TypeAlias = File | Rows
