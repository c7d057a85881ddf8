"""The message when Ctrl-C ends long work: what is saved, and how to resume."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from bytepair.training.interrupted import TrainingInterrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def interruptible(hint: Callable[[], str] = str) -> Iterator[None]:
    """On Ctrl-C before there is a result, reports that nothing is saved, and a hint."""
    try:
        yield
    except KeyboardInterrupt as error:
        if isinstance(error, TrainingInterrupted) and error.merges:
            raise
        raise KeyboardInterrupt(f"interrupted; nothing is saved{hint()}") from error
