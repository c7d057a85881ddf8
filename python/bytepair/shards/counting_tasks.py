"""Documents -> tables of counts, and tables -> their sum: the stages of a run that counts.

Positions: each table begins at position 0, and its entry in the ledger says where it ends. Adding tables puts them one
behind another, so that the sum of all has the positions that one count of all sources has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from bytepair._core import PieceCounter
from bytepair.errors import CorpusError
from bytepair.shards import ledger
from bytepair.shards.plans import WORK
from bytepair.sources import inputs
from bytepair.sources.digest import SourceDigest
from bytepair.training import tables
from bytepair.training.counting import count_input, groups_of
from bytepair.training.counts import Counts, Stages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bytepair.shards.plans import CountOptions, Plan, TaskName
    from bytepair.shards.tasks import Work

TABLE = "counts.parquet"
"""The name of the table that a run leaves."""

AT_ONCE = 8
"""The number of tables that a task adds up."""

_BATCH_BYTES = 4 << 20
_MOST = 1 << 48  # positions, as the core keeps them


def reductions(tasks: int) -> Iterator[list[tuple[int, ...]]]:
    """The stages that add up the tables of `tasks` tasks: for each task of a stage the numbers of the tables it reads.

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
        tell: Gets the bytes read so far.

    Returns:
        The facts of its entry in the ledger.

    Raises:
        TrainingError, EncodeError, PatternError: As `Counts.of`, of the first document at fault.
        ArtifactError: An input cannot be read, or has changed.
    """
    plan = work.plan
    options = cast("CountOptions", plan.options)
    counted = counter(options)
    digest = SourceDigest() if options.digest else None
    groups = {group: number for number, group in enumerate(groups_of(plan.inputs))}
    passed = 0
    for portion in plan.stage(task[0]).tasks[task[1]]:
        input = plan.inputs[portion.input]
        how = {"group": groups[input.group], "errors": options.errors, "threads": 1}
        bounds = {"start": portion.start, "end": portion.end}

        def tell_more(here: int, before: int = passed) -> None:
            tell(before + here, 0, 0)

        inputs.check(input)
        passed += count_input(counted, input, plan.reading, how, tell_more, batch_bytes=_BATCH_BYTES, **bounds)
        if digest is not None and portion.start == 0:
            digest.add_file(input.address)
        inputs.check(input)
    end = counted.end
    _counts(plan, counted, digest, end).write(folder / _name(plan, task))
    return {"read": passed, "end": end, "sources": digest.hex() if digest else None}


def reduce(work: Work, task: TaskName, folder: Path, tell: Callable[[int, int, int], None]) -> dict[str, Any]:
    """Adds up some tables of the stage before.

    Args:
        work: The run.
        task: The task.
        folder: Where the sum goes.
        tell: Gets the bytes of tables read so far.

    Returns:
        The facts of its entry in the ledger.

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


def counter(options: CountOptions) -> PieceCounter:
    """A counter with these options."""
    normalizers, added = list(options.normalizers), list(options.special_tokens)
    return PieceCounter(options.split, added, normalizers=normalizers, memory=options.memory)


def _stages(options: CountOptions) -> Stages:
    return Stages(options.split, options.normalizers, options.special_tokens)


def _counts(plan: Plan, counted: PieceCounter, digest: SourceDigest | None, end: int) -> Counts:
    options = cast("CountOptions", plan.options)
    return Counts(_stages(options), groups_of(plan.inputs), 1, digest, end, counted.finish(threads=1), options.memory)


def _name(plan: Plan, task: TaskName) -> str:
    return TABLE if task[0] == plan.stages[-1].name else f"{plan.stem(*task)}.parquet"
