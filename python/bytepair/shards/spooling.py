"""The files of the first stage for a shuffle: its documents, grouped by bucket.

Each document has a key of 64 bits, drawn from the seed, its input and its position. The range of keys is cut into as
many buckets as the shuffle has tasks. The first stage groups its documents by bucket, a *run* of bounded size at a
time; a task of the shuffle reads its bucket from all runs, and writes it in the order of keys. So the order
of all documents does not depend on the workers, and neighbours in the input end up anywhere.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bytepair.shards.draws import Draw
from bytepair.shards.sinks.shard import narrowed
from bytepair.sources import flat_rows
from bytepair.sources.flat_rows import offsets_of

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import BinaryIO

    from numpy.typing import NDArray
    from typing_extensions import Self

    from bytepair.shards.plans import Plan, ShardOptions
    from bytepair.shards.sinks import Encoded

ROW = np.dtype(
    [
        ("key", "<u8"),
        ("position", "<i8"),
        ("start", "<i8"),
        ("tokens", "<i8"),
        ("name_start", "<i8"),
        ("name_bytes", "<i4"),
        ("input", "<i4"),
    ]
)
"""A document of a run: the start and length of its ids and of its name in the other files."""

IDS, ROWS, NAMES, BOUNDS = ".ids", ".rows", ".names", ".bounds"

_HELD = -1
"""The start of a document whose ids are not in the file yet."""

_HELD_BYTES = 64 << 20
_HELD_DOCUMENTS = 1 << 19
"""A run is written when either limit is reached: bytes of ids and names, or documents."""


class Spool:
    """The output of the first stage for one task and split, as a context with the methods of `Output`.

    Memory is at most twice 64 MB and 512K documents, plus a batch. Ids of long documents go to the file at once.

    Args:
        folder: The folder for the files: ``STEM.ids`` (in the plan's dtype), ``.rows``, ``.names``, and ``.bounds``:
            the start of each bucket in each run.
        split: The split.
        number: The number of the task.
        plan: The plan.
    """

    def __init__(self, folder: Path, split: str, number: int, plan: Plan) -> None:
        self._path = folder / plan.stem(split, number)
        self._dtype = dtype_of(plan)
        self._draw = Draw(cast("ShardOptions", plan.options).seed, "shuffle", [input.name for input in plan.inputs])
        self._buckets = len(plan.stage("shuffle").tasks)
        self._files: dict[str, BinaryIO] = {}
        self._begins: list[NDArray[np.int64]] = []
        self._ids_at = self._names_at = self._rows_at = self._long = 0
        self._forget()
        try:
            for suffix in (IDS, ROWS, NAMES):
                self._files[suffix] = beside(self._path, suffix).open("wb")
        except BaseException:
            self._abort()
            raise

    def write(self, documents: Encoded) -> None:
        """Adds whole documents; writes a run when a limit is reached."""
        names = documents.names
        rows = np.zeros(len(documents), ROW)
        rows["key"] = self._draw(documents.inputs, documents.positions)
        rows["position"] = documents.positions
        rows["input"] = documents.inputs
        rows["tokens"] = documents.lengths
        rows["start"] = _HELD
        if names is not None:
            rows["name_bytes"] = np.diff(names.offsets)
            self._names.append(names.data[names.offsets[0] : names.offsets[-1]].tobytes())
        # A copy: a view would keep the whole batch alive, with 32 bits for each id.
        self._ids.append(narrowed(documents.ids, self._dtype).copy())
        self._rows.append(rows)
        self._held_bytes += self._ids[-1].nbytes + (len(self._names[-1]) if names is not None else 0)
        self._held_documents += len(rows)
        if self._held_bytes >= _HELD_BYTES or self._held_documents >= _HELD_DOCUMENTS:
            self._flush()

    def begin(self) -> None:
        """Begins a document that is added in parts."""
        self._long = 0

    def extend(self, ids: NDArray[np.uint32]) -> None:
        """Adds a part: its ids are written before those of the run being collected."""
        _put(self._files[IDS], narrowed(ids, self._dtype))
        self._long += len(ids)

    def end(self, input: int, position: int, name: bytes) -> None:
        """Ends the document."""
        place = np.array([input], np.int32), np.array([position], np.int64)
        key = self._draw(*place)[0]
        self._rows.append(np.array([(key, position, self._ids_at, self._long, 0, len(name), input)], ROW))
        self._names.append(name)
        self._ids_at += self._long
        self._held_bytes += len(name)
        self._held_documents += 1

    def drop(self) -> None:
        """Discards the document."""
        file = self._files[IDS]
        file.seek(self._ids_at * self._dtype.itemsize)
        file.truncate()

    def close(self) -> None:
        """Completes the files."""
        self._flush()
        # Bucket after bucket, so that a task reads its bounds of all runs at once.
        begins = np.array(self._begins, np.int64).reshape(-1, self._buckets + 1).T
        beside(self._path, BOUNDS).write_bytes(np.ascontiguousarray(begins, "<i8").tobytes())
        for file in self._files.values():
            file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._abort()

    def _abort(self) -> None:
        for file in self._files.values():
            with suppress(OSError):  # discarded, or closed already
                file.close()

    def _forget(self) -> None:
        self._ids: list[NDArray[Any]] = []
        self._rows: list[NDArray[Any]] = []
        self._names: list[bytes] = []
        self._held_bytes = self._held_documents = 0

    def _flush(self) -> None:
        """Writes the collected documents as a run."""
        if not self._rows:
            return
        rows = np.concatenate(self._rows)
        ids = np.concatenate([np.empty(0, self._dtype), *self._ids])
        names = np.frombuffer(b"".join(self._names), np.uint8)
        self._forget()
        bucket = bucket_of(rows["key"], self._buckets)
        order = np.argsort(bucket, kind="stable")
        # The ids of a long document are in the file already.
        held = rows["start"] == _HELD
        lengths = np.where(held, rows["tokens"], 0)
        sorted_rows = rows[order]
        starts = self._ids_at + offsets_of(lengths[order])[:-1]
        sorted_rows["start"] = np.where(held[order], starts, sorted_rows["start"])
        sorted_rows["name_start"] = self._names_at + offsets_of(sorted_rows["name_bytes"])[:-1]
        for part in flat_rows.taken(ids, offsets_of(lengths)[:-1][order], lengths[order]):
            _put(self._files[IDS], part)
        for part in flat_rows.taken(names, offsets_of(rows["name_bytes"])[:-1][order], sorted_rows["name_bytes"]):
            _put(self._files[NAMES], part)
        _put(self._files[ROWS], sorted_rows)
        self._begins.append(self._rows_at + np.searchsorted(bucket[order], np.arange(self._buckets + 1)))
        self._ids_at += len(ids)
        self._names_at += len(names)
        self._rows_at += len(rows)


def bucket_of(keys: NDArray[np.uint64], buckets: int) -> NDArray[np.int64]:
    """The bucket of each key: the range of keys is cut into parts of nearly equal size.

    Args:
        keys: The keys, shape ``(documents,)``.
        buckets: The number of buckets, below 2^32.

    Example:
        >>> bucket_of(np.array([0, 2**63 - 1, 2**63, 2**64 - 1], np.uint64), 2).tolist()
        [0, 0, 1, 1]
    """
    # key * buckets >> 64 in halves of 32 bits, so that no sum exceeds 64 bits.
    many, half = np.uint64(buckets), np.uint64(32)
    low = (keys & np.uint64(0xFFFF_FFFF)) * many >> half
    return ((keys >> half) * many + low >> half).astype(np.int64)


def dtype_of(plan: Plan) -> np.dtype[Any]:
    """The dtype of ids in the plan."""
    return np.dtype(cast("ShardOptions", plan.options).dtype).newbyteorder("<")


def beside(path: Path, suffix: str) -> Path:
    """One of the files whose names begin with this path."""
    return path.with_name(path.name + suffix)


def _put(file: BinaryIO, data: NDArray[Any]) -> None:
    file.write(np.ascontiguousarray(data).view(np.uint8).data)
