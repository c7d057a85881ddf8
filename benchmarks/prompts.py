"""Time of masks, covers and healing: ``python -m benchmarks.prompts [--only NAMES]``, in CPU microseconds a call."""

from __future__ import annotations

import argparse
import statistics
import time
from functools import partial
from typing import TYPE_CHECKING

from benchmarks import published
from benchmarks.measure import data_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    import bytepair as bp

_CALLS = 2000
"""Prompts of a row."""

_LENGTH = 200
"""Characters that have 20 ids in every tokenizer."""


def _microseconds(calls: list[Callable[[], object]]) -> str:
    """The median and the largest time of some calls."""
    times = []
    for call in calls:
        start = time.process_time_ns()
        call()
        times.append((time.process_time_ns() - start) / 1000)
    return f"median {statistics.median(times):,.1f}, longest {max(times):,.0f} us"


def main(arguments: list[str] | None = None) -> int:
    """Measure; print a line a call."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prompts", description="Prompts cut anywhere.")
    parser.add_argument("--only", default="o200k_base", help="names as of benchmarks.published, separated by commas")
    chosen = parser.parse_args(arguments)
    folder = data_folder(None)
    if folder is None:
        parser.error("there is no data folder; set BYTEPAIR_DATA")
    text = (folder / "corpora" / "en_1mb.txt").read_text("utf-8")
    for name in chosen.only.split(","):
        print(name)
        _measure(published.tokenizer(name), text)
    return 0


def _measure(tok: bp.Tokenizer, text: str) -> None:
    start = time.process_time()
    tok.trie()
    print(f"trie: {time.process_time() - start:.3f} s, once")
    start = time.process_time()
    tok.next_mask([])
    print(f"first mask: {time.process_time() - start:.3f} s, once")
    ids = tok.encode(text[:20_000], special="text")
    prompts = [tok.encode(text[at : at + _LENGTH], special="text")[:20] for at in range(0, _CALLS * 4, 4)]
    for name in ("first time", "again"):
        print(f"next_mask of 20 ids, {name}: {_microseconds([partial(tok.next_mask, one) for one in prompts])}")
    print(f"next_mask of 2,000 ids: {_microseconds([partial(tok.next_mask, ids[:2000])] * 50)}")
    texts = [text[at : at + 100] for at in range(0, 100 * 200, 100)]
    print(f"cover of 100 characters: {_microseconds([partial(tok.cover, one) for one in texts])}")
    print(f"the same again: {_microseconds([partial(tok.cover, one) for one in texts])}")
    print(f"heal 20 ids: {_microseconds([partial(tok.heal, one) for one in prompts[:200]])}")
    print(f"heal 2,000 ids: {_microseconds([partial(tok.heal, ids[:2000])] * 50)}")


if __name__ == "__main__":
    raise SystemExit(main())
