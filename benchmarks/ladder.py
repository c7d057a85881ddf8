"""The trainers of the literature and the core, step by step: ``python -m benchmarks.ladder [--quick]``.

V1 to V5 of "Building a Fast BPE Tokenizer from Scratch" on growing corpora and vocabularies (where does V5 overtake
V4?); the effect of compaction on the heap of V5; and the four stages of "Slow Data". From texts to merges, in CPU
seconds of all processes; V3's parallel counting shows only in the wall seconds of counting, in a separate table.

One run with a time stamp per merge has the times of all smaller vocabularies. A run that would take too long is ended:
it has no times beyond that, or one marked with ~, extrapolated from its last merges. The merges that were made must be
the core's, with the same counts, or the table has WRONG.
"""

from __future__ import annotations

import argparse
import lzma
import resource
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import bytepair as bp
from benchmarks import plot
from benchmarks.measure import Report, data_folder
from benchmarks.peers import OURS
from benchmarks.texts import documents, without_data
from bytepair import reference
from bytepair.cli.bench_timing import WRONG
from bytepair.reference import heap, training

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SPLIT = "gpt2"
VERSIONS = ("V1", "V2", "V3", "V4", "V5")
STAGES = {
    "lists": reference.train_naive,
    "linked list": reference.train_linked,
    "positions": reference.train_positions,
    "heap": reference.train_linked_list,
}
PROCESSES = 2
"""Processes that V3 counts with."""


@dataclass(frozen=True)
class Extent:
    """Limits: sizes of corpora in characters, of vocabularies in tokens; seconds for one run; Slow Data."""

    corpora: Sequence[int] = (10_000, 50_000, 200_000, 500_000, 2_000_000)
    vocabularies: Sequence[int] = tuple(range(500, 5_001, 250))
    seconds: float = 15
    slow_characters: int = 1 << 30
    slow_merges: int = 10_000
    slow_seconds: float = 60


NORMAL = Extent()
QUICK = Extent((10_000, 50_000), tuple(range(500, 2_001, 250)), 2, 1_000_000, 1_000, 5)


class _EnoughError(Exception):
    """Ends a run that takes too long."""


@dataclass
class Climb:
    """A run of a trainer: its merges, and the seconds from its start to each of them.

    Attributes:
        merges: The learned merges, as many as there was time for.
        stamps: The time of each merge, and last the end of the run.
        ended: Whether it was stopped early.
    """

    merges: list[training.Merge] = field(default_factory=list)
    stamps: list[float] = field(default_factory=list)
    ended: bool = False

    def at(self, merges: int) -> float | None:
        """The seconds of the first merges, up to a number; None if there was no time for them.

        Example:
            >>> Climb([...], [0.5, 1.0]).at(1), Climb([...], [0.5], ended=True).at(5)
            (1.0, None)
        """
        if merges < len(self.stamps):
            return self.stamps[merges]
        return None if self.ended else self.stamps[-1]

    def extrapolated(self, merges: int) -> float:
        """The seconds of a number of merges if each missing one took as long as the last fifth did.

        Example:
            >>> Climb([...] * 9, [1.0, 2.0, 3.0, 4.0, 5.0, 7.0], ended=True).extrapolated(8)
            13.0
        """
        last = len(self.stamps) - 1
        span = max(1, last // 5)
        pace = (self.stamps[last] - self.stamps[max(0, last - span)]) / span
        return self.stamps[last] + pace * (merges - last)


def cpu() -> float:
    """CPU seconds of this process, and of its finished child processes."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def climb(train: Callable[[], training.Training], seconds: float) -> Climb:
    """Run a readable trainer and time-stamp each merge; it is ended when its time is over."""
    made = Climb()
    record = training.State.record

    def stamped(state: training.State, merge: training.Merge, table: Any) -> None:
        made.stamps.append(cpu() - start)
        if made.stamps[-1] > seconds:
            raise _EnoughError
        made.merges.append(merge)
        record(state, merge, table)

    with mock.patch.object(training.State, "record", stamped):
        start = cpu()
        try:
            train()
            made.stamps.append(cpu() - start)
        except _EnoughError:
            made.ended = True
    return made


def core(texts: Sequence[str], merges: int) -> tuple[list[tuple[bytes, bytes, int]], float]:
    """The core's merges, and the median of its seconds."""
    taken = []
    for _ in range(3):
        start = cpu()
        learned = bp.train_merges(iter(texts), merges, split=SPLIT)
        taken.append(cpu() - start)
    return [*learned], statistics.median(taken)


def counted(train: Callable[..., training.Training], texts: Sequence[str], merges: int, **options: Any) -> Any:
    """Count pieces in one process, as all but V3 do, and learn merges."""
    return train(reference.count_pieces(texts, bp.SPLIT_PATTERNS[SPLIT]), merges, **options)


def versions(texts: Sequence[str], merges: int, processes: int) -> dict[str, Callable[[], training.Training]]:
    """A call for each of V1 to V5."""
    v3 = partial(reference.train_parallel, texts, merges, pattern=bp.SPLIT_PATTERNS[SPLIT], processes=processes)
    trainers = (
        reference.train_naive,
        reference.train_incremental,
        None,
        reference.train_inverted,
        reference.train_heap,
    )
    return {
        name: partial(counted, train, texts, merges) if train else v3
        for name, train in zip(VERSIONS, trainers, strict=True)
    }


def right(made: Climb, expected: Sequence[tuple[bytes, bytes, int]]) -> bool:
    """Whether a run learned the core's merges, as far as it came."""
    return list(made.merges) == list(expected[: len(made.merges)] if made.ended else expected)


def overtaking(slower: Climb, faster: Climb) -> int | None:
    """The first number of merges from which on one run has taken less time than another; None if it never does.

    A run that was stopped early is the slower one.

    Example:
        >>> overtaking(Climb([...] * 3, [1.0, 2.0, 4.0, 6.0]), Climb([...] * 3, [2.0, 3.0, 3.5, 4.0]))
        2
    """
    both = [a <= b for a, b in zip(slower.stamps, faster.stamps, strict=False)]
    first = len(both) - both[::-1].index(True) if True in both else 0
    return first if first < len(faster.stamps) else None


def growing(report: Report, text: str, extent: Extent, *, processes: int = PROCESSES) -> None:
    """A table for each size of corpus, with a row for each size of vocabulary."""
    for characters in extent.corpora:
        texts = documents(text[:characters])
        merges = extent.vocabularies[-1] - 256
        expected, _ = core(texts, merges)
        runs = {name: climb(run, extent.seconds) for name, run in versions(texts, merges, processes).items()}
        wrong: dict[str, float | str] = {name: WRONG for name, made in runs.items() if not right(made, expected)}
        report.head(f"{characters} characters", [OURS, *VERSIONS])
        for tokens in extent.vocabularies:
            if tokens - 256 > len(expected):
                print(f"there are only {len(expected)} merges")
                break
            values: dict[str, float | str] = {OURS: core(texts, tokens - 256)[1], **wrong}
            for name, made in runs.items():
                if name not in wrong and (taken := made.at(tokens - 256)) is not None:
                    values[name] = taken
            report.row(f"{tokens} tokens", values, "s")
        if not {"V4", "V5"} & wrong.keys():
            first = overtaking(runs["V4"], runs["V5"])
            print("V5 never overtakes V4" if first is None else f"V5 has overtaken V4 from {256 + first} tokens on")


def counting(report: Report, text: str, extent: Extent, *, processes: int = PROCESSES) -> None:
    """The idea of V3: wall seconds of counting with one process and with several; the counts must be the same."""
    columns = {"1 process": 1, f"{processes} processes": processes}
    report.head("counting, wall", [*columns])
    for characters in extent.corpora:
        texts = documents(text[:characters])
        expected = reference.count_pieces(texts, bp.SPLIT_PATTERNS[SPLIT])
        values: dict[str, float | str] = {}
        for name, n in columns.items():
            start = time.perf_counter()
            counts = reference.count_pieces(texts, bp.SPLIT_PATTERNS[SPLIT], processes=n)
            values[name] = time.perf_counter() - start if [*counts.items()] == [*expected.items()] else WRONG
        report.row(f"{characters} characters", values, "seconds")


def compaction(report: Report, text: str, extent: Extent) -> None:
    """The heap of V5 with and without compaction, alternating: seconds, most entries, number of rebuilds."""
    texts, merges = documents(text[: extent.corpora[-1]]), extent.vocabularies[-1] - 256
    counts = reference.count_pieces(texts, bp.SPLIT_PATTERNS[SPLIT])
    expected, _ = core(texts, merges)
    merges = len(expected)
    cases = {"compacted": True, "growing": False}
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    wrong: dict[str, float | str] = {}
    longest, rebuilt = dict.fromkeys(cases, 0), dict.fromkeys(cases, 0)
    for name in [*cases] * 3:
        rebuilt[name] = -1  # It is built once in any case.

        class Watched(heap.PairHeap):
            """A heap that records its length and the number of its rebuilds."""

            def pop(self, name: str = name) -> training.Merge | None:
                longest[name] = max(longest[name], len(self.entries))
                return super().pop()

            def compact(self, name: str = name) -> None:
                rebuilt[name] += 1
                super().compact()

        with mock.patch.object(heap, "PairHeap", Watched):
            made = climb(partial(reference.train_heap, counts, merges, compact=cases[name]), extent.slow_seconds)
        seconds[name].append(made.extrapolated(merges))
        if not right(made, expected):
            wrong[name] = WRONG
    report.head(f"the heap of V5, {extent.corpora[-1]} characters, {merges} merges", [*cases])
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    report.row("from counts", {**medians, **wrong}, "seconds")
    report.row("at most", dict(longest), "entries")
    report.row("rebuilt", dict(rebuilt), "times")


def slow_data(report: Report, text: str, extent: Extent) -> None:
    """The four stages of "Slow Data" and the core; runs that took too long are extrapolated and marked with ~."""
    texts, merges = [text[: extent.slow_characters]], extent.slow_merges
    expected, ours = core(texts, merges)
    merges = len(expected)
    report.head(f"Slow Data, {len(texts[0])} characters, {merges} merges", [OURS, *STAGES])
    values: dict[str, float | str] = {OURS: ours}
    made: dict[str, float | str] = {OURS: str(merges)}
    for name, train in STAGES.items():
        run = climb(partial(counted, train, texts, merges), extent.slow_seconds)
        taken = run.extrapolated(merges)
        values[name] = WRONG if not right(run, expected) else f"~{taken:.3g}" if run.ended else taken
        made[name] = str(len(run.merges))
    report.row("all merges", values, "seconds")
    report.row("made", made, "merges")


def _texts(folder: Path | None, work: Path) -> tuple[str, str]:
    """The growing text, and that of "Slow Data"; without the folder, the Python sources for both."""
    if folder is None:
        stdlib = without_data(work).corpora["stdlib"].read_bytes().decode()
        return stdlib, stdlib
    with lzma.open(folder / "corpora" / "en_20mb.txt.xz") as packed:
        english = packed.read(4_000_000).decode(errors="ignore")
    with lzma.open(folder / "corpora" / "fra.txt.xz") as packed:
        return english, packed.read().decode()


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code is 1 if a result was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ladder", description="The trainers of the literature.")
    parser.add_argument("--data", help="the folder of real texts")
    parser.add_argument("--quick", action="store_true", help="small corpora and vocabularies")
    options = parser.parse_args(arguments)
    extent = QUICK if options.quick else NORMAL
    with tempfile.TemporaryDirectory() as work:
        text, slow = _texts(data_folder(options.data), Path(work))
    report = Report("ladder", [OURS])
    growing(report, text, extent)
    counting(report, text, extent)
    compaction(report, text, extent)
    slow_data(report, slow, extent)
    report.save()
    plot.growth(report, "s")
    plot.rates(report, ("seconds",), "-stages.html")
    return int(WRONG in {row["value"] for row in report.rows})


if __name__ == "__main__":
    sys.exit(main())
