"""Tasks on this machine: on threads, which the core's work does not keep from one another, or in processes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TYPE_CHECKING

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
        with context.Manager() as manager, ProcessPoolExecutor(self._workers, mp_context=context) as pool:
            queue = manager.Queue()
            running: set[Future[None]] = set()

            def drain() -> None:
                while not queue.empty():
                    told(queue.get())

            try:
                while True:
                    while len(running) < 2 * self._workers and (task := next(left, None)) is not None:
                        running.add(pool.submit(_run_and_tell, folder, task, queue))
                    if not running:
                        break
                    done, running = wait(running, timeout=0.1, return_when=FIRST_COMPLETED)
                    drain()
                    for future in done:
                        future.result()
            except BrokenProcessPool as error:
                raise CorpusError(
                    "a worker process was killed",
                    file=folder,
                    remedy="it may have needed too much memory: take fewer workers, and --resume",
                ) from error
            finally:
                pool.shutdown(cancel_futures=True)
                drain()


class _Stopped(Exception):  # noqa: N818 (it is no error)
    """Another task has failed, or the run was interrupted."""


def _run_and_tell(folder: str, task: TaskName, queue: object) -> None:
    one.run(folder, *task, queue.put)  # type: ignore[attr-defined]  # a proxy, whose class has no public name


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
