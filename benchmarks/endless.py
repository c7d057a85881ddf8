"""One piece of many megabytes, counted in each way: what is not linear, and what needs much memory, shows in one table."""

from __future__ import annotations

import statistics
import subprocess
from typing import TYPE_CHECKING

from benchmarks import core
from bytepair.cli.timing import RAISES, WRONG

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.measure import Report
    from benchmarks.peers import Vocabulary

KINDS = ("letter", "spaces", "lines", "digits", "letters")
"""One letter, spaces, newlines and spaces in turns, random digits, random letters."""

GROWING = ("count", "until", "append", "append-64k", "prepend", "prepend-64k", "index")
"""What goes through the whole piece: its time is that of a byte. `until` has half of the piece's tokens as its limit."""

CALLS = ("interval", "fit", "fit-right")
"""What is one call: an interval at a random place, and the longest part of 1,000 tokens."""

OPERATIONS = (*GROWING, *CALLS)
SIZES = (1_000_000, 10_000_000, 100_000_000)
QUICK_SIZES = (100_000, 1_000_000)

SMALL = 1_000_000
REPEATS = 3
"""How often pieces that are small are measured."""

MOST_SECONDS = 60.0
"""For one process, which checks its result as well. What took longer sits out larger pieces."""

GROWTH = 2.0
"""What takes so many times as long, a byte or a call, on a piece ten times as large, is named."""


def names(size: int) -> str:
    """A size as the table says it.

    Example:
        >>> names(100_000_000), names(100_000)
        ('100 MB', '0.1 MB')
    """
    return f"{size / 1e6:g} MB"


def growth(times: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """How many times as long the largest piece takes as the one before, by operation; of those that took part in both.

    Example:
        >>> growth({"count": [1.0, 2.0, 2.0], "fit": [1.0]})
        {'count': 1.0}
    """
    return {name: row[-1] / row[-2] for name, row in times.items() if len(row) > 1 and row[-2]}


def pieces(report: Report, vocabulary: Vocabulary, split: str, sizes: Sequence[int]) -> None:
    """A table for each kind of piece: times by size, their growth, and bytes at the peak for each byte of the largest.

    Args:
        report: Gets the rows.
        vocabulary: It has a rank file.
        split: The name of a split pattern.
        sizes: Bytes, ascending; the last is so many times the one before as `GROWTH` is meant for.
    """
    for kind in KINDS:
        report.head(f"{vocabulary.name}, one piece, {kind}, split {split}", OPERATIONS)
        times: dict[str, list[float]] = {name: [] for name in OPERATIONS}
        out: dict[str, str] = {}
        for size in sizes:
            peaks = one_size(report, vocabulary, split, kind, size, times, out)
        grown = growth({name: row for name, row in times.items() if len(row) == len(sizes)})
        report.row("growth, last step", grown, "times")
        report.row(f"{names(sizes[-1])}, peak", peaks, "bytes/byte")
        for name, factor in grown.items():
            if factor > GROWTH:
                print(f"not linear: {name} of {kind} takes {factor:.2g} times as long at {names(sizes[-1])}")


def one_size(
    report: Report,
    vocabulary: Vocabulary,
    split: str,
    kind: str,
    size: int,
    times: dict[str, list[float]],
    out: dict[str, str],
) -> dict[str, float]:
    """The rows of one size; appends to `times` and names in `out` who gives up. Returns peaks for each byte of the piece."""
    values: dict[str, float | str] = {}
    peaks: dict[str, float] = {}
    for name in (name for name in OPERATIONS if name not in out):
        try:
            repeats = REPEATS if size <= SMALL else 1
            measured = [core.piece(vocabulary, split, kind, name, size, MOST_SECONDS) for _ in range(repeats)]
        except subprocess.TimeoutExpired:
            out[name] = values[name] = f"> {MOST_SECONDS:g} s"
            print(f"{name} of {kind} at {names(size)} takes more than {MOST_SECONDS:g} s, and sits out what is larger")
            continue
        except core.CoreError as error:
            out[name] = values[name] = RAISES
            report.wrong = True
            print(f"{name} of {kind} at {names(size)}: {error}")
            continue
        seconds = [taken for taken, _ in measured if taken is not None]
        if len(seconds) < len(measured):
            out[name] = values[name] = WRONG
            report.wrong = True
            continue
        middle = statistics.median(seconds)
        values[name] = middle / size * 1e9 if name in GROWING else middle * 1e6
        times[name].append(middle / size if name in GROWING else middle)
        peak = measured[-1][1]
        if peak is not None:
            peaks[name] = peak / size
    report.row(names(size), {name: values[name] for name in GROWING if name in values}, "ns/byte")
    report.row(names(size), {name: values[name] for name in CALLS if name in values}, "us")
    return peaks
