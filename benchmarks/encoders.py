"""The encoders of the literature on text without pieces, as the README of the `bpe` crate measures them.

``python -m benchmarks.encoders [--quick]``: random tokens are decoded, and slices of 10, 100, 1,000 and 10,000 of them
are encoded, each as one piece. The exact encoders must agree before a time is printed; for the others the table also
has their number of ids.
"""

from __future__ import annotations

import argparse
import functools
import random
import sys
from typing import TYPE_CHECKING, Any

import bytepair as bp
from benchmarks import plot
from benchmarks.choose import add_choice, chosen
from benchmarks.measure import Report, data_folder
from benchmarks.peers import PUBLISHED
from benchmarks.texts import trained
from bytepair.cli.bench_timing import WRONG, medians

if TYPE_CHECKING:
    from collections.abc import Sequence

ENCODERS = ("naive", "heap", "table", "backtrack", "greedy", "minimal")
SIZES = (10, 100, 1_000, 10_000)
SLICES = 10
"""Slices of each size in one run."""

SLOW = {"naive": 1_000}
"""Quadratic encoders skip longer slices, which would take all of the time."""


def slices(tok: bp.Tokenizer, tokens: int) -> list[bytes]:
    """Slices of a random text, each the bytes of the given number of random tokens.

    Example:
        >>> tok = bp.train({"low": 5}, vocab_size=258)
        >>> len(slices(tok, 10)), min(map(len, slices(tok, 10))) >= 10
        (10, True)
    """
    choice = random.Random(tokens)
    vocabulary = tok.spec.byte_pair.tokens
    return [b"".join(choice.choices(vocabulary, k=tokens)) for _ in range(SLICES)]


def encoded(encoder: Any, pieces: Sequence[bytes]) -> list[list[int]]:
    """The ids of each piece."""
    return [list(encoder.encode_piece(piece)) for piece in pieces]


def compare(report: Report, tok: bp.Tokenizer, tokens: int, *, repeats: int) -> None:
    """Rows for one size: microseconds per slice, and tokens per hundred of the exact ones."""
    pieces = slices(tok, tokens)
    made: dict[str, Any] = {name: tok.encoder(name) for name in ENCODERS}  # not there yet
    taking = {name: one for name, one in made.items() if tokens <= SLOW.get(name, tokens)}
    for name in made.keys() - taking.keys():
        print(f"{name} sits out {tokens} tokens: it is quadratic")
    given = {name: encoded(one, pieces) for name, one in taking.items()}
    expected = next(given[name] for name, one in taking.items() if one.exact)
    values: dict[str, float | str] = {}
    for name, rows in given.items():
        spells = [b"".join(map(tok.token_bytes, ids)) for ids in rows] == pieces
        if not spells or (taking[name].exact and rows != expected):
            values[name] = WRONG
    runs = {name: functools.partial(encoded, one, pieces) for name, one in taking.items() if name not in values}
    seconds = medians(runs, repeats=repeats, seconds=1)
    values |= {name: taken / len(pieces) * 1e6 for name, taken in seconds.items()}
    report.row(f"{tokens} tokens", values, "us")
    exact = sum(map(len, expected))
    lengths = {name: sum(map(len, given[name])) / exact * 100 for name in runs if not taking[name].exact}
    if lengths:
        report.row(f"{tokens} tokens, given for 100 of the exact", lengths, "ids")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code is 1 if a result was wrong, or if there are no encoders yet."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.encoders", description="The six encoders, on one piece."
    )
    parser.add_argument("--data", help="the folder of real vocabularies")
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    add_choice(parser, "--vocabulary", PUBLISHED, "only these vocabularies")
    options = parser.parse_args(arguments)
    folder = data_folder(options.data)
    names = chosen(parser, "--vocabulary", options.vocabulary, PUBLISHED) if folder else ["trained"]
    report = Report("encoders", ENCODERS)
    for name in names:
        tok = bp.get_encoding(name, folder=folder / "vocabs" / "openai") if folder else trained()
        report.head(f"{name}, one piece")
        for tokens in SIZES:
            compare(report, tok, tokens, repeats=3 if options.quick else 9)
    report.save()
    plot.growth(report)
    return int(WRONG in {row["value"] for row in report.rows})


if __name__ == "__main__":
    sys.exit(main())
