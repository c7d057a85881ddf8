"""Threads and forks at once: every call returns what it returns alone.

``python -m fuzz.threads --calls 1000000 --forks 10000``
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

from fuzz.long_calls import tokenizers

if TYPE_CHECKING:
    from collections.abc import Callable

    import bytepair as bp

TEXTS = ("low", "slower lowest", "It's 1234 é日本 ", "aaaa" * 40, "lower low\n" * 30, "")
BATCH = ["slower lowest " * 600] * 9
"""Enough for several threads, which stay for the next call."""

SECONDS_TO_HANG = 60


def _expected() -> list[tuple[Callable[[], Any], Any]]:
    """Short calls of each tokenizer, and what they return."""

    def of(tok: bp.Tokenizer, text: str) -> list[Callable[[], Any]]:
        ids = tok.encode(text)
        return [
            lambda: tok.encode(text),
            lambda: tok.count(text),
            lambda: tok.decode(ids),
            lambda: tok.encode_batch([text, text], threads=2),
            lambda: tok.offsets(text),
            lambda: tok.fit(text, 3),
        ]

    def on_threads(tok: bp.Tokenizer) -> Callable[[], Any]:
        return lambda: tok.encode_batch(BATCH, threads=3)

    calls = [call for tok in tokenizers().values() for text in TEXTS for call in of(tok, text)]
    calls += [on_threads(tok) for tok in tokenizers().values()]
    return [(call, call()) for call in calls]


def in_threads(calls: int, *, threads: int = 64, seed: int = 0) -> int:
    """Make so many calls in all, by many threads at once; return how many there were.

    Raises:
        AssertionError: A call returned something else than alone.
    """
    expected = _expected()
    wrong: list[object] = []
    share = -(-calls // threads)

    def work(number: int) -> None:
        drawn = random.Random(seed * threads + number)
        for _ in range(share):
            call, right = drawn.choice(expected)
            if (got := call()) != right:
                wrong.append((got, right))
                return

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong, wrong[0]
    return share * threads


def _ended(child: int) -> int:
    """The status of a child; one that hangs is killed."""
    end = time.monotonic() + SECONDS_TO_HANG
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("a forked child hangs")


def forks(number: int, *, threads: int = 4, seed: int = 0) -> int:
    """Fork so many children while threads encode; each child makes some calls. Return how many there were.

    Raises:
        AssertionError: A child hung, or a call in it returned something else than alone.
    """
    expected = _expected()
    done = threading.Event()

    def encode(number: int) -> None:
        drawn = random.Random(number)
        while not done.is_set():
            drawn.choice(expected)[0]()

    workers = [threading.Thread(target=encode, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    try:
        drawn = random.Random(seed)
        for _ in range(number):
            some = [*drawn.choices(expected, k=4), drawn.choice(expected[-len(tokenizers()) :])]
            child = os.fork()
            if child == 0:
                # The exit code tells, whatever is raised.
                code = 2
                try:
                    code = int(any(call() != right for call, right in some))
                finally:
                    os._exit(code)
            assert _ended(child) == 0, "a call in a forked child failed, or returned something else"
    finally:
        done.set()
        for worker in workers:
            worker.join()
    return number


def main() -> None:
    """Run with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--forks", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"{in_threads(options.calls, seed=options.seed):,} calls of 64 threads, as alone", flush=True)
    print(f"{forks(options.forks, seed=options.seed):,} forks while 4 threads encode, each child as alone")


if __name__ == "__main__":
    main()
