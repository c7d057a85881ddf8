"""Rows that wait until they are enough for a group, and the Parquet files that groups are written to."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.errors import FormatError
from bytepair.shards.sinks.shard import needed
from bytepair.sources.flat_rows import FlatTexts, offsets_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

INSTALL = "pyarrow>=18"


class ParquetFile:
    """A Parquet file that is written a group of rows at a time, compressed by zstd, with no time in it.

    Args:
        path: Where.
        schema: Its columns, as ``pyarrow`` has them.
        format: Its name in errors.
        options: More of `pyarrow.parquet.ParquetWriter`.

    Raises:
        OSError: It cannot be made.
    """

    def __init__(self, path: Path, schema: Any, format: str, **options: Any) -> None:
        pq = needed("pyarrow.parquet", format, INSTALL)
        self._path = path
        self._schema = schema
        # Opened here, since pyarrow could take a path for an address; and so errors of the disk keep their number.
        self._file = path.open("wb")
        try:
            self._writer = pq.ParquetWriter(self._file, schema, compression="zstd", write_page_checksum=True, **options)
        except BaseException:
            self.abort()
            raise

    def write(self, columns: Sequence[Any]) -> None:
        """Writes one group of rows.

        Raises:
            OSError: The disk is full or fails.
        """
        pa = needed("pyarrow", "Parquet", INSTALL)
        table = pa.Table.from_arrays(list(columns), schema=self._schema)
        self._writer.write_table(table, row_group_size=max(len(table), 1))

    def close(self) -> None:
        """Writes the footer; errors as `write`."""
        self._writer.close()
        self._file.close()

    def abort(self) -> None:
        """Closes the file, in whatever state."""
        writer = getattr(self, "_writer", None)
        if writer is not None:
            with contextlib.suppress(Exception):  # whatever pyarrow says of a file that is given up
                writer.close()
            # Else it is closed again when it is collected, where errors are lost.
            writer.is_open = False
        with contextlib.suppress(OSError):
            self._file.close()


def strings(texts: FlatTexts | None, rows: int, path: Path) -> Any:
    """Names as an Arrow array of strings; null where a text is empty.

    Args:
        texts: The names; None if no row has one.
        rows: How many rows there are.
        path: The file that they are for.

    Raises:
        FormatError: One is not UTF-8.
    """
    pa = needed("pyarrow", "Parquet", INSTALL)
    # From 0, without bytes around them: where they were cut from must not show in a file.
    texts = joined([texts], [rows])
    if texts is None or not len(texts.data):
        return pa.nulls(rows, pa.string())
    there = np.packbits(np.diff(texts.offsets) > 0, bitorder="little")
    buffers = [pa.py_buffer(there), pa.py_buffer(texts.offsets), pa.py_buffer(texts.data)]
    values = pa.Array.from_buffers(pa.large_binary(), rows, buffers)
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid as error:
        raise FormatError(
            f"the id of a document is not UTF-8: {error}", file=str(path), remedy="choose another field for ids"
        ) from error


def joined(texts: Sequence[FlatTexts | None], rows: Sequence[int]) -> FlatTexts | None:
    """Some texts after one another; the texts of a None are empty, and None is what only such make.

    Args:
        texts: Their parts.
        rows: How many texts each part has, also where it is None.

    Example:
        >>> import numpy as np
        >>> low = FlatTexts(np.frombuffer(b"low", np.uint8), np.array([0, 3]))
        >>> joined([None, low], [2, 1]).to_list()
        [b'', b'', b'low']
    """
    if all(part is None for part in texts):
        return None
    lengths = [
        np.diff(part.offsets) if part is not None else np.zeros(count, np.int64)
        for part, count in zip(texts, rows, strict=True)
    ]
    data = [part.data[part.offsets[0] : part.offsets[-1]] for part in texts if part is not None]
    return FlatTexts(np.concatenate(data), offsets_of(np.concatenate(lengths)))


def rows_of(texts: FlatTexts | None, start: int, end: int) -> FlatTexts | None:
    """The texts from `start` to `end`."""
    return None if texts is None else FlatTexts(texts.data, texts.offsets[start : end + 1])


def groups(offsets: NDArray[np.int64], most: int, rows: int) -> Iterator[tuple[int, int]]:
    """Cuts rows into groups, from the first: so many of what offsets count at most, or one row; and so many rows.

    Args:
        offsets: One more than there are rows, never falling.
        most: Of what the offsets count.
        rows: Of rows.

    Yields:
        The first row of a group, and the row behind it. The last group may have room for more.

    Example:
        >>> import numpy as np
        >>> list(groups(np.array([0, 2, 4, 9, 10]), 4, 9))
        [(0, 2), (2, 3), (3, 4)]
    """
    start = 0
    while start < len(offsets) - 1:
        end = int(np.searchsorted(offsets, offsets[start] + most, "right")) - 1
        end = min(max(end, start + 1), start + rows)
        yield start, end
        start = end
