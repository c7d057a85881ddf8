"""Tasks on a cluster with Spark; encoding of its data frames, and counts of their texts.

The three are in one file because they share the handling of a session.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair._core import PieceCounter
from bytepair.errors import BytepairError, CorpusError
from bytepair.model.split_patterns import split_pattern
from bytepair.shards.engines import watched
from bytepair.shards.engines.arrow_ids import ArrowEncoder, texts_of
from bytepair.training.counts import Counts, Stages
from bytepair.training.memory import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bytepair.call.options import Added, Special
    from bytepair.shards.engines.arrow_ids import Frame
    from bytepair.shards.plans import TaskName
    from bytepair.shards.tasks import Told
    from bytepair.tokenizer import Tokenizer

_ATTEMPTS = 3
_ROWS = 1 << 14
_COUNTED = "piece binary, mark int, count long, part int, first long, error string"
"""The rows of a counted partition: pieces; and a row without one, with the partition's length or an error."""


class Spark:
    """Runs tasks on Spark. The folder of the run is at the same path on all nodes, and bytepair is installed there.

    A task whose worker dies is retried as Spark is configured (``spark.task.maxFailures``), and then by up to two more
    jobs.

    Args:
        workers: The number of tasks that run at a time; None for the number of cores in the cluster.
        session: The session; None for the active one, else a new one as Spark is configured.
        poll: Seconds between looks at the ledger.

    Example:
        >>> engine = Spark(workers=16)
    """

    def __init__(self, workers: int | None = None, *, session: Any = None, poll: float = 0.5) -> None:
        self._workers = workers
        self._session = session
        self._poll = poll

    def check(self) -> None:
        """See `bytepair.shards.engines.Engine`.

        Raises:
            CorpusError: pyspark is not installed.
        """
        _spark()

    def run(self, folder: str, tasks: Sequence[TaskName], told: Callable[[Told], None]) -> None:
        """See `bytepair.shards.engines.Engine`.

        Raises:
            CorpusError: Spark is not installed, or does not start; or workers died repeatedly.
        """
        session = self._session or _session()
        place = str(Path(folder).absolute())

        def submit(left: Sequence[TaskName]) -> _Job:
            return _Job(session, place, left, self._workers)

        watched.have_done(place, tasks, told, submit, worker="spark", poll=self._poll, attempts=_ATTEMPTS)


class _Job:
    """Tasks submitted to Spark; see `watched.Job`."""

    def __init__(self, session: Any, folder: str, tasks: Sequence[TaskName], workers: int | None) -> None:
        tasks = tuple(tasks)
        parts = min(workers or len(tasks), len(tasks))

        def work(batches: Iterator[Any]) -> Iterator[Any]:
            for batch in batches:
                for part in batch.column(0).to_pylist():
                    with suppress(BytepairError):  # Recorded in the folder; raising would make Spark retry.
                        for stage, number in tasks[part::parts]:
                            watched.run(folder, stage, number)
                yield batch

        # A row for each worker, each in its own partition.
        rows = session.range(0, parts, 1, parts).mapInArrow(work, "id long")
        self._tag = f"bytepair-{id(self)}"
        self._session = session
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._collect, args=(rows,), daemon=True)
        self._thread.start()

    def _collect(self, rows: Any) -> None:
        try:
            self._session.addTag(self._tag)
            rows.collect()
        except Exception as error:  # Spark raises many types, with Java stack traces in them
            self._error = error

    def ended(self, seconds: float) -> bool:
        """See `watched.Job`."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """See `watched.Job`."""
        while self._thread.is_alive():
            self._session.interruptTag(self._tag)
            self._thread.join(0.2)

    def why(self) -> str:
        """See `watched.Job`."""
        # The last line from Python is the error; Java stack traces follow.
        lines = [line for line in str(self._error or "").splitlines() if re.match(r"\S+: ", line)]
        return lines[-1] if lines else str(self._error or "Spark reports no reason").partition("\n")[0]


def encoder(
    tokenizer: str | Path | Tokenizer,
    field: str = "text",
    *,
    output: str = "input_ids",
    bos: Frame = None,
    eos: Frame = None,
    special: Special = "raise",
    added: Added = "match",
    errors: str = "strict",
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Encodes a column of a data frame: a function for ``mapInArrow``; `encoded_schema` returns its schema.

    The tokenizer is loaded once for each partition. A text that cannot be encoded ends the job with an error of Spark
    that includes ours.

    Args:
        tokenizer: Its path on all nodes, or the tokenizer itself, which is pickled with the function.
        field: The column that holds the text.
        output: The column for the ids, as an array of int; a column of that name is replaced.
        bos: Special tokens before each text, by their texts or ids.
        eos: Special tokens after each text.
        special: As for `Tokenizer.encode`.
        added: As for `Tokenizer.encode`.
        errors: As for `Tokenizer.encode`.

    Example:
        >>> import bytepair as bp, pyarrow as pa
        >>> encode = encoder(bp.train({"low": 5}, vocab_size=258))
        >>> [batch] = encode(iter([pa.RecordBatch.from_pydict({"text": ["low", "lower"]})]))
        >>> batch.column("input_ids").to_pylist()
        [[257], [257, 101, 114]]

        With Spark: ``df.mapInArrow(encoder("my-tokenizer"), encoded_schema(df))``.
    """
    options: dict[str, Any] = {"bos": bos, "eos": eos, "special": special, "added": added, "errors": errors}

    def encode(batches: Iterator[Any]) -> Iterator[Any]:
        return map(ArrowEncoder(tokenizer, field, output, **options).batch, batches)

    return encode


def encoded_schema(frame: Any, output: str = "input_ids") -> Any:
    """The schema of a data frame of Spark with a column of ids.

    Args:
        frame: The data frame that is encoded.
        output: As for `encoder`.
    """
    _spark()
    from pyspark.sql import types

    ids = types.StructField(output, types.ArrayType(types.IntegerType(), containsNull=False), nullable=False)
    fields = list(frame.schema.fields)
    names = [field.name for field in fields]
    if output in names:
        fields[names.index(output)] = ids
    else:
        fields.append(ids)
    return types.StructType(fields)


def counts(
    frame: Any,
    field: str = "text",
    *,
    split: str = "o200k",
    normalizers: Sequence[str] = (),
    special_tokens: Sequence[str] = (),
    errors: str = "strict",
    memory: str | int | None = None,
) -> Counts:
    """Counts the pieces of the texts in a column of a data frame of Spark.

    Each partition is counted by itself, Spark adds up the pieces, and the sums come to this process. The counts equal
    those of `Counts.of` for the same texts, in the order of partitions and of their rows; so do first positions if
    Spark returns the rows in the same order again.

    Args:
        frame: The data frame.
        field: The column that holds the text; nulls raise.
        split: As for `bytepair.train`.
        normalizers: As for `bytepair.train`.
        special_tokens: Cut out of the texts, and never counted.
        errors: As for `bytepair.train`.
        memory: The memory limit of a table in each worker and in this process, such as ``"1GB"``; the rest goes to
            temporary files. None for no limit. The result of Spark is held in this process as well.

    Returns:
        The table, without a digest.

    Raises:
        EncodeError: A text is not Unicode; ``row`` is its row in the batch.
        CorpusError: There is no such column, it holds no strings, or a value is null; or Spark is not installed.
        PatternError: `split` does not compile.
        TrainingError: Counts overflow.
    """
    functions = _spark().sql.functions
    stages = Stages(split_pattern(split), tuple(normalizers), tuple(special_tokens))
    limit = None if memory is None else parse_bytes(memory)
    options = {"errors": errors, "threads": 1, "group": 0, "tell": _heard}
    # A wrong pattern is reported here.
    PieceCounter(stages.split, list(special_tokens), normalizers=list(normalizers))

    def count(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        # Spark counts from 0.
        part = TaskContext.get().partitionId()
        counter = PieceCounter(stages.split, list(special_tokens), normalizers=list(normalizers), memory=limit)
        try:
            for batch in batches:
                texts = texts_of(batch, field)
                counter.count_buffer(texts.data, texts.offsets, options)
            yield from _rows(counter, part)
        except BytepairError as error:
            yield _row(part, 0, watched.packed(error))

    pieces = frame.select(field).mapInArrow(count, _COUNTED).groupBy("piece", "mark")
    first = functions.min(functions.struct("part", "first"))
    table = pieces.agg(
        functions.sum("count").alias("count"), first.alias("first"), functions.min("error").alias("error")
    ).toArrow()
    return _added_up(table, stages, limit)


def _heard(_: int) -> None:
    """Ignores the progress of a partition: it cannot be reported from here."""


def _rows(counter: PieceCounter, part: int) -> Iterator[Any]:
    import pyarrow as pa

    end = counter.end
    found: list[Any] = []

    def take(data: Any, offsets: Any, groups: Any, counts: Any, firsts: Any) -> None:
        size = len(groups)
        pieces = pa.Array.from_buffers(pa.large_binary(), size, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
        columns = {
            "piece": pieces.cast(pa.binary()),
            "mark": pa.array(np.full(size, -1, np.int32)),
            "count": pa.array(counts.astype(np.int64)),
            "part": pa.array(np.full(size, part, np.int32)),
            "first": pa.array(firsts.astype(np.int64)),
            "error": pa.nulls(size, pa.string()),
        }
        found.append(pa.RecordBatch.from_pydict(columns))

    # The core passes its rows to a callback, and Spark takes them from an iterator.
    counter.finish(threads=1).columns(take, _ROWS)
    yield from found
    yield _row(part, end, None)


def _row(part: int, end: int, error: str | None) -> Any:
    import pyarrow as pa

    kinds = {"piece": pa.binary(), "mark": pa.int32(), "count": pa.int64(), "part": pa.int32(), "first": pa.int64()}
    schema = pa.schema([*kinds.items(), ("error", pa.string())])
    values = [None, part, end, part, 0, error]
    return pa.RecordBatch.from_arrays(
        [pa.array([value], kind) for value, kind in zip(values, schema.types, strict=True)], schema=schema
    )


def _added_up(table: Any, stages: Stages, limit: int | None) -> Counts:
    """The table from the result of Spark: pieces, and the length of each partition."""
    marks = table.column("mark").to_numpy()
    whole = table.filter(marks < 0)
    ends = {row["mark"]: row["count"] for row in table.filter(marks >= 0).select(["mark", "count"]).to_pylist()}
    for error in table.column("error").drop_null().to_pylist():
        raise watched.unpacked(error)
    starts = dict(zip(sorted(ends), accumulate((ends[part] for part in sorted(ends)), initial=0), strict=False))
    counter = PieceCounter("", [], memory=limit)
    for batch in whole.to_batches():
        texts = texts_of(batch, "piece")
        first = batch.column("first")
        parts = first.field("part").to_numpy()
        before = np.array([starts[part] for part in parts.tolist()], np.uint64)
        counter.add_columns(
            texts.data,
            texts.offsets,
            np.zeros(len(batch), np.uint16),
            batch.column("count").to_numpy().astype(np.uint64),
            first.field("first").to_numpy().astype(np.uint64) + before,
        )
    return Counts(stages, ("",), 1, None, sum(ends.values()), counter.finish(), limit)


def _session() -> Any:
    sql = _spark().sql
    if active := sql.SparkSession.getActiveSession():
        return active
    # Otherwise workers on this machine use whatever `python3` is on the PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        return sql.SparkSession.builder.appName("bytepair").getOrCreate()
    except Exception as error:
        raise CorpusError(
            f"Spark does not start: {str(error).strip().splitlines()[0]}",
            remedy="it needs Java 17 or later: check `java -version` and JAVA_HOME",
        ) from error


def _spark() -> Any:
    try:
        import pyspark.sql.functions
    except ImportError as error:
        raise CorpusError(
            "the engine needs the package pyspark",
            remedy="pip install 'pyspark>=4.0,<5' 'pyarrow>=18' 'fsspec>=2024.2'",
        ) from error
    return pyspark
