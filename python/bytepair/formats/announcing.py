"""Tells of files that are fetched from the network: nothing is downloaded in silence on the command line."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_listeners: list[Callable[[str], None]] = []


def announce(what: str) -> None:
    """Tells all listeners."""
    for listener in _listeners:
        listener(what)


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Calls `listener` with a line for each fetch while the block runs.

    Example:
        >>> with listening(print):
        ...     announce("fetching a file")
        fetching a file
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
