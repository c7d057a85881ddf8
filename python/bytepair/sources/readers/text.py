r"""Plain text -> documents: a whole file, or the texts between delimiters.

Delimiters are matched from the start of the file, left to right, without overlap. A reader that begins in the middle
could match a delimiter that overlaps itself, such as ``\n\n`` in a run of line ends, at other positions. So a portion
begins after its first delimiter that no earlier occurrence overlaps: every reader matches that one, wherever it begins.
The text before it belongs to the previous portion, which ends at the same position. For all other delimiters this is
simply the first document that begins in the portion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bytepair import _core
from bytepair.sources.compressed import ByteReader
from bytepair.sources.documents import Documents, Fault, LongDocument
from bytepair.sources.flat_rows import FlatTexts
from bytepair.sources.inputs import changed
from bytepair.sources.readers.common import block_bytes, only_faults, too_long

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bytepair.sources.inputs import Input
    from bytepair.sources.source import Reading

_TAIL = 64 << 10  # bytes per read after the end of a portion, where the end of its last document is near


def read(
    input: Input,
    start: int,
    end: int | None,
    reading: Reading,
    batch_bytes: int,
) -> Iterator[Documents | LongDocument]:
    """The documents of a portion of plain text; see `readers.read`."""
    if reading.delimiter is None:
        longest = reading.longest
        if input.compression is None and longest is not None and input.size > longest:
            fault = Fault(0, too_long(longest, file=input.address, byte=0))
            yield only_faults((fault,), input.size)
            return
        delimiter = b""
    else:
        delimiter = reading.delimiter.encode()
    before = max(start - 2 * len(delimiter) + 1, 0) if start else 0
    with ByteReader(input.address, input.compression, before) as reader:
        yield from _Split(input, reader, (start, end), (delimiter, reading.longest), batch_bytes).documents(before)


class _Split:
    """Splits a text at a delimiter while reading. `data` holds the bytes read so far of the document at `base` and on.

    With an empty delimiter the text is one document.
    """

    def __init__(
        self,
        input: Input,
        reader: ByteReader,
        portion: tuple[int, int | None],
        rules: tuple[bytes, int | None],
        batch_bytes: int,
    ) -> None:
        self.input, self.reader, self.batch_bytes = input, reader, batch_bytes
        self.start, self.end = portion
        self.delimiter, self.longest = rules
        self.block = block_bytes(batch_bytes)
        self.data, self.base = b"", 0
        self.searched = 0  # no delimiter begins before this position in `data`
        self.over = False  # the next document belongs to another portion, or there is none

    def documents(self, before: int) -> Iterator[Documents | LongDocument]:
        """All documents, reading from `before` on."""
        if self.start and not self._begin(before):
            return
        while not self.over:
            ends = self._ends()
            if len(ends):
                yield from self._groups(ends)
            elif self._certain() > self.batch_bytes:
                yield from self._long()
            elif block := self._read():
                self.data += block
            else:
                # A delimiter right at the end starts no further document.
                if len(self.data) > self.batch_bytes:
                    yield from self._whole(0, len(self.data))
                elif self.data or not self.delimiter:
                    yield self._group(np.zeros(1, np.int64), np.array([len(self.data)], np.int64))
                return

    def _read(self) -> bytes:
        at, end = self.base + len(self.data), self.end
        size = self.block if end is None else min(self.block, end - at if at < end else _TAIL)
        block = self.reader.read(size)
        if not block and self.input.compression is None and at != self.input.size:
            raise changed(self.input, at)
        return block

    def _certain(self) -> int:
        """The number of leading bytes of `data` that cannot belong to the delimiter after the document."""
        return len(self.data) - max(len(self.delimiter) - 1, 0)

    def _passed(self) -> int:
        position = self.reader.position
        return position if self.input.compression else max(position - self.start, 0)

    def _begin(self, before: int) -> bool:
        """Skips to the first document that every reader finds; False if it is in another portion."""
        size = len(self.delimiter)
        self.base = before
        fresh = 0  # delimiters that begin before this position in `data` have been examined
        while block := self._read():
            self.data += block
            found = _occurrences(self.data, self.delimiter, 0)
            alone = found[np.diff(found, prepend=-size) >= size]
            alone = alone[alone >= max(fresh, self.start - size - self.base)]
            if len(alone):
                self._cut(int(alone[0]) + size)
                return self.end is None or self.base < self.end
            # Keep a delimiter that has begun, and the text that it could overlap.
            keep = min(len(self.data), 2 * (size - 1))
            fresh = max(keep - size + 1, 0)
            self._cut(len(self.data) - keep)
            if self.end is not None and self.base + fresh + size >= self.end:
                break
        return False

    def _ends(self) -> NDArray[np.int64]:
        """The positions in `data` of the delimiters that end a document of this portion."""
        size = len(self.delimiter)
        found = _occurrences(self.data, self.delimiter, self.searched)
        ends = _chosen(found, size)
        self.searched = max(len(self.data) - size + 1, int(ends[-1]) + size if len(ends) else 0, 0)
        if self.end is None or not len(ends) or self.base + int(ends[-1]) + size < self.end:
            return ends
        # Delimiters that no other one overlaps are always matched.
        alone = np.diff(found, prepend=-size) >= size
        alone[0] = self._alone(int(found[0]), 0)
        last = found[alone & (found >= self.end - self.base - size)]
        if not len(last):
            return ends
        self.over = True
        return ends[: int(np.searchsorted(ends, last[0])) + 1]

    def _alone(self, at: int, start: int) -> bool:
        """Whether no earlier occurrence overlaps the delimiter at `at`, whose document starts at `start`."""
        size = len(self.delimiter)
        around = self.data[max(start, at - size + 1) : at + size - 1]
        # A delimiter precedes each document but the first.
        missing = max(start - (at - size + 1), 0) if self.base + start else 0
        return self.delimiter not in self.delimiter[size - missing :] + around

    def _groups(self, ends: NDArray[np.int64]) -> Iterator[Documents | LongDocument]:
        """The documents that end at these positions; one that is too long for a batch comes by itself."""
        starts = np.concatenate(([0], ends[:-1] + len(self.delimiter)))
        done = 0
        for number in [*np.flatnonzero(ends - starts > self.batch_bytes).tolist(), len(ends)]:
            if number > done:
                yield self._group(starts[done:number], ends[done:number])
            if number < len(ends):
                yield from self._whole(int(starts[number]), int(ends[number]))
            done = number + 1
        self._cut(int(ends[-1]) + len(self.delimiter))

    def _cut(self, size: int) -> None:
        """Drops the first bytes of `data`."""
        self.data = self.data[size:]
        self.base += size
        self.searched = max(self.searched - size, 0)

    def _group(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Documents:
        """Documents of `data`."""
        # Without copying, except for the last document of a file, which may have no delimiter after it.
        gap = len(self.delimiter) if len(starts) > 1 else 0
        data = np.frombuffer(self.data, np.uint8)
        texts = FlatTexts(data, np.append(starts, ends[-1] + gap), gap)
        lengths, positions = ends - starts, starts + self.base
        faults: tuple[Fault, ...] = ()
        if self.longest is not None and lengths.max() > self.longest:
            keep = lengths <= self.longest
            faults = tuple(map(self._fault, positions[~keep].tolist()))
            texts, positions = texts.where(keep), positions[keep]
        return Documents(texts, positions, None, faults, self._passed())

    def _fault(self, position: int) -> Fault:
        assert self.longest is not None
        return Fault(position, too_long(self.longest, file=self.input.address, byte=position))

    def _faulty(self, position: int) -> Documents:
        return only_faults((self._fault(position),), self._passed())

    def _whole(self, start: int, end: int) -> Iterator[Documents | LongDocument]:
        """A document larger than a batch that is completely in `data`."""
        if self.longest is not None and end - start > self.longest:
            yield self._faulty(self.base + start)
        else:
            yield LongDocument(self.base + start, None, iter([self.data[start:end]]), self._passed)

    def _long(self) -> Iterator[Documents | LongDocument]:
        """The document at `base`, whose end is not read yet."""
        position, rest = self.base, self._rest()
        if self.longest is not None and self._certain() > self.longest:
            yield self._faulty(position)
        else:
            yield LongDocument(position, None, self._limited(rest, position), self._passed)
        for _ in rest:
            pass

    def _limited(self, parts: Iterator[bytes], position: int) -> Iterator[bytes]:
        size = 0
        for part in parts:
            size += len(part)
            if self.longest is not None and size > self.longest:
                raise self._fault(position).error
            yield part

    def _rest(self) -> Iterator[bytes]:
        """The rest of the document at `base` in parts, as it is read; afterwards `data` is the text after it."""
        size = len(self.delimiter)
        while True:
            at = self.data.find(self.delimiter, self.searched) if size else -1
            if at >= 0:
                self.over = self.end is not None and self.base + at + size >= self.end and self._alone(at, 0)
                part = self.data[:at]
                self._cut(at + size)
                self.searched = 0
                yield part
                return
            # Keep a delimiter that has begun, and everything that it could overlap.
            part = self.data[: max(len(self.data) - 2 * max(size - 1, 0), 0)]
            self._cut(len(part))
            self.searched = max(len(self.data) - size + 1, 0)
            yield part
            block = self._read()
            if not block:
                self.over = True
                yield self.data
                return
            self.data += block


def _occurrences(data: bytes, delimiter: bytes, start: int) -> NDArray[np.int64]:
    """The positions of a delimiter from `start` on, overlapping ones included."""
    size = len(delimiter)
    if not size or len(data) - start < size:
        return np.empty(0, np.int64)
    found = _core.find_all(np.frombuffer(data, np.uint8, offset=start), delimiter)
    return found + start if start else found


def _chosen(found: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """The occurrences left to right, without overlap."""
    if np.diff(found).min(initial=size) >= size:
        return found
    chosen, last = [], -size
    for place in found.tolist():
        if place - last >= size:
            chosen.append(place)
            last = place
    return np.array(chosen, np.int64)
