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
    from collections.abc import Mapping
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
        mode: ``cold`` times the whole text, ``fresh`` its second half after the first one, ``load`` neither.

    Returns:
        CPU seconds to ``load`` (from the file to the first id, without importing the library) and to encode
        (``seconds``), the `digest` of the ids, and the ``peak`` of memory after loading, in MB. None if the process
        fails; it prints the reason.
    """
    job = {"library": library, "vocabulary": asdict(vocabulary), "corpus": corpus, "mode": mode}
    command = [sys.executable, "-m", "benchmarks.worker", json.dumps(job, default=str)]
    done = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE)
    measured: dict[str, Any] | None = json.loads(done.stdout) if done.returncode == 0 else None
    return measured


def passes(
    report: Report, mode: str, peers: Mapping[str, Peer], vocabulary: Vocabulary, corpus: Path, *, repeats: int
) -> None:
    """A row of first passes: ``cold`` or ``fresh``; libraries alternate."""
    text = corpus.read_bytes().decode()
    if mode == "fresh":
        text = halves(text)[1]
    expected = digest(peers[OURS].encode(text))
    size = len(text.encode()) / 1e6
    times: dict[str, list[float]] = {name: [] for name in peers}
    used = dict.fromkeys(peers, 0.0)
    values: dict[str, float | str] = {}
    for _ in range(repeats):
        for name, taken in times.items():
            if name in values or used[name] > _SLOW:
                continue
            measured = run(name, vocabulary, corpus, mode)
            if measured is None or measured["digest"] != expected:
                values[name] = RAISES if measured is None else WRONG
            else:
                taken.append(measured["seconds"])
                used[name] += measured["load"] + measured["seconds"]
    rates = {name: size / statistics.median(taken) for name, taken in times.items() if name not in values}
    report.row(f"to an array, {mode}", {**rates, **values}, "MB/s", higher_is_better=True)


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
