"""Child processes that report line by line, each line within a time: what hangs is told, and ended."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from typing import IO, TYPE_CHECKING, Any

from benchmarks.peers import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class OverError(Exception):
    """A child wrote no line within the time that each has."""


class FailedError(Exception):
    """A child ended with an error; the message is its last output."""


def lines(module: str, job: Mapping[str, Any], seconds: float) -> Iterator[dict[str, Any]]:
    """The lines of JSON that a module writes as a process of its own.

    Args:
        module: A module that reads a job, in JSON, from stdin.
        job: The job.
        seconds: The most seconds from one line to the next. Loading counts for the first.

    Raises:
        OverError: A line took longer; the process is ended.
        FailedError: The process failed.
    """
    command = [sys.executable, "-m", module]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as child:
        written: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        errors: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        readers = [
            threading.Thread(target=_read, args=(stream, to), daemon=True)
            for stream, to in ((child.stdout, written), (child.stderr, errors))
        ]
        for reader in readers:
            reader.start()
        if child.stdin is not None:
            child.stdin.write(json.dumps(job))
            child.stdin.close()
        try:
            while (line := _next(written, seconds)) is not None:
                yield json.loads(line)
            code = child.wait(seconds)
        finally:
            child.kill()  # Its time is over, or nobody wants more; or it has ended.
            for reader in readers:
                reader.join()
    if code:
        said = [line for line in iter(errors.get, None) if line.strip()]
        raise FailedError(said[-1].strip()[:300] if said else f"exit code {code}")


def _read(stream: IO[str] | None, to: queue.SimpleQueue[str | None]) -> None:
    for line in stream or ():
        to.put(line)
    to.put(None)


def _next(written: queue.SimpleQueue[str | None], seconds: float) -> str | None:
    try:
        return written.get(timeout=seconds)
    except queue.Empty:
        raise OverError from None
