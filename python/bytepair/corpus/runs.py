"""What all runs over a corpus do: begin in a folder, have the tasks done that are not done yet, stage after stage."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bytepair import files
from bytepair.corpus import ledger, plans, readers
from bytepair.corpus.memory import parse_bytes
from bytepair.corpus.plans import Plan, Stage
from bytepair.corpus.watching import Watch
from bytepair.errors import ArtifactError, BytepairError, CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from bytepair.corpus.engines import Engine
    from bytepair.corpus.inputs import Input, Reading
    from bytepair.progress import Report
    from bytepair.tokenizer import Tokenizer

_LOCK = ".lock"


def first_stage(name: str, found: Sequence[Input], reading: Reading, size: str | int | None) -> Stage:
    """The stage that reads inputs.

    Args:
        name: Its name.
        found: The inputs.
        reading: What a document is.
        size: About how many bytes a task reads; None for what the size of all suggests.

    Raises:
        ValueError: The size is none.
        ArtifactError: An input cannot be read.
    """
    wanted = plans.task_size(found) if size is None else parse_bytes(size)
    cuts = (readers.portions(input, reading, wanted) for input in found)
    return Stage(name, plans.gather(found, cuts, wanted).tasks)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Has a folder, made if need be, for this process alone, where the system can do that.

    Raises:
        ArtifactError: It cannot be written to, or another process has it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise ArtifactError(
            f"cannot write into the folder: {error.strerror}",
            file=str(folder),
            remedy="choose a folder that you may write to, with space left",
        ) from error
    try:
        _lock(handle, folder)
        yield
        (folder / _LOCK).unlink(missing_ok=True)
    finally:
        os.close(handle)


def _lock(handle: int, folder: Path) -> None:
    try:
        import fcntl  # noqa: PLC0415 (not every system has it)
    except ImportError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise ArtifactError(
            "another run is at work in this folder", file=str(folder), remedy="wait for it, or choose another folder"
        ) from error
    except OSError:
        # Some file systems of clusters have no locks.
        return


def begin(folder: Path, plan: Plan, tokenizer: Tokenizer | None, *, resume: bool) -> None:
    """Writes the plan into a folder, or finds the same one there.

    Raises:
        CorpusError: A run is there and `resume` is false, or it was planned otherwise; or the folder has other things.
        ArtifactError: It cannot be written.
    """
    if files.exists(folder / plans.NAME):
        if not resume:
            raise CorpusError(
                "there is a run in this folder", file=str(folder), remedy="go on with resume=True, or choose another one"
            )
        plans.check_same(plans.read(folder), plan, folder)
        ledger.clean(folder)
        return
    foreign = sorted(path.name for path in folder.iterdir() if path.name not in (_LOCK, plans.TOKENIZER))
    if foreign:
        raise CorpusError(
            f"the folder has other things in it, such as {foreign[0]!r}",
            file=str(folder),
            remedy="choose a new or empty folder",
        )
    if tokenizer is not None:
        tokenizer.save(folder / plans.TOKENIZER, "native")
    try:
        (folder / plans.LEDGER).mkdir(exist_ok=True)
    except OSError as error:
        raise ledger.unwritten(folder, error) from error
    # Last: a folder with a plan has all that its tasks need.
    plans.write(folder, plan)


def carry_out(folder: Path, plan: Plan, engine: Engine, report: Report | None) -> None:
    """Has all tasks done that are not done yet.

    Raises:
        BytepairError: What the first task raises that fails.
    """
    kept = [_kept(folder, plan, stage) for stage in plan.stages]
    # What a stage left may be gone when all of the next one is there.
    first = max((number + 1 for number, done in enumerate(kept) if all(done)), default=0)
    with Watch(folder, plan, report) as watch:
        for stage, done in zip(plan.stages[first:], kept[first:], strict=True):
            left = [(stage.name, number) for number, is_done in enumerate(done) if not is_done]
            watch.begin(stage, left)
            if left:
                engine.run(str(folder), left, watch.told)
    missing = [task for task, entry in ledger.entries(folder, plan) if entry is None]
    if missing:
        raise CorpusError(
            f"{len(missing)} tasks are not done, such as {missing[0][1]} of {missing[0][0]!r}",
            file=str(folder),
            remedy="go on with --resume",
        )


def _kept(folder: Path, plan: Plan, stage: Stage) -> list[bool]:
    kept = []
    for number in range(len(stage.tasks)):
        try:
            entry = ledger.entry(folder, plan, (stage.name, number))
        except BytepairError:
            # A damaged entry is one of a task that is not known to be done.
            entry = None
        kept.append(entry is not None and ledger.is_kept(folder, entry))
    return kept
