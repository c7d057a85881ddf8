"""Time of `PrefixCache` on a million tokens with a new tail of a thousand: ``python -m benchmarks.prefix_cache``.

CPU milliseconds a call, from Python, each result compared with `encode`.
"""

from __future__ import annotations

import argparse
import statistics
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import bytepair as bp
from benchmarks.measure import data_folder

if TYPE_CHECKING:
    from collections.abc import Callable

_TEXT = 4_300_000
_TAIL = 4_300
_CALLS = 30


def _milliseconds(call: Callable[[], object]) -> tuple[float, object]:
    start = time.process_time_ns()
    result = call()
    return (time.process_time_ns() - start) / 1e6, result


def _measure(name: str, tok: bp.Tokenizer, source: str | bytes) -> None:
    """Print the times for one kind of text."""
    cache = bp.PrefixCache(tok)
    begun = (source * (_TEXT // len(source) + 1))[:_TEXT]
    cache.encode(begun)
    times: dict[str, list[float]] = {"encode": [], "count": [], "without": []}
    for number in range(_CALLS):
        tail = source[number * _TAIL : (number + 1) * _TAIL]
        text = begun + tail  # type: ignore[operator]
        spent, ids = _milliseconds(partial(cache.encode, text))
        times["encode"].append(spent)
        spent, count = _milliseconds(partial(cache.count, text))
        times["count"].append(spent)
        spent, expected = _milliseconds(partial(tok.encode_array, text))
        times["without"].append(spent)
        assert isinstance(ids, np.ndarray)
        assert isinstance(expected, np.ndarray)
        assert np.array_equal(ids, expected)
        assert count == len(expected)
    shown = ", ".join(f"{what} {statistics.median(each):.2f} ({min(each):.2f})" for what, each in times.items())
    print(f"{name}: {shown} ms; {cache.figures()}")


def main(arguments: list[str] | None = None) -> int:
    """Measure; print a line for each kind of text: median and best."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prefix_cache", description="A cache of ids.")
    parser.add_argument("--ranks", default="openai/o200k_base.tiktoken", help="a rank file of the data folder")
    chosen = parser.parse_args(arguments)
    folder = data_folder(None)
    if folder is None:
        parser.error("there is no data folder; set BYTEPAIR_DATA")
    tok = bp.Tokenizer.from_file(folder / "vocabs" / chosen.ranks, special_tokens={})
    text = (folder / "corpora" / "en_1mb.txt").read_text("utf-8")
    _measure("bytes", tok, text.encode())
    _measure("str of ASCII", tok, text.encode("ascii", "ignore").decode())
    _measure("str", tok, text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
