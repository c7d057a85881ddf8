"""One task of a run: the entry point of workers. It needs only the folder of the run."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair.errors import CorpusError, IntegrityError
from bytepair.shards import ledger, packages, plans, sealed
from bytepair.shards.commit import Commit
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bytepair.shards.plans import Plan, TaskName

_STAGES = {
    "encode": "encoding_task",
    "shuffle": "shuffling",
    "join": "joining",
    "count": "counting_tasks",
    "reduce": "counting_tasks",
}
"""The module with the function of each stage; the function has the name of the stage."""


@dataclass(frozen=True, slots=True)
class Told:
    """Progress of a task.

    Attributes:
        worker: The name of its worker.
        task: The stage and number of the task.
        bytes: The bytes of its inputs read so far, as stored.
        documents: The documents so far.
        tokens: The tokens so far.
        ended: Whether it is committed.
    """

    worker: str
    task: TaskName
    bytes: int
    documents: int
    tokens: int
    ended: bool


@dataclass(frozen=True, slots=True)
class Work:
    """Data that the tasks of a run share.

    Attributes:
        folder: The folder of the run.
        plan: Its plan.
        tokenizer: Its tokenizer; None if the plan needs none.
    """

    folder: Path
    plan: Plan
    tokenizer: Tokenizer | None


def run(
    folder: str, stage: str, number: int, tell: Callable[[Told], None] | None = None, worker: str | None = None
) -> dict[str, Any]:
    """Does one task of a run and commits it; does nothing if it is done already.

    Args:
        folder: The folder of the run, with its plan.
        stage: The stage of the task.
        number: Its number in the stage.
        tell: Receives the progress from time to time; an error that it raises ends the task.
        worker: The name of the worker, for `tell`; None for the process id.

    Returns:
        The entry of the ledger.

    Raises:
        CorpusError: There is no such task, an earlier stage is not done, or a package has another version here.
        ArtifactError: An input cannot be read, or has changed since; or a file cannot be written.
        IntegrityError: The plan, the tokenizer or the ledger is damaged.
        BytepairError: A document is bad, and the policy of the plan is ``raise``.
    """
    work = load(folder)
    tasks = work.plan.stage(stage).tasks
    if not 0 <= number < len(tasks):
        raise CorpusError(f"the stage {stage!r} has no task {number}", remedy=f"it has tasks 0 to {len(tasks) - 1}")
    task = (stage, number)
    told = partial(Told, worker or str(os.getpid()), task)
    entry = ledger.known(work.folder, work.plan, task)
    # A late worker may find the run complete and intermediate files removed.
    ended = entry is not None and ledger.is_finished(work.folder, work.plan)
    if entry is None or not (ended or ledger.is_kept(work.folder, entry)):
        packages.check(work.plan)
        kind = stage.partition("-")[0]
        do = getattr(import_module(f"bytepair.shards.{_STAGES[kind]}"), kind)

        def progress(passed: int, documents: int, tokens: int) -> None:
            if tell:
                tell(told(passed, documents, tokens, ended=False))

        with Commit(work.folder, work.plan, task) as commit:
            entry = commit.commit(do(work, task, commit.folder, progress))
    if tell:
        tell(told(entry["read"], entry.get("documents", 0), entry.get("tokens", 0), ended=True))
    return entry


_at_hand: dict[str, Work] = {}
"""Runs whose plan and tokenizer this process has just written, by their folders."""


@contextmanager
def at_hand(folder: Path, plan: Plan, tokenizer: Tokenizer) -> Iterator[None]:
    """A context in which tasks of this process reuse the plan and tokenizer instead of reading them again."""
    # A subclass may behave differently from the tokenizer that other workers load.
    if type(tokenizer) is Tokenizer:
        _at_hand[str(folder)] = Work(folder, plan, tokenizer)
    try:
        yield
    finally:
        _at_hand.pop(str(folder), None)


def load(folder: str) -> Work:
    """The plan and the tokenizer of a run, cached for its next task.

    Raises:
        ArtifactError, FormatError, IntegrityError: As `plans.read`; the tokenizer differs from the one in the plan.
    """
    if work := _at_hand.get(folder):
        return work
    return _load(folder, sealed.tail(Path(folder, plans.NAME)))


@lru_cache(maxsize=2)
def _load(folder: str, _plan: bytes) -> Work:
    return read(folder)


def read(folder: str) -> Work:
    """The plan and the tokenizer of a run, read from its folder. Errors as `load`."""
    place = Path(folder)
    plan = plans.read(place)
    tokenizer = None
    if plan.tokenizer:
        tokenizer = Tokenizer.from_file(place / plans.TOKENIZER)
        if tokenizer.fingerprint != plan.tokenizer:
            raise IntegrityError(
                "the tokenizer of the run is not the one of its plan",
                file=str(place / plans.TOKENIZER),
                remedy="write into a new folder",
            )
    return Work(place, plan, tokenizer)
