"""Runs that are killed at any moment go on, and leave the same bytes as those that were not; what has changed is refused.

BYTEPAIR_WHOLE=1 kills 200 runs at random moments, and others at each of their steps.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

import bytepair as bp
from bytepair.corpus import encoding_task, plans, shuffling
from bytepair.corpus.engines.local import Local
from bytepair.corpus.summaries import Summary
from bytepair.corpus.tasks import Told
from tests.corpus.corpora import Corpus, corpus, digests

WHOLE = os.environ.get("BYTEPAIR_WHOLE") == "1"

SIZES = 1 << 12, 1 << 11, 1 << 10
"""Of batches and runs, so that a small corpus has many."""

CHILD = """
import json, os, signal, sys
import bytepair as bp
from bytepair.corpus import encoding_task, shuffling
from bytepair.corpus.engines.local import Local

given = json.loads(sys.argv[1])
if not given["processes"]:
    encoding_task._BATCH_BYTES, shuffling._HELD_BYTES, shuffling._BATCH_BYTES = given["sizes"]
left = given["steps"]

def killing(real):
    def step(*arguments, **options):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)
    return step

if left:
    # What changes names, and what waits for the disk: between two of these a moment is as good as another.
    for name in ("fsync", "replace", "rename", "unlink", "rmdir", "mkdir", "open"):
        setattr(os, name, killing(getattr(os, name)))
tok = bp.Tokenizer.from_file(given["tokenizer"])
print("ready", flush=True)
sys.stdin.readline()
engine = Local(2, processes=given["processes"])
bp.shard(given["source"], tok, given["output"], engine=engine, resume=True, **given["options"])
if left:
    print(given["steps"] - left, flush=True)
"""


class Job(NamedTuple):
    """A run that children do."""

    given: dict[str, Any]
    files: Corpus
    tok: bp.Tokenizer
    clean: dict[bool, dict[str, str]]
    seconds: float

    def start(self, output: Path, *, steps: int = 0, processes: bool = False) -> subprocess.Popen[str]:
        given = {**self.given, "output": str(output), "steps": steps, "processes": processes, "sizes": SIZES}
        command = [sys.executable, "-c", CHILD, json.dumps(given)]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.stdin.write("go\n")
        child.stdin.flush()
        return child

    def run(self, output: Path, *, processes: bool = False, **more: Any) -> Summary:
        with pytest.MonkeyPatch.context() as patch:
            # Worker processes have the usual sizes, which what stages leave for each other depends on.
            if not processes:
                patch.setattr(encoding_task, "_BATCH_BYTES", SIZES[0])
                patch.setattr(shuffling, "_HELD_BYTES", SIZES[1])
                patch.setattr(shuffling, "_BATCH_BYTES", SIZES[2])
            return bp.shard(self.files.source, self.tok, output, **self.given["options"] | more)

    def finish(self, output: Path, *, processes: bool = False) -> None:
        self.run(output, processes=processes, resume=True)
        found, clean = digests(output), self.clean[processes]
        different = [name for name in found.keys() | clean.keys() if found.get(name) != clean.get(name)]
        assert different == []
        bp.verify_shards(output)


def ended(child: subprocess.Popen[str]) -> int:
    """Waits for a child; what it returned."""
    with child:
        return child.wait()


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory, tok: bp.Tokenizer) -> Job:
    folder = tmp_path_factory.mktemp("killed")
    tok.save(folder / "tokenizer", "native")
    files = corpus(folder / "in", Random(5), 150)
    options: dict[str, Any] = {
        **files.reading(),
        "eos": "<|end|>",
        "bad": "quarantine",
        "shuffle": True,
        "seed": 6,
        "validation": "0.2",
        "join": True,
        "task_size": 12_000,
    }
    given = {"tokenizer": str(folder / "tokenizer"), "source": files.source, "options": options}
    job = Job(given, files, tok, {}, 0)
    for processes in (False, True):
        job.run(folder / f"clean-{processes}", processes=processes)
        job.clean[processes] = digests(folder / f"clean-{processes}")
    assert len([name for name in job.clean[False] if name.startswith("ledger/encode")]) > 4
    child = job.start(folder / "first")
    began = time.monotonic()
    assert ended(child) == 0
    seconds = time.monotonic() - began
    assert digests(folder / "first") == job.clean[False]
    return job._replace(seconds=seconds)


@pytest.mark.parametrize("seed", range(200 if WHOLE else 4))
def test_killed_at_a_random_moment(seed: int, job: Job, tmp_path: Path) -> None:
    random = Random(seed)
    # Resumed runs are killed as well.
    processes = seed % 4 == 3
    for _ in range(random.choice([1, 1, 2])):
        child = job.start(tmp_path / "out", processes=processes)
        time.sleep(random.uniform(0, (2.5 if processes else 1.05) * job.seconds))
        child.send_signal(signal.SIGKILL)
        ended(child)
    job.finish(tmp_path / "out", processes=processes)


@pytest.mark.parametrize("seed", range(60 if WHOLE else 4))
def test_killed_at_a_step(seed: int, job: Job, tmp_path: Path) -> None:
    child = job.start(tmp_path / "counted", steps=1 << 40)
    assert child.stdout is not None
    steps = int(child.stdout.readline())
    assert ended(child) == 0
    step = 1 + Random(seed).randrange(steps) if seed else 1
    child = job.start(tmp_path / "out", steps=step)
    assert ended(child) == -signal.SIGKILL
    job.finish(tmp_path / "out")
