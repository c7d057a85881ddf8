"""Counts tables <-> Parquet files: columns of pieces, counts, groups and first positions, facts in the metadata."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair import files
from bytepair.errors import ArtifactError, BytepairError, FormatError, TrainingError
from bytepair.sources.columns import buffers
from bytepair.sources.compressed import arrow
from bytepair.sources.opening import unreadable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from bytepair._core import PieceCounter, PieceCounts

_KEY = b"bytepair"
_HASH_KEY = b"bytepair.sha256"
_ROWS = 1 << 16
_AGAIN = "count the source again"


def write(path: Path, counts: PieceCounts, groups: Sequence[str], facts: bytes) -> None:
    """Writes a table, sorted by piece and group; see `bytepair.Counts.write`."""
    pa = arrow(path)
    import pyarrow.parquet as pq

    schema = pa.schema(
        [
            pa.field("piece", pa.binary(), nullable=False),
            pa.field("count", pa.uint64(), nullable=False),
            pa.field("group", pa.dictionary(pa.int32(), pa.string()), nullable=False),
            pa.field("first_position", pa.uint64(), nullable=False),
        ],
        metadata={_KEY: facts, _HASH_KEY: sha256(facts).hexdigest().encode()},
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

    options = {"compression": "zstd", "write_page_checksum": True}
    # Opened here: pyarrow could interpret a path as a URL.
    with files.replacing(path) as temporary, temporary.open("wb") as file:
        try:
            with pq.ParquetWriter(file, schema, **options) as writer:
                counts.columns(take, _ROWS)
        except pa.ArrowException as error:
            raise ArtifactError(f"cannot write the table: {error}", file=str(path)) from error


def read(path: Path, counter: PieceCounter, shift: int = 0) -> dict[str, Any]:
    """Adds the rows of a table to a counter, and returns the facts in its metadata.

    Args:
        path: The table.
        counter: Receives the rows.
        shift: Added to their first positions.
    """
    pa = arrow(path)
    import pyarrow.parquet as pq

    try:
        options = {"buffer_size": 1 << 20, "pre_buffer": False, "page_checksum_verification": True}
        with path.open("rb") as source, pq.ParquetFile(source, **options) as file:
            facts = _facts(file.schema_arrow, path)
            numbers = {group: number for number, group in enumerate(facts["groups"])}
            rows = 0
            for batch in file.iter_batches(_ROWS, use_threads=False):
                rows += len(batch)
                if any(column.null_count for column in batch.columns):
                    raise FormatError("a value is null", file=str(path), remedy=_AGAIN)
                columns = {name: batch.column(name) for name in batch.schema.names}
                pieces = buffers(columns["piece"])
                group = columns["group"]
                # Other writers of Parquet may keep no dictionary.
                group = group if hasattr(group, "dictionary") else group.dictionary_encode()
                group.validate(full=True)
                known = np.array([numbers[name] for name in group.dictionary.to_pylist()], np.uint16)
                counter.add_columns(
                    pieces.data,
                    pieces.offsets,
                    known[group.indices.to_numpy()],
                    columns["count"].to_numpy(),
                    columns["first_position"].to_numpy() + np.uint64(shift),
                )
            if rows != facts["rows"]:
                raise FormatError(f"it has {rows} rows instead of {facts['rows']}", file=str(path), remedy=_AGAIN)
    except TrainingError as error:  # counts or positions that cannot be
        raise FormatError(error.what, file=str(path), remedy=_AGAIN) from error
    except BytepairError:
        raise
    except KeyError as error:
        raise FormatError(f"the table has no {error}", file=str(path), remedy=_AGAIN) from error
    # Damaged files raise errors of many types.
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, OverflowError, MemoryError) as error:
        unreadable(path, error)
    return facts


def _facts(schema: Any, path: Path) -> dict[str, Any]:
    types = {"piece": "binary", "count": "uint64", "first_position": "uint64"}
    metadata = schema.metadata or {}
    data = metadata.get(_KEY, b"")
    known = data and sorted(schema.names) == sorted((*types, "group"))
    if (
        not known
        or any(str(schema.field(name).type) != kind for name, kind in types.items())
        or str(schema.field("group").type) not in ("string", "dictionary<values=string, indices=int32, ordered=0>")
    ):
        raise FormatError(
            "this is Parquet, but no counts table of bytepair", file=str(path), remedy="make one by `bytepair counts`"
        )
    if metadata.get(_HASH_KEY) != sha256(data).hexdigest().encode():
        raise FormatError("the metadata of the table are damaged", file=str(path), remedy=_AGAIN)
    try:
        facts = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"the metadata are not JSON: {error}", file=str(path), remedy=_AGAIN) from error
    if not isinstance(facts, dict) or facts.get("version") != 1 or not isinstance(facts.get("groups"), list):
        raise FormatError(
            "the table is of another version", file=str(path), remedy="use the version of bytepair that wrote it"
        )
    return facts
