"""Runs over a corpus: begin in a folder, then complete the missing tasks, stage by stage."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from bytepair import files
from bytepair.errors import BytepairError, CorpusError
from bytepair.shards import differences, ledger, locks, plans
from bytepair.shards.plans import Plan, Stage
from bytepair.shards.watching import Watch
from bytepair.sources import readers
from bytepair.training.memory import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bytepair.progress import Report
    from bytepair.shards.engines import Engine
    from bytepair.shards.plans import TaskName
    from bytepair.sources.inputs import Input
    from bytepair.sources.source import Reading
    from bytepair.tokenizer import Tokenizer

_MARK = ".planning"
"""The marker in a folder whose plan is not written yet."""

_BEFORE_THE_PLAN = (_MARK, plans.TOKENIZER, plans.LEDGER)


def first_stage(name: str, found: Sequence[Input], reading: Reading, size: str | int | None) -> Stage:
    """Plans the stage that reads inputs.

    Args:
        name: Its name.
        found: The inputs.
        reading: The reading options.
        size: The approximate bytes per task; None to derive them from the size of all inputs.

    Raises:
        ValueError: The size is not valid.
        ArtifactError: An input cannot be read.
    """
    wanted = plans.task_size(found) if size is None else parse_bytes(size)
    cuts = (readers.portions(input, reading, wanted) for input in found)
    return Stage(name, plans.gather(found, cuts, wanted))


def begin(folder: Path, plan: Plan, tokenizer: Tokenizer | None, *, resume: bool) -> bool:
    """Writes the plan into a folder, or finds the same one there. No other process may be at work.

    Returns:
        Whether the plan, and the tokenizer with it, was written now.

    Raises:
        CorpusError: A run is there and `resume` is false, or its plan differs; or the folder has other files.
        ArtifactError: It cannot be written.
    """
    if files.exists(folder / plans.NAME):
        if not resume:
            other = f"or choose another folder{ledger.none_done(folder)}"
            raise CorpusError(
                "there is a run in this folder",
                file=str(folder),
                remedy=f"go on with resume=True, {other}",
                cli_remedy=f"go on with --resume, {other}",
            )
        differences.check_same(plans.read(folder), plan, folder, ledger.none_done(folder))
        ledger.clean(folder)
        try:
            # It stays if a run is killed just behind its plan.
            (folder / _MARK).unlink(missing_ok=True)
        except OSError as error:
            raise ledger.unwritten(folder, error) from error
        return False
    foreign = sorted(path.name for path in folder.iterdir() if path.name != locks.NAME)
    if _MARK in foreign:
        # A run was killed before its plan was written: all files are its own.
        foreign = [name for name in foreign if name not in _BEFORE_THE_PLAN and not name.startswith(files.TEMPORARY)]
    if foreign:
        raise CorpusError(
            f"the folder has other files in it, such as {foreign[0]!r}",
            file=str(folder),
            remedy="choose a new or empty folder",
        )
    try:
        (folder / _MARK).touch()
        ledger.clean(folder)
        shutil.rmtree(folder / plans.TOKENIZER, ignore_errors=True)
        if tokenizer is not None:
            tokenizer.save(folder / plans.TOKENIZER, "native")
        (folder / plans.LEDGER).mkdir(exist_ok=True)
        # Written last: a folder with a plan has everything that its tasks need.
        plans.write(folder, plan)
        (folder / _MARK).unlink()
    except OSError as error:
        raise ledger.unwritten(folder, error) from error
    return True


def carry_out(folder: Path, plan: Plan, engine: Engine, report: Report | None) -> None:
    """Completes all missing tasks.

    Raises:
        BytepairError: The error of the first task that fails.
    """
    left = _left(folder, plan)
    try:
        if any(left):
            ledger.reopen(folder, plan)
        with Watch(folder, plan, report) as watch:
            for number, (stage, tasks) in enumerate(zip(plan.stages, left, strict=True)):
                watch.begin(stage, tasks)
                if tasks and stage.name == "shuffle":
                    # Once, before each task reads it.
                    ledger.tasks_by_split(folder, plan, plan.stages[number - 1].name)
                if tasks:
                    engine.run(str(folder), tasks, watch.told)
                    _check_done(folder, plan, tasks)
                if number:
                    # The files of the previous stage are no longer needed.
                    shutil.rmtree(folder / plans.WORK / plan.stages[number - 1].name, ignore_errors=True)
    except OSError as error:
        if isinstance(error, BytepairError):
            raise
        raise ledger.unwritten(folder, error) from error


def _left(folder: Path, plan: Plan) -> list[list[TaskName]]:
    """The missing tasks of each stage."""
    is_done = []
    is_whole = []
    for stage in plan.stages:
        entries = (ledger.known(folder, plan, (stage.name, number)) for number in range(len(stage.tasks)))
        kept = [(_is_kept(folder, entry, lasting=True), _is_kept(folder, entry)) for entry in entries]
        is_done.append([lasting for lasting, _ in kept])
        is_whole.append([whole for _, whole in kept])
    left: list[list[TaskName]] = []
    for number, stage in reversed(list(enumerate(plan.stages))):
        # The intermediate files of a stage may be gone once the next stage is complete.
        flags = is_whole[number] if left and left[0] else is_done[number]
        left.insert(0, [(stage.name, task) for task, done in enumerate(flags) if not done])
    return left


def _is_kept(folder: Path, entry: dict[str, Any] | None, *, lasting: bool = False) -> bool:
    return entry is not None and ledger.is_kept(folder, entry, lasting=lasting)


def _check_done(folder: Path, plan: Plan, tasks: Sequence[TaskName]) -> None:
    missing = [task for task in tasks if ledger.entry(folder, plan, task) is None]
    if missing:
        raise CorpusError(
            f"{len(missing)} of {len(tasks)} tasks are not done, such as {missing[0][1]} of {missing[0][0]!r}",
            file=str(folder),
            remedy="go on with resume=True",
            cli_remedy="go on with --resume",
        )
