"""The shuffle stage: writes the documents of one bucket, from all tasks of the first stage, in random order.

`bytepair.shards.spooling` assigns documents to buckets.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.errors import ArtifactError, IntegrityError
from bytepair.shards import ledger, plans
from bytepair.shards.outputs import TRAIN, VALIDATION, Output
from bytepair.shards.sinks import Encoded
from bytepair.shards.spooling import BOUNDS, IDS, NAMES, ROW, ROWS, beside, dtype_of
from bytepair.sources import flat_rows
from bytepair.sources.flat_rows import FlatTexts, offsets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from numpy.typing import NDArray

    from bytepair.shards.plans import TaskName
    from bytepair.shards.tasks import Work

_BATCH_BYTES = 16 << 20
_BATCH_DOCUMENTS = 1 << 14
"""Bytes that a task reads and writes at a time."""

_GAP = 1 << 10
"""Gaps up to these bytes are read and discarded rather than skipped by another read."""


@dataclass(frozen=True, slots=True)
class _Bucket:
    """The documents of a bucket and split, in the order of their keys.

    Attributes:
        rows: Their rows in the runs.
        files: The index into `paths` of each document.
        paths: The files, without suffixes.
    """

    rows: NDArray[Any]
    files: NDArray[np.int64]
    paths: list[Path]


def shuffle(work: Work, task: TaskName, folder: Path, tell: Callable[[int, int, int], None]) -> dict[str, Any]:
    """Writes the documents of a bucket in the order of their keys.

    Args:
        work: The run.
        task: The task; its number is that of the bucket.
        folder: The folder for its shards.
        tell: Receives the bytes of ids read, and the documents and tokens so far.

    Returns:
        The facts of its entry in the ledger.

    Raises:
        CorpusError: The stage before is not done.
        IntegrityError: The output of that stage is not complete.
        OSError: A file cannot be read or written.

    Complexity:
        Each of its documents is read once, roughly in file order, 16 MB of ids at a time. Memory is a few such
        buffers, and 64 bytes for each document of the bucket. A longer document is read and written in parts.
    """
    read = documents = tokens = 0
    splits = {}
    dtype = dtype_of(work.plan)
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


def _bucket(work: Work, split: str, number: int, tasks: list[int]) -> _Bucket:
    """Finds the documents of a bucket in all runs of these tasks."""
    paths: list[Path] = []
    rows: list[NDArray[Any]] = []
    files: list[NDArray[np.int64]] = []
    buckets = len(work.plan.stage("shuffle").tasks)
    for task in tasks:
        path = work.folder / plans.WORK / "encode" / work.plan.stem(split, task)
        with _opened(path, BOUNDS) as file:
            runs = os.fstat(file.fileno()).st_size // (8 * (buckets + 1))
            begins, ends = np.frombuffer(_read(file, 8 * runs * number, 16 * runs), "<i8").reshape(2, -1)
        with _opened(path, ROWS) as file:
            for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
                if begin < end:
                    found = _read(file, begin * ROW.itemsize, (end - begin) * ROW.itemsize)
                    rows.append(np.frombuffer(found, ROW))
                    files.append(np.full(end - begin, len(paths)))
        paths.append(path)
    if not rows:
        return _Bucket(np.empty(0, ROW), np.empty(0, np.int64), [])
    together, places = np.concatenate(rows), np.concatenate(files)
    # Documents are in order of the plan's inputs and their positions, which decides between equal keys.
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
        data = _gathered(bucket.paths, NAMES, files, rows["name_start"], rows["name_bytes"], np.dtype(np.uint8))
        names = FlatTexts(data, offsets_of(rows["name_bytes"]))
    if len(rows) == 1 and int(rows["tokens"][0]) * dtype.itemsize > _BATCH_BYTES:
        row = rows[0]
        output.begin()
        with _opened(bucket.paths[int(files[0])], IDS) as file:
            at, stop = int(row["start"]) * dtype.itemsize, int(row["start"] + row["tokens"]) * dtype.itemsize
            while at < stop:
                part = _read(file, at, min(_BATCH_BYTES, stop - at))
                output.extend(np.frombuffer(part, dtype).astype(np.uint32))
                at += len(part)
        output.end(int(row["input"]), int(row["position"]), names.to_list()[0] if names else b"")
        return
    ids = _gathered(bucket.paths, IDS, files, rows["start"], rows["tokens"], dtype)
    inputs, positions = rows["input"].astype(np.int32), rows["position"].astype(np.int64)
    output.write(Encoded(ids.astype(np.uint32), offsets_of(rows["tokens"]), inputs, positions, names))


def _gathered(  # noqa: PLR0917 (the fields of a row)
    paths: list[Path],
    suffix: str,
    files: NDArray[np.int64],
    starts: NDArray[np.int64],
    lengths: NDArray[np.integer[Any]],
    dtype: np.dtype[Any],
) -> NDArray[Any]:
    """Rows of several files, returned in the requested order and read in file order."""
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
    # The start of each row in the bytes read.
    places = np.empty(len(order), np.int64)
    places[order] = begin + np.repeat(at[:-1] - begin[firsts], lasts - firsts + 1)
    return np.concatenate([np.empty(0, dtype), *flat_rows.taken(found, places, lengths)])


@contextmanager
def _opened(path: Path, suffix: str) -> Iterator[BinaryIO]:
    """A file of the previous stage, with random access."""
    place = beside(path, suffix)
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
            "the file is cut off",
            file=file.name,
            byte=start,
            remedy="write into a new folder",
        )
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _unreadable(place: Path, error: OSError) -> ArtifactError:
    return ArtifactError(
        f"cannot read the file of the stage before: {error.strerror}",
        file=str(place),
        remedy="go on with resume=True",
        cli_remedy="go on with --resume",
    )
