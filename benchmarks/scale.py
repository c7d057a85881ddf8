"""The cost of terabytes, computed from measured megabytes: ``python -m benchmarks.scale [--only TABLE] [--write]``.

*rates*: parts of a run and whole tasks, on one core. *plans*: plans and ledgers of up to 400,000 tasks. *counts*: the
tree of counts tables over 512 shards of real text, by the tasks of a run; and over 24 copies of it with other pieces,
so that tables are large. *terabytes*: the arithmetic for 1, 10 and 100 TB, from the other three, which it needs.

Long because each figure of the last table is next to its formula.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bytepair as bp
from benchmarks import pages, scale_counts, scale_plans, scale_rates
from benchmarks.choose import add_choice, chosen
from benchmarks.measure import data_folder, facts
from benchmarks.shard_corpora import DELIMITER, corpus, cut
from benchmarks.texts import MB
from benchmarks.train import corpus_file
from bytepair.shards.spooling import _HELD_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

TABLES = ("rates", "plans", "counts", "terabytes")
TASK = 256 << 20
TREE = 8
TB = 10**12
CORES = (64, 1000)
FITTED = 4
"""Heaps' law is fitted to the largest sizes only: its exponent falls as text grows."""


@dataclass
class Rates:
    """The results of `rates`: CPU milliseconds per MB of text, unless stated otherwise."""

    parts: dict[str, float]
    encode: float
    shuffle: float
    spool: float
    pair: float
    ids: float
    between: float
    wall: dict[str, float]


def rates(folder: Path, work: Path, megabytes: int) -> Rates:
    """Parts and whole tasks over a mixed corpus of documents of 2 kB, with o200k_base."""
    tok = bp.get_encoding("o200k_base", folder=folder / "vocabs" / "openai")
    data = corpus_file("mixed_100mb", folder, work).read_bytes()
    made = corpus("mixed", data, 2_000, megabytes * MB)
    place = work / "rates"
    place.mkdir()
    files = made.write(place)
    parts = dict(scale_rates.parts(made, files, tok, place))
    size = made.size / MB
    plain = scale_rates.whole(files["text"], tok, place / "out", delimiter=DELIMITER)
    mixed = scale_rates.whole(files["text"], tok, place / "out", delimiter=DELIMITER, shuffle=True)
    task = made.size // scale_rates.FINE
    fine = scale_rates.whole(files["text"], tok, place / "out", delimiter=DELIMITER, shuffle=True, task_size=task)
    pairs = fine.tasks**2 - mixed.tasks**2
    wall = {"encode": plain.stages.wall["encode"] / size * 1e3, "shuffle": mixed.stages.wall["shuffle"] / size * 1e3}
    return Rates(
        parts,
        plain.stages.cpu["encode"] / size * 1e3,
        mixed.stages.cpu["shuffle"] / size * 1e3,
        mixed.stages.cpu["encode"] / size * 1e3,
        max(fine.stages.cpu["shuffle"] - mixed.stages.cpu["shuffle"], 0) / pairs,
        plain.ids / made.size,
        mixed.between / made.size,
        wall,
    )


def rates_table(found: Rates) -> str:
    """The table of rates."""
    rows = [
        *((part, value) for part, value in found.parts.items()),
        ("a whole task of `encode`, text to bin", found.encode),
        ("the same, its documents for a shuffle", found.spool),
        ("a whole task of `shuffle`", found.shuffle),
    ]
    lines = ["| Part | CPU ms/MB |", "|---|---|", *(f"| {name} | {value:.2f} |" for name, value in rows)]
    lines += [
        "",
        "| | |",
        "|---|---|",
        f"| ids of 32 bits, bytes for a byte of text | {found.ids:.2f} |",
        f"| files between the two stages, bytes for a byte of text | {found.between:.2f} |",
        f"| a pair of a task of `encode` and one of `shuffle`, in the latter | {found.pair * 1e6:.0f} microseconds |",
    ]
    return "\n".join(lines)


Plans = dict[int, dict[str, dict[str, float]]]


def plans_found(work: Path, sizes: Sequence[int]) -> Plans:
    """Plans of the given numbers of tasks."""
    found = {}
    for tasks in sizes:
        place = work / f"plan-{tasks}"
        place.mkdir()
        found[tasks] = scale_plans.measure(place, tasks)
    return found


def plans_table(found: Plans) -> str:
    """The table of plans, and the costs of the ledger and the inputs."""
    head = "| Tasks | to plan, s | `plan.json`, MB | a worker reads it, s | and holds, MB |\n|---|---|---|---|---|"
    rows = [
        f"| {tasks:,} | {row['plan']['seconds']:.2f} | {row['plan']['bytes'] / MB:.1f} | "
        f"{row['load']['seconds']:.2f} | {row['load']['own']:.0f} |"
        for tasks, row in found.items()
    ]
    last = [*found.values()][-1]
    entry, inputs = last["ledger"], last["find"]
    more = [
        "| | |",
        "|---|---|",
        f"| an entry of the ledger | {entry['bytes'] / 1e3:.1f} kB |",
        f"| to write one, fsync included | {entry['write'] * 1e3:.1f} ms |",
        f"| to read one | {entry['read'] * 1e3:.2f} ms |",
        f"| to find an input, local | {inputs['find'] * 1e6:.0f} microseconds |",
        f"| to read the footer of a Parquet file, local | {inputs['cut'] * 1e6:.0f} microseconds |",
    ]
    return "\n".join([head, *rows, "", *more])


@dataclass
class Tables:
    """The results of `counts`.

    Attributes:
        levels: Levels of the tree over real text.
        copies: Levels of the tree over copies with other pieces; `spilled`: its last level again, in little memory.
        train: The cost of training on the last table.
        law: Heaps' law over all sizes, and over the largest.
        points: The points of the fit.
    """

    levels: dict[str, dict[str, Any]]
    copies: dict[str, dict[str, Any]]
    spilled: dict[str, dict[str, Any]]
    train: dict[str, Any]
    law: tuple[float, float]
    points: list[tuple[int, int]]

    @property
    def last(self) -> dict[str, Any]:
        """The level that adds up the largest tables."""
        return [*self.copies.values()][-1]

    def rows(self, size: float, exponent: float | None = None) -> float:
        """The number of distinct pieces in a number of bytes, extrapolated from the largest measured size."""
        known, pieces = self.points[-1]
        power: float = (size / known) ** (self.law[1] if exponent is None else exponent)
        return pieces * power

    @property
    def seconds_a_row(self) -> float:
        """CPU seconds for each row that the last level of the large tree read."""
        before = [*self.copies.values()][-2]
        return float(self.last["cpu"] / before["rows"])

    @property
    def memory_a_row(self) -> float:
        """Bytes of memory for each row of the sum, without a limit."""
        return float((self.last["peak"] - self.last["imported"]) * MB / self.last["rows"])

    @property
    def file_a_row(self) -> float:
        """Bytes on disk for each row of a table."""
        return float(self.last["bytes"] / self.last["rows"])

    @property
    def train_a_row(self) -> float:
        """Bytes of training memory for each row of its table."""
        return float(self.train["peak"] * MB / self.train["rows"])


def counts_found(folder: Path, work: Path, shards: int, copies: int) -> Tables:
    """Count real text in shards, and modified copies of it, and add up their tables."""
    text = corpus_file("mixed_100mb", folder, work).read_bytes()
    real, large = work / "real", work / "large"
    for place in (real, large):
        place.mkdir()
    scale_counts.write_slices(cut(text, 2_000), real, shards)
    points = [(size, pieces) for size, pieces in scale_counts.step("heaps", real)["points"]]
    levels = scale_counts.tree(real)
    scale_counts.write_copies(text, large, copies)
    found = scale_counts.tree(large)
    train = scale_counts.step("train", large)
    again = work / "again"
    again.mkdir()
    for path in large.glob("*.txt"):
        path.rename(again / path.name)
    spilled = scale_counts.tree(again, memory=256 * MB)
    return Tables(levels, found, spilled, train, scale_counts.fit(points[-FITTED:]), points)


def counts_table(found: Tables) -> str:
    """The levels of both trees, and the law."""
    lines = [
        "| | Tables | Rows | MB | rows read | CPU microseconds a row read | peak, MB |",
        "|---|---|---|---|---|---|---|",
    ]
    trees = {
        "real text": found.levels,
        "copies with other pieces": found.copies,
        'the same, `memory="256MB"`': found.spilled,
    }
    for title, levels in trees.items():
        before = 0
        for name, level in levels.items():
            read = f"{before:,} | {level['cpu'] / before * 1e6:.2f}" if before else " | "
            shown = f"{level['rows']:,} | {level['bytes'] / MB:.1f}"
            lines.append(f"| {title}: `{name}` | {level['tasks']} | {shown} | {read} | {level['peak']:.0f} |")
            before = level["rows"]
    all_sizes = scale_counts.fit(found.points)
    shown = ", ".join(f"{size / MB:.3g}: {pieces:,}" for size, pieces in found.points[::3] + found.points[-1:])
    lines += [
        "",
        f"Distinct pieces by MB of text: {shown}. Heaps' law, *V = K n^b*: b = {all_sizes[1]:.3f} over all sizes, "
        f"{found.law[1]:.3f} over the {FITTED} largest, which is used below.",
        "",
        f"Training 32,000 tokens on the table of {found.train['rows']:,} rows takes {found.train['cpu']:.1f} s of CPU "
        f"time, of which {found.train['read']:.1f} s reading it, and {found.train['peak']:.0f} MB.",
    ]
    return "\n".join(lines)


def terabytes_table(rate: Rates, planned: Plans, tables: Tables) -> str:
    """The arithmetic."""
    sizes = (1 * TB, 10 * TB, 100 * TB)
    largest = max(planned)
    plan, load = planned[largest]["plan"]["bytes"] / largest, planned[largest]["load"]["seconds"] / largest
    entry = planned[largest]["ledger"]["bytes"]
    lines = ["| | " + " | ".join(f"{size // TB} TB" for size in sizes) + " |", "|---|---|---|---|"]

    def row(name: str, values: Sequence[float], show: str = "{:,.0f}") -> None:
        lines.append(f"| {name} | " + " | ".join(show.format(value) for value in values) + " |")

    tasks = [size / TASK for size in sizes]
    row("tasks of 256 MiB", tasks)
    row("`plan.json`, MB", [count * plan / MB for count in tasks], "{:,.1f}")
    row("reading the plan, s, once a worker process", [count * load for count in tasks], "{:.2g}")
    row("ledger, MB", [count * entry / MB for count in tasks])
    hours = [size / MB * rate.encode / 1e3 / 3600 for size in sizes]
    row("encoding, core hours", hours)
    for cores in CORES:
        row(f"on {cores:,} cores, hours", [value / cores for value in hours], "{:.2g}")
    row("shards of 32 bits written, TB", [size / TB * rate.ids for size in sizes], "{:,.3g}")
    both = [size / MB * (rate.spool + rate.shuffle) / 1e3 / 3600 for size in sizes]
    pairs = [count**2 * rate.pair / 3600 for count in tasks]
    row("with a shuffle, core hours", both)
    row("and what pairs of tasks and buckets add", pairs)
    row("with a shuffle, more written and read again, TB each", [size / TB * rate.between for size in sizes], "{:,.3g}")
    row("bytes of a run that one bucket gets", [_HELD_BYTES / count for count in tasks])
    row("counting, core hours", [size / MB * rate.parts["counting"] / 1e3 / 3600 for size in sizes])
    first = [tables.rows(TASK) * count * tables.file_a_row for count in tasks]
    row("counts: tables of the first stage, GB", [value / 1e9 for value in first])
    row("distinct pieces, millions", [tables.rows(size) / 1e6 for size in sizes])
    low, high = tables.law[1] - 0.05, tables.law[1] + 0.05
    spread = [f"{tables.rows(size, low) / 1e6:,.0f} to {tables.rows(size, high) / 1e6:,.0f}" for size in sizes]
    lines.append("| the same, if b is 0.05 lower or higher | " + " | ".join(spread) + " |")
    last = [TREE * tables.rows(size / TREE) for size in sizes]
    row("the last sum reads, millions of rows", [value / 1e6 for value in last])
    row("takes, core hours", [value * tables.seconds_a_row / 3600 for value in last], "{:.2g}")
    row("without a limit of memory, GB", [tables.rows(size) * tables.memory_a_row / 1e9 for size in sizes])
    row("and leaves a table of, GB", [tables.rows(size) * tables.file_a_row / 1e9 for size in sizes])
    row("training on all of its rows, GB of memory", [tables.rows(size) * tables.train_a_row / 1e9 for size in sizes])
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code is 1 if there is nothing to measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description="What terabytes take.")
    parser.add_argument("--data", help="the folder of real texts and vocabularies")
    parser.add_argument("--quick", action="store_true", help="little text")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/scale.md")
    add_choice(parser, "--only", TABLES, "only these tables; terabytes measures the other three")
    options = parser.parse_args(arguments)
    folder = data_folder(options.data)
    if folder is None:
        print("there are no real texts: name their folder with --data")
        return 1
    wanted = chosen(parser, "--only", options.only, TABLES)
    needed = TABLES if "terabytes" in wanted else wanted
    print(", ".join(f"{name} {value}" for name, value in facts(["bytepair", "pyarrow"]).items()))
    shown: dict[str, str] = {}

    def show(name: str, table: str) -> None:
        print(f"\n{table}", flush=True)
        shown[name] = table

    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        found: dict[str, Any] = {}
        if "rates" in needed:
            found["rates"] = rates(folder, work, 20 if options.quick else 200)
            show("rates", rates_table(found["rates"]))
        if "plans" in needed:
            found["plans"] = plans_found(work, (400, 4_000) if options.quick else (4_000, 40_000, 400_000))
            show("plans", plans_table(found["plans"]))
        if "counts" in needed:
            found["counts"] = counts_found(folder, work, *((16, 2) if options.quick else (512, 24)))
            show("counts", counts_table(found["counts"]))
        if "terabytes" in needed:
            show("terabytes", terabytes_table(found["rates"], found["plans"], found["counts"]))
    if options.write:
        for name, table in shown.items():
            pages.put("scale.md", f"benchmarks.scale --only {name}", table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
