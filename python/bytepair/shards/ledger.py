"""The ledger of a run: an entry for each finished task, with the hashes of its files."""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair import files
from bytepair.errors import ArtifactError, CorpusError, IntegrityError
from bytepair.shards import locks, sealed
from bytepair.shards.plans import LEDGER, WORK, Plan, TaskName

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

QUARANTINE = "quarantine"
FINISH = ("finish", 0)
"""The name of the last entry of a complete run, which belongs to no task."""

TEMPORARY = "temporary"
"""The folder in ``work`` in which tasks write."""

_INDEX = "index.json"
_BLOCK = 1 << 20


def entry(run: Path, plan: Plan, task: TaskName) -> dict[str, Any] | None:
    """The entry of a task; None if it is not done.

    Raises:
        IntegrityError: The entry is damaged, or of another plan.
        ArtifactError: It cannot be read.
    """
    place = place_of(run, plan, task)
    if not files.exists(place):
        return None
    found = sealed.read(place)
    if found.get("plan") != plan.digest or (found.get("stage"), found.get("number")) != task:
        raise IntegrityError(
            "the entry of the ledger is of another plan",
            file=str(place),
            remedy="remove it, and go on with resume=True",
            cli_remedy="remove it, and go on with --resume",
        )
    return found


def known(run: Path, plan: Plan, task: TaskName) -> dict[str, Any] | None:
    """As `entry`, but None for an entry that is damaged or of another plan: the task may or may not be done."""
    try:
        return entry(run, plan, task)
    except IntegrityError:
        return None


def entries(run: Path, plan: Plan) -> Iterator[dict[str, Any]]:
    """The entries of all finished tasks, stage by stage, read lazily. Errors as `entry`."""
    return (found for task in plan.tasks() if (found := entry(run, plan, task)) is not None)


def done(run: Path, plan: Plan, task: TaskName) -> dict[str, Any]:
    """The entry of a task whose files are needed.

    Raises:
        CorpusError: It is not done.
        IntegrityError, ArtifactError: As `entry`.
    """
    found = entry(run, plan, task)
    if found is None:
        raise CorpusError(
            f"task {task[1]} of the stage {task[0]!r} is not done",
            file=str(run),
            remedy="do all tasks of a stage before those of the next one",
        )
    return found


def all_done(run: Path, plan: Plan, stage: str) -> Iterator[dict[str, Any]]:
    """The entries of a stage, all of whose files are needed, in order. Errors as `done`."""
    return (done(run, plan, (stage, number)) for number in range(len(plan.stage(stage).tasks)))


def tasks_by_split(run: Path, plan: Plan, stage: str) -> dict[str, list[int]]:
    """The numbers, in order, of the tasks of a stage that wrote documents to each split.

    The first call reads all entries and caches the result in one file: otherwise every task of the next stage would
    read every entry.

    Raises:
        CorpusError: A task of the stage is not done.
        IntegrityError, ArtifactError: An entry is damaged, or a file cannot be read or written.
    """
    place = run / WORK / stage / _INDEX
    if files.exists(place):
        with suppress(IntegrityError):  # It is rebuilt.
            kept = sealed.read(place)
            if kept.pop("plan") == plan.digest:
                return kept
    found: dict[str, list[int]] = {}
    for each in all_done(run, plan, stage):
        for split, amount in each["splits"].items():
            if amount["documents"]:
                found.setdefault(split, []).append(each["number"])
    if files.exists(place.parent):  # Without the folder no task wrote documents.
        sealed.write(place, {"plan": plan.digest, **found})
    return found


def clean(run: Path) -> None:
    """Removes the files of killed tasks. A worker still at a task can no longer commit it."""
    with locks.alone(run / WORK):
        shutil.rmtree(run / WORK / TEMPORARY, ignore_errors=True)
        for path in run.rglob(f"{files.TEMPORARY}*"):
            path.unlink(missing_ok=True)


def is_kept(run: Path, found: dict[str, Any], *, lasting: bool = False) -> bool:
    """Whether the files of an entry exist with their recorded sizes.

    Args:
        run: The folder of the run.
        found: The entry.
        lasting: Whether to check only the files that remain when the run is complete.
    """
    rows = [row for row in found["files"] if not (lasting and row["name"].startswith(f"{WORK}/"))]
    with suppress(OSError):
        return all((run / row["name"]).stat().st_size == row["size"] for row in rows)
    return False


def is_finished(run: Path, plan: Plan) -> bool:
    """Whether the run is complete."""
    return files.exists(place_of(run, plan, FINISH))


def finish(run: Path, plan: Plan, names: Iterable[str]) -> None:
    """Records that the run is complete, and the files not written by its tasks.

    Raises:
        OSError: It cannot be written.
    """
    rows = [{"name": name, **flushed(run / name)} for name in sorted(names)]
    stage, number = FINISH
    entry = {"plan": plan.digest, "stage": stage, "number": number, "files": rows}
    sealed.write(place_of(run, plan, FINISH), entry)


def reopen(run: Path, plan: Plan) -> None:
    """Undoes `finish`.

    Raises:
        OSError: It cannot be removed.
    """
    place_of(run, plan, FINISH).unlink(missing_ok=True)


def hash_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal.

    Raises:
        OSError: It cannot be read.
    """
    whole = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while block := file.read(_BLOCK):
            whole.update(block)
    return whole.hexdigest()


def flushed(path: Path) -> dict[str, Any]:
    """Flushes a file to disk; returns its size and SHA-256, as an entry has them."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    return {"size": path.stat().st_size, "sha256": hash_of(path)}


def place_of(run: Path, plan: Plan, task: TaskName) -> Path:
    """The path of a task's entry."""
    return run / LEDGER / f"{plan.stem(*task)}.json"


def none_done(folder: Path) -> str:
    """The end of a remedy for a folder without finished tasks: it may simply be removed."""
    return "" if any((folder / LEDGER).glob("*.json")) else f"; or remove {folder}: nothing of its run is done"


def unwritten(run: Path, error: OSError) -> ArtifactError:
    """The error for a folder of a run that cannot be written to."""
    return ArtifactError(
        f"cannot write: {error.strerror or error}",
        file=str(error.filename or run),
        remedy="make space or choose another folder; resume=True keeps the tasks that are done",
        cli_remedy="make space or choose another folder; --resume keeps the tasks that are done",
    )
