"""Threads for what would keep the server's loop from answering: few, with a queue that ends, and a limit on time.

A thread cannot be stopped. So what runs too long is answered for without waiting for it, and goes on to hold its place
among the few: more than these never run, whatever is asked for.
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
    """The server has too much to do, or what was asked for took too long."""


class PanicError(Exception):
    """Something that no thread may end the server with: a bug."""


class Workers:
    """A few threads.

    Args:
        threads: How many.
        most: How many calls may run or wait at a time.
        seconds: How long a caller waits at most.
        remedy: What to do about what takes longer.
    """

    def __init__(self, threads: int, most: int, seconds: float, remedy: str) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="bytepair-playground")
        self._most = most
        self._seconds = seconds
        self._remedy = remedy
        self._pending = 0
        self._lock = Lock()

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` returns, of one of the threads.

        Raises:
            BusyError: Too many wait already, or it took too long.
            PanicError: It raised what is no `Exception`.
        """
        with self._lock:
            if self._pending >= self._most:
                raise BusyError("the playground has too much to do", remedy="try again in a moment")
            self._pending += 1
        future = self._pool.submit(_shielded, work)
        future.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)
        # Until Python 3.11 these were two.
        except (TimeoutError, asyncio.TimeoutError) as error:
            what = f"this took longer than {self._seconds:g} seconds"
            raise BusyError(what, remedy=self._remedy) from error

    def close(self) -> None:
        """Takes no more calls, and does not wait for those that run."""
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
