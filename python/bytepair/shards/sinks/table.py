"""Shards as tables: Parquet and Arrow files with a row for each document."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.shards.sinks.row_groups import INSTALL, ParquetFile, groups, joined, rows_of, strings
from bytepair.shards.sinks.shard import Encoded, GatheringShard, check_lengths, narrowed, needed
from bytepair.sources.flat_rows import offsets_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_TOKENS = 1 << 20  # of a group of rows
_ROWS = 1 << 14
_LONGEST = 0x7FFF_FFFF


class TableShard(GatheringShard):
    """A row for each document: ``input_ids`` (list of whole numbers), ``id`` (or null), ``input`` and ``position``.

    Groups of rows have at most 16,384 documents and 1,048,576 tokens, or one document; memory is a group and a batch.
    The schema is the same whatever is written, so that all shards load as one table.

    Args:
        folder: See `Shard`.
        stem: See `Shard`.
        dtype: See `Shard`.
        inputs: See `Shard`.

    Raises:
        ArtifactError: ``pyarrow`` is not installed.
    """

    suffix = ""
    format = ""

    def __init__(self, folder: Path, stem: str, dtype: np.dtype[Any], inputs: Sequence[str]) -> None:
        pa = needed("pyarrow", self.format, INSTALL)
        super().__init__(folder, stem, dtype, inputs)
        self._waiting: list[Encoded] = []
        self._held = 0
        self._held_rows = 0
        item = pa.field("item", pa.from_numpy_dtype(dtype), nullable=False)
        self._schema = pa.schema(
            [
                pa.field("input_ids", pa.list_(item), nullable=False),
                pa.field("id", pa.string()),
                pa.field("input", pa.string(), nullable=False),
                pa.field("position", pa.int64(), nullable=False),
            ]
        )
        self._open(self.path(self.suffix))

    @abstractmethod
    def _open(self, path: Path) -> None: ...

    @abstractmethod
    def _write_columns(self, columns: list[Any]) -> None: ...

    def write(self, documents: Encoded) -> None:
        """Writes whole documents; see `Shard.write`."""
        check_lengths(documents, _LONGEST, "a list of a table")
        self._waiting.append(documents)
        self._held += len(documents.ids)
        self._held_rows += len(documents)
        self.tokens += len(documents.ids)
        self.documents += len(documents)
        if self._held > _TOKENS or self._held_rows > _ROWS:
            self._write_groups(whole=True)

    def close(self) -> None:
        """Writes what waits, and the footer; see `Shard.close`."""
        self._write_groups(whole=False)
        self._end()

    @abstractmethod
    def _end(self) -> None: ...

    def _write_groups(self, *, whole: bool) -> None:
        """Writes what waits, but for the last group if only those are to be written that are known to be full."""
        waiting = _together(self._waiting)
        start = 0
        for start, end in groups(waiting.offsets, _TOKENS, _ROWS):
            if whole and end == len(waiting):
                break
            self._write_group(_rows(waiting, start, end))
        else:
            start = len(waiting)
        # Copied, so that what was written is not kept.
        rest = _together([_rows(waiting, start, len(waiting))])
        self._waiting = [rest]
        self._held = len(rest.ids)
        self._held_rows = len(rest)

    def _write_group(self, documents: Encoded) -> None:
        pa = needed("pyarrow", self.format, INSTALL)
        values = pa.array(narrowed(documents.ids, self.dtype))
        offsets = pa.array(documents.offsets.astype(np.int32))
        used, indices = np.unique(documents.inputs, return_inverse=True)
        names = pa.array([self.inputs[number] for number in used.tolist()], pa.string())
        self._write_columns(
            [
                pa.ListArray.from_arrays(offsets, values, type=self._schema.field("input_ids").type),
                strings(documents.names, len(documents), self.path(self.suffix)),
                names.take(pa.array(indices)),
                pa.array(documents.positions),
            ]
        )


class ParquetShard(TableShard):
    """`TableShard` as ``STEM.parquet``, compressed by zstd."""

    suffix = ".parquet"
    format = "Parquet"

    def _open(self, path: Path) -> None:
        # A dictionary of ids takes longer to write than the ids, and makes the file no smaller.
        self._file = ParquetFile(path, self._schema, self.format, use_dictionary=["input"])

    def _write_columns(self, columns: list[Any]) -> None:
        self._file.write(columns)

    def _end(self) -> None:
        self._file.close()

    def abort(self) -> None:
        """Closes what is open; see `Shard.abort`."""
        self._file.abort()


class ArrowShard(TableShard):
    """`TableShard` as ``STEM.arrow``, the file format of Arrow, which can be mapped; not compressed."""

    suffix = ".arrow"
    format = "Arrow"

    def _open(self, path: Path) -> None:
        pa = needed("pyarrow", self.format, INSTALL)
        self._file = path.open("wb")
        try:
            self._writer = pa.ipc.new_file(self._file, self._schema)
        except BaseException:
            self._file.close()
            raise

    def _write_columns(self, columns: list[Any]) -> None:
        pa = needed("pyarrow", self.format, INSTALL)
        self._writer.write_batch(pa.record_batch(columns, schema=self._schema))

    def _end(self) -> None:
        self._writer.close()
        self._file.close()

    def abort(self) -> None:
        """Closes what is open; see `Shard.abort`."""
        with contextlib.suppress(Exception):  # whatever pyarrow says of a file that is given up
            self._writer.close()
        with contextlib.suppress(OSError):
            self._file.close()


def _together(parts: Sequence[Encoded]) -> Encoded:
    return Encoded(
        np.concatenate([np.empty(0, np.uint32), *(part.ids for part in parts)]),
        offsets_of(np.concatenate([np.empty(0, np.int64), *(part.lengths for part in parts)])),
        np.concatenate([np.empty(0, np.int32), *(part.inputs for part in parts)]),
        np.concatenate([np.empty(0, np.int64), *(part.positions for part in parts)]),
        joined([part.names for part in parts], [len(part) for part in parts]),
    )


def _rows(documents: Encoded, start: int, end: int) -> Encoded:
    begin = documents.offsets[start]
    return Encoded(
        documents.ids[begin : documents.offsets[end]],
        documents.offsets[start : end + 1] - begin,
        documents.inputs[start:end],
        documents.positions[start:end],
        rows_of(documents.names, start, end),
    )
