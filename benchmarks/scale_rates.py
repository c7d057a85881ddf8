"""What each part of a run costs on one core, from the parts themselves and from whole tasks, timed stage by stage."""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import bytepair as bp
from benchmarks.shard_corpora import DELIMITER, EOS, Corpus
from benchmarks.texts import MB
from bytepair import lowlevel
from bytepair.shards import ledger, plans, sharding, tasks
from bytepair.sources import readers
from bytepair.sources.inputs import find
from bytepair.sources.source import Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from bytepair.shards.plans import TaskName
    from bytepair.shards.tasks import Told

BATCH = 4 << 20
FINE = 300
"""So many tasks, to see what each pair of a task and a bucket costs."""


@dataclass
class Stages:
    """An engine that does one task after another, and remembers what each stage took."""

    cpu: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    wall: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def run(self, folder: str, names: Sequence[TaskName], told: Callable[[Told], None]) -> None:
        """See `bytepair.shards.engines.Engine`."""
        tasks.load(folder)
        for stage, number in names:
            cpu, wall = time.process_time(), time.perf_counter()
            tasks.run(folder, stage, number, told)
            self.cpu[stage] += time.process_time() - cpu
            self.wall[stage] += time.perf_counter() - wall


@dataclass(frozen=True)
class Whole:
    """A whole run on one core.

    Attributes:
        stages: What its stages took.
        tasks: How many tasks the first had.
        written: The bytes that it left, and those of the stage between.
        ids: Bytes of the ids alone.
    """

    stages: Stages
    tasks: int
    written: int
    between: int
    ids: int


def whole(files: Sequence[Path], tok: bp.Tokenizer, output: Path, **options: Any) -> Whole:
    """Makes shards of files, and removes them."""
    engine = Stages()
    between = 0
    done = engine.run

    def run(folder: str, names: Sequence[TaskName], told: Callable[[Told], None]) -> None:
        nonlocal between
        done(folder, names, told)
        if names[0][0] == "encode":
            between = sum(path.stat().st_size for path in (output / plans.WORK).rglob("*") if path.is_file())

    engine.run = run  # type: ignore[method-assign]  # to look between the stages
    summary = sharding.shard([str(path) for path in files], tok, output, eos=EOS, engine=engine, **options)
    plan = plans.read(output)
    last = plan.stages[-1].name
    written = sum(
        row["size"] for entry in ledger.entries(output, plan) if entry["stage"] == last for row in entry["files"]
    )
    shutil.rmtree(output)
    return Whole(engine, len(plan.stages[0].tasks), written, between, 4 * summary.tokens)


def parts(
    corpus: Corpus, files: Mapping[str, Sequence[Path]], tok: bp.Tokenizer, work: Path
) -> Iterator[tuple[str, float]]:
    """CPU milliseconds for each MB of text, by part; for what is done to shards, for each MB of these."""
    size = corpus.size / MB

    def timed(call: Callable[[], object]) -> float:
        start = time.process_time()
        call()
        return (time.process_time() - start) * 1e3

    for kind, paths in files.items():
        reading = Reading(delimiter=DELIMITER if kind == "text" else None)
        inputs = find([str(path) for path in paths])

        def read(reading: Reading = reading, inputs: Sequence[Any] = inputs) -> None:
            for input in inputs:
                for _ in readers.read(input, 0, None, reading, BATCH):
                    pass

        read()
        yield f"reading {kind}", timed(read) / size
    text = b"".join(corpus.distinct[number] for number in corpus.order.tolist())
    ends = np.cumsum([len(corpus.distinct[number]) for number in corpus.order.tolist()])
    buffer, offsets = np.frombuffer(text, np.uint8), np.concatenate([[0], ends]).astype(np.int64)
    cuts = [*np.searchsorted(offsets, np.arange(0, len(text), BATCH)).tolist(), len(offsets) - 1]

    def encode() -> None:
        for start, end in itertools.pairwise(cuts):
            at = offsets[start : end + 1]
            lowlevel.encode_buffer(tok, buffer[at[0] : at[-1]], at - at[0])

    yield "encoding", timed(encode) / size
    yield "counting", timed(lambda: bp.Counts.of(iter([text]), split="o200k", threads=1, digest=False)) / size
    yield "SHA-256, a MB of shards", timed(lambda: hashlib.sha256(text).digest()) / size

    def write() -> None:
        with (work / "written").open("wb") as file:
            file.write(text)
            os.fsync(file.fileno())
        (work / "written").unlink()

    yield "writing and fsync, a MB of shards", timed(write) / size
