"""Counting in part with every published tokenizer, held to what it may cost: tables of `benchmarks.count`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks import children, published
from benchmarks.counting_worker import BOUNDARIES, ENCODE, FITS, LIMITS, MEASURES, OURS, SIDES
from bytepair.cli.bench_timing import RAISES, WRONG

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchmarks.measure import Pace, Report

CORPORA = ("en_1mb", "code_1mb", "multi_1mb")
BYTES = 1_000_000

BARS: dict[str, tuple[float, str]] = {
    "chunks": (3, "times one encode, for every limit and boundary"),
    "fresh": (3, "times one encode, both for the first time"),
    "fit 2n": (2.2, "t(2n)/t(n), at most"),
    "index": (2, "times one encode, built"),
    "interval": (5, "us, in the mean"),
    "append": (4, "times one encode, by 100 bytes with a count after each"),
}
"""The bars: the most that a figure may be, and its unit."""

PARTS: dict[str, tuple[str, ...]] = {
    "chunks": ("chunks", "fresh"),
    "fit": ("fit",),
    "index": ("index", "interval"),
    "append": ("append", "each"),
    "without": ("bisected", "stride", "again"),
}
"""Groups of measures that can be chosen, by the first words of their names."""

Cell = float | str


def measures_of(parts: Sequence[str], corpus: str) -> list[str]:
    """The measures of some groups, in order; growing byte by byte is for English alone.

    Example:
        >>> measures_of(["index"], "code_1mb")
        ['encode', 'index', 'interval']
    """
    words = {"encode", *(word for part in parts for word in PARTS[part])}
    return [name for name in MEASURES if name.split()[0] in words and (name != "each" or corpus.startswith("en"))]


@dataclass
class Family:
    """One tokenizer on one corpus.

    Attributes:
        name: A name of `published.FILES`.
        corpus: The name of the text.
        found: The numbers of each measure, or what is in the table in place of them.
    """

    name: str
    corpus: str
    found: dict[str, dict[str, float] | str] = field(default_factory=dict)

    def measure(self, path: Path, parts: Sequence[str], pace: Pace, limit: float, size: int) -> None:
        """Run all measures in child processes, a new one after each that takes too long."""
        left = measures_of(parts, self.corpus)
        job = {"tokenizer": self.name, "corpus": str(path), "bytes": size}
        job |= {"repeats": pace.repeats, "seconds": pace.seconds}
        while left:
            stopped = self._until_it_stops(job, left, limit)
            if left:
                self.found[left.pop(0)] = stopped

    def _until_it_stops(self, job: Mapping[str, Any], left: list[str], limit: float) -> str:
        """Take measures off the list as a process makes them; return what stands for the next one, if any is left."""
        try:
            for row in children.lines("benchmarks.counting_worker", {**job, "measures": left}, limit):
                left.pop(0)
                if WRONG in row:
                    print(row[WRONG], flush=True)
                self.found[row.pop("measure")] = WRONG if WRONG in row else row
        except children.OverError:
            return f"> {limit:g} s"
        except children.FailedError as error:
            print(f"{self.name}, {self.corpus}, {left[:1]}: {error}", flush=True)
        return RAISES

    def ratio(self, measure: str) -> Cell:
        """The time of a measure as a multiple of one encode."""
        found = self.found.get(measure, {})
        return found if isinstance(found, str) else found[OURS] / found[ENCODE] if OURS in found else "-"

    def value(self, measure: str, name: str, factor: float = 1) -> Cell:
        """A number of a measure."""
        found = self.found.get(measure, {})
        return found if isinstance(found, str) else found[name] * factor if name in found else "-"

    def fresh(self, limit: int) -> Cell:
        """The time of the first chunks of a tokenizer as a multiple of that of its first encode."""
        found = self.found.get("fresh", {})
        return found if isinstance(found, str) else found[str(limit)] / found[ENCODE] if ENCODE in found else "-"

    def doubling(self, side: str) -> dict[str, Cell]:
        """The time for each limit as a multiple of that for half of it."""
        found = self.found.get(f"fit {side}", {})
        if isinstance(found, str):
            return {str(limit): found for limit in FITS[:1]}
        pairs = [(limit, found.get(f"{limit} long"), found.get(f"{limit // 2} long")) for limit in FITS[1:]]
        return {str(limit): now / before for limit, now, before in pairs if now and before}

    def independence(self, side: str) -> dict[str, Cell]:
        """The time for each limit in the text as a multiple of that in a text of a tenth."""
        found = self.found.get(f"fit {side}", {})
        if isinstance(found, str):
            return {}
        pairs = [(limit, found.get(f"{limit} long"), found.get(f"{limit} short")) for limit in FITS]
        return {str(limit): long / short for limit, long, short in pairs if long and short}

    def worst(self) -> dict[str, Cell]:
        """The largest number of each that is held to; the entry in place of one, if there is any."""
        groups: dict[str, list[Cell]] = {
            "chunks": [self.ratio(f"chunks {limit} {boundary}") for boundary in BOUNDARIES for limit in LIMITS],
            "fresh": [self.fresh(limit) for limit in LIMITS],
            "fit 2n": [value for side in SIDES for value in self.doubling(side).values()],
            "index": [self.ratio("index")],
            "interval": [self.value("interval", OURS, 1e6)],
            "append": [self.ratio("append")],
        }
        return {name: most(values) for name, values in groups.items()}

    def tables(self, report: Report) -> None:
        """A table of all measures."""
        report.head(f"{self.name}, {self.corpus}", [*map(str, LIMITS)])
        report.row("encode", {str(LIMITS[0]): self.value("encode", OURS, 1e3)}, "ms")
        row(report, "encode, the first time", {str(LIMITS[0]): self.value("fresh", ENCODE, 1e3)}, "ms")
        for boundary in BOUNDARIES:
            ratios = {str(limit): self.ratio(f"chunks {limit} {boundary}") for limit in LIMITS}
            row(report, f"chunks, {boundary}", ratios, "of encode")
        row(report, "chunks, the first time", {str(limit): self.fresh(limit) for limit in LIMITS}, "of encode")
        row(report, "found by halves", {str(limit): self.ratio(f"bisected {limit}") for limit in LIMITS}, "of encode")
        row(report, "rows of tokenizers", {str(limit): self.ratio(f"stride {limit}") for limit in LIMITS}, "of encode")
        over = {str(limit): self.value(f"stride {limit}", "over") for limit in LIMITS}
        row(report, "rows of tokenizers", over, "over limit")
        for side in SIDES:
            found = self.found.get(f"fit {side}", {})
            if not found:
                continue
            report.head(f"{self.name}, {self.corpus}, fit {side}", [*map(str, FITS)])
            if isinstance(found, str):
                report.row("a call", {str(FITS[0]): found}, "us")
                continue
            times = {str(limit): found[key] * 1e6 for limit in FITS if (key := f"{limit} long") in found}
            row(report, "a call", times, "us")
            row(report, "a call", self.doubling(side), "t(2n)/t(n)")
            row(report, "a call", self.independence(side), "of in 100 kB")
        report.head(f"{self.name}, {self.corpus}, the rest", ["time", "of encode", "less calls"])
        row(report, "index", {"time": self.value("index", OURS, 1e3), "of encode": self.ratio("index")}, "ms")
        row(report, "index", {"time": self.value("index", "bytes")}, "bytes/byte")
        row(report, "interval", {"time": self.value("interval", OURS, 1e6)}, "us")
        for measure in ("append", "each", "again"):
            if measure in self.found:
                cells = {"time": self.value(measure, OURS, 1e3), "of encode": self.ratio(measure)}
                report.row(measure, {**cells, "less calls": self.less_calls(measure)}, "ms")

    def less_calls(self, measure: str) -> Cell:
        """The same as a multiple of one encode, without what the calls of Python cost by themselves."""
        found = self.found[measure]
        if isinstance(found, str) or "calls" not in found:
            return "-"
        return (found[OURS] - found["calls"]) / found[ENCODE]


def row(report: Report, measure: str, values: Mapping[str, Cell], unit: str) -> None:
    """A row, if there is anything in it."""
    if any(value != "-" for value in values.values()):
        report.row(measure, values, unit)


def most(values: Sequence[Cell]) -> Cell:
    """The largest number; any entry in place of one comes first.

    Example:
        >>> most([1, 3.0, 2]), most([1, "WRONG"]), most(["-", 2]), most([])
        (3.0, 'WRONG', 2, '-')
    """
    said = [value for value in values if isinstance(value, str) and value != "-"]
    numbers = [value for value in values if not isinstance(value, str)]
    return said[0] if said else max(numbers) if numbers else "-"


def tables(
    report: Report,
    folder: Path,
    *,
    names: Sequence[str],
    corpora: Sequence[str],
    parts: Sequence[str],
    pace: Pace,
    limit: float,
    size: int = BYTES,
) -> None:
    """The tables of each tokenizer and corpus, and at last what is held to; names what is over.

    Args:
        report: Gets the rows.
        folder: The data folder.
        names: Names of `published.FILES`; those that are not there are left out.
        corpora: Names of texts.
        parts: Names of `PARTS`.
        pace: How long to measure.
        limit: The most seconds of a measure, its check included.
        size: The bytes of a text that are taken.
    """
    done: list[Family] = []
    for corpus in corpora:
        for name in names:
            if published.path(name) is None:
                print(f"{name} is not measured: there is no {published.FILES[name]}")
                continue
            family = Family(name, corpus)
            family.measure(folder / "corpora" / f"{corpus}.txt", parts, pace, limit, size)
            family.tables(report)
            report.wrong |= any(found in (WRONG, RAISES) for found in family.found.values())
            done.append(family)
    report.head("held to: at most", [*BARS])
    report.row("at most", {name: bar for name, (bar, _) in BARS.items()}, "of encode, us")
    over: list[str] = []
    for family in done:
        worst = family.worst()
        report.row(f"{family.name}, {family.corpus}", worst, "worst")
        over += [f"{family.name}, {family.corpus}: {said}" for said in over_the_bars(worst)]
    print(f"\n{len(over)} over what is held to" + "".join(f"\n  {line}" for line in over), flush=True)


def over_the_bars(worst: Mapping[str, Any]) -> list[str]:
    """The figures over the bars, in words.

    Example:
        >>> over_the_bars({"index": 2.5, "append": 1.0, "interval": "> 60 s"})
        ['index is 2.5, above 2 times one encode, built', 'interval is > 60 s']
    """
    found = []
    for name, value in worst.items():
        bar, of = BARS[name]
        if isinstance(value, str):
            found += [f"{name} is {value}"] if value != "-" else []
        elif value > bar:
            found.append(f"{name} is {value:.2g}, above {bar:g} {of}")
    return found
