"""The one-time costs of a process: import, load, first pass over a text. Each is measured in fresh processes."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from benchmarks.measure import Report
from benchmarks.peers import LIBRARIES, OURS, ROOT, Peer, Vocabulary
from benchmarks.worker import digest, halves
from bytepair.cli.bench_timing import RAISES, WRONG

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

_SLOW = 1.2
"""CPU seconds of one library's processes after which no more of them are started."""

_IMPORT = "import sys, time; sys.path[:0] = {path}; start = time.process_time(); import {module}; \
print(time.process_time() - start)"


def run(library: str, vocabulary: Vocabulary, corpus: Path | None, mode: str) -> dict[str, Any] | None:
    """Measure one first pass.

    Args:
        library: Which library.
        vocabulary: The vocabulary that it loads.
        corpus: The text, unless the mode is ``load``.
        mode: ``whole`` times the first pass over all of it, ``halves`` the passes over its halves, ``load`` none.

    Returns:
        CPU seconds to ``load`` (from the file to the first id, without importing the library), the ``peak`` of memory
        after loading in MB, and of a text the `digest` of the last ids: with ``whole`` the seconds by that name, with
        ``halves`` those of the ``cold`` pass over the first half, of the ``fresh`` one over the second after it, of a
        ``warm`` one over that again, and if the library can, to ``count`` it. None if the process fails; it prints the
        reason.
    """
    job = {"library": library, "vocabulary": asdict(vocabulary), "corpus": corpus, "mode": mode}
    command = [sys.executable, "-m", "benchmarks.worker", json.dumps(job, default=str)]
    done = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE)
    measured: dict[str, Any] | None = json.loads(done.stdout) if done.returncode == 0 else None
    return measured


ROWS = {"cold": "to an array, cold", "fresh": "to an array, fresh", "warm": "to an array, warm", "count": "count"}
"""The passes over the halves of a text, and their rows."""


def passes(
    report: Report,
    parts: Collection[str],
    peers: Mapping[str, Peer],
    vocabulary: Vocabulary,
    corpus: Path,
    *,
    repeats: int,
) -> None:
    """The rows of `ROWS` that are asked for: medians of processes, in which libraries alternate."""
    halved = halves(corpus.read_bytes().decode())
    expected = digest(peers[OURS].encode(halved[1]))
    sizes = [len(half.encode()) / 1e6 for half in halved]
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in peers}
    used = dict.fromkeys(peers, 0.0)
    wrong: dict[str, str] = {}
    for _ in range(repeats):
        for name, measured in found.items():
            if name in wrong or used[name] > _SLOW:
                continue
            one = run(name, vocabulary, corpus, "halves")
            if one is None or one["digest"] != expected or not one.get("counted", True):
                wrong[name] = RAISES if one is None else WRONG
            else:
                measured.append(one)
                used[name] += one["load"] + one["cold"] + one["fresh"]
    for part, label in ROWS.items():
        if part in parts:
            size = sizes[part != "cold"]
            times = {name: [one[part] for one in runs if part in one] for name, runs in found.items()}
            rates = {name: size / statistics.median(taken) for name, taken in times.items() if taken}
            report.row(label, {**rates, **wrong}, "MB/s", higher_is_better=True)


def loading(report: Report, peers: Mapping[str, Peer], vocabulary: Vocabulary, *, repeats: int) -> None:
    """Rows for import, for the time from the file to the first id, and for the peak of memory by then."""
    imports: dict[str, list[float]] = {name: [] for name in peers}
    loads: dict[str, list[float]] = {name: [] for name in peers}
    peaks: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(repeats):
        for name in peers:
            module = LIBRARIES[name].module
            beside = [str(ROOT / "build" / "peers")] if module == "tokenizers_1" else []
            code = _IMPORT.format(path=beside, module=module.removesuffix("_1"))
            done = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE)
            imports[name].append(float(done.stdout))
            measured = run(name, vocabulary, None, "load")
            if measured:
                loads[name].append(measured["load"])
                peaks[name].append(measured["peak"])
    for measure, columns, unit in (
        ("import", imports, "s"),
        ("file to first id", loads, "s"),
        ("peak memory, loaded", peaks, "MB"),
    ):
        medians = {name: statistics.median(column) if column else RAISES for name, column in columns.items()}
        report.row(measure, medians, unit)
