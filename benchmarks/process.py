"""A process and all that it starts, measured from outside: seconds, and the memory of the whole tree.

python -m benchmarks.process COMMAND ...
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.peers import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

INTERVAL = 0.25


@dataclass(frozen=True)
class Ran:
    """The cost of a process.

    Attributes:
        wall: Seconds from start to end.
        cpu: Seconds of it and of the child processes that it waited for, user and system.
        peak: MB of memory of the whole tree, sampled; pages that processes share are divided among them. 0 where the
            system does not report it.
        out: Its output, stderr included.
    """

    wall: float
    cpu: float
    peak: float
    out: str


class FailedError(Exception):
    """A process ended with an error; the message is its last output."""


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Ran:
    """Run a command to its end.

    Raises:
        FailedError: Its exit code is not 0.
    """
    start = time.perf_counter()
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=os.environ | dict(environment or {})
    ) as process:
        ended = threading.Event()
        peaks = [0.0]
        watcher = threading.Thread(target=_watch, args=(process.pid, ended, peaks))
        watcher.start()
        out = process.stdout.read().decode(errors="replace") if process.stdout else ""
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        ended.set()
        watcher.join()
    if process.returncode:
        raise FailedError("".join(out.splitlines()[-1:])[:300] or f"exit code {process.returncode}")
    return Ran(wall, used.ru_utime + used.ru_stime, max(peaks), out)


def _watch(pid: int, ended: threading.Event, peaks: list[float]) -> None:
    while not ended.wait(INTERVAL):
        peaks.append(sum(map(_memory, tree(pid))))


def tree(pid: int) -> list[int]:
    """A process and all its descendants, as far as the system reports them."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # Behind the name, which may be anything, in parentheses: the state and the parent.
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:  # noqa: PERF203 (it has ended meanwhile)
            continue
    found = [pid]
    for parent in found:
        found += [child for child, other in parents.items() if other == parent]
    return found


def _memory(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("Pss:")), 0)


if __name__ == "__main__":
    ran = run(sys.argv[1:])
    print(ran.out + f"{ran.wall:.2f} s, {ran.cpu:.2f} s of CPU time, {ran.peak:.0f} MB")
