"""A table that locates each document in a shard, beside formats that cannot store it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.errors import FormatError
from bytepair.shards.sinks.row_groups import INSTALL, ParquetFile, joined, rows_of, strings
from bytepair.shards.sinks.shard import Encoded, needed, one
from bytepair.sources import columns as arrow_columns
from bytepair.sources.flat_rows import FlatTexts, offsets_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

SUFFIX = ".documents.parquet"
_ROWS = 1 << 16  # a group, and what is held at most


class DocumentsTable:
    """A Parquet file with a row for each document, in their order.

    Its columns are ``input`` (a dictionary of names), ``position`` (int64), ``id`` (string, null if the document has
    none), ``start`` (int64, the first token in the shard) and ``tokens`` (int64). The bytes depend on the documents
    alone, not on the batches in which they came. It needs ``pyarrow``; at most 65,536 rows and a batch are held.

    Args:
        path: Where.
        inputs: The names of the plan's inputs, by number.

    Raises:
        ArtifactError: ``pyarrow`` is not installed.
        OSError: The file cannot be made.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "train-00000.documents.parquet")
        >>> table = DocumentsTable(path, ["a.jsonl"])
        >>> table.end(0, 0, b"first", 12)
        >>> table.end(0, 340, b"", 30)
        >>> table.close()
        >>> import pyarrow.parquet as pq
        >>> pq.read_table(path).to_pylist()[1]
        {'input': 'a.jsonl', 'position': 340, 'id': None, 'start': 12, 'tokens': 30}
    """

    def __init__(self, path: Path, inputs: Sequence[str]) -> None:
        pa = needed("pyarrow", "a table of documents", INSTALL)
        self._path = path
        self._names = inputs
        self._numbers: dict[str, int] | None = None
        self._start = 0
        self._held = 0
        # inputs, positions, tokens, names
        self._waiting: list[tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], FlatTexts | None]] = []
        schema = pa.schema(
            [
                pa.field("input", pa.dictionary(pa.int32(), pa.string()), nullable=False),
                pa.field("position", pa.int64(), nullable=False),
                pa.field("id", pa.string()),
                pa.field("start", pa.int64(), nullable=False),
                pa.field("tokens", pa.int64(), nullable=False),
            ]
        )
        self._file = ParquetFile(path, schema, "a table of documents")

    def write(self, documents: Encoded) -> None:
        """Notes whole documents.

        Raises:
            FormatError: The id of one is not UTF-8.
            OSError: The disk is full or fails.
        """
        self._add(documents.inputs, documents.positions, documents.lengths, documents.names)

    def end(self, input: int, position: int, name: bytes, tokens: int) -> None:
        """Notes one document of so many tokens; see `Shard.end`, errors as `write`."""
        document = one(np.empty(0, np.uint32), input, position, name)
        self._add(document.inputs, document.positions, np.array([tokens], np.int64), document.names)

    def append(self, path: Path) -> int:
        """Notes all documents of another table behind those of this one, a group of rows at a time.

        Args:
            path: The table.

        Returns:
            How many documents it has.

        Raises:
            FormatError: It is of other inputs.
            OSError: It cannot be read, or this one cannot be written.
        """
        pq = needed("pyarrow.parquet", "a table of documents", INSTALL)
        if self._numbers is None:
            self._numbers = {name: number for number, name in enumerate(self._names)}
        rows = 0
        with path.open("rb") as source, pq.ParquetFile(source, page_checksum_verification=True) as file:
            for batch in file.iter_batches(_ROWS, use_threads=False):
                input_column = batch.column("input")
                names = input_column.dictionary.to_pylist()
                unknown = [name for name in names if name not in self._numbers]
                if unknown:
                    raise FormatError(
                        f"the plan has no input {unknown[0]!r}",
                        file=str(path),
                        remedy="the shard is of another plan: make it again",
                    )
                known = np.array([self._numbers[name] for name in names], np.int32)
                self._add(
                    known[input_column.indices.to_numpy()],
                    batch.column("position").to_numpy(),
                    batch.column("tokens").to_numpy(),
                    _texts(batch.column("id")),
                )
                rows += len(batch)
        return rows

    def close(self) -> None:
        """Completes the file; errors as `write`."""
        self._write_groups(whole=False)
        self._file.close()

    def abort(self) -> None:
        """Closes the file, in whatever state."""
        self._file.abort()

    def _add(
        self,
        inputs: NDArray[np.int32],
        positions: NDArray[np.int64],
        tokens: NDArray[np.int64],
        names: FlatTexts | None,
    ) -> None:
        if names is not None:
            # A name must not keep the whole batch alive that it was read with.
            names = joined([names], [len(inputs)])
        self._waiting.append((inputs, positions, tokens, names))
        self._held += len(inputs)
        if self._held > _ROWS:
            self._write_groups(whole=True)

    def _write_groups(self, *, whole: bool) -> None:
        """Writes what waits, but for a group that has room left if only whole ones are to be written."""
        if not self._held:
            return
        inputs, positions, tokens = (np.concatenate([part[i] for part in self._waiting]) for i in range(3))
        names = joined([part[3] for part in self._waiting], [len(part[0]) for part in self._waiting])
        row = 0
        while row < len(inputs) and (not whole or len(inputs) - row >= _ROWS):
            end = min(row + _ROWS, len(inputs))
            self._write(inputs[row:end], positions[row:end], tokens[row:end], rows_of(names, row, end))
            row = end
        self._waiting = [
            (inputs[row:].copy(), positions[row:].copy(), tokens[row:].copy(), rows_of(names, row, len(inputs)))
        ]
        self._held = len(inputs) - row

    def _write(
        self,
        inputs: NDArray[Any],
        positions: NDArray[Any],
        tokens: NDArray[Any],
        names: FlatTexts | None,
    ) -> None:
        pa = needed("pyarrow", "a table of documents", INSTALL)
        # The names of this group alone: a plan can have more inputs than the group has rows.
        used, rows = np.unique(inputs, return_inverse=True)
        names_used = [self._names[number] for number in used.tolist()]
        # An input that two groups have is there once: of a dictionary that says a name twice, pyarrow 26 writes
        # other bytes now and then.
        places = {name: place for place, name in enumerate(dict.fromkeys(names_used))}
        indices = np.array([places[name] for name in names_used], np.int32)[rows]
        dictionary = pa.array(list(places), pa.string())
        ends = offsets_of(tokens) + self._start
        self._start = int(ends[-1])
        self._file.write(
            [
                pa.DictionaryArray.from_arrays(pa.array(indices), dictionary),
                pa.array(positions),
                strings(names, len(inputs), self._path),
                pa.array(ends[:-1]),
                pa.array(tokens),
            ]
        )


def _texts(column: Any) -> FlatTexts | None:
    """A column of strings in buffers, null as empty; None if all are null."""
    if column.null_count == len(column):
        return None
    return arrow_columns.buffers(column.fill_null(""))
