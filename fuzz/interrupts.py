"""Ctrl-C at random moments of every long call: KeyboardInterrupt comes, and the tokenizer works on as before.

    python -m fuzz.interrupts --moments 200

prints for each call its time, how often it was interrupted, and the longest time from the signal to the exception.
Times are processor time of all threads, which other work on the machine does not change; ``--wall`` takes the clock's.
"""

from __future__ import annotations

import argparse
import random
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import bytepair as bp
from fuzz.long_calls import ONE_WORD, WORDS, calls, chats, tokenizers, trainings, vocabularies

if TYPE_CHECKING:
    from collections.abc import Iterator


class Clock(NamedTuple):
    """A timer, its signal, and the clock that it goes by."""

    timer: int
    signal: int
    now: Callable[[], float]


# A timer of the system comes also while no other thread can run.
WALL = Clock(signal.ITIMER_REAL, signal.SIGALRM, time.perf_counter)
PROCESSOR = Clock(signal.ITIMER_PROF, signal.SIGPROF, time.process_time)


def _interrupted_after(delay: float, call: Callable[[], Any], clock: Clock) -> float | None:
    """The time from the signal to the exception; None if the call ended before the signal."""
    start = clock.now()
    try:
        signal.setitimer(clock.timer, delay)
        call()
        signal.setitimer(clock.timer, 0)
    except KeyboardInterrupt:
        return clock.now() - start - delay
    return None


def _verified(tok: bp.Tokenizer) -> list[str]:
    """The lines of a checklist of `verify` without those of its throughput, which differ from run to run."""
    return [line for line in str(bp.verify(tok)).splitlines() if "throughput" not in line]


def every_call(size: int) -> Iterator[tuple[str, bp.Tokenizer, Callable[[], Any]]]:
    """Each long call of each tokenizer on two texts of so many bytes, training, chats, and calls on vocabularies."""
    for unit, texts in ((WORDS, "words"), (ONE_WORD, "one word")):
        text = unit * (size // len(unit.encode()))
        for kind, tok in tokenizers().items():
            for name, call in calls(tok, text).items():
                yield f"{kind}, {name}, {texts}", tok, call
            if unit == WORDS:
                yield f"{kind}, verify, {texts}", tok, lambda tok=tok: _verified(tok)  # type: ignore[misc]
        for name, call in (trainings(text) | chats(text)).items():
            yield f"{name}, {texts}", tokenizers()["pattern"], call
    for name, call in vocabularies().items():
        yield name, tokenizers()["pattern"], call


def sweep(
    moments: int, size: int, seed: int, only: str = "", clock: Clock = PROCESSOR
) -> Iterator[tuple[str, float, int, float]]:
    """Interrupt each call at some moments; yield its name and time, how often it was interrupted, the longest delay."""
    rng = random.Random(seed)
    for title, tok, call in every_call(size):
        if only not in title:
            continue
        expected = tok.encode(WORDS * 3)
        start = clock.now()
        try:
            call()
        except (bp.EncodeError, bp.LimitError):
            continue  # A model that cannot be sampled, or has no chunks of so few tokens.
        whole = clock.now() - start
        delays = [_interrupted_after(rng.uniform(1e-4, max(whole, 2e-4)), call, clock) for _ in range(moments)]
        if tok.encode(WORDS * 3) != expected:
            raise AssertionError(f"{title}: after an interruption the ids of {WORDS!r} changed")
        came = [delay for delay in delays if delay is not None]
        yield title, whole, len(came), max(came, default=0.0)


def main() -> None:
    """Run the sweep and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=200)
    parser.add_argument("--size", type=int, default=5_000_000, help="bytes of each text")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="calls whose title contains this")
    parser.add_argument("--wall", action="store_true", help="go by the clock, not by processor time")
    options = parser.parse_args()
    clock = WALL if options.wall else PROCESSOR
    signal.signal(clock.signal, signal.default_int_handler)
    worst, interrupted = 0.0, 0
    for title, whole, came, delay in sweep(options.moments, options.size, options.seed, options.only, clock):
        print(f"{title}: {whole:.2f} s, interrupted {came} times, at most {delay:.3f} s late", flush=True)
        worst, interrupted = max(worst, delay), interrupted + came
    print(f"{interrupted} interruptions, at most {worst:.3f} s late")


if __name__ == "__main__":
    main()
