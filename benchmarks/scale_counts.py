"""The tree of counts tables, made by the same tasks as a run on a cluster, one process per level.

    python -m benchmarks.scale_counts STEP FOLDER [STAGE]

is one step, whose last line is JSON; `tree` and `fit` compute the results.
"""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.process import run
from benchmarks.worker import peak

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

POINTS = 12
"""The number of text sizes counted for the fit, each half of the next one."""


def write_slices(documents: Sequence[bytes], folder: Path, count: int) -> None:
    """Deal documents, in a random order, to files of about the same size."""
    order = np.random.default_rng(0).permutation(len(documents))
    for number, part in enumerate(np.array_split(order, count)):
        (folder / f"{number:05}.txt").write_bytes(b"".join(documents[at] for at in part))


def write_copies(text: bytes, folder: Path, count: int) -> None:
    """Write copies of a text, each with the lower-case ASCII letters rotated by one more: with different pieces."""
    letters = bytes(range(ord("a"), ord("z") + 1))
    for copy in range(count):
        moved = text.translate(bytes.maketrans(letters, letters[copy:] + letters[:copy]))
        (folder / f"{copy:05}.txt").write_bytes(moved)


def begin(folder: Path, *, memory: int | None) -> list[str]:
    """Plan the counting of all files of a folder, one task each, in ``run`` beside them; return the stage names."""
    from bytepair.model.split_patterns import split_pattern
    from bytepair.shards import count_corpus, runs
    from bytepair.shards.plans import CountOptions
    from bytepair.sources.source import Reading

    options = CountOptions(split_pattern("o200k"), (), (), "strict", memory, digest=False)
    plan = count_corpus._plan(str(folder / "*.txt"), options, Reading(), 1)
    (folder / "run").mkdir()
    runs.begin(folder / "run", plan, None, resume=False)
    return [stage.name for stage in plan.stages]


def stage(folder: Path, name: str) -> dict[str, float]:
    """Run all tasks of a stage, on one core.

    Returns:
        Tasks, seconds of CPU and of wall time, bytes that it read, rows and bytes that it wrote, MB at its peak.
    """
    import pyarrow.parquet as pq

    from bytepair.shards import plans, tasks

    place = folder / "run"
    plan = plans.read(place)
    count = len(plan.stage(name).tasks)
    imported = peak()
    cpu, wall = time.process_time(), time.perf_counter()
    entries = [tasks.run(str(place), name, number) for number in range(count)]
    seconds = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    files = [file for entry in entries for file in entry["files"]]
    rows = sum(pq.read_metadata(place / file["name"]).num_rows for file in files)
    size = sum(file["size"] for file in files)
    read = sum(entry["read"] for entry in entries)
    return {"tasks": count, **seconds, "read": read, "rows": rows, "bytes": size, "peak": peak(), "imported": imported}


def train(folder: Path, _: str) -> dict[str, float]:
    """Train on the table at the root of the tree."""
    import bytepair as bp
    from bytepair.shards.counting_tasks import TABLE

    start = time.process_time()
    counts = bp.Counts.read(folder / "run" / TABLE)
    read = time.process_time() - start
    bp.train(counts, 32_000)
    return {"rows": len(counts), "read": read, "cpu": time.process_time() - start, "peak": peak()}


def heaps(folder: Path, _: str) -> dict[str, Any]:
    """Count a growing number of the files: distinct pieces by bytes of text."""
    import bytepair as bp

    data = b"".join(path.read_bytes() for path in sorted(folder.glob("*.txt")))
    found = []
    for halvings in range(POINTS - 1, -1, -1):
        part = data[: len(data) >> halvings].decode(errors="ignore")
        counts = bp.Counts.of(iter([part]), split="o200k", threads=1, digest=False)
        found.append((len(part.encode()), len(counts)))
    return {"points": found}


def fit(points: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Heaps' law, V = K n^b, through points (n, V): K and b, by least squares of the logarithms.

    Example:
        >>> [round(value, 6) for value in fit([(1, 3), (4, 6), (16, 12)])]
        [3.0, 0.5]
    """
    sizes, pieces = np.log(np.array(points, float)).T
    slope, start = np.polyfit(sizes, pieces, 1)
    return math.exp(start), float(slope)


STEPS: dict[str, Callable[[Path, str], dict[str, Any]]] = {"stage": stage, "train": train, "heaps": heaps}


def step(name: str, folder: Path, argument: str = "") -> dict[str, Any]:
    """Run one step, in its own process."""
    ran = run([sys.executable, "-m", "benchmarks.scale_counts", name, str(folder), argument])
    found: dict[str, Any] = json.loads(ran.out.splitlines()[-1])
    return found


def tree(folder: Path, *, memory: int | None = None) -> dict[str, dict[str, Any]]:
    """Count all files of a folder and add up their tables, level by level; return the cost of each level."""
    return {name: step("stage", folder, name) for name in begin(folder, memory=memory)}


if __name__ == "__main__":
    print(json.dumps(STEPS[sys.argv[1]](Path(sys.argv[2]), "".join(sys.argv[3:]))))
