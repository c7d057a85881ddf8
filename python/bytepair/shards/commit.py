"""Commit a task: rename its files into place, then write its entry into the ledger."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair import files
from bytepair.errors import BytepairError
from bytepair.shards import ledger, locks, sealed
from bytepair.shards.plans import WORK, Plan, TaskName

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from typing_extensions import Self


class Commit:
    """The files of a running task, as a context: all of them are renamed into place and entered, or none.

    The worker of the task writes into `folder`. Files of the last stage go to the folder of the run, those of other
    stages to ``work/STAGE/``; files in ``quarantine/`` always stay there. Two workers may do the same task at the same
    time: their files are equal.

    Raises:
        ArtifactError: A file cannot be written. The files in `folder` are removed, and the ledger is as it was.
    """

    def __init__(self, run: Path, plan: Plan, task: TaskName) -> None:
        self._run = run
        self._plan = plan
        self._task = task

    def __enter__(self) -> Self:
        parent = self._run / WORK / ledger.TEMPORARY
        try:
            parent.mkdir(parents=True, exist_ok=True)
            self.folder = Path(tempfile.mkdtemp(prefix=f"{self._plan.stem(*self._task)}-", dir=parent))
        except OSError as error:
            raise ledger.unwritten(self._run, error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        if isinstance(error, OSError) and not isinstance(error, BytepairError):
            raise ledger.unwritten(self._run, error) from error

    def commit(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Renames the files into place, then writes and returns the entry.

        Args:
            facts: The entry of the task besides its files: JSON that depends on the plan and inputs alone.
        """
        stage, number = self._task
        is_last = stage == self._plan.stages[-1].name
        rows = []
        moves = []
        for path in sorted(path for path in self.folder.rglob("*") if path.is_file()):
            name = path.relative_to(self.folder)
            stays = is_last or name.parts[0] == ledger.QUARANTINE
            place = name if stays else Path(WORK, stage, name)
            rows.append({"name": place.as_posix(), **ledger.flushed(path)})
            moves.append((path, self._run / place))
        entry = {"plan": self._plan.digest, "stage": stage, "number": number, "files": rows, **facts}
        with self._right() as has_right:
            if has_right:
                folders = {place.parent for _, place in moves}
                for folder in folders:
                    if not folder.exists():
                        folder.mkdir(parents=True, exist_ok=True)
                        # Otherwise a crash could lose the folder with its files.
                        files.sync_folder(folder.parent)
                for path, place in moves:
                    path.replace(place)
                for folder in folders:
                    files.sync_folder(folder)
                sealed.write(ledger.place_of(self._run, self._plan, self._task), entry)
        return entry

    @contextmanager
    def _right(self) -> Iterator[bool]:
        """Whether the run is still open: another worker may have done this task, and completed the run."""
        with ExitStack() as stack:
            try:
                stack.enter_context(locks.committing(self._run / WORK))
            except FileNotFoundError:
                if not ledger.is_finished(self._run, self._plan):
                    raise
            yield not ledger.is_finished(self._run, self._plan)
