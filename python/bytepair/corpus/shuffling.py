"""Documents in the order of a draw, all over the corpus: what the first stage leaves for it, and the stage itself.

Each document has a key of 64 bits, drawn from the seed, its input and its position. The range of keys is cut into as
many buckets as the stage has tasks. The first stage groups its documents by bucket, a *run* of bounded size at a time;
a task of this stage reads its bucket from all runs, and writes it in the order of keys. So all documents are in one
order, whoever did which task, and two documents that were neighbours are anywhere.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bytepair.corpus import ledger, plans, ragged
from bytepair.corpus.draws import Draw
from bytepair.corpus.outputs import TRAIN, VALIDATION, Output
from bytepair.corpus.parts import ArrowTexts
from bytepair.corpus.sinks import Encoded
from bytepair.corpus.sinks.row_groups import offsets_of
from bytepair.corpus.sinks.shard import narrowed
from bytepair.errors import ArtifactError, IntegrityError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import BinaryIO

    from numpy.typing import NDArray
    from typing_extensions import Self

    from bytepair.corpus.plans import Plan, ShardOptions, TaskName
    from bytepair.corpus.tasks import Work

_ROW = np.dtype(
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
"""A document of a run: where its ids and its name begin in the files beside, and how many they are."""

_IDS, _ROWS, _NAMES, _BOUNDS = ".ids", ".rows", ".names", ".bounds"

_HELD = -1
"""Where the ids of a document begin that are not in the file yet."""

_HELD_BYTES = 64 << 20
_HELD_DOCUMENTS = 1 << 19
"""A run is written when either is reached: ids and names, and documents."""

_BATCH_BYTES = 16 << 20
_BATCH_DOCUMENTS = 1 << 14
"""What a task reads and writes at a time."""

_GAP = 1 << 10
"""Bytes that are rather read and thrown away than passed over by another read."""


class Spool:
    """What the first stage writes for one task and split, as a context; it has the methods of `Output`.

    Memory is at most twice 64 MB and 512K documents, and a batch. Ids of long documents go to the file at once.

    Args:
        folder: Where the files go: ``STEM.ids`` (in the plan's dtype), ``.rows``, ``.names``, and ``.bounds``, which
            says for each bucket where it begins in each run.
        split: The split.
        number: The number of the task.
        plan: The plan.
    """

    def __init__(self, folder: Path, split: str, number: int, plan: Plan) -> None:
        self._path = folder / plan.stem(split, number)
        self._dtype = _dtype(plan)
        self._draw = Draw(cast("ShardOptions", plan.options).seed, "shuffle", [input.name for input in plan.inputs])
        self._buckets = len(plan.stage("shuffle").tasks)
        self._files: dict[str, BinaryIO] = {}
        self._begins: list[NDArray[np.int64]] = []
        self._ids_at = self._names_at = self._rows_at = self._long = 0
        self._forget()
        try:
            for suffix in (_IDS, _ROWS, _NAMES):
                self._files[suffix] = _beside(self._path, suffix).open("wb")
        except BaseException:
            self._abort()
            raise

    def write(self, documents: Encoded) -> None:
        """Keeps whole documents; writes a run when there are enough."""
        names = documents.names
        rows = np.zeros(len(documents), _ROW)
        rows["key"] = self._draw(documents.inputs, documents.positions)
        rows["position"] = documents.positions
        rows["input"] = documents.inputs
        rows["tokens"] = documents.lengths
        rows["start"] = _HELD
        if names is not None:
            rows["name_bytes"] = np.diff(names.offsets)
            self._names.append(names.data[names.offsets[0] : names.offsets[-1]].tobytes())
        # A copy: the batch itself would keep 32 bits for each id, and what else it was made with.
        self._ids.append(narrowed(documents.ids, self._dtype).copy())
        self._rows.append(rows)
        self._held_bytes += self._ids[-1].nbytes + (len(self._names[-1]) if names is not None else 0)
        self._held_documents += len(rows)
        if self._held_bytes >= _HELD_BYTES or self._held_documents >= _HELD_DOCUMENTS:
            self._flush()

    def begin(self) -> None:
        """Begins a document that comes part by part."""
        self._long = 0

    def extend(self, ids: NDArray[np.uint32]) -> None:
        """Goes on with it: its ids come before those of the run that is being gathered."""
        _put(self._files[_IDS], narrowed(ids, self._dtype))
        self._long += len(ids)

    def end(self, input: int, position: int, name: bytes) -> None:
        """Ends it."""
        place = np.array([input], np.int32), np.array([position], np.int64)
        key = self._draw(*place)[0]
        self._rows.append(np.array([(key, position, self._ids_at, self._long, 0, len(name), input)], _ROW))
        self._names.append(name)
        self._ids_at += self._long
        self._held_bytes += len(name)
        self._held_documents += 1

    def drop(self) -> None:
        """Leaves it out, as if it had never begun."""
        file = self._files[_IDS]
        file.seek(self._ids_at * self._dtype.itemsize)
        file.truncate()

    def close(self) -> None:
        """Completes the files."""
        self._flush()
        # Bucket after bucket, so that what a task needs of all runs is one read.
        begins = np.array(self._begins, np.int64).reshape(-1, self._buckets + 1).T
        _beside(self._path, _BOUNDS).write_bytes(np.ascontiguousarray(begins, "<i8").tobytes())
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
            with suppress(OSError):  # of what is given up, or closed already
                file.close()

    def _forget(self) -> None:
        self._ids: list[NDArray[Any]] = []
        self._rows: list[NDArray[Any]] = []
        self._names: list[bytes] = []
        self._held_bytes = self._held_documents = 0

    def _flush(self) -> None:
        """Writes what is held as a run."""
        if not self._rows:
            return
        rows = np.concatenate(self._rows)
        ids = np.concatenate([np.empty(0, self._dtype), *self._ids])
        names = np.frombuffer(b"".join(self._names), np.uint8)
        self._forget()
        bucket = bucket_of(rows["key"], self._buckets)
        order = np.argsort(bucket, kind="stable")
        # A long document has its ids already.
        held = rows["start"] == _HELD
        lengths = np.where(held, rows["tokens"], 0)
        sorted_rows = rows[order]
        starts = self._ids_at + offsets_of(lengths[order])[:-1]
        sorted_rows["start"] = np.where(held[order], starts, sorted_rows["start"])
        sorted_rows["name_start"] = self._names_at + offsets_of(sorted_rows["name_bytes"])[:-1]
        for part in ragged.taken(ids, offsets_of(lengths)[:-1][order], lengths[order]):
            _put(self._files[_IDS], part)
        for part in ragged.taken(names, offsets_of(rows["name_bytes"])[:-1][order], sorted_rows["name_bytes"]):
            _put(self._files[_NAMES], part)
        _put(self._files[_ROWS], sorted_rows)
        self._begins.append(self._rows_at + np.searchsorted(bucket[order], np.arange(self._buckets + 1)))
        self._ids_at += len(ids)
        self._names_at += len(names)
        self._rows_at += len(rows)


@dataclass(frozen=True, slots=True)
class _Bucket:
    """The documents of a bucket and split, in the order of their keys.

    Attributes:
        rows: What the runs say of them.
        files: In which of `paths` each one is.
        paths: The files, without what their names end in.
    """

    rows: NDArray[Any]
    files: NDArray[np.int64]
    paths: list[Path]


def shuffle(work: Work, task: TaskName, folder: Path, tell: Callable[[int, int, int], None]) -> dict[str, Any]:
    """Writes the documents of a bucket in the order of their keys.

    Args:
        work: The run.
        task: The task, whose number is that of the bucket.
        folder: Where its shards go.
        tell: Is told the bytes of ids that were read, and the documents and tokens so far.

    Returns:
        What the ledger says of it.

    Raises:
        CorpusError: The stage before is not done.
        IntegrityError: What it left is not whole.
        OSError: A file cannot be read or written.

    Complexity:
        Each of its documents is read once, about in the order in which they lie, 16 MB of ids at a time. Memory is some
        of these, and 64 bytes for each document of the bucket. A longer document is read and written in parts.
    """
    read = documents = tokens = 0
    splits = {}
    dtype = _dtype(work.plan)
    tasks = ledger.tasks_by_split(work.folder, work.plan, "encode")
    for split in (TRAIN, VALIDATION):
        bucket = _bucket(work, split, task[1], tasks.get(split, []))
        if not len(bucket.rows):
            continue
        with Output(folder, split, task[1], work.plan) as output:
            for start, end in _batches(bucket.rows["tokens"], dtype.itemsize):
                count = int(bucket.rows["tokens"][start:end].sum())
                _copy(bucket, start, end, output, dtype)
                documents += end - start
                tokens += count
                read += count * dtype.itemsize
                tell(read, documents, tokens)
            output.close()
        splits[split] = {"documents": len(bucket.rows), "tokens": int(bucket.rows["tokens"].sum())}
    return {"read": read, "documents": documents, "tokens": tokens, "splits": splits}


def bucket_of(keys: NDArray[np.uint64], buckets: int) -> NDArray[np.int64]:
    """The bucket of each key: the range of keys is cut into this many parts that are as equal as can be.

    Args:
        keys: The keys, shape ``(documents,)``.
        buckets: How many there are, below 2^32.

    Example:
        >>> bucket_of(np.array([0, 2**63 - 1, 2**63, 2**64 - 1], np.uint64), 2).tolist()
        [0, 0, 1, 1]
    """
    # key * buckets >> 64 in halves of 32 bits, of which no sum is over 64 bits.
    many, half = np.uint64(buckets), np.uint64(32)
    low = (keys & np.uint64(0xFFFF_FFFF)) * many >> half
    return ((keys >> half) * many + low >> half).astype(np.int64)


def _bucket(work: Work, split: str, number: int, tasks: list[int]) -> _Bucket:
    """Finds the documents of a bucket in all runs of these tasks."""
    paths: list[Path] = []
    rows: list[NDArray[Any]] = []
    files: list[NDArray[np.int64]] = []
    buckets = len(work.plan.stage("shuffle").tasks)
    for task in tasks:
        path = work.folder / plans.WORK / "encode" / work.plan.stem(split, task)
        with _opened(path, _BOUNDS) as file:
            runs = os.fstat(file.fileno()).st_size // (8 * (buckets + 1))
            begins, ends = np.frombuffer(_read(file, 8 * runs * number, 16 * runs), "<i8").reshape(2, -1)
        with _opened(path, _ROWS) as file:
            for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
                if begin < end:
                    found = _read(file, begin * _ROW.itemsize, (end - begin) * _ROW.itemsize)
                    rows.append(np.frombuffer(found, _ROW))
                    files.append(np.full(end - begin, len(paths)))
        paths.append(path)
    if not rows:
        return _Bucket(np.empty(0, _ROW), np.empty(0, np.int64), [])
    together, places = np.concatenate(rows), np.concatenate(files)
    # Documents come in the order of the plan's inputs and their positions, which decides where keys are equal.
    order = np.argsort(together["key"], kind="stable")
    return _Bucket(together[order], places[order], paths)


def _batches(tokens: NDArray[np.int64], itemsize: int) -> Iterator[tuple[int, int]]:
    """Cuts documents into batches of bounded size, or of one document."""
    ends = np.cumsum(tokens)
    start = 0
    while start < len(tokens):
        before = int(ends[start] - tokens[start])
        end = int(np.searchsorted(ends, before + _BATCH_BYTES // itemsize, "right"))
        end = max(min(end, start + _BATCH_DOCUMENTS), start + 1)
        yield start, end
        start = end


def _copy(bucket: _Bucket, start: int, end: int, output: Output, dtype: np.dtype[Any]) -> None:
    """Writes some documents."""
    rows, files = bucket.rows[start:end], bucket.files[start:end]
    names = None
    if rows["name_bytes"].any():
        data = _gathered(bucket.paths, _NAMES, files, rows["name_start"], rows["name_bytes"], np.dtype(np.uint8))
        names = ArrowTexts(data, offsets_of(rows["name_bytes"]))
    if len(rows) == 1 and int(rows["tokens"][0]) * dtype.itemsize > _BATCH_BYTES:
        row = rows[0]
        output.begin()
        with _opened(bucket.paths[int(files[0])], _IDS) as file:
            at, stop = int(row["start"]) * dtype.itemsize, int(row["start"] + row["tokens"]) * dtype.itemsize
            while at < stop:
                part = _read(file, at, min(_BATCH_BYTES, stop - at))
                output.extend(np.frombuffer(part, dtype).astype(np.uint32))
                at += len(part)
        output.end(int(row["input"]), int(row["position"]), names.to_list()[0] if names else b"")
        return
    ids = _gathered(bucket.paths, _IDS, files, rows["start"], rows["tokens"], dtype)
    inputs, positions = rows["input"].astype(np.int32), rows["position"].astype(np.int64)
    output.write(Encoded(ids.astype(np.uint32), offsets_of(rows["tokens"]), inputs, positions, names))


def _gathered(  # noqa: PLR0917 (what a row of a file is)
    paths: list[Path],
    suffix: str,
    files: NDArray[np.int64],
    starts: NDArray[np.int64],
    lengths: NDArray[np.integer[Any]],
    dtype: np.dtype[Any],
) -> NDArray[Any]:
    """Rows of several files, one after another in the order that is asked for; read in the order in which they lie."""
    lengths = lengths.astype(np.int64)
    order = np.lexsort((lengths, starts, files))
    file, begin, end = files[order], starts[order], (starts + lengths)[order]
    apart = (file[1:] != file[:-1]) | (begin[1:] - end[:-1] > _GAP // dtype.itemsize)
    firsts = np.concatenate([[0], np.flatnonzero(apart) + 1])
    lasts = np.concatenate([firsts[1:], [len(order)]]) - 1
    sizes = end[lasts] - begin[firsts]
    found = np.empty(int(sizes.sum()), dtype)
    at = offsets_of(sizes)
    for number in np.unique(file).tolist():
        with _opened(paths[number], suffix) as handle:
            for group in np.flatnonzero(file[firsts] == number).tolist():
                part = _read(handle, int(begin[firsts[group]]) * dtype.itemsize, int(sizes[group]) * dtype.itemsize)
                found[at[group] : at[group + 1]] = np.frombuffer(part, dtype)
    # Where each row begins in what was found.
    places = np.empty(len(order), np.int64)
    places[order] = begin + np.repeat(at[:-1] - begin[firsts], lasts - firsts + 1)
    return np.concatenate([np.empty(0, dtype), *ragged.taken(found, places, lengths)])


def _dtype(plan: Plan) -> np.dtype[Any]:
    return np.dtype(cast("ShardOptions", plan.options).dtype).newbyteorder("<")


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _put(file: BinaryIO, data: NDArray[Any]) -> None:
    file.write(np.ascontiguousarray(data).view(np.uint8).data)


@contextmanager
def _opened(path: Path, suffix: str) -> Iterator[BinaryIO]:
    """A file of the stage before, to read from anywhere."""
    place = _beside(path, suffix)
    try:
        file = place.open("rb", buffering=0)
    except OSError as error:
        raise _unreadable(place, error) from error
    with file:
        yield file


def _read(file: BinaryIO, start: int, size: int) -> bytes:
    try:
        file.seek(start)
        # The system reads no more than 2 GB at once.
        parts = [file.read(size)]
        while (left := size - sum(map(len, parts))) and parts[-1]:
            parts.append(file.read(left))
    except OSError as error:
        raise _unreadable(Path(file.name), error) from error
    if left:
        raise IntegrityError(
            "the file is cut off: it is not what was written",
            file=file.name,
            byte=start,
            remedy="write into a new folder",
        )
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _unreadable(place: Path, error: OSError) -> ArtifactError:
    return ArtifactError(
        f"cannot read what the stage before left: {error.strerror}", file=str(place), remedy="go on with --resume"
    )
