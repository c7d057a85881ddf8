"""Whether a run is complete and whole: every file there as its task left it, and no other."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.errors import ArtifactError, BytepairError, CorpusError, IntegrityError
from bytepair.formats import manifest
from bytepair.progress import Progress, reporter
from bytepair.shards import ledger, locks, plans, summaries, tasks
from bytepair.shards.plans import ShardOptions
from bytepair.shards.sharding import check_stage_totals
from bytepair.shards.sinks import FORMATS
from bytepair.shards.sinks.flat import FlatShard
from bytepair.shards.summaries import ShardSummary

if TYPE_CHECKING:
    from bytepair.progress import Report
    from bytepair.shards.plans import Plan

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Verified:
    """The contents of a verified run.

    Attributes:
        tasks: How many tasks there were.
        files: How many files were compared with their hashes.
        bytes: How many bytes these have.
        documents: How many documents are in the shards.
        tokens: How many tokens are in them.
    """

    tasks: int
    files: int
    bytes: int
    documents: int
    tokens: int


def verify_shards(
    folder: str | os.PathLike[str], *, threads: int | None = None, progress: bool | str | Report = False
) -> Verified:
    """Check that the shards of a run are complete and as its tasks wrote them.

    It reads each file once: sizes and SHA-256, and in formats that are ids alone also whether each id can be one of the
    tokenizer's. The plan, the tokenizer, the ledger and the summary must be whole and say the same; there must be no
    other file.

    Args:
        folder: The folder of the run.
        threads: How many files are read at a time; None for as many as there are cores.
        progress: As for `bytepair.shard`.

    Returns:
        The contents.

    Raises:
        CorpusError: Tasks are not done yet, or the run is one that counts.
        IntegrityError: Something is not what was written: all of it is named.
        ArtifactError: There is no run in the folder, or it cannot be read.
        ValueError: There are no threads.

    Complexity:
        Linear in the bytes of the shards; memory is a megabyte a thread, and the names and hashes of all files.

    Example:
        >>> import tempfile, bytepair as bp
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "a.txt").write_text("low lower")
        >>> _ = bp.shard(folder / "a.txt", bp.train({"low": 5}, vocab_size=258), folder / "out", documents=False)
        >>> found = bp.verify_shards(folder / "out")
        >>> found.tasks, found.documents, found.tokens
        (1, 1, 5)
        >>> with (folder / "out/train-00000.bin").open("r+b") as file:
        ...     _ = file.write(b"!")
        >>> bp.verify_shards(folder / "out")
        Traceback (most recent call last):
            ...
        bytepair.errors.IntegrityError: the run is damaged: train-00000.bin is not what was written ...
    """
    if threads is not None and threads < 1:
        raise ValueError(f"threads={threads} would read nothing; use 1 or more")
    place = Path(folder)
    plan = plans.read(place)
    if not isinstance(plan.options, ShardOptions):
        raise CorpusError("this run counts, it makes no shards", file=str(place), remedy="load its table")
    found = _Found(place, plan)
    found.look_at_ledger()
    found.look_at_tokenizer()
    if not found.is_incomplete:
        found.look_at_names()
        found.look_at_sums()
    found.look_at_files(threads, reporter(progress))
    if found.wrong:
        raise IntegrityError(
            f"the run is damaged: {'; '.join([*found.wrong, *found.missing])}",
            file=str(place),
            remedy="remove the damaged files, and make them again with resume=True",
            cli_remedy="remove the damaged files, and make them again with --resume",
        )
    if found.missing:
        raise CorpusError(
            f"the run is not complete: {'; '.join(found.missing)}",
            file=str(place),
            remedy="go on with resume=True",
            cli_remedy="go on with --resume",
        )
    return found.verified()


class _Found:
    """The contents of a run so far, and its faults."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.wrong: list[str] = []
        self.missing: list[str] = []
        self._folder = folder
        self._plan = plan
        self._tasks = self._documents = self._tokens = 0
        self._rows: list[dict[str, Any]] = []
        self._largest = (1 << 32) - 1
        self._known: set[str] = set()  # of the tokenizer

    @property
    def is_incomplete(self) -> bool:
        """Whether the ledger is not whole, so that nothing can be said of files that it does not name."""
        return bool(self.missing or self.wrong)

    def look_at_ledger(self) -> None:
        """Reads the entries of all tasks, and the last one."""
        for stage in self._plan.stages:
            names = [(stage.name, number) for number in range(len(stage.tasks))]
            gone = 0
            for task in names:
                entry = self._entry(task)
                gone += entry is None
                if entry:
                    self._take(entry)
            if gone:
                self.missing.append(f"{gone} of {len(names)} tasks of {stage.name!r} are not done")
        finished = self._entry(ledger.FINISH)
        if finished is None and not self.missing:
            self.missing.append("all tasks are done, and the summary is missing")
        elif finished:
            self._rows += finished["files"]

    def _take(self, entry: dict[str, Any]) -> None:
        self._tasks += 1
        stages = self._plan.stages
        # What stages leave for each other is gone by now.
        stays = entry["stage"] == stages[-1].name
        self._rows += [row for row in entry["files"] if stays or not row["name"].startswith(f"{plans.WORK}/")]
        if entry["stage"] == stages[0].name:
            self._documents += entry.get("documents", 0)
            self._tokens += entry.get("tokens", 0)

    def _entry(self, task: plans.TaskName) -> dict[str, Any] | None:
        try:
            return ledger.entry(self._folder, self._plan, task)
        except (IntegrityError, ArtifactError) as error:
            self.wrong.append(f"the ledger's entry of task {task[1]} of {task[0]!r}: {error.what}")
            return {"stage": task[0], "number": task[1], "files": [], "splits": {}}

    def look_at_tokenizer(self) -> None:
        """Loads the tokenizer, whose manifest says which its files are, and whether they are whole."""
        try:
            saved = manifest.load(self._folder / plans.TOKENIZER)
            if saved is None:
                self.wrong.append(f"{plans.TOKENIZER}/{manifest.NAME} is missing")
                return
            self._known = {f"{plans.TOKENIZER}/{name}" for name in (manifest.NAME, *saved["files"])}
            tokenizer = tasks.read(str(self._folder)).tokenizer
            assert tokenizer is not None
            self._largest = tokenizer.vocab_size - 1
        except BytepairError as error:
            self.wrong.append(f"{plans.TOKENIZER}: {error.what}")

    def look_at_names(self) -> None:
        """Looks for files that nobody wrote."""
        known = {row["name"] for row in self._rows} | {plans.NAME, locks.NAME} | self._known
        known |= {f"{plans.LEDGER}/{self._plan.stem(*task)}.json" for task in [*self._plan.tasks(), ledger.FINISH]}
        others = (path for path in self._folder.rglob("*") if not path.is_dir())
        names = sorted(path.relative_to(self._folder).as_posix() for path in others)
        self.wrong += [f"{name} is there, and no task wrote it" for name in names if name not in known]

    def look_at_sums(self) -> None:
        """Compares what the stages and the summary say."""
        try:
            check_stage_totals(self._folder, self._plan, ledger.entries(self._folder, self._plan))
            if ShardSummary.read(self._folder) != ShardSummary.of(self._plan, ledger.entries(self._folder, self._plan)):
                self.wrong.append(f"{summaries.NAME} does not say what the ledger says")
        except BytepairError as error:
            self.wrong.append(error.what)

    def look_at_files(self, threads: int | None, report: Report | None) -> None:
        """Reads all files, and compares them with their hashes."""
        began = time.monotonic()
        done = 0
        total = sum(row["size"] for row in self._rows)
        lock = threading.Lock()

        def look(row: dict[str, Any]) -> str | None:
            nonlocal done
            wrong = self._look(row)
            with lock:
                done += row["size"]
                if report:
                    report(Progress("verify", done, total, time.monotonic() - began, ended=done == total))
            return wrong

        with ThreadPoolExecutor(threads) as pool:
            self.wrong += [wrong for wrong in pool.map(look, self._rows) if wrong]

    def _look(self, row: dict[str, Any]) -> str | None:
        name, path = row["name"], self._folder / row["name"]
        dtype, head = self._flat(name)
        whole = hashlib.sha256()
        largest = -1
        try:
            with path.open("rb", buffering=0) as file:
                size = os.fstat(file.fileno()).st_size
                if size != row["size"]:
                    return f"{name} has {size} bytes of {row['size']}"
                whole.update(file.read(head))
                while block := file.read(_BLOCK):
                    whole.update(block)
                    if dtype is not None and (count := len(block) // dtype.itemsize):
                        largest = max(largest, int(np.frombuffer(block, dtype, count).max()))
        except FileNotFoundError:
            return f"{name} is missing"
        except OSError as error:
            return f"{name} cannot be read: {error.strerror}"
        if whole.hexdigest() != row["sha256"]:
            return f"{name} is not what was written"
        if largest > self._largest:
            return f"{name} has the id {largest}, and the largest of the tokenizer is {self._largest}"
        return None

    def _flat(self, name: str) -> tuple[np.dtype[Any] | None, int]:
        """The dtype of the ids of a file that holds nothing else, and the bytes before them."""
        options = self._plan.options
        assert isinstance(options, ShardOptions)
        kind: Any = FORMATS[options.format].open
        is_flat = isinstance(kind, type) and issubclass(kind, FlatShard) and name.endswith(kind.suffix)
        return (np.dtype(options.dtype).newbyteorder("<"), kind.head) if is_flat else (None, 0)

    def verified(self) -> Verified:
        """The contents so far."""
        return Verified(
            tasks=self._tasks,
            files=len(self._rows),
            bytes=sum(row["size"] for row in self._rows),
            documents=self._documents,
            tokens=self._tokens,
        )
