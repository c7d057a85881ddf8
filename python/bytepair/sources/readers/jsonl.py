"""Lines of JSON -> the texts in one field of each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bytepair import _core
from bytepair.sources.compressed import ByteReader
from bytepair.sources.documents import Documents, Fault
from bytepair.sources.flat_rows import FlatTexts
from bytepair.sources.inputs import changed
from bytepair.sources.readers.common import block_bytes, only_faults, too_long

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair.errors import BytepairError
    from bytepair.sources.inputs import Input
    from bytepair.sources.source import Reading

_TAIL = 64 << 10  # read at a time behind the end of a portion, where the end of its last line is near


def read(
    input: Input,
    start: int,
    end: int | None,
    reading: Reading,
    batch_bytes: int,
    *,
    errors: str,
) -> Iterator[Documents]:
    """The documents of a portion of lines of JSON; see `readers.read`. A line counts as long as it is written."""
    # The line at `start` is one if it follows a line end.
    before = max(start - 1, 0)
    with ByteReader(input.address, input.compression, before) as reader:
        for base, lines in _blocks(input, reader, (start, end), block_bytes(batch_bytes), reading.longest):
            passed = reader.position - (0 if input.compression else start)
            if lines is None:
                assert reading.longest is not None
                fault = Fault(base, too_long(reading.longest, file=input.address, byte=base))
                yield only_faults((fault,), passed, ids=reading.id_field is not None)
            else:
                yield replace(_documents(input, reading, errors, base, lines), passed=passed)


def _documents(input: Input, reading: Reading, errors: str, base: int, lines: bytes) -> Documents:
    field = "text" if reading.field is None else reading.field
    data, offsets, starts, id_data, id_offsets, faults = _core.json_fields(
        lines, field, reading.id_field, errors=errors, first=base == 0
    )
    ids = None if id_data is None or id_offsets is None else FlatTexts(id_data, id_offsets)
    found = tuple(
        Fault(base + start, _placed(error, input, base + start), lines[start:end]) for start, end, error in faults
    )
    return Documents(FlatTexts(data, offsets), starts + base, ids, found, passed=0)


def _placed(error: BytepairError, input: Input, position: int) -> BytepairError:
    """The error of a line, with its place in the file."""
    error.file = input.address
    error.byte = position + (error.byte or 0)
    return error


def _blocks(
    input: Input,
    reader: ByteReader,
    portion: tuple[int, int | None],
    block: int,
    longest: int | None,
) -> Iterator[tuple[int, bytes | None]]:
    """Whole lines, and the byte at which they begin; None for a line that is too long, which is not held."""
    start, end = portion
    base = at = reader.position  # of what is in parts; of what is read
    parts: list[bytes] = []
    held = 0
    outside = start > 0  # within a line of the portion before
    skipping = False  # within a line that is too long
    over = False
    while not over:
        wanted = block if end is None else min(block, end - at if at < end else _TAIL)
        data = reader.read(wanted)
        at += len(data)
        if not data:
            if input.compression is None and at != input.size:
                raise changed(input, at)
            if held and not outside and not skipping:
                yield from _cut(base, b"".join(parts), longest)
            return
        if outside or skipping:
            first = data.find(b"\n") + 1
            if not first:
                if outside and end is not None and at >= end:
                    return
                continue
            base, data = at - len(data) + first, data[first:]
            outside = skipping = False
            if end is not None and base >= end:
                return
        last = 0
        if end is not None and at >= end:
            # The portion's last line is the one in which the byte before the end lies, whether or not it is a line end.
            last = data.find(b"\n", max(end - 1 - (at - len(data)), 0)) + 1
            over = last > 0
        last = last or data.rfind(b"\n") + 1
        if last:
            lines = b"".join([*parts, data[:last]])
            yield from _cut(base, lines, longest)
            base, data, parts, held = base + len(lines), data[last:], [], 0
        parts.append(data)
        held += len(data)
        if not over and longest is not None and held > longest:
            yield base, None
            parts, held, skipping = [], 0, True


def _cut(base: int, lines: bytes, longest: int | None) -> Iterator[tuple[int, bytes | None]]:
    """The same lines in order, those apart that are too long."""
    if longest is None or len(lines) <= longest:
        yield base, lines
        return
    ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == ord("\n")) + 1
    if not lines.endswith(b"\n"):
        ends = np.append(ends, len(lines) + 1)
    lengths = np.diff(ends, prepend=0) - 1
    done = 0
    for number in np.flatnonzero(lengths > longest).tolist():
        first, last = int(ends[number] - lengths[number] - 1), int(ends[number])
        if first > done:
            yield base + done, lines[done:first]
        yield base + first, None
        done = last
    if done < len(lines):
        yield base + done, lines[done:]
