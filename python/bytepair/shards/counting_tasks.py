"""Documents -> tables of counts, and tables -> their sum: the stages of a run that counts.

Positions: each table begins at position 0, and its entry in the ledger says where it ends. Whoever adds tables puts
them one behind another, so that the sum of all has the very positions that one count of all sources gives. For that,
lines of JSON and whole files go to the core as bytes, just as files go there when they are counted in one place.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, cast

from bytepair._core import PieceCounter
from bytepair.errors import BytepairError, CorpusError, TrainingError
from bytepair.shards import ledger
from bytepair.shards.plans import WORK
from bytepair.sources import inputs, readers
from bytepair.sources.compressed import ByteReader
from bytepair.sources.digest import SourceDigest
from bytepair.sources.documents import Documents, LongDocument
from bytepair.training import tables
from bytepair.training.counting import place
from bytepair.training.counts import Counts, Stages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bytepair.shards.plans import CountOptions, Plan, Portion, TaskName
    from bytepair.shards.tasks import Work
    from bytepair.sources.inputs import Input

TABLE = "counts.parquet"
"""The name of the table that a run leaves."""

AT_ONCE = 8
"""How many tables a task adds up."""

_BATCH_BYTES = 4 << 20
_BLOCK = 1 << 20
_MOST = 1 << 48  # positions, as the core keeps them
_BOM = "\N{BYTE ORDER MARK}".encode()


def reductions(tasks: int) -> Iterator[list[tuple[int, ...]]]:
    """The stages that add up the tables of so many tasks: of each the tables that its tasks read, by number.

    There is at least one, whose only task leaves the table of all. Tables stay in order.

    Example:
        >>> [len(stage) for stage in reductions(100)], list(reductions(3))
        ([13, 2, 1], [[(0, 1, 2)]])
    """
    while True:
        stage = [tuple(range(first, min(first + AT_ONCE, tasks))) for first in range(0, tasks, AT_ONCE)]
        yield stage
        tasks = len(stage)
        if tasks <= 1:
            return


def count(work: Work, task: TaskName, folder: Path, tell: Callable[[int, int, int], None]) -> dict[str, Any]:
    """Counts the pieces of the documents in some portions of inputs.

    Args:
        work: The run.
        task: The task.
        folder: Where its table goes.
        tell: Is told the bytes that were read.

    Returns:
        What the ledger says of it.

    Raises:
        TrainingError, EncodeError, PatternError: As `Counts.of`, of the first document at fault.
        ArtifactError: An input cannot be read, or has changed.
    """
    plan = work.plan
    options = cast("CountOptions", plan.options)
    counting = _Counting(plan, options, tell)
    for portion in plan.stage(task[0]).tasks[task[1]]:
        input = plan.inputs[portion.input]
        inputs.check(input)
        counting.portion(portion, input)
        inputs.check(input)
    _counts(plan, counting.counter, counting.digest, counting.end).write(folder / _name(plan, task))
    sources = counting.digest.hex() if counting.digest else None
    return {"read": counting.passed, "end": counting.end, "sources": sources}


def reduce(work: Work, task: TaskName, folder: Path, tell: Callable[[int, int, int], None]) -> dict[str, Any]:
    """Adds up some tables of the stage before.

    Args:
        work: The run.
        task: The task.
        folder: Where the sum goes.
        tell: Is told the bytes of the tables that were read.

    Returns:
        What the ledger says of it.

    Raises:
        CorpusError: A table is not there yet.
        TrainingError: Counts overflow 64 bits, or workers have different versions of Unicode.
        FormatError, ArtifactError: A table is damaged, or cannot be read.
    """
    plan = work.plan
    options = cast("CountOptions", plan.options)
    names = [stage.name for stage in plan.stages]
    before = names[names.index(task[0]) - 1]
    total = PieceCounter("", [], memory=options.memory)
    digest = SourceDigest() if options.digest else None
    end = passed = 0
    for number in plan.stage(task[0]).tasks[task[1]]:
        entry = ledger.done(work.folder, plan, (before, number))
        if end + entry["end"] >= _MOST:
            raise CorpusError(
                "the corpus has 2^48 bytes of text or more, which positions cannot tell apart",
                remedy="count it in several runs, and add up their tables",
            )
        (file,) = entry["files"]
        facts = tables.read(work.folder / WORK / before / _name(plan, (before, number)), total, shift=end)
        found = (tuple(facts["normalizers"]), tuple(facts["special_tokens"]))
        _stages(options).check_same(Stages(facts["split"], *found, facts["unicode"]))
        end += entry["end"]
        passed += file["size"]
        if digest is not None:
            digest += SourceDigest.from_hex(entry["sources"])
        tell(passed, 0, 0)
    _counts(plan, total, digest, end).write(folder / _name(plan, task))
    return {"read": passed, "end": end, "sources": digest.hex() if digest else None}


class _Counting:
    """A task under way.

    Attributes:
        counter: What has been counted.
        digest: Of the inputs that begin in this task; None if nobody asked.
        end: The position after all that was counted.
        passed: How many bytes of inputs have been read for it.
    """

    def __init__(self, plan: Plan, options: CountOptions, tell: Callable[[int, int, int], None]) -> None:
        self.counter = counter(options)
        self.digest = SourceDigest() if options.digest else None
        self.end = self.passed = 0
        self._reading = plan.reading
        self._options: dict[str, Any] = {"errors": options.errors, "threads": 1}
        self._groups = {group: number for number, group in enumerate(groups(plan))}
        self._tell = tell

    def portion(self, portion: Portion, input: Input) -> None:
        """Counts the documents of a portion."""
        self.counter.start_at(self.end)
        self._options["group"] = self._groups[input.group]
        if input.content == "jsonl":
            self._lines(portion, input)
        elif input.content == "text" and self._reading.delimiter is None:
            self._text(input)
        else:
            self._documents(portion, input)
        self.end = self.counter.end
        if input.content == "jsonl" and portion.end is not None:
            # The core ends a text here, but the file goes on in the next portion.
            self.end -= 1
        if self.digest is not None and portion.start == 0:
            self.digest.add(_hash(input))

    def _text(self, input: Input) -> None:
        with ByteReader(input.address, input.compression) as reader:
            try:
                self.counter.count_chunks(self._blocks(reader, reader.read(_BLOCK)), self._telling())
            except BytepairError as error:
                place(error, input.address, input.compression, is_lines=False)
                raise
        self.passed += input.size

    def _lines(self, portion: Portion, input: Input) -> None:
        # The line at the start is one if it follows a line end.
        at = max(portion.start - 1, 0)
        with ByteReader(input.address, input.compression, at) as reader:
            data = b""
            if portion.start:
                while (found := data.find(b"\n")) < 0 and (block := reader.read(_BLOCK)):
                    at, data = at + len(data), block
                at, data = at + found + 1, data[found + 1 :] if found >= 0 else b""
            else:
                data = reader.read(_BLOCK)
            added = 0
            if portion.start and data.startswith(_BOM):
                # The core passes over a BOM in the first line that it gets, which is none of the file.
                data, added = b"\n" + data, 1
            left = None if portion.end is None else portion.end - at + added
            field = "text" if self._reading.field is None else self._reading.field
            try:
                self.counter.count_chunks(self._blocks(reader, data, left), self._telling(), json_field=field)
            except BytepairError as error:
                place(error, input.address, input.compression, is_lines=True, start=at, added=added)
                raise
        self.passed += (input.size if portion.end is None else portion.end) - portion.start

    def _blocks(self, reader: ByteReader, data: bytes, left: int | None = None) -> Iterator[bytes]:
        """`data` and what follows it, up to the end of the line in which the last of `left` bytes is; None for all."""
        first = self.passed - reader.position
        while data and (left is None or left > 0):
            if left is not None and len(data) >= left:
                last = data.find(b"\n", left - 1) + 1
                yield data[:last] if last else data
                if last:
                    return
                left = 1  # The line goes on.
            else:
                yield data
                left = None if left is None else left - len(data)
            self._tell(first + reader.position, 0, 0)
            data = reader.read(_BLOCK)

    def _documents(self, portion: Portion, input: Input) -> None:
        passed = 0
        bounds = portion.start, portion.end
        for found in readers.read(input, *bounds, self._reading, _BATCH_BYTES, errors=self._options["errors"]):
            if isinstance(found, LongDocument):
                self._long(input, found)
                passed = found.passed()
            else:
                self._batch(input, found)
                passed = found.passed
            self._tell(self.passed + passed, 0, 0)
        self.passed += passed

    def _long(self, input: Input, found: LongDocument) -> None:
        try:
            self.counter.count_chunks(found.parts, self._telling())
        except BytepairError as error:
            _place(error, input, found.position)
            raise

    def _batch(self, input: Input, found: Documents) -> None:
        fault = min(found.faults, key=lambda fault: fault.position, default=None)
        try:
            texts = found.texts
            self.counter.count_buffer(texts.data, texts.offsets, self._telling(), gap=texts.gap)
        except BytepairError as error:
            position = None if error.row is None else int(found.positions[error.row])
            if fault is None or (position is not None and position < fault.position):
                if position is not None:
                    _place(error, input, position)
                raise
        if fault is None:
            return
        if input.content in ("parquet", "arrow"):
            # A null is an error of training here, as in `train`.
            raise TrainingError(**{**fault.error.parts(), "file": input.address, "row": fault.position})
        raise fault.error

    def _telling(self) -> dict[str, Any]:
        # So that Ctrl-C, and what the run is told, are heard.
        return {**self._options, "tell": lambda _: self._tell(self.passed, 0, 0)}


def _place(error: BytepairError, input: Input, position: int) -> None:
    error.file = error.file or input.address
    if input.content == "text":
        error.row = error.character = None
        error.byte = position + (error.byte or 0)
    else:
        error.row = position


def groups(plan: Plan) -> tuple[str, ...]:
    """The groups of sources, in order; one empty name where there are none."""
    return tuple(dict.fromkeys(input.group for input in plan.inputs))


def counter(options: CountOptions) -> PieceCounter:
    """What counts with these options."""
    normalizers, added = list(options.normalizers), list(options.special_tokens)
    return PieceCounter(options.split, added, normalizers=normalizers, memory=options.memory)


def _stages(options: CountOptions) -> Stages:
    return Stages(options.split, options.normalizers, options.special_tokens)


def _counts(plan: Plan, counted: PieceCounter, digest: SourceDigest | None, end: int) -> Counts:
    options = cast("CountOptions", plan.options)
    return Counts(_stages(options), groups(plan), 1, digest, end, counted.finish(threads=1), options.memory)


def _name(plan: Plan, task: TaskName) -> str:
    return TABLE if task[0] == plan.stages[-1].name else f"{plan.stem(*task)}.parquet"


def _hash(input: Input) -> bytes:
    whole = hashlib.sha256()
    with ByteReader(input.address, None) as reader:
        while data := reader.read(_BLOCK):
            whole.update(data)
    return whole.digest()
