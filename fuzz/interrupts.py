"""Ctrl-C at random moments of every long call: KeyboardInterrupt comes, and the tokenizer works on as before.

    python -m fuzz.interrupts --moments 200

prints for each call its time, how often it was interrupted, and the longest time from the signal to the exception.
"""

from __future__ import annotations

import argparse
import random
import signal
import time
from typing import TYPE_CHECKING, Any

import bytepair as bp
from bytepair import lowlevel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COUNTS = {"low low": 5, "lower": 3, "slowest": 2, "aaaa": 4}
WORDS, ONE_WORD = "slower lowest é ", "a"


def tokenizers() -> dict[str, bp.Tokenizer]:
    """One of each way to encode: by pieces, in one piece, by a lattice, by the longest token; with a normalizer."""
    cut = bp.train(COUNTS, vocab_size=262, split="gpt2")
    return {
        "pattern": cut,
        "one piece": bp.train(COUNTS, vocab_size=262, split="none"),
        "normalized": bp.Tokenizer(cut.spec.replace(normalizers=("NFKC", "Lowercase"))),
        "unigram": bp.train_unigram(COUNTS, vocab_size=14),
        "wordpiece": bp.train_wordpiece(COUNTS, vocab_size=30),
    }


def calls(tok: bp.Tokenizer, text: str) -> dict[str, Callable[[], Any]]:
    """Long calls on a text."""
    array = tok.encode_array(text)
    ids = array.tolist()
    half = max(1, len(ids) // 2)

    def grown(growing: bp.Appender) -> int:
        growing.append(text)
        return growing.count()

    return {
        "encode": lambda: tok.encode(text),
        "encode_array": lambda: tok.encode_array(text),
        "encode_batch": lambda: tok.encode_batch([text, text]),
        "count": lambda: tok.count(text),
        "count by one thread": lambda: tok.count(text, threads=1),
        "count_until": lambda: tok.count_until(text, len(ids)),
        "decode": lambda: tok.decode(ids),
        "decode of an array": lambda: tok.decode(array),
        "decode_batch": lambda: tok.decode_batch([ids, ids]),
        "locate": lambda: lowlevel.locate(tok, text),
        "sample": lambda: tok.sample(text, 1, 0.1, seed=1),
        "pieces": lambda: tok.pieces(text),
        "chunks": lambda: tok.chunks(text, 1000),
        "fit": lambda: tok.fit(text, half),
        "fit from the right": lambda: tok.fit(text, half, "right"),
        "index": lambda: tok.index(text),
        "appender": lambda: grown(tok.appender()),
        "encode_parts": lambda: [ids.size for ids in tok.encode_parts([text, text])],
        "decode_stream": lambda: tok.decode_stream().push(ids),
    }


def _interrupted_after(delay: float, call: Callable[[], Any]) -> float | None:
    """The time from the signal to the exception; None if the call ended before the signal."""
    start = time.perf_counter()
    try:
        signal.setitimer(signal.ITIMER_REAL, delay)
        call()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return time.perf_counter() - start - delay
    return None


def sweep(moments: int, size: int, seed: int, only: str = "") -> Iterator[tuple[str, float, int, float]]:
    """Interrupt each call at some moments; yield its name and time, how often it was interrupted, the longest delay."""
    rng = random.Random(seed)
    for kind, tok in tokenizers().items():
        expected = tok.encode(WORDS * 3)
        for unit in (WORDS, ONE_WORD):
            for name, call in calls(tok, unit * (size // len(unit.encode()))).items():
                title = f"{kind}, {name}, {'words' if unit == WORDS else 'one word'}"
                if only not in title:
                    continue
                start = time.perf_counter()
                try:
                    call()
                except bp.EncodeError:
                    continue  # A model that cannot be sampled.
                whole = time.perf_counter() - start
                delays = [_interrupted_after(rng.uniform(1e-4, max(whole, 2e-4)), call) for _ in range(moments)]
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
    options = parser.parse_args()
    # A timer of the system comes also while no other thread can run.
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    worst, interrupted = 0.0, 0
    for title, whole, came, delay in sweep(options.moments, options.size, options.seed, options.only):
        print(f"{title}: {whole:.2f} s, interrupted {came} times, at most {delay:.3f} s late", flush=True)
        worst, interrupted = max(worst, delay), interrupted + came
    print(f"{interrupted} interruptions, at most {worst:.3f} s late")


if __name__ == "__main__":
    main()
