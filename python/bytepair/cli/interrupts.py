"""What Ctrl-C does to long work: it ends soon, and says what is saved."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bytepair.errors import TrainingInterrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from bytepair.progress import Progress, Report


@contextmanager
def interruptible(hint: Callable[[], str] = str) -> Iterator[None]:
    """Says that nothing is saved, and a hint, when Ctrl-C ends what has nothing to show yet."""
    try:
        yield
    except KeyboardInterrupt as error:
        if isinstance(error, TrainingInterrupted) and error.merges:
            raise
        raise KeyboardInterrupt(f"interrupted; nothing is saved{hint()}") from error


@contextmanager
def between_batches(report: Report | None) -> Iterator[Report]:
    """A report of progress in which Ctrl-C raises while merges are learned; at other times it raises at once.

    Merges come in batches, and a report follows each. Python raises wherever it stands: if that is where a batch is
    taken, the batch is lost and the later ones make no sense.
    """
    merging = pressed = False

    def tell(state: Progress) -> None:
        nonlocal merging, pressed
        merging = state.phase == "merge" and not state.ended
        if report:
            report(state)
        if pressed:
            pressed = False
            raise KeyboardInterrupt

    def press(_number: int, _frame: FrameType | None) -> None:
        nonlocal pressed
        if not merging:
            raise KeyboardInterrupt
        pressed = True

    # Other threads cannot change this, and whoever ignores it (as a shell does for jobs in the background) means it.
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield tell
        return
    signal.signal(signal.SIGINT, press)
    try:
        yield tell
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
