"""Threads for work that would block the server's event loop: few, with a bounded queue and a time limit.

A thread cannot be stopped. So a call that takes too long is answered without waiting for it, and keeps its thread until
it ends: no more threads ever run, whatever is requested.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from bytepair.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

T = TypeVar("T")


class BusyError(LimitError):
    """The server is busy, or a request took too long."""


class PanicError(Exception):
    """A bug in a thread that must not end the server."""


class Workers:
    """A few threads for at most `most` calls, each of at most `seconds`; the error of a slower one has the `remedy`."""

    def __init__(self, threads: int, most: int, seconds: float, remedy: str) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="bytepair-playground")
        self._most = most
        self._seconds = seconds
        self._remedy = remedy
        self._pending = 0
        self._lock = Lock()

    async def run(self, work: Callable[[], T]) -> T:
        """Run `work` in one of the threads; return its result.

        Raises:
            BusyError: Too many wait already, or it took too long.
            PanicError: It raised something else than an `Exception`.
        """
        with self._lock:
            if self._pending >= self._most:
                raise BusyError("the playground is busy", remedy="try again in a moment")
            self._pending += 1
        future = self._pool.submit(_shielded, work)
        future.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)
        # Until Python 3.11 these were two classes.
        except (TimeoutError, asyncio.TimeoutError) as error:
            what = f"this took longer than {self._seconds:g} seconds"
            raise BusyError(what, remedy=self._remedy) from error

    def close(self) -> None:
        """Accept no more calls, and do not wait for running ones."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _done(self, _: Future[T]) -> None:
        with self._lock:
            self._pending -= 1


def _shielded(work: Callable[[], T]) -> T:
    try:
        return work()
    except Exception:
        raise
    except BaseException as error:
        # A panic of the core is one; raised in the loop, it would end the server.
        raise PanicError(f"{type(error).__name__}: {error}") from error
