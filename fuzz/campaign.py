"""All sweeps and targets, counted, for as long as there is time: ``python -m fuzz.campaign --seconds 3600``.

It goes on where the last run ended: `STATE` holds what was counted, and how much of each part is done; where it is not
there, the table in docs/reliability.md does. A failure ends the run. ``--summary`` prints the table, and ``--write``
puts it into the document.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import bytepair as bp
from fuzz import coverage, damage, killed, mutations, sweep, threads

if TYPE_CHECKING:
    from collections.abc import Callable

STATE = coverage.ROOT / "build" / "campaign.json"
DOCUMENT = coverage.ROOT / "docs" / "reliability.md"
MARKS = "<!-- campaign -->\n", "<!-- end of the campaign -->"

EXECUTIONS = 1_000_000_000
"""The number of executions of targets and sweeps together that the campaign is for."""


class Part(NamedTuple):
    """A part of the campaign: how much of it is wanted, and a share of it that takes less than a minute or so.

    The share takes what is done already, and returns how much more that is, and how many values it compared.
    """

    wanted: int | None
    share: Callable[[int], tuple[int, int]]


def _targets(seconds: int) -> Callable[[int], tuple[int, int]]:
    def share(_: int) -> tuple[int, int]:
        program, executions = coverage.build(), 0
        for target in coverage.TARGETS:
            fuzzed = coverage.run(program, target, seconds)
            executions += fuzzed.executions
            if fuzzed.failure:
                raise AssertionError(f"{target}: {fuzzed.failure}")
        return executions, executions

    return share


def _mutations(target: str, seconds: int) -> Callable[[int], tuple[int, int]]:
    def share(_: int) -> tuple[int, int]:
        executions, failure = mutations.run(mutations.build(), target, seconds, secrets.randbits(32))
        if failure:
            raise AssertionError(f"{target}: {failure}")
        return executions, executions

    return share


def _sweeps(seconds: float) -> Callable[[int], tuple[int, int]]:
    def share(_: int) -> tuple[int, int]:
        found = sweep.run(sweep.SWEEPS, seconds=seconds, seed=f"campaign-{secrets.token_hex(6)}").values()
        return sum(cases for cases, _ in found), sum(values for _, values in found)

    return share


def _damaged(every: int) -> Callable[[int], tuple[int, int]]:
    """One damaged form in so many of each file; then the next ones."""

    def share(done: int) -> tuple[int, int]:
        files = [damage.damage(small, every=every, first=done) for small in damage.small_files().values()]
        return 1, sum(file.files for file in files)

    return share


def run_tests(*arguments: str) -> Callable[[int], tuple[int, int]]:
    """A share that runs tests in full; each that passed counts one."""

    def share(_: int) -> tuple[int, int]:
        command = [sys.executable, "-m", "pytest", "-n0", "-p", "no:cacheprovider", *arguments]
        environment = {**os.environ, "BYTEPAIR_WHOLE": "1"}
        run = subprocess.run(command, cwd=coverage.ROOT, env=environment, capture_output=True, text=True, check=False)
        passed = re.search(r"(\d+) passed", run.stdout)
        if run.returncode or not passed:
            raise AssertionError(run.stdout[-3000:])
        return int(passed[1]), int(passed[1])

    return share


def _counted(work: Callable[[int, int], int], size: int) -> Callable[[int], tuple[int, int]]:
    """Work on so many of something, drawn by how many are done."""

    def share(done: int) -> tuple[int, int]:
        number = work(size, done)
        return number, number

    return share


PARTS: dict[str, Part] = {
    "executions of the targets with coverage": Part(None, _targets(20)),
    **{f"mutations, `{target}`": Part(None, _mutations(target, 20)) for target in coverage.TARGETS},
    "cases of the sweeps": Part(None, _sweeps(60)),
    "hundredths of all cuts and flips of small files": Part(100, _damaged(100)),
    "kills of a process that saves": Part(
        3000, _counted(lambda size, done: killed.run(size, done).total() and size, 200)
    ),
    "kills of a process that shards": Part(200, run_tests("tests/shards/test_resume.py", "-k", "random_moment")),
    "full and failing disks in save and shard": Part(
        30, run_tests("tests/shards/test_disks.py", "tests/formats/test_failing_disks.py")
    ),
    "forks while threads encode": Part(10_000, _counted(lambda size, done: threads.forks(size, seed=done), 500)),
    "calls of 64 threads": Part(1_000_000, _counted(lambda size, done: threads.in_threads(size, seed=done), 50_000)),
}
"""The things that are counted."""

OF_TARGETS = [name for name in PARTS if name.startswith(("executions of the targets", "mutations"))]
"""The parts that need what `coverage.missing` names."""

State = dict[str, dict[str, float]]


def load(path: Path = STATE) -> State:
    """The counts so far."""
    state: State = json.loads(path.read_text("utf-8")) if path.exists() else read(DOCUMENT.read_text("utf-8"))
    return {name: state.get(name, {"done": 0, "values": 0, "seconds": 0.0}) for name in PARTS}


def _save(state: State, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(state, indent=1), "utf-8")
    beside.replace(path)


def go_on(seconds: float, *, only: str = "", path: Path = STATE, parts: dict[str, Part] = PARTS) -> State:
    """Do shares for some time, of the part that took least so far and is not complete; the state is saved after each.

    Raises:
        AssertionError: Something failed.
    """
    state = load(path)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        open_parts = [
            name
            for name, part in parts.items()
            if only in name and (part.wanted is None or state[name]["done"] < part.wanted)
        ]
        if not open_parts:
            break
        name = min(open_parts, key=lambda name: state[name]["seconds"])
        row, start = state[name], time.process_time() + sum(os.times()[2:4])
        done, values = parts[name].share(int(row["done"]))
        row["done"] += done
        row["values"] += values
        row["seconds"] += time.process_time() + sum(os.times()[2:4]) - start
        _save(state, path)
        print(f"{name}: {int(row['done']):,} in {row['seconds']:.0f} s of processor time", flush=True)
    return state


def summary(state: State) -> str:
    """The state as a table."""
    lines = ["| Counted | Done | Wanted | Values compared | Processor time |", "|---|---|---|---|---|"]
    for name, row in state.items():
        wanted = PARTS[name].wanted
        shown = f"{wanted:,}" if wanted else ""
        lines.append(f"| {name} | {int(row['done']):,} | {shown} | {int(row['values']):,} | {row['seconds']:,.0f} s |")
    together = sum(int(row["values"]) for row in state.values())
    share = 100 * together / EXECUTIONS
    lines += [
        "",
        f"Together {together:,} executions and values, of {EXECUTIONS:,}: {share:.2f}%. Nothing failed on version "
        f"{bp.__version__} in these runs.",
    ]
    return "\n".join(lines) + "\n"


def read(text: str) -> State:
    """The counts in a text with the table of `summary`."""
    numbers = r"\| ([\d,]+) \| [\d,]* \| ([\d,]+) \| ([\d,]+) s \|"
    return {
        name: {
            column: int(number.replace(",", ""))
            for column, number in zip(("done", "values", "seconds"), row, strict=True)
        }
        for name, *row in re.findall(rf"^\| (.+?) {numbers}$", text, re.MULTILINE)
    }


def write(state: State) -> None:
    """Put the table between the marks of the document."""
    before, rest = DOCUMENT.read_text("utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    DOCUMENT.write_text(before + MARKS[0] + "\n" + summary(state) + "\n" + MARKS[1] + after, "utf-8")


def main() -> int:
    """Run the command line; 1 if something failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--only", default="", help="parts whose name contains this")
    parser.add_argument("--summary", action="store_true", help="print the table, and do nothing")
    parser.add_argument("--write", action="store_true", help="put the table into docs/reliability.md, and do nothing")
    options = parser.parse_args()
    if options.summary or options.write:
        state = load()
        print(summary(state))
        if options.write:
            write(state)
        return 0
    if lacking := coverage.missing():
        print("the targets of crates/fuzz are left out; they need", *lacking, sep="\n  ")
    parts = {name: part for name, part in PARTS.items() if not lacking or name not in OF_TARGETS}
    try:
        go_on(options.seconds, only=options.only, parts=parts)
    except AssertionError as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
