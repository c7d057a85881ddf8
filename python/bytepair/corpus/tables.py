"""Counts tables <-> Parquet files: columns of pieces, counts, groups and first positions, facts in the metadata."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair import files
from bytepair.corpus.compressed import arrow, unreadable
from bytepair.errors import BytepairError, FormatError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from bytepair._core import PieceCounter, PieceCounts

_KEY = b"bytepair"
_ROWS = 1 << 16


def write(path: Path, counts: PieceCounts, groups: Sequence[str], facts: bytes) -> None:
    """Writes a table, sorted by piece and group; see `bytepair.Counts.write`."""
    pa = arrow(path)
    import pyarrow.parquet as pq  # noqa: PLC0415

    schema = pa.schema(
        [
            pa.field("piece", pa.binary(), nullable=False),
            pa.field("count", pa.uint64(), nullable=False),
            pa.field("group", pa.dictionary(pa.int32(), pa.string()), nullable=False),
            pa.field("first_position", pa.uint64(), nullable=False),
        ],
        metadata={_KEY: facts},
    )
    names = pa.array(groups, pa.string())

    def take(
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        numbers: NDArray[np.uint16],
        occurrences: NDArray[np.uint64],
        firsts: NDArray[np.uint64],
    ) -> None:
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        pieces = pa.Array.from_buffers(pa.large_binary(), len(occurrences), buffers).cast(pa.binary())
        group = pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int32)), names)
        columns = [pieces, pa.array(occurrences), group, pa.array(firsts)]
        writer.write_batch(pa.record_batch(columns, schema=schema))

    with files.replacing(path) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        counts.columns(take, _ROWS)


def read(path: Path, counter: PieceCounter) -> dict[str, Any]:
    """Adds the rows of a table to a counter, and returns the facts in its metadata."""
    pa = arrow(path)
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False, page_checksum_verification=True) as file:
            facts = _facts(file.schema_arrow, path)
            numbers = {group: number for number, group in enumerate(facts["groups"])}
            for batch in file.iter_batches(_ROWS):
                if any(column.null_count for column in batch.columns):
                    raise FormatError("a value is null", file=str(path), remedy="count the source again")
                columns = {name: batch.column(name) for name in batch.schema.names}
                pieces = columns["piece"].cast(pa.large_binary())
                _, offsets, data = pieces.buffers()
                group = columns["group"]
                known = np.array([numbers[name] for name in group.dictionary.to_pylist()], np.uint16)
                counter.add_columns(
                    np.frombuffer(data or b"", np.uint8),
                    np.frombuffer(offsets, np.int64)[pieces.offset : pieces.offset + len(pieces) + 1],
                    known[group.indices.to_numpy()],
                    columns["count"].to_numpy(),
                    columns["first_position"].to_numpy(),
                )
    except BytepairError:
        raise
    except KeyError as error:
        raise FormatError(f"the table has no {error}", file=str(path), remedy="count the source again") from error
    # What damaged files raise is of many kinds.
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, MemoryError) as error:
        unreadable(path, error)
    return facts


def _facts(schema: Any, path: Path) -> dict[str, Any]:
    types = {"piece": "binary", "count": "uint64", "first_position": "uint64"}
    data = (schema.metadata or {}).get(_KEY, b"")
    known = data and {field.name for field in schema} == {*types, "group"}
    if not known or any(str(schema.field(name).type) != kind for name, kind in types.items()):
        raise FormatError(
            "this is Parquet, but no counts table of bytepair", file=str(path), remedy="make one by `bytepair counts`"
        )
    try:
        facts = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"the metadata are not JSON: {error}", file=str(path)) from error
    if not isinstance(facts, dict) or facts.get("version") != 1 or not isinstance(facts.get("groups"), list):
        raise FormatError(
            "the table is of another version", file=str(path), remedy="use the version of bytepair that wrote it"
        )
    return facts
