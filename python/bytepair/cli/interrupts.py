"""What Ctrl-C does to long work: it ends soon, and says what is saved."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from bytepair.training.interrupted import TrainingInterrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def interruptible(hint: Callable[[], str] = str) -> Iterator[None]:
    """Says that nothing is saved, and a hint, when Ctrl-C ends what has nothing to show yet."""
    try:
        yield
    except KeyboardInterrupt as error:
        if isinstance(error, TrainingInterrupted) and error.merges:
            raise
        raise KeyboardInterrupt(f"interrupted; nothing is saved{hint()}") from error
