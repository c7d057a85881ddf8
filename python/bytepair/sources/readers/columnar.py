"""Parquet and Arrow -> the texts in a column, with the ids in another."""

from __future__ import annotations

from bisect import bisect
from typing import TYPE_CHECKING

import numpy as np

from bytepair.errors import EncodeError
from bytepair.sources import columns
from bytepair.sources.documents import Documents, Fault
from bytepair.sources.readers.common import joined, kept, too_long

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair.sources.inputs import Input, Reading

_ROWS = 8192
_NO_LIMIT = np.iinfo(np.int64).max


def portions(input: Input, size: int) -> list[tuple[int, int | None]]:
    """Row groups or record batches, together about `size` bytes of the file; see `readers.portions`."""
    if input.content == "parquet":
        sizes = columns.row_group_bytes(input.address)
    else:
        sizes = [1] * columns.record_batches(input.address)
    # What they are before compression says which part of the file is theirs.
    ends = np.cumsum(sizes, dtype=np.float64) * (input.size / max(sum(sizes), 1))
    starts, last = [0], 0.0
    for number, end in enumerate(ends[:-1].tolist(), 1):
        if end - last >= size:
            starts.append(number)
            last = end
    return [*zip(starts, [*starts[1:], None], strict=True)]


def read(
    input: Input,
    start: int,
    end: int | None,
    reading: Reading,
    batch_bytes: int,
) -> Iterator[Documents]:
    """The documents of a portion of rows; see `readers.read`."""
    portion = columns.Portion(start, end)
    source = columns.read(
        input.address, input.content, reading.field, batch_bytes, id_field=reading.id_field, portion=portion
    )
    for rows in source:
        yield from columns.readable(input.address, _documents(input, reading, rows, batch_bytes))


def _documents(
    input: Input,
    reading: Reading,
    rows: columns.Columns,
    batch_bytes: int,
) -> Iterator[Documents]:
    # Some rows at a time, since each of them can be a fault.
    for start in range(0, len(rows.texts), _ROWS):
        first = rows.first_row + start
        values = rows.texts.slice(start, _ROWS)
        ids = None if rows.ids is None else rows.ids.slice(start, _ROWS)
        valid = columns.valid_rows(values)
        numbers = np.arange(len(values)) if valid is None else np.flatnonzero(valid)
        nulls = [] if valid is None else np.flatnonzero(~valid).tolist()
        done = 0
        for texts in columns.split(values, batch_bytes, valid):
            places = numbers[done : done + len(texts)]
            done += len(texts)
            # With each batch those before its end, so that faults are in order too.
            before = bisect(nulls, int(places[-1]))
            faults = [_null(input, reading, first + row) for row in nulls[:before]]
            del nulls[:before]
            keep = texts.lengths <= (_NO_LIMIT if reading.longest is None else reading.longest)
            faults += [
                Fault(row, too_long(reading.longest or 0, file=input.address, row=row))
                for row in (places[~keep] + first).tolist()
            ]
            given = places[keep]
            names = None if ids is None else columns.taken(ids, given)
            yield Documents(kept(texts, keep), given + first, names, _sorted(faults), rows.position)
        if nulls:
            names = None if ids is None else joined([])
            faults = [_null(input, reading, first + row) for row in nulls]
            yield Documents(joined([]), numbers[:0], names, tuple(faults), rows.position)


def _null(input: Input, reading: Reading, row: int) -> Fault:
    what = columns.null_value(reading.field)
    return Fault(row, EncodeError(what, file=input.address, row=row, remedy=columns.OF_NULL))


def _sorted(faults: list[Fault]) -> tuple[Fault, ...]:
    return tuple(sorted(faults, key=lambda fault: fault.position))
