"""Tasks on this machine: on threads (the core releases the GIL) or in processes."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from bytepair.errors import CorpusError
from bytepair.shards import tasks as one

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bytepair.shards.plans import TaskName
    from bytepair.shards.tasks import Told


class Local:
    """Runs tasks on this machine.

    Args:
        workers: The number of tasks that run at a time; None for the number of cores.
        processes: Whether each worker is a process: useful if Python itself works on each document, such as reading a
            tar. Threads need less memory, since they share the tokenizer.
    """

    def __init__(self, workers: int | None = None, *, processes: bool = False) -> None:
        self._workers = workers or _cores()
        self._processes = processes

    def run(self, folder: str, tasks: Sequence[TaskName], told: Callable[[Told], None]) -> None:
        """See `bytepair.shards.engines.Engine`.

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
        ended, changed = threading.Event(), threading.Event()
        gone: list[str] = []
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
            except BaseException as error:
                errors.append(error)
                ended.set()
            finally:
                gone.append(worker)
                changed.set()

        count = min(self._workers, len(tasks))
        threads = [threading.Thread(target=work, args=(str(n),), daemon=True) for n in range(count)]
        started = 0

        def wait_for_all() -> None:
            # Not by joining: Ctrl-C during a join would mark the thread as ended. Without a timeout, Ctrl-C would be
            # handled only when all have ended.
            while True:
                changed.clear()
                if len(gone) >= started:
                    return
                changed.wait(0.2)

        try:
            for thread in threads:
                thread.start()
                started += 1
            wait_for_all()
        finally:
            ended.set()
            wait_for_all()
        if errors:
            raise errors[0]

    def _run_processes(self, folder: str, tasks: Sequence[TaskName], told: Callable[[Told], None]) -> None:
        left = iter(tasks)
        # Forking a process that has threads is not safe.
        context = get_context("spawn")
        # No locks: a killed worker could keep them. Messages are short enough to be written atomically.
        stop = context.Value("b", 0, lock=False)
        reader, writer = context.Pipe(duplex=False)
        count = min(self._workers, len(tasks))
        pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(writer, stop))
        running: set[Future[None]] = set()
        heard: SimpleQueue[Told] = SimpleQueue()
        # Ctrl-C in the middle of a message would break the framing of the pipe; threads do not receive it.
        over = threading.Event()
        listener = threading.Thread(target=_listen, args=(reader, heard, over), daemon=True)
        listener.start()
        try:
            while True:
                with _uninterrupted():
                    while len(running) < 2 * count and (task := next(left, None)) is not None:
                        running.add(pool.submit(_run_and_tell, folder, task))
                if not running:
                    break
                done, running = wait(running, timeout=0.1, return_when=FIRST_COMPLETED)
                while not heard.empty():
                    told(heard.get())
                for future in done:
                    future.result()
        except BrokenProcessPool as error:
            raise CorpusError(
                "a worker process was killed",
                file=folder,
                remedy="it may have needed too much memory: use fewer workers, and go on with resume=True",
                cli_remedy="it may have needed too much memory: use fewer --workers, and go on with --resume",
            ) from error
        finally:
            stop.value = 1
            pool.shutdown(cancel_futures=True)
            over.set()
            listener.join()
            reader.close()
            writer.close()
        while not heard.empty():
            told(heard.get())


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Blocks Ctrl-C, if the system supports it, while processes start; they inherit the block."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _listen(reader: Any, heard: SimpleQueue[Told], over: threading.Event) -> None:
    """Receives the progress of workers until they have ended."""
    with suppress(EOFError, OSError):
        while reader.poll(0 if over.is_set() else 0.05) or not over.is_set():
            while reader.poll(0):
                heard.put(reader.recv())


class _Stopped(Exception):  # noqa: N818 (not an error)
    """Another task has failed, or the run was interrupted."""


_worker: tuple[Any, Any] | None = None
"""In a worker process: the pipe for its progress, and the event that stops it."""


def _begin(writer: Any, stop: Any) -> None:
    global _worker  # noqa: PLW0603 (an initializer of a pool can only set globals)
    _worker = writer, stop
    # Ctrl-C reaches all processes of a terminal; the parent decides how to react.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    """Ends this process when its parent has been killed and cannot stop it."""
    parent.join()
    os._exit(1)


def _run_and_tell(folder: str, task: TaskName) -> None:
    assert _worker is not None
    writer, stop = _worker

    def tell(state: Told) -> None:
        if stop.value:
            raise _Stopped
        writer.send(state)

    one.run(folder, *task, tell)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
