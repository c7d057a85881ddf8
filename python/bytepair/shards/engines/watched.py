"""Tasks of workers elsewhere: the ledger lists the finished ones, a file in ``work/failed/`` records a failure."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bytepair import errors, files
from bytepair.errors import ArtifactError, BytepairError, CorpusError
from bytepair.shards import ledger, plans, tasks
from bytepair.shards.plans import LEDGER, WORK
from bytepair.shards.tasks import Told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bytepair.shards.plans import TaskName

_FAILED = "failed"
_LATE = 3  # further looks, since files of another machine can appear late


class Job(Protocol):
    """A group of submitted tasks."""

    def ended(self, seconds: float) -> bool:
        """Waits up to `seconds` for all of them to end, and returns whether they have, done or not."""

    def cancel(self) -> None:
        """Cancels them; does nothing if they have ended."""

    def why(self) -> str:
        """The reason that tasks ended without a result, if it is known."""


def have_done(
    folder: str,
    names: Sequence[TaskName],
    told: Callable[[Told], None],
    submit: Callable[[Sequence[TaskName]], Job],
    *,
    worker: str,
    poll: float,
    attempts: int,
) -> None:
    """Submits tasks and returns when all are committed. Tasks that end without a result are submitted again.

    Args:
        folder: The folder of the run.
        names: The tasks.
        told: Receives each task when its entry is in the ledger.
        submit: Submits tasks.
        worker: The name of the worker, for `told`.
        poll: Seconds between looks at the ledger.
        attempts: The most submissions of tasks that end without a result (killed, or on a lost machine).

    Raises:
        BytepairError: The error of the first task that failed; all others are cancelled.
        CorpusError: Tasks ended without a result after all attempts.
    """
    watch = _Watch(Path(folder), names, told, worker)
    for _ in range(attempts):
        job = submit(watch.left)
        try:
            while watch.look() and not job.ended(poll):
                pass
            for _ in range(_LATE):
                if not watch.look():
                    return
                time.sleep(poll)
        finally:
            job.cancel()
    stage, number = watch.left[0]
    raise CorpusError(
        f"{len(watch.left)} tasks ended {attempts} times without being done, such as {stage}/{number}: {job.why()}",
        file=folder,
        remedy="allow them more memory or time, and go on with resume=True",
        cli_remedy="allow them more memory or time, and go on with --resume",
    )


class _Watch:
    """Submitted tasks; those not in the ledger are `left`."""

    def __init__(self, folder: Path, names: Iterable[TaskName], told: Callable[[Told], None], worker: str) -> None:
        self.left = list(names)
        self._folder = folder
        self._plan = plans.read(folder)
        self._told = told
        self._worker = worker
        self._names = {name: f"{self._plan.stem(*name)}.json" for name in self.left}
        for name in self.left:
            _place(folder, name).unlink(missing_ok=True)

    def look(self) -> bool:
        """Reports newly finished tasks and raises the error of a failed one; False if none is left."""
        there = {path.name for path in (self._folder / LEDGER).iterdir()}
        done = set()
        for name in self.left:
            if self._names[name] in there and (entry := self._entry(name)) is not None:
                done.add(name)
                amounts = entry["read"], entry.get("documents", 0), entry.get("tokens", 0)
                self._told(Told(self._worker, name, *amounts, ended=True))
        self.left = [name for name in self.left if name not in done]
        if self.left and (self._folder / WORK / _FAILED).is_dir():
            for name in self.left:
                if _place(self._folder, name).exists():
                    raise _read(_place(self._folder, name))
        return bool(self.left)

    def _entry(self, name: TaskName) -> dict[str, Any] | None:
        # An entry counts only if its files exist: a resumed run may have lost some.
        try:
            entry = ledger.entry(self._folder, self._plan, name)
        except BytepairError:
            return None
        return entry if entry is not None and ledger.is_kept(self._folder, entry) else None


def run(folder: str, stage: str, number: int) -> dict[str, Any]:
    """Does a task, and records its error for the submitter if it fails.

    Args:
        folder: The folder of the run.
        stage: The stage of the task.
        number: Its number.

    Raises:
        BytepairError: As `bytepair.shards.tasks.run`.
    """
    try:
        return tasks.run(folder, stage, number)
    except BytepairError as error:
        if _is_planned(Path(folder), (stage, number)):
            _write(_place(Path(folder), (stage, number)), error)
        raise


def _is_planned(folder: Path, name: TaskName) -> bool:
    # No submitter waits for a task that does not exist, or for a folder without a run.
    try:
        return name in plans.read(folder).tasks()
    except BytepairError:
        return False


def _place(folder: Path, name: TaskName) -> Path:
    return folder / WORK / _FAILED / f"{name[0]}-{name[1]}.json"


def _write(place: Path, error: BytepairError) -> None:
    try:
        files.write_all(place.parent, {place.name: packed(error).encode()})
    except ArtifactError:
        # No space for the record: the task then ends without a result.
        return


def _read(place: Path) -> BytepairError:
    try:
        return unpacked(files.read(place).decode())
    except ValueError as error:
        return ArtifactError(f"a task failed, and its record of the error is damaged: {error}", file=str(place))


def packed(error: BytepairError) -> str:
    """An error as JSON, for another process; `unpacked` restores it."""
    kind = next(kind.__name__ for kind in type(error).__mro__ if getattr(errors, kind.__name__, None) is kind)
    return json.dumps({"kind": kind, **error.parts()})


def unpacked(text: str) -> BytepairError:
    """The error that was packed.

    Raises:
        ValueError: It is not a packed error.

    Example:
        >>> unpacked(packed(CorpusError("no text", row=3, remedy="add some")))
        CorpusError('no text')
    """
    value = json.loads(text)
    try:
        error = getattr(errors, value.pop("kind"))(**value)
    except (LookupError, TypeError, AttributeError) as damage:
        raise ValueError(str(damage)) from damage
    if not isinstance(error, BytepairError):
        raise ValueError(f"{type(error).__name__} is not an error of bytepair")  # noqa: TRY004 (its content is wrong, not its type)
    return error
