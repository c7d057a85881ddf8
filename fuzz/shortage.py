"""Memory that fails under every long call: ``python -m fuzz.shortage [--only TITLE] [--failures 20] [--limits 0]``.

An allocator in front of the system's (``failing_malloc.c``, compiled with ``cc``) has the n-th large allocation of a
call fail, for one n after another, alone and with all after it. The call ends in its usual result or in MemoryError,
and then returns its usual result again. Each failure has a child of its own, which a fault may end.

With limits each call is also made in so many limits of address space, from too little to enough (Linux): there small
allocations fail too.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import random
import resource
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import bytepair as bp
from fuzz.interrupts import every_call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LARGE = (4 << 20) + 1
"""In bytes. For less the core has a reserve (`memory.rs`)."""

LEAST_LIMIT, GREATEST_LIMIT = 4 << 20, 1 << 30
"""Bytes of address space beyond what there is before the call."""

SECONDS_TO_HANG = 60

M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8
"""Settings of `mallopt`."""


class Ended(NamedTuple):
    """How a call ended under its failures: the allocations that it made, those that failed, and what that led to."""

    title: str
    allocations: int
    failures: int
    memory_errors: int
    faults: tuple[str, ...]


def preload(folder: Path) -> dict[str, str]:
    """Compile the allocator into a folder; return the environment of a process that uses it."""
    library = folder / "failing_malloc.so"
    source = Path(__file__).with_name("failing_malloc.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    return {**os.environ, "LD_PRELOAD": str(library)}


def in_child(work: Callable[[], str], seconds: float = SECONDS_TO_HANG) -> str:
    """The text that work returns in a child, or how the child ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = work()
        except BaseException as error:
            said = f"{type(error).__name__}: {str(error)[:200]}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], seconds)
    said = os.read(reading, 1000).decode() if ready else "hangs"
    os.close(reading)
    if not ready:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return said or f"ended by {os.waitstatus_to_exitcode(status)}"


def how_it_ends(call: Callable[[], Any], expected: object, give_back: Callable[[], Any]) -> str:
    """Make a call while memory is short, and again when it is not."""
    try:
        got = call()
    except MemoryError:
        got = MemoryError
    give_back()
    if got is not MemoryError and got != expected:
        return "another result"
    if call() != expected:
        return "another result afterwards"
    return "memory" if got is MemoryError else "right"


def in_limits(title: str, call: Callable[[], Any], limits: int) -> Ended:
    """Make a call in children that may take so many bytes more than there are."""
    expected = call()

    def ends(more: int) -> str:
        ctypes.CDLL(None).malloc_trim(0)
        limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + more
        before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
        return how_it_ends(call, expected, lambda: resource.setrlimit(resource.RLIMIT_AS, before))

    step = (GREATEST_LIMIT / LEAST_LIMIT) ** (1 / max(limits - 1, 1))
    tried = [int(LEAST_LIMIT * step**number) for number in range(limits)]
    said = [(more, in_child(lambda more=more: ends(more))) for more in tried]  # type: ignore[misc]
    faults = [f"{more >> 20} MiB: {end}" for more, end in said if end not in ("right", "memory")]
    return Ended(title, 0, len(said), sum(end == "memory" for _, end in said), tuple(faults))


def fail_in_turn(title: str, call: Callable[[], Any], most: int) -> Ended:
    """Have allocations of a call fail: the first ones, and some of the others."""
    own = ctypes.CDLL(None)
    own.failing_malloc.argtypes = [ctypes.c_size_t, ctypes.c_long, ctypes.c_int]
    own.failing_malloc_asked.restype = ctypes.c_long
    expected = call()
    own.failing_malloc(LARGE, 0, 0)
    call()
    asked = own.failing_malloc_asked()
    numbers = list(range(1, asked + 1))
    if asked > most:
        numbers = numbers[: most // 2] + random.Random(title).sample(numbers[most // 2 :], most - most // 2)

    def ends(number: int, all_after: int) -> str:
        own.failing_malloc(LARGE, number, all_after)
        return how_it_ends(call, expected, lambda: own.failing_malloc(LARGE, 0, 0))

    said = [(number, in_child(lambda n=number, a=all_after: ends(n, a))) for number in numbers for all_after in (0, 1)]  # type: ignore[misc]
    faults = [f"allocation {number}: {end}" for number, end in said if end not in ("right", "memory")]
    return Ended(title, asked, len(said), sum(end == "memory" for _, end in said), tuple(faults))


def sweep(size: int, only: str, most: int, limits: int) -> Iterator[Ended]:
    """Run the calls whose title contains a text. The allocator must be loaded."""
    for title, _, call in every_call(size):
        if only not in title:
            continue
        try:
            call()
        except (bp.EncodeError, bp.LimitError):
            continue  # A model that cannot be sampled, or has no chunks.
        yield fail_in_turn(title, call, most)
        if limits:
            yield in_limits(f"{title}, in limits", call, limits)


def main() -> int:
    """Run the sweep in a process that has the allocator."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=6_000_000, help="bytes of each text")
    parser.add_argument("--only", default="", help="calls whose title contains this")
    parser.add_argument("--failures", type=int, default=20, help="failures of one call, times two")
    parser.add_argument("--limits", type=int, default=0, help="limits of address space for each call")
    options = parser.parse_args()
    if "failing_malloc" not in os.environ.get("LD_PRELOAD", ""):
        with tempfile.TemporaryDirectory() as folder:
            again = [sys.executable, "-m", "fuzz.shortage", *sys.argv[1:]]
            return subprocess.run(again, env=preload(Path(folder)), check=False).returncode
    # Freed memory goes back to the system, and threads hold no addresses in reserve: limits count from memory in use.
    ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1 << 17)
    ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)
    failures = faults = 0
    for ended in sweep(options.size, options.only, options.failures, options.limits):
        failures, faults = failures + ended.failures, faults + len(ended.faults)
        print(
            f"{ended.title}: {ended.allocations} large allocations, {ended.failures} failures, "
            f"{ended.memory_errors} times MemoryError",
            *ended.faults,
            sep="\n  ",
            flush=True,
        )
    print(f"{failures} failures, {faults} faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
