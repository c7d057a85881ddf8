"""Tokens across words beside the same vocabulary without them: ``python -m benchmarks.superwords [--write]``.

Both vocabularies are trained on the first half of a corpus and measured on the other half, which neither has seen. The
first pass over it is timed: pieces as long as a line seldom occur twice, so that caches do not help. Decoded text is
compared before anything is printed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import bytepair as bp
from benchmarks import pages
from benchmarks.measure import data_folder, facts
from benchmarks.texts import MB
from benchmarks.train import corpus_file

CORPORA = {"English": "en_20mb", "code": "code_20mb", "multilingual": "multi_20mb"}
FIRST = 0.9
"""The part of the vocabulary that is learned within words."""


class Half(NamedTuple):
    """One vocabulary on unseen text."""

    train_seconds: float
    bytes_per_token: float
    speed: float


def measure(path: Path, unseen: str, vocab_size: int, stages: list[tuple[int, str]]) -> Half:
    """Train on a file, and encode text that is not in it; CPU seconds, bytes per token and MB/s."""
    start = time.process_time()
    tok = bp.train(path, vocab_size, split="gpt2", stages=stages, max_words=4, threads=1)
    trained = time.process_time() - start
    start = time.process_time()
    ids = tok.encode_array(unseen)
    spent = time.process_time() - start
    size = len(unseen.encode())
    if tok.decode(ids) != unseen:
        raise AssertionError("decoding does not return the text")
    return Half(trained, size / len(ids), size / MB / spent)


def table(folder: Path, work: Path, vocab_size: int, size: int) -> str:
    """The table over all corpora; `size` is the number of bytes of each half."""
    lines = [
        "| | bytes per token, words | superwords | tokens saved | training, words, CPU s | superwords | "
        "first pass, words, MB/s | superwords |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, corpus in CORPORA.items():
        text = corpus_file(corpus, folder, work).read_bytes()[: 2 * size]
        half = work / "half.txt"
        half.write_bytes(text[:size].decode(errors="ignore").encode())
        unseen = text[size:].decode(errors="ignore")
        words = measure(half, unseen, vocab_size, [])
        wide = measure(half, unseen, vocab_size, [(int(vocab_size * FIRST), "superwords")])
        saved = 1 - words.bytes_per_token / wide.bytes_per_token
        lines.append(
            f"| {name} | {words.bytes_per_token:.2f} | {wide.bytes_per_token:.2f} | {saved:.0%} | "
            f"{words.train_seconds:.1f} | {wide.train_seconds:.1f} | {words.speed:.0f} | {wide.speed:.0f} |"
        )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code is 1 if there is nothing to measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.superwords", description="Tokens across words.")
    parser.add_argument("--data", help="the folder of real texts and vocabularies")
    parser.add_argument("--vocab-size", type=int, default=32_000, help="the number of tokens (default: 32,000)")
    parser.add_argument("--size", type=float, default=10, help="MB of each half (default: 10)")
    parser.add_argument("--write", action="store_true", help="put the table into docs/superwords.md")
    options = parser.parse_args(arguments)
    folder = data_folder(options.data)
    if folder is None:
        print("there are no real texts: name their folder with --data")
        return 1
    print(", ".join(f"{name} {value}" for name, value in facts(["bytepair"]).items()))
    with tempfile.TemporaryDirectory() as work:
        found = table(folder, Path(work), options.vocab_size, int(options.size * MB))
    print(found)
    if options.write:
        pages.put("superwords.md", "benchmarks.superwords", found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
