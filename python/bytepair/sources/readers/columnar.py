"""Parquet, Arrow and data sets of ``datasets`` -> the texts in a column, with the ids in another."""

from __future__ import annotations

from bisect import bisect
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.errors import EncodeError
from bytepair.sources import columns
from bytepair.sources.documents import Documents, Fault
from bytepair.sources.readers.common import only_faults, too_long

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair.sources.inputs import Given, Input
    from bytepair.sources.source import Reading

_ROWS = 8192
_AT_ONCE = 1024  # rows of a data set in a request
_NO_LIMIT = np.iinfo(np.int64).max


def portions(input: Input, size: int) -> list[tuple[int, int | None]]:
    """Row groups or record batches, together about `size` bytes of the file; see `readers.portions`."""
    if input.content == "parquet":
        sizes = columns.row_group_bytes(input.address)
    else:
        sizes = [1] * columns.record_batches(input.address)
    # Their share of the file follows from their size before compression.
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
    source = columns.read(
        input.address,
        input.content,
        reading.field,
        batch_bytes,
        id_field=reading.id_field,
        start=start,
        end=end,
    )
    for rows in source:
        yield from columns.readable(input.address, _documents(input.address, reading, rows, batch_bytes))


def read_data_set(given: Given, reading: Reading, batch_bytes: int) -> Iterator[Documents]:
    """The documents of a data set of ``datasets``, in memory or streamed; see `readers.read`."""
    rows = passed = 0
    data: Any = given.texts
    for table in data.with_format("arrow").iter(batch_size=_AT_ONCE):
        number, _ = columns.text_column(table.schema, reading.field, None)
        for texts in table.column(number).chunks:
            columns.check(texts)
            passed += texts.nbytes
            yield from _documents(None, reading, columns.Columns(texts, None, rows, passed), batch_bytes)
            rows += len(texts)


def _documents(file: str | None, reading: Reading, rows: columns.Columns, batch_bytes: int) -> Iterator[Documents]:
    # Where rows can be faults, some at a time: all of them can be faults.
    at_once = len(rows.texts) or 1
    if reading.longest is not None or columns.valid_rows(rows.texts) is not None:
        at_once = min(at_once, _ROWS)
    for start in range(0, len(rows.texts), at_once):
        first = rows.first_row + start
        values = rows.texts.slice(start, at_once)
        ids = None if rows.ids is None else rows.ids.slice(start, at_once)
        valid = columns.valid_rows(values)
        numbers = np.arange(len(values)) if valid is None else np.flatnonzero(valid)
        nulls = [] if valid is None else np.flatnonzero(~valid).tolist()
        done = 0
        for texts in columns.split(values, batch_bytes, valid):
            places = numbers[done : done + len(texts)]
            done += len(texts)
            # Each batch has the faults before its end, so that faults are in order too.
            before = bisect(nulls, int(places[-1]))
            faults = [_null(file, reading, first + row) for row in nulls[:before]]
            del nulls[:before]
            keep = texts.lengths <= (_NO_LIMIT if reading.longest is None else reading.longest)
            faults += [
                Fault(row, too_long(reading.longest or 0, file=file, row=row))
                for row in (places[~keep] + first).tolist()
            ]
            kept = places[keep]
            names = None if ids is None else columns.taken(ids, kept)
            yield Documents(texts.where(keep), kept + first, names, _sorted(faults), rows.position)
        if nulls:
            faults = [_null(file, reading, first + row) for row in nulls]
            yield only_faults(tuple(faults), rows.position, ids=ids is not None)


def _null(file: str | None, reading: Reading, row: int) -> Fault:
    what = columns.null_value(reading.field)
    return Fault(row, EncodeError(what, file=file, row=row, remedy=columns.OF_NULL))


def _sorted(faults: list[Fault]) -> tuple[Fault, ...]:
    return tuple(sorted(faults, key=lambda fault: fault.position))
