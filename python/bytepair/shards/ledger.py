"""The ledger of a run: an entry for each finished task, committed atomically with its files."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair import files
from bytepair.errors import ArtifactError, BytepairError, CorpusError, IntegrityError
from bytepair.shards import locks, sealed
from bytepair.shards.plans import LEDGER, WORK, Plan, TaskName

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

    from typing_extensions import Self

QUARANTINE = "quarantine"
FINISH = ("finish", 0)
"""The name of the last entry of a complete run, which belongs to no task."""

_TEMPORARY = "temporary"
_INDEX = "index.json"
_BLOCK = 1 << 20


class Commit:
    """A context for the files of a task in progress: all of them are committed with an entry, or none.

    The worker of the task writes into `folder`. Its files go to the folder of the run for the last
    stage, and to ``work/STAGE/`` for others; files in ``quarantine/`` always stay there. Two workers may do the same
    task at the same time: their files are equal.

    Raises:
        ArtifactError: A file cannot be written. The files in `folder` are removed, and the ledger is as it was.
    """

    def __init__(self, run: Path, plan: Plan, task: TaskName) -> None:
        self._run = run
        self._plan = plan
        self._task = task

    def __enter__(self) -> Self:
        parent = self._run / WORK / _TEMPORARY
        try:
            parent.mkdir(parents=True, exist_ok=True)
            self.folder = Path(tempfile.mkdtemp(prefix=f"{self._plan.stem(*self._task)}-", dir=parent))
        except OSError as error:
            raise unwritten(self._run, error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        if isinstance(error, OSError) and not isinstance(error, BytepairError):
            raise unwritten(self._run, error) from error

    def commit(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Renames the files to their final names, writes the entry and returns it.

        Args:
            facts: The entry of the task besides its files: JSON that depends on the plan and inputs alone.
        """
        stage, number = self._task
        is_last = stage == self._plan.stages[-1].name
        rows = []
        moves = []
        for path in sorted(path for path in self.folder.rglob("*") if path.is_file()):
            name = path.relative_to(self.folder)
            stays = is_last or name.parts[0] == QUARANTINE
            place = name if stays else Path(WORK, stage, name)
            rows.append({"name": place.as_posix(), **_hashed(path)})
            moves.append((path, self._run / place))
        entry = {"plan": self._plan.digest, "stage": stage, "number": number, "files": rows, **facts}
        with self._right() as has_right:
            if has_right:
                folders = {place.parent for _, place in moves}
                for folder in folders:
                    if not folder.exists():
                        folder.mkdir(parents=True, exist_ok=True)
                        # Otherwise a crash could lose the folder with its content.
                        files.sync_folder(folder.parent)
                for path, place in moves:
                    path.replace(place)
                for folder in folders:
                    files.sync_folder(folder)
                sealed.write(_place(self._run, self._plan, self._task), entry)
        return entry

    @contextmanager
    def _right(self) -> Iterator[bool]:
        """Whether the run is still in progress: another worker may have done this task and completed the run."""
        with ExitStack() as stack:
            try:
                stack.enter_context(locks.committing(self._run / WORK))
            except FileNotFoundError:
                if not is_finished(self._run, self._plan):
                    raise
            yield not is_finished(self._run, self._plan)


def entry(run: Path, plan: Plan, task: TaskName) -> dict[str, Any] | None:
    """The entry of a task; None if it is not done.

    Raises:
        IntegrityError: The entry is damaged, or of another plan.
        ArtifactError: It cannot be read.
    """
    place = _place(run, plan, task)
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
        shutil.rmtree(run / WORK / _TEMPORARY, ignore_errors=True)
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
    return files.exists(_place(run, plan, FINISH))


def finish(run: Path, plan: Plan, names: Iterable[str]) -> None:
    """Records that the run is complete, and the files not written by its tasks.

    Raises:
        OSError: It cannot be written.
    """
    rows = [{"name": name, **_hashed(run / name)} for name in sorted(names)]
    stage, number = FINISH
    entry = {"plan": plan.digest, "stage": stage, "number": number, "files": rows}
    sealed.write(_place(run, plan, FINISH), entry)


def reopen(run: Path, plan: Plan) -> None:
    """Undoes `finish`.

    Raises:
        OSError: It cannot be removed.
    """
    _place(run, plan, FINISH).unlink(missing_ok=True)


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


def _hashed(path: Path) -> dict[str, Any]:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    return {"size": path.stat().st_size, "sha256": hash_of(path)}


def _place(run: Path, plan: Plan, task: TaskName) -> Path:
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
