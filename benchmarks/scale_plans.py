"""The cost of a plan and a ledger of many tasks: in the driver, which makes them, and in each worker process.

    python -m benchmarks.scale_plans STEP FOLDER TASKS

is one step in its own process, whose last line is JSON; `measure` runs them all.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.process import run
from benchmarks.worker import peak

GB = 10**9
TASK = 256 << 20
PORTIONS = 4
"""Tasks that share an input: inputs of 1 GB, tasks of 256 MB."""

ENTRIES = 5_000
"""Entries of a ledger that are written and read."""


def planned(tasks: int) -> Any:
    """A plan of a number of encoding tasks, and as many shuffling tasks."""
    from bytepair.shards.plans import Plan, ShardOptions, Stage, gather
    from bytepair.sources.inputs import Input
    from bytepair.sources.source import Reading

    inputs = tuple(
        Input(
            f"crawl/part-{n:06}.jsonl",
            f"s3://corpus/crawl/part-{n:06}.jsonl",
            "jsonl",
            None,
            PORTIONS * TASK,
            f"{n:032x}",
        )
        for n in range(tasks // PORTIONS)
    )
    cuts = [(at * TASK, None if at == PORTIONS - 1 else (at + 1) * TASK) for at in range(PORTIONS)]
    tasks_of_inputs = gather(inputs, (cuts for _ in inputs), TASK)
    first = Stage("encode", tasks_of_inputs)
    second = Stage("shuffle", tuple((bucket,) for bucket in range(len(first.tasks))))
    options = ShardOptions(
        format="bin",
        dtype="uint32",
        bos=(),
        eos=(199_999,),
        special="raise",
        added="match",
        errors="strict",
        bad="raise",
        shuffle=True,
        seed=0,
        validation="0",
        documents=True,
        join=False,
    )
    return Plan(options, Reading(), "0" * 64, inputs, (first, second))


def plan(folder: Path, tasks: int) -> dict[str, float]:
    """Cut inputs with known names and sizes into tasks, and write the plan."""
    from bytepair.shards import plans

    start = time.perf_counter()
    made = planned(tasks)
    cut = time.perf_counter() - start
    plans.write(folder, made)
    seconds = time.perf_counter() - start
    return {
        "tasks": len(made.stages[0].tasks),
        "cut": cut,
        "seconds": seconds,
        "bytes": (folder / plans.NAME).stat().st_size,
    }


def load(folder: Path, _: int) -> dict[str, float]:
    """Read the plan and compute its digest, as each worker process does before its first task."""
    from bytepair.shards import plans

    before = peak()
    start = time.perf_counter()
    found = plans.read(folder)
    read = time.perf_counter() - start
    assert found.digest
    return {"seconds": time.perf_counter() - start, "read": read, "peak": peak(), "own": peak() - before}


def ledger(folder: Path, _: int) -> dict[str, float]:
    """Ledger entries as encoding tasks leave them: written, and read as by a planning or shuffling process."""
    import numpy as np

    from bytepair.shards import ledger, sealed
    from bytepair.shards.plans import LEDGER
    from bytepair.shards.tally import Tally

    made = planned(ENTRIES)
    (folder / LEDGER).mkdir()
    tally = Tally()
    tally.count("train", "", np.random.default_rng(0).geometric(1 / 500, 100_000), 200_000_000)
    started = time.perf_counter()
    for number in range(ENTRIES):
        files = [
            {"name": f"train-{number:06}{end}", "size": TASK, "sha256": "0" * 64}
            for end in (".bin", ".documents.parquet")
        ]
        facts = {"read": TASK, "documents": 100_000, "tokens": 50_000_000, "tally": tally.to_json()}
        entry = {"plan": made.digest, "stage": "encode", "number": number, "files": files, **facts}
        sealed.write(folder / LEDGER / f"{made.stem('encode', number)}.json", entry)
    wrote = time.perf_counter() - started
    size = sum(path.stat().st_size for path in (folder / LEDGER).iterdir()) / ENTRIES
    started = time.perf_counter()
    assert all(ledger.entry(folder, made, ("encode", number)) for number in range(ENTRIES))
    return {"bytes": size, "write": wrote / ENTRIES, "read": (time.perf_counter() - started) / ENTRIES}


def find(folder: Path, _: int) -> dict[str, float]:
    """Find inputs, and cut Parquet at its row groups: per file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from bytepair.sources import inputs, readers
    from bytepair.sources.source import Reading

    count = 500
    for number in range(count):
        pq.write_table(pa.table({"text": ["low lower"] * 64}), folder / f"{number}.parquet", row_group_size=4)
    start = time.perf_counter()
    found = inputs.find_files(str(folder / "*.parquet"), "scale")
    middle = time.perf_counter()
    for input in found:
        readers.portions(input, Reading(), 1)
    return {"find": (middle - start) / count, "cut": (time.perf_counter() - middle) / count}


STEPS = {step.__name__: step for step in (plan, load, ledger, find)}


def measure(folder: Path, tasks: int) -> dict[str, dict[str, float]]:
    """All steps, each in its own process."""
    found = {}
    for name in STEPS:
        place = folder / ("plan" if name in ("plan", "load") else name)
        place.mkdir(exist_ok=True)
        ran = run([sys.executable, "-m", "benchmarks.scale_plans", name, str(place), str(tasks)])
        found[name] = json.loads(ran.out.splitlines()[-1])
    return found


if __name__ == "__main__":
    print(json.dumps(STEPS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))))
