"""Shared by all benchmarks: results checked before times, interleaved medians, tables, CSV rows, machine facts."""

from __future__ import annotations

import csv
import datetime
import importlib.metadata
import os
import platform
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.peers import LIBRARIES, OURS, ROOT
from bytepair.cli.bench_timing import PANIC, RAISES, WRONG, medians, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


@dataclass(frozen=True)
class Pace:
    """Limits of a measurement: the number of repeats, and the seconds for one cell of a table."""

    repeats: int
    seconds: float


QUICK = Pace(repeats=5, seconds=0.1)
NORMAL = Pace(repeats=15, seconds=0.25)


def data_folder(named: str | None) -> Path | None:
    """The folder of real vocabularies and texts: as passed, from BYTEPAIR_DATA, or next to the repository."""
    named = named or os.environ.get("BYTEPAIR_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    return folder if (folder / "corpora").is_dir() else None


def facts(libraries: Iterable[str]) -> dict[str, str]:
    """The conditions of a time: the machine (not its name) and the versions."""

    def version(library: str) -> str:
        package = LIBRARIES[library].package if library in LIBRARIES else library
        try:
            if package == "tokenizers-1":
                beside = importlib.metadata.distributions(name="tokenizers", path=[str(ROOT / "build" / "peers")])
                return next((found.version for found in beside), "missing")
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return "missing"

    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.is_file() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": models[0] if models else platform.processor() or platform.machine(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        **{library: version(library) for library in libraries},
    }


@dataclass
class Report:
    """The rows of one benchmark: printed as they are measured, and kept for the CSV file.

    Args:
        kind: The name of the benchmark.
        libraries: The columns, bytepair first.
    """

    kind: str
    libraries: Sequence[str]
    wrong: bool = False
    title: str = ""
    rows: list[dict[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.columns = self.libraries
        self.started = datetime.datetime.now(tz=datetime.timezone.utc)
        self.facts = facts(dict.fromkeys([*self.libraries, "numpy"]))
        print(", ".join(f"{name} {value}" for name, value in self.facts.items()))

    def head(self, title: str, columns: Sequence[str] | None = None) -> None:
        """Start a table, of all libraries unless other columns are named."""
        self.title, self.columns = title, columns or self.libraries
        names = "".join(f"{name[:12]:>13}" for name in self.columns)
        print(f"\n{title}\n{'':32}{names}{'ratio':>9}", flush=True)

    def row(
        self,
        measure: str,
        values: Mapping[str, float | str],
        unit: str,
        *,
        higher_is_better: bool = False,
    ) -> None:
        """Print a row: a value, or WRONG, for each library, and bytepair's ratio to the best peer.

        Args:
            measure: The measured quantity.
            values: Library -> value; a str (WRONG) is printed in place of one.
            unit: Unit of the values.
            higher_is_better: Whether higher values are better, as for MB/s.
        """
        numbers = {name: value for name, value in values.items() if not isinstance(value, str)}
        peers = [value for name, value in numbers.items() if not name.startswith(OURS)]
        ratio = ""
        if peers and OURS in numbers:
            ours = numbers[OURS]
            ratio = f"{ours / max(peers):.2f}x" if higher_is_better else f"{min(peers) / ours:.2f}x"
        shown = {name: value if isinstance(value, str) else f"{value:.4g}" for name, value in values.items()}
        cells = "".join(f"{shown.get(name, '-'):>13}" for name in self.columns)
        print(f"{f'{measure}, {unit}':32}{cells}{ratio:>9}", flush=True)
        self.wrong |= values.get(OURS) in (WRONG, PANIC, RAISES)
        common = {"title": self.title, "measure": measure, "unit": unit, "ratio": ratio.removesuffix("x")}
        self.rows += [{**common, "library": name, "value": value} for name, value in shown.items()]
        if self.rows:
            self._keep()  # At once: a peer may end the process.

    def place(self, suffix: str) -> Path:
        """``build/bench/<date>T<time>-<kind><suffix>``, so that no run replaces another; creates the folder."""
        path = ROOT / "build" / "bench" / f"{self.started:%Y-%m-%dT%H%M%S}-{self.kind}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _keep(self) -> None:
        """Write the rows so far, with the facts of the machine, to the CSV file."""
        rows = [{"date": f"{self.started:%Y-%m-%d}", **row, **self.facts} for row in self.rows]
        with self.place(".csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    def save(self) -> None:
        """Print the path of the rows, and the libraries with wrong results."""
        if not self.rows:
            print("\nnothing was measured")
            return
        bad = sorted({row["library"] for row in self.rows if row["value"] in (WRONG, PANIC, RAISES)})
        wrong = f"; not right everywhere: {', '.join(bad)}" if bad else ""
        print(f"\nwritten: {self.place('.csv').relative_to(ROOT)}{wrong}")


def timed(
    report: Report,
    measure: str,
    runs: Mapping[str, Callable[[], Any]],
    expected: Any,
    pace: Pace,
    *,
    megabytes: float | None = None,
    calls: int = 1,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, float]:
    """One row: checks the result of each library, then times those that are right.

    Args:
        report: Gets the row.
        measure: The measured quantity.
        runs: A call for each library.
        expected: The expected result of each.
        pace: How long to measure.
        megabytes: The size of the text: the row is MB/s. Without it the row is seconds, or microseconds of one call.
        calls: The number of calls in a run, which returns the result of the last.
        clock: The clock that times it.

    Returns:
        The seconds of one call by library.
    """
    verdicts = {name: verdict(run, expected) for name, run in runs.items()}
    right = {name: run for name, run in runs.items() if not verdicts[name]}
    taken = medians(right, repeats=pace.repeats, seconds=pace.seconds, clock=clock)
    seconds = {name: time / calls for name, time in taken.items()}
    bad: dict[str, float | str] = {name: bad for name, bad in verdicts.items() if bad}
    if megabytes is not None:
        rates = {name: megabytes / taken for name, taken in seconds.items()}
        report.row(measure, {**rates, **bad}, "MB/s", higher_is_better=True)
    elif calls > 1:
        report.row(measure, {**{name: taken * 1e6 for name, taken in seconds.items()}, **bad}, "us")
    else:
        report.row(measure, {**seconds, **bad}, "s")
    return seconds
