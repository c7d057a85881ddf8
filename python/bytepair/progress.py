"""How long work tells how far it is: a bar on a terminal, JSON lines, or a call."""

from __future__ import annotations

import json
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
    """Draws one line per phase, over and over; the line ends when the phase does."""

    def draw(state: Progress) -> None:
        rate = state.done / state.seconds if state.seconds > 0 else 0.0
        scale, unit = (1e6, "MB") if state.phase == "count" else (1.0, "merges")
        line = f"{state.phase:>6} {state.done / scale:,.0f} {unit}, {rate / scale:,.0f}/s"
        if state.total and not state.ended:
            share = min(state.done / state.total, 1.0)
            left = (state.total - state.done) / rate if rate else 0.0
            line = f"{line} |{'#' * round(share * 24):<24}| {share:4.0%} {left:,.0f} s left"
        stream.write(f"\r\033[K{line}" + ("\n" if state.ended else ""))
        stream.flush()

    return draw


class Phase:
    """One phase under way, as a context: turns the core's plain numbers into `Progress`."""

    def __init__(self, report: Report | None, phase: str, total: int | None) -> None:
        self._report = report
        self._phase = phase
        self._total = total
        self._before = 0
        self._done = 0
        self._start = time.perf_counter()

    def tell(self, done: int) -> None:
        """Reports that so much is done in the part under way."""
        self._done = self._before + done
        self._tell(ended=False)

    def next_part(self) -> None:
        """What is told from now on comes on top of what was told before."""
        self._before = self._done

    def _tell(self, *, ended: bool) -> None:
        if self._report:
            seconds = time.perf_counter() - self._start
            self._report(Progress(self._phase, self._done, self._total, seconds, ended))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tell(ended=True)
