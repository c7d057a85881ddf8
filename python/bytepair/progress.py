"""How long work tells how far it is: a bar on a terminal, JSON lines, or a call."""

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
    """How far one phase of the work is.

    Attributes:
        phase: ``"count"`` (bytes of text) or ``"merge"`` (merges).
        done: How many bytes or merges.
        total: How many there will be, if known.
        seconds: Time since the phase began.
        ended: Whether this is the phase's last word, however it ended.
    """

    phase: str
    done: int
    total: int | None
    seconds: float
    ended: bool = False


Report = Callable[[Progress], None]

# Of many small files each has something to tell.
_LEAST_SECONDS = 0.04


def reporter(progress: bool | str | Report) -> Report | None:
    """The call to make with each `Progress`.

    Args:
        progress: True for a bar on stderr if that is a terminal, ``"json"`` for JSON lines on stderr, a call of your
            own, or False for none.

    Raises:
        ValueError: It is none of these.
    """
    if callable(progress):
        return progress
    if progress == "json":
        return lambda state: print(json.dumps(asdict(state)), file=sys.stderr, flush=True)
    if isinstance(progress, bool):
        return bar(sys.stderr) if progress and sys.stderr.isatty() else None
    raise ValueError(f'progress={progress!r} is unknown; use True, False, "json" or a callable')


def bar(stream: TextIO) -> Report:
    """Draws one line per phase, over and over, as wide as the terminal is; the line ends when the phase does."""

    def draw(state: Progress) -> None:
        # The last column stays free: a terminal that has filled it may have gone to the next line. What is left of a
        # longer line goes after the new one is there, since an empty line in between would flicker.
        stream.write(f"\r{line(state, _columns(stream) - 1)}\033[K" + ("\n" if state.ended else ""))
        stream.flush()

    return draw


def line(state: Progress, width: int) -> str:
    """What a bar of at most so many characters shows: as many facts as fit, and the bar itself if all of them do.

    Example:
        >>> line(Progress("merge", 500, 2000, 4.0), 60)
        ' merge   500 of 2,000  25%  |###         |  0:12 left  125/s'
        >>> line(Progress("merge", 500, 2000, 4.0), 40)
        ' merge   500 of 2,000  25%  0:12 left'
    """
    scale, unit = (1e6, " MB") if state.phase == "count" else (1.0, "")
    rate = state.done / state.seconds if state.seconds > 0 else 0.0
    done = _amount(state.done, scale)
    speed = f"{_amount(rate, scale)}{unit}/s"
    if state.ended or state.total is None:
        return _fitting([f"{state.phase:>6} {done}{unit}", _clock(state.seconds, tenths=True), speed], width)
    total = _amount(state.total, scale)
    share = min(state.done / max(state.total, 1), 1.0)
    left = [f"{_clock(max(state.total - state.done, 0) / rate)} left"] if rate else []
    facts = [f"{state.phase:>6} {done:>{len(total)}} of {total}{unit} {share:4.0%}", *left, speed]
    # By the width alone: a bar that grew and shrank with the numbers would flicker.
    room = 24 if width >= 90 else 12
    barred = "  ".join([facts[0], f"|{'#' * round(share * room):<{room}}|", *facts[1:]])
    return barred if len(barred) <= width else _fitting(facts, width)


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
        # A terminal that does not know its width says 0.
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return shutil.get_terminal_size().columns


class Phase:
    """One phase under way, as a context: turns the core's plain numbers into `Progress`."""

    def __init__(self, report: Report | None, phase: str, total: int | None) -> None:
        self._report = report
        self._phase = phase
        self._total = total
        self._before = 0
        self._done = 0
        self._start = time.perf_counter()
        self._told = -_LEAST_SECONDS

    def tell(self, done: int) -> None:
        """Reports that so much is done in the part under way, unless something was reported just before."""
        self._done = self._before + done
        self._tell(ended=False)

    def next_part(self) -> None:
        """What is told from now on comes on top of what was told before."""
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
