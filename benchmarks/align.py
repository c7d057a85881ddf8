"""Time of `align` beside encoding with both tokenizers: ``python -m benchmarks.align``.

CPU time of calls that take turns, on text that both have seen. A ratio is the median of pairs.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import TYPE_CHECKING

import numpy as np

import bytepair as bp
from benchmarks.measure import data_folder

if TYPE_CHECKING:
    from pathlib import Path

_CALLS = 11
_CORPORA = ("en", "code", "multi")
_O200K = "openai/o200k_base.tiktoken"
_PAIRS = (
    ("gpt2/tokenizer.json", _O200K),
    ("gpt-neox/tokenizer.json", "llama2/tokenizer.json"),
    ("llama2/tokenizer.json", _O200K),
    ("mistral/tokenizer_v0.3.json", "gpt2/tokenizer.json"),
    ("bert-base-uncased/vocab.txt", "t5-small/tokenizer.json"),
    ("bert-base-uncased/vocab.txt", _O200K),
    ("clip/tokenizer.json", "gpt2/tokenizer.json"),
)


def _load(path: Path) -> bp.Tokenizer:
    if path.suffix == ".tiktoken":
        return bp.get_encoding(path.stem, folder=path.parent)
    return bp.Tokenizer.from_file(path)


def _name(path: str) -> str:
    return "o200k" if path == _O200K else path.split("/", maxsplit=1)[0]


def _ratio(text: bytes, a: bp.Tokenizer, b: bp.Tokenizer) -> tuple[float, float]:
    """How many times as long `align` takes as encoding with both; its nanoseconds for each token of both."""
    ratios, spent, tokens = [], [], 0
    for _ in range(_CALLS):
        start = time.process_time_ns()
        ids = [one.encode_array(text, special="text") for one in (a, b)]
        encoded = time.process_time_ns()
        found = bp.align(text, a, b, special="text")
        aligned = time.process_time_ns()
        assert all(np.array_equal(one, side.ids) for one, side in zip(ids, (found.a, found.b), strict=True))
        assert found.places[-1, 1] <= len(text)
        tokens = sum(map(len, ids))
        ratios.append((aligned - encoded) / (encoded - start))
        spent.append((aligned - encoded) / tokens)
    return statistics.median(ratios), statistics.median(spent)


def main(arguments: list[str] | None = None) -> int:
    """Measure; print a line for each pair of tokenizers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.align", description="Aligning two tokenizations.")
    parser.add_argument("--characters", type=int, help="of each corpus; default: the megabyte")
    chosen = parser.parse_args(arguments)
    folder = data_folder(None)
    if folder is None:
        parser.error("there is no data folder; set BYTEPAIR_DATA")
    texts = {name: (folder / "corpora" / f"{name}_1mb.txt").read_text("utf-8") for name in _CORPORA}
    for pair in _PAIRS:
        a, b = (_load(folder / "vocabs" / name) for name in pair)
        shown = []
        for name, text in texts.items():
            ratio, spent = _ratio(text[: chosen.characters].encode(), a, b)
            shown.append(f"{name} {ratio:.2f} ({spent:.0f} ns)")
        print(f"{' and '.join(map(_name, pair))}: {', '.join(shown)}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
