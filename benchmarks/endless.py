"""One piece of many megabytes, counted in each way: reports operations that are not linear or need much memory."""

from __future__ import annotations

import statistics
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmarks import core
from bytepair.cli.bench_timing import RAISES, WRONG

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.measure import Report
    from benchmarks.peers import Vocabulary

KINDS = ("letter", "spaces", "lines", "digits", "letters")
"""One letter, spaces, alternating newlines and spaces, random digits, random letters."""

GROWING = ("count", "until", "append", "append-64k", "prepend", "prepend-64k", "index")
"""Operations on the whole piece, timed per byte. The limit of `until` is half of the piece's tokens."""

CALLS = ("interval", "fit", "fit-right")
"""Operations timed per call: an interval at a random place, and the longest part of 1,000 tokens."""

OPERATIONS = (*GROWING, *CALLS)
SIZES = (1_000_000, 10_000_000, 100_000_000)
QUICK_SIZES = (100_000, 1_000_000)

SMALL = 1_000_000
REPEATS = 3
"""Repeats for small pieces."""

MOST_SECONDS = 120.0
"""Time limit of one process, which also checks its result. Operations that exceed it skip larger pieces."""

GROWTH = 2.0
"""An operation is reported if its time per byte or call grows by this factor on a piece ten times as large."""


def said(size: int) -> str:
    """Format a size for the table.

    Example:
        >>> said(100_000_000), said(100_000)
        ('100 MB', '0.1 MB')
    """
    return f"{size / 1e6:g} MB"


def growth(times: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Time on the largest piece divided by that on the one before, by operation; only operations that ran on both.

    Example:
        >>> growth({"count": [1.0, 2.0, 2.0], "fit": [1.0]})
        {'count': 1.0}
    """
    return {name: row[-1] / row[-2] for name, row in times.items() if len(row) > 1 and row[-2]}


@dataclass
class Piece:
    """One kind of piece, of growing size.

    Attributes:
        report: Gets the rows.
        vocabulary: It has a rank file.
        split: The name of a split pattern.
        kind: The content of the piece.
        times: Times per byte or per call, by operation: a value for each size so far.
        out: Operations that exceeded the limit.
    """

    report: Report
    vocabulary: Vocabulary
    split: str
    kind: str
    times: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in OPERATIONS})
    out: set[str] = field(default_factory=set)

    def one_size(self, size: int) -> dict[str, float]:
        """The rows of one size; returns peaks per byte of the piece."""
        values: dict[str, float | str] = {}
        peaks: dict[str, float] = {}
        for name in (name for name in OPERATIONS if name not in self.out):
            measured = self.measure(name, size)
            if isinstance(measured, str):
                self.out.add(name)
                values[name] = measured
                self.report.wrong |= measured in (WRONG, RAISES)
                continue
            seconds, peak = measured
            self.times[name].append(seconds / size if name in GROWING else seconds)
            values[name] = self.times[name][-1] * (1e9 if name in GROWING else 1e6)
            if peak is not None:
                peaks[name] = peak / size
        for names, unit in ((GROWING, "ns/byte"), (CALLS, "us")):
            self.report.row(said(size), {name: values[name] for name in names if name in values}, unit)
        return peaks

    def measure(self, name: str, size: int) -> tuple[float, int | None] | str:
        """Seconds and peak bytes; or the table's entry in place of them."""
        case = (self.split, self.kind, name)
        about = f"{name} of {self.kind} at {said(size)}"
        try:
            repeats = REPEATS if size <= SMALL else 1
            measured = [core.piece(self.vocabulary, case, size, MOST_SECONDS) for _ in range(repeats)]
        except subprocess.TimeoutExpired:
            print(f"{about}: takes more than {MOST_SECONDS:g} s with its check, and sits out what is larger")
            return f"> {MOST_SECONDS:g} s"
        except core.CoreError as error:
            print(f"{about}: {error}")
            return RAISES
        seconds = [taken for taken, _ in measured if taken is not None]
        return (statistics.median(seconds), measured[-1][1]) if len(seconds) == repeats else WRONG


def pieces(report: Report, vocabulary: Vocabulary, split: str, sizes: Sequence[int]) -> None:
    """A table for each kind of piece: times by size, their growth, and bytes at the peak for each byte of the largest.

    Args:
        report: Gets the rows.
        vocabulary: It has a rank file.
        split: The name of a split pattern.
        sizes: Bytes, ascending.
    """
    for kind in KINDS:
        report.head(f"{vocabulary.name}, one piece, {kind}, split {split}", OPERATIONS)
        piece = Piece(report, vocabulary, split, kind)
        peaks: dict[str, float] = {}
        for size in sizes:
            peaks = piece.one_size(size)
        grown = growth({name: row for name, row in piece.times.items() if len(row) == len(sizes)})
        report.row("growth, last step", grown, "times")
        report.row(f"{said(sizes[-1])}, peak", peaks, "bytes/byte")
        for name, factor in grown.items():
            if factor > GROWTH:
                print(f"not linear: {name} of {kind} takes {factor:.2g} times as long at {said(sizes[-1])}")
