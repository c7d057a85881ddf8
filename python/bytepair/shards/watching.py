"""Progress of a run: the sum of the progress that its workers report."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bytepair.progress import RunProgress, Worker
from bytepair.shards import ledger
from bytepair.shards.plans import Portion

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from types import TracebackType

    from typing_extensions import Self

    from bytepair.progress import Report
    from bytepair.shards.plans import Plan, Stage, TaskName
    from bytepair.shards.tasks import Told
    from bytepair.sources.inputs import Input

_LEAST_SECONDS = 0.2


class Watch:
    """A context that adds up the progress of workers and reports it.

    It keeps the highest progress reported for each task: a task that is repeated, or done by two workers, never makes
    the run go back.

    Args:
        folder: The folder of the run.
        plan: Its plan.
        report: Receives a `bytepair.progress.RunProgress` from time to time, and one that is `ended` for each stage.
    """

    def __init__(self, folder: Path, plan: Plan, report: Report | None) -> None:
        self._folder = folder
        self._plan = plan
        self._report = report
        self._lock = threading.Lock()
        self._phase: _Phase | None = None

    def begin(self, stage: Stage, left: Sequence[TaskName]) -> None:
        """Begins a stage with these tasks left to do."""
        if self._report:
            with self._lock:
                self._end()
                self._phase = _Phase(self._folder, self._plan, stage, {number for _, number in left})
                self._tell(self._phase)

    def told(self, state: Told) -> None:
        """Takes a progress report of a worker."""
        if self._report:
            with self._lock:
                # A late report may belong to a stage that has ended.
                if self._phase and state.task[0] == self._phase.stage.name:
                    self._phase.take(state)
                    if time.perf_counter() - self._phase.reported >= _LEAST_SECONDS:
                        self._tell(self._phase)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._end()

    def _end(self) -> None:
        phase, self._phase = self._phase, None
        if phase:
            self._tell(phase, ended=True)

    def _tell(self, phase: _Phase, *, ended: bool = False) -> None:
        if self._report:
            phase.reported = time.perf_counter()
            self._report(phase.state(ended=ended))


@dataclass(slots=True)
class _Amounts:
    """Progress of a task."""

    done: int = 0
    documents: int = 0
    tokens: int = 0


class _Phase:
    """A stage in progress."""

    def __init__(self, folder: Path, plan: Plan, stage: Stage, left: set[int]) -> None:
        self.stage = stage
        self.reported = self._start = time.perf_counter()
        first = plan.stages[0]
        ended = (n for n in range(len(stage.tasks)) if n not in left)
        documents, tokens = _sums(folder, plan, ((stage.name, n) for n in ended))
        self._left = left
        self._under_way: dict[int, _Amounts] = {}
        self._so_far = _Amounts(0, documents, tokens)
        if stage is first:
            self._unit = "bytes"
            self._sizes = sizes(plan)
            self._total = sum(self._sizes)
        else:
            # Later stages of shards process the tokens counted when encoding; tables have no tokens.
            _, tokens = _sums(folder, plan, ((first.name, n) for n in range(len(first.tasks))))
            self._unit = "tokens" if tokens else "tasks"
            self._total = tokens or len(stage.tasks)
            # The tokens of a task are not known before it ends.
            self._sizes = [0 if tokens else 1] * len(stage.tasks)
        if self._unit == "tokens":
            self._so_far.done = self._so_far.tokens
        else:
            self._so_far.done = sum(size for n, size in enumerate(self._sizes) if n not in left)
        self._before = self._so_far.done
        self._workers: dict[str, Worker] = {}

    def take(self, told: Told) -> None:
        """Adds a progress report of a worker."""
        number = told.task[1]
        if number not in self._left:
            # Another worker has ended it, in this run or before.
            self._at_work(told, None, 0)
            return
        size = self._sizes[number]
        if self._unit == "bytes":
            done = size if told.ended else min(told.bytes, size)
        else:
            done = told.tokens if self._unit == "tokens" else int(told.ended)
        most = self._under_way.setdefault(number, _Amounts())
        most.done = max(most.done, done)
        most.documents = max(most.documents, told.documents)
        most.tokens = max(most.tokens, told.tokens)
        if told.ended:
            self._left.remove(number)
            self._so_far.done += most.done
            self._so_far.documents += most.documents
            self._so_far.tokens += most.tokens
            del self._under_way[number]
        self._at_work(told, None if told.ended else number, done, size)

    def _at_work(self, told: Told, task: int | None, done: int, size: int = 0) -> None:
        before = self._workers.get(told.worker)
        ended = (before.ended if before else 0) + told.ended
        idle = task is None
        self._workers[told.worker] = Worker(told.worker, task, 0 if idle else done, 0 if idle else size, ended)

    def state(self, *, ended: bool) -> RunProgress:
        """Progress of the stage."""
        under_way = self._under_way.values()
        return RunProgress(
            phase=self.stage.name,
            done=self._so_far.done + sum(task.done for task in under_way),
            total=self._total,
            seconds=time.perf_counter() - self._start,
            ended=ended,
            unit=self._unit,
            before=self._before,
            documents=self._so_far.documents + sum(task.documents for task in under_way),
            tokens=self._so_far.tokens + sum(task.tokens for task in under_way),
            tasks_done=len(self.stage.tasks) - len(self._left),
            tasks=len(self.stage.tasks),
            workers=tuple(self._workers[name] for name in sorted(self._workers, key=_by_number)),
        )


def sizes(plan: Plan) -> list[int]:
    """The bytes of inputs, as stored, that each task of the first stage reads.

    If portions are not in bytes, each gets an equal share of its input. The sum is the bytes of all inputs.

    Args:
        plan: The plan.
    """
    tasks = plan.stages[0].tasks
    portions: dict[int, list[tuple[Portion, int]]] = {}
    for number, task in enumerate(tasks):
        for portion in task:
            if isinstance(portion, Portion):
                portions.setdefault(portion.input, []).append((portion, number))
    found = [0] * len(tasks)
    for index, cuts in portions.items():
        input = plan.inputs[index]
        for place, (portion, number) in enumerate(cuts):
            if _in_bytes(input):
                end = input.size if portion.end is None else min(portion.end, input.size)
                found[number] += max(end - portion.start, 0)
            else:
                found[number] += input.size * (place + 1) // len(cuts) - input.size * place // len(cuts)
    return found


def _in_bytes(input: Input) -> bool:
    return input.content in ("text", "jsonl") and input.compression is None


def _sums(folder: Path, plan: Plan, tasks: Iterable[TaskName]) -> tuple[int, int]:
    """The documents and tokens of the finished ones among these tasks."""
    documents = tokens = 0
    for task in tasks:
        if entry := ledger.entry(folder, plan, task):
            documents += entry.get("documents", 0)
            tokens += entry.get("tokens", 0)
    return documents, tokens


def _by_number(name: str) -> tuple[int, str]:
    return (int(name), name) if name.isdecimal() else (1 << 62, name)
