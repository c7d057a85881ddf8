"""What both benchmarks share: results checked before times, interleaved medians, tables, CSV rows, machine facts."""

from __future__ import annotations

import csv
import datetime
import importlib.metadata
import os
import platform
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
OURS = "bytepair"
WRONG = "WRONG"


def data_folder(named: str | None) -> Path | None:
    """The folder of real vocabularies and texts: as named, as in BYTEPAIR_DATA, or beside the repository."""
    named = named or os.environ.get("BYTEPAIR_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    return folder if (folder / "corpora").is_dir() else None


def facts(packages: Iterable[str]) -> dict[str, str]:
    """What a time depends on beside the code."""

    def version(package: str) -> str:
        try:
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
        **{package: version(package) for package in packages},
    }


def plain(result: Any) -> Any:
    """A result as Python's own numbers and lists, whatever the library gave."""
    return result.tolist() if hasattr(result, "tolist") else result


def interleaved(
    runs: Mapping[str, Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.process_time
) -> dict[str, float]:
    """The median seconds of each run, in turns, so that what slows the machine down slows all of them."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            start = clock()
            run()
            times[name].append(clock() - start)
    return {name: statistics.median(taken) for name, taken in times.items()}


@dataclass
class Report:
    """The rows of one benchmark: printed as they come, and kept for the CSV file.

    Args:
        kind: The name of the benchmark.
        libraries: The columns, bytepair first.
    """

    kind: str
    libraries: Sequence[str]
    wrong: bool = False
    rows: list[dict[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.columns = self.libraries
        self.facts = facts(dict.fromkeys([*self.libraries, "numpy"]))
        print(", ".join(f"{name} {value}" for name, value in self.facts.items()))

    def head(self, title: str, columns: Sequence[str] | None = None) -> None:
        """Starts a table, of all libraries unless other columns are named."""
        self.columns = columns or self.libraries
        print(f"\n{title}\n{'':32}" + "".join(f"{name:>12}" for name in self.columns) + f"{'ratio':>9}", flush=True)

    def row(
        self,
        title: str,
        measure: str,
        values: Mapping[str, float | str],
        unit: str,
        *,
        higher_is_better: bool = False,
    ) -> None:
        """Prints a row: a value, or WRONG, for each library, and how many times better bytepair is than the best peer.

        Args:
            title: The table that the row is in.
            measure: What was measured.
            values: Library -> value; a str (WRONG) is printed in place of one.
            unit: Of the values.
            higher_is_better: Whether it is, as for MB/s.
        """
        numbers = {name: value for name, value in values.items() if not isinstance(value, str)}
        peers = [value for name, value in numbers.items() if name != OURS]
        ratio = ""
        if peers and OURS in numbers:
            ours = numbers[OURS]
            ratio = f"{ours / max(peers):.2f}x" if higher_is_better else f"{min(peers) / ours:.2f}x"
        shown = {name: value if isinstance(value, str) else f"{value:.4g}" for name, value in values.items()}
        cells = "".join(f"{shown.get(name, '-'):>12}" for name in self.columns)
        print(f"{f'{measure}, {unit}':32}{cells}{ratio:>9}", flush=True)
        self.wrong |= WRONG in values.values()
        common = {"title": title, "measure": measure, "unit": unit}
        self.rows += [{**common, "library": name, "value": value} for name, value in shown.items()]

    def save(self) -> None:
        """Writes the rows with the facts of the machine to ``build/bench/<date>-<kind>.csv``."""
        date = datetime.datetime.now(tz=datetime.timezone.utc).strftime("%Y-%m-%d")
        path = ROOT / "build" / "bench" / f"{date}-{self.kind}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [{"date": date, **row, **self.facts} for row in self.rows]
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        print(f"\nwritten: {path.relative_to(ROOT)}" + (f"; {WRONG} results" if self.wrong else ""))
