"""The connections of the playground: silent ones are closed, and never keep others out.

A browser keeps some connections open that it may use later, and anybody can open many and send nothing. Such a
connection has a limit of time for a whole request, and the oldest one makes room for a new one where there are many.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

MOST = 128
"""Connections at a time."""

SECONDS = 10.0
"""The time for the head of a request, from the connection on or from its first byte."""


class Connection(H11Protocol):
    """A connection of uvicorn with a limit of time for the head of each request."""

    most = MOST
    seconds = SECONDS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base class
        """Begin to wait for the first request; close a silent connection if there are too many."""
        self._timer: asyncio.TimerHandle | None = None
        self._since = monotonic()
        super().connection_made(transport)
        self._make_room()
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take data; a request that is whole ends the wait."""
        super().data_received(data)
        if self._is_answering():
            self._wait_no_longer()
        elif self._timer is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the wait."""
        self._wait_no_longer()
        super().connection_lost(exc)

    def _is_answering(self) -> bool:
        """Whether a request came, and its answer has not been sent."""
        cycle: Any = self.cycle  # None before the first request
        return cycle is not None and not cycle.response_complete

    def _wait(self) -> None:
        self._timer = self.loop.call_later(self.seconds, self._close_if_silent)

    def _wait_no_longer(self) -> None:
        self._since = monotonic()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_if_silent(self) -> None:
        self._timer = None
        if not self._is_answering():
            self.transport.abort()

    def _make_room(self) -> None:
        """Close the connections that have been silent for longest until there are few enough, if there are such."""
        silent: list[Any] = [
            other
            for other in self.connections
            if other is not self and isinstance(other, Connection) and not other._is_answering()
        ]
        silent.sort(key=lambda other: other._since, reverse=True)
        while len(self.connections) >= self.most and silent:
            oldest = silent.pop()
            # The base class does it as well, a moment later.
            self.connections.discard(oldest)
            oldest.transport.abort()
