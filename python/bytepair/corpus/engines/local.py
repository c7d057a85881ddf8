"""Tasks on this machine: on threads, which the core's work does not keep from one another, or in processes."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from typing import TYPE_CHECKING, Any

from bytepair.corpus import tasks as one
from bytepair.errors import CorpusError

if TYPE_CHECKING:
    from bytepair.corpus.plans import TaskName
    from bytepair.corpus.tasks import Told


class Local:
    """Does tasks on this machine.

    Args:
        workers: How many at a time; None for as many as there are cores.
        processes: Whether each worker is a process: for what Python itself does for each document, such as reading a
            tar. A thread needs less memory, since the tokenizer is there once.
    """

    def __init__(self, workers: int | None = None, *, processes: bool = False) -> None:
        self._workers = workers or _cores()
        self._processes = processes

    def run(self, folder: str, tasks: Sequence[TaskName], told: Callable[[Told], None]) -> None:
        """See `bytepair.corpus.engines.Engine`.

        Raises:
            CorpusError: A process was killed.
        """
        if self._processes:
            self._run_processes(folder, tasks, told)
        else:
            self._run_threads(folder, tasks, told)

    def _run_threads(self, folder: str, tasks: Sequence[TaskName], told: Callable[[Told], None]) -> None:
        left = iter(tasks)
        lock = threading.Lock()
        ended = threading.Event()
        errors: list[BaseException] = []

        def tell(state: Told) -> None:
            if ended.is_set():
                raise _Stopped
            with lock:
                told(state)

        def work(worker: str) -> None:
            try:
                while not ended.is_set():
                    with lock:
                        task = next(left, None)
                    if task is None:
                        return
                    one.run(folder, *task, tell, worker)
            except _Stopped:
                pass
            except BaseException as error:  # noqa: BLE001 (it is raised again where the run was asked for)
                errors.append(error)
                ended.set()

        count = min(self._workers, len(tasks))
        threads = [threading.Thread(target=work, args=(str(n),), daemon=True) for n in range(count)]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                # Without a limit, Ctrl-C would be heard when the thread ends.
                while thread.is_alive():
                    thread.join(0.2)
        finally:
            ended.set()
            for thread in threads:
                thread.join()
        if errors:
            raise errors[0]

    def _run_processes(self, folder: str, tasks: Sequence[TaskName], told: Callable[[Told], None]) -> None:
        left = iter(tasks)
        # Forking a process that has threads is not safe.
        context = get_context("spawn")
        # No lock, which a worker that is killed could keep.
        stop = context.Value("b", 0, lock=False)
        queue = context.SimpleQueue()
        count = min(self._workers, len(tasks))
        pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(queue, stop))
        running: set[Future[None]] = set()

        def listen(seconds: float) -> set[Future[None]]:
            nonlocal running
            done, running = wait(running, timeout=seconds, return_when=FIRST_COMPLETED)
            while not queue.empty():
                told(queue.get())
            return done

        try:
            while True:
                while len(running) < 2 * count and (task := next(left, None)) is not None:
                    running.add(pool.submit(_run_and_tell, folder, task))
                if not running:
                    break
                for future in listen(0.1):
                    future.result()
        except BrokenProcessPool as error:
            raise CorpusError(
                "a worker process was killed",
                file=folder,
                remedy="it may have needed too much memory: take fewer workers, and --resume",
            ) from error
        finally:
            stop.value = 1
            pool.shutdown(wait=False, cancel_futures=True)
            # Workers that have something to tell wait until somebody listens.
            while running:
                listen(0.1)
            pool.shutdown()
            queue.close()


class _Stopped(Exception):  # noqa: N818 (it is no error)
    """Another task has failed, or the run was interrupted."""


_worker: tuple[Any, Any] | None = None
"""In a worker process: where to tell how far it is, and what says that it is to stop."""


def _begin(queue: Any, stop: Any) -> None:
    global _worker  # noqa: PLW0603 (what the pool hands to a process has no other place)
    _worker = queue, stop
    # Ctrl-C reaches all processes of a terminal; the one that placed the tasks says what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    """Ends this process when its parent was killed: nobody would ever tell it to."""
    parent.join()
    os._exit(1)


def _run_and_tell(folder: str, task: TaskName) -> None:
    assert _worker is not None
    queue, stop = _worker

    def tell(state: Told) -> None:
        if stop.value:
            raise _Stopped
        queue.put(state)

    one.run(folder, *task, tell)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
