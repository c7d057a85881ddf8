"""Progress of long work: a bar on a terminal, JSON lines, or a callable."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of one phase of the work.

    Attributes:
        phase: ``"count"`` (bytes of text), ``"merge"`` (merges), ``"verify"`` (bytes of files), or the stage of a run,
            see `RunProgress`.
        done: Bytes or merges so far.
        total: Bytes or merges in all, if known.
        seconds: Time since the phase began.
        ended: Whether the phase has ended, with or without an error.
    """

    phase: str
    done: int
    total: int | None
    seconds: float
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Worker:
    """The progress of a worker.

    Attributes:
        name: The name of the worker.
        task: The number of its task in the stage; None between tasks.
        done: The finished part of the task, in the unit of the phase.
        total: The size of the task; 0 if unknown.
        ended: The tasks of the stage that it has finished.
    """

    name: str
    task: int | None
    done: int
    total: int
    ended: int


@dataclass(frozen=True, slots=True)
class RunProgress(Progress):
    """The progress of one stage of a run over a corpus.

    Attributes:
        unit: The unit of `done` and `total`: ``"bytes"`` of the inputs as they are stored, ``"tokens"`` or ``"tasks"``.
        before: The part of `done` that was finished when this run began or resumed; rates are over the rest.
        documents: Documents so far.
        tokens: Tokens of these documents.
        tasks_done: Committed tasks.
        tasks: All tasks.
        workers: The progress of each worker.
    """

    unit: str = "bytes"
    before: int = 0
    documents: int = 0
    tokens: int = 0
    tasks_done: int = 0
    tasks: int = 0
    workers: tuple[Worker, ...] = ()


Report = Callable[[Progress], None]

# Many small files would report too often.
_LEAST_SECONDS = 0.04
# A run can take days.
_SECONDS_PER_LINE = 1.0


def reporter(progress: bool | str | Report) -> Report | None:
    """The callable for each `Progress`.

    Args:
        progress: True for a bar on stderr if that is a terminal, ``"json"`` for JSON lines on stderr, a callable,
            or False for none.

    Raises:
        ValueError: It is something else.
    """
    if callable(progress):
        return progress
    if progress == "json":
        return lines(sys.stderr)
    if isinstance(progress, bool):
        return bar(sys.stderr) if progress and sys.stderr.isatty() else None
    raise ValueError(f'progress={progress!r} is unknown; use True, False, "json" or a callable')


def lines(stream: TextIO) -> Report:
    """Writes a line of JSON for each state; for a run at most one a second, and the first and last of each phase."""
    last: tuple[str, float] | None = None

    def write(state: Progress) -> None:
        nonlocal last
        if isinstance(state, RunProgress):
            if last and last[0] == state.phase and state.seconds - last[1] < _SECONDS_PER_LINE and not state.ended:
                return
            last = state.phase, state.seconds
        print(json.dumps(asdict(state)), file=stream, flush=True)

    return write


def bar(stream: TextIO) -> Report:
    """Draws and redraws one line per phase, as wide as the terminal; the line ends with the phase."""

    def draw(state: Progress) -> None:
        # The last column stays free: a terminal may wrap when it is filled. The rest of a longer line is erased after
        # the new one is written, since an empty line in between would flicker.
        stream.write(f"\r{line(state, _columns(stream) - 1)}\033[K" + ("\n" if state.ended else ""))
        stream.flush()

    return draw


def line(state: Progress, width: int) -> str:
    """A bar of at most `width` characters: as many facts as fit, and the bar itself if there is room.

    Example:
        >>> line(Progress("merge", 500, 2000, 4.0), 60)
        ' merge   500 of 2,000  25%  |###         |  0:12 left  125/s'
        >>> line(Progress("merge", 500, 2000, 4.0), 40)
        ' merge   500 of 2,000  25%  0:12 left'
        >>> state = RunProgress("encode", 40_000_000, 160_000_000, 4.0, documents=20_000, tokens=9_000_000)
        >>> line(state, 79)
        'encode  25%  0:12 left  10 MB/s  20.0k documents  9.00M tokens'
    """
    is_run = isinstance(state, RunProgress)
    facts = _run_facts(state) if isinstance(state, RunProgress) else _facts(state)
    # By the width alone: a bar that changed with the numbers would flicker. A run has more facts than other phases.
    room = 24 if width >= (110 if is_run else 90) else 12
    if state.ended or state.total is None or (is_run and width < 90):
        return _fitting(facts, width)
    share = min(state.done / max(state.total, 1), 1.0)
    barred = [facts[0], f"|{'#' * round(share * room):<{room}}|", *facts[1:]]
    return _fitting(barred if is_run or len("  ".join(barred)) <= width else facts, width)


def _facts(state: Progress) -> list[str]:
    scale, unit = (1e6, " MB") if state.phase in ("count", "verify") else (1.0, "")
    rate = state.done / state.seconds if state.seconds > 0 else 0.0
    done = _amount(state.done, scale)
    speed = f"{_amount(rate, scale)}{unit}/s"
    if state.ended or state.total is None:
        return [f"{state.phase:>6} {done}{unit}", _clock(state.seconds, tenths=True), speed]
    total = _amount(state.total, scale)
    share = min(state.done / max(state.total, 1), 1.0)
    left = [f"{_clock(max(state.total - state.done, 0) / rate)} left"] if rate else []
    return [f"{state.phase:>6} {done:>{len(total)}} of {total}{unit} {share:4.0%}", *left, speed]


def _run_facts(state: RunProgress) -> list[str]:
    here = state.done - state.before
    rate = here / state.seconds if state.seconds > 0 else 0.0
    if state.unit == "bytes":
        done, speed = f"{_amount(state.done, 1e6)} MB", f"{_amount(rate, 1e6)} MB/s"
    else:
        # Below one a second the rate is left out.
        done, speed = f"{short(state.done)} {state.unit}", f"{short(rate)} {state.unit}/s" if rate >= 1 else ""
    amounts = [speed] if speed and (here or not state.ended) else []
    amounts += [f"{short(state.documents)} documents"] if state.documents else []
    amounts += [f"{short(state.tokens)} tokens"] if state.tokens and state.unit != "tokens" else []
    if state.ended or state.total is None:
        return [f"{state.phase:>6} {done}", _clock(state.seconds, tenths=True), *amounts]
    share = min(state.done / max(state.total, 1), 1.0)
    left = [f"{_clock(max(state.total - state.done, 0) / rate)} left"] if rate > 0 else []
    workers = [
        f"{worker.name}: #{worker.task}" + (f" {worker.done / worker.total:.0%}" if worker.total else "")
        for worker in state.workers
        if worker.task is not None
    ]
    return [f"{state.phase:>6} {share:4.0%}", *left, *amounts, *workers]


def short(value: float) -> str:
    """A number in a few characters.

    Example:
        >>> short(9_999), short(12_345), short(6_789_012), short(2.5e12)
        ('9,999', '12.3k', '6.79M', '2.50T')
    """
    if value < 9_999.5:
        return f"{value:,.0f}"
    power = 0
    while value >= 999.5 and power < 4:
        value /= 1000
        power += 1
    return f"{value:,.{max(2 - len(str(int(value))) + 1, 0)}f}{' kMGT'[power]}"


def short_bytes(value: float) -> str:
    """A number of bytes in a few characters.

    Example:
        >>> short_bytes(900), short_bytes(6_789_012)
        ('900 B', '6.79 MB')
    """
    shown = short(value)
    return f"{shown[:-1]} {shown[-1]}B" if shown[-1:].isalpha() else f"{shown} B"


def _fitting(facts: list[str], width: int) -> str:
    while len(facts) > 1 and len("  ".join(facts)) > width:
        facts = facts[:-1]
    return "  ".join(facts)[: max(width, 0)]


def _amount(value: float, scale: float) -> str:
    return f"{value / scale:,.1f}" if scale > 1 and value < 10 * scale else f"{value / scale:,.0f}"


def _clock(seconds: float, *, tenths: bool = False) -> str:
    if tenths and seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _columns(stream: TextIO) -> int:
    try:
        # A terminal that does not know its width reports 0.
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return shutil.get_terminal_size().columns


class Phase:
    """One phase under way, as a context manager: turns the core's plain numbers into `Progress`."""

    def __init__(self, report: Report | None, phase: str, total: int | None) -> None:
        self._report = report
        self._phase = phase
        self._total = total
        self._before = 0
        self._done = 0
        self._start = time.perf_counter()
        self._told = -_LEAST_SECONDS

    def tell(self, done: int) -> None:
        """Reports the progress of the current part, unless a report was made just before."""
        self._done = self._before + done
        self._tell(ended=False)

    def next_part(self) -> None:
        """Begins the next part: its progress is added to that of the parts before."""
        self._before = self._done

    def _tell(self, *, ended: bool) -> None:
        seconds = time.perf_counter() - self._start
        if self._report and (ended or seconds - self._told >= _LEAST_SECONDS):
            self._told = seconds
            self._report(Progress(self._phase, self._done, self._total, seconds, ended))

    def __enter__(self) -> Self:
        self._tell(ended=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tell(ended=True)
