"""Killed runs resume, and leave the same bytes as runs that were not killed; changed inputs are refused.

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
from bytepair.shards import encoding_task, packages, shuffling, spooling, tasks
from bytepair.shards.engines.local import Local
from bytepair.shards.summaries import ShardSummary
from bytepair.shards.tasks import Told
from tests.conftest import WHOLE
from tests.shards.corpora import Corpus, corpus, digests

SIZES = 1 << 12, 1 << 11, 1 << 10
"""The sizes of tasks, batches and runs, small so that a small corpus has many."""

CHILD = """
import json, os, signal, sys
import bytepair as bp
from bytepair.shards import encoding_task, shuffling, spooling
from bytepair.shards.engines.local import Local

given = json.loads(sys.argv[1])
if not given["processes"]:
    encoding_task._BATCH_BYTES, spooling._HELD_BYTES, shuffling._BATCH_BYTES = given["sizes"]
left = given["steps"]
tok = bp.Tokenizer.from_file(given["tokenizer"])

def killing(real):
    def step(*arguments, **options):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)
    return step

if left:
    # Calls that change names or wait for the disk: all moments between two of them are equivalent.
    for name in ("fsync", "replace", "rename", "unlink", "rmdir", "mkdir", "open"):
        setattr(os, name, killing(getattr(os, name)))
print("ready", flush=True)
sys.stdin.readline()
engine = Local(2, processes=given["processes"])
bp.shard(given["source"], tok, given["output"], engine=engine, resume=True, **given["options"])
if left:
    print(given["steps"] - left, flush=True)
"""


class Job(NamedTuple):
    """A run that child processes do."""

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

    def run(self, output: Path, *, processes: bool = False, **more: Any) -> ShardSummary:
        with pytest.MonkeyPatch.context() as patch:
            # Worker processes have the usual sizes, which what stages leave for each other depends on.
            if not processes:
                patch.setattr(encoding_task, "_BATCH_BYTES", SIZES[0])
                patch.setattr(spooling, "_HELD_BYTES", SIZES[1])
                patch.setattr(shuffling, "_BATCH_BYTES", SIZES[2])
            return bp.shard(self.files.source, self.tok, output, **self.given["options"] | more)

    def finish(self, output: Path, *, processes: bool = False) -> None:
        self.run(output, processes=processes, resume=True)
        found, clean = digests(output), self.clean[processes]
        different = [name for name in found.keys() | clean.keys() if found.get(name) != clean.get(name)]
        assert different == []
        bp.verify_shards(output)


def ended(child: subprocess.Popen[str]) -> int:
    """Waits for a child; returns its exit code."""
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


def test_killed_just_behind_its_plan(job: Job, tmp_path: Path) -> None:
    job.run(tmp_path / "out")
    (tmp_path / "out" / ".planning").touch()
    job.finish(tmp_path / "out")


@pytest.fixture(scope="module")
def steps(job: Job, tmp_path_factory: pytest.TempPathFactory) -> int:
    """The number of steps of a run; another may have some more or less, since two workers take turns as they come."""
    child = job.start(tmp_path_factory.mktemp("counted") / "out", steps=1 << 40)
    assert child.stdout is not None
    counted = int(child.stdout.readline())
    assert ended(child) == 0
    return counted - counted // 20


@pytest.mark.parametrize("seed", range(60 if WHOLE else 4))
def test_killed_at_a_step(seed: int, job: Job, steps: int, tmp_path: Path) -> None:
    step = 1 + Random(seed).randrange(steps) if seed else 1
    child = job.start(tmp_path / "out", steps=step)
    assert ended(child) == -signal.SIGKILL
    job.finish(tmp_path / "out")


def options(job: Job, **others: Any) -> dict[str, Any]:
    return {**job.given["options"], "resume": True, **others}


@pytest.fixture
def half(job: Job, tmp_path: Path) -> Path:
    """A run that was stopped with some of its tasks done."""
    seen = []

    def stop(state: Told) -> None:
        seen.append(state)
        if state.ended and len([one for one in seen if one.ended]) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        job.run(tmp_path / "half", engine=_Telling(stop))
    assert 3 <= len(list((tmp_path / "half/ledger").iterdir())) < 10
    return tmp_path / "half"


class _Telling:
    """The local engine, whose tasks report to another callback."""

    def __init__(self, told: Any) -> None:
        self._told = told

    def run(self, folder: str, tasks: Any, told: Any) -> None:
        del told
        Local(1).run(folder, tasks, self._told)


def test_what_was_stopped_goes_on_and_does_no_task_twice(half: Path, job: Job) -> None:
    kept = {path: path.stat().st_mtime_ns for path in (half / "ledger").iterdir()}
    job.finish(half)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_a_run_is_there_already(half: Path, job: Job) -> None:
    with pytest.raises(bp.CorpusError, match=r"there is a run in this folder.*resume=True"):
        job.run(half)


@pytest.mark.parametrize(
    ("others", "named"),
    [
        ({"seed": 7}, "seed was 6 and is 7"),
        ({"eos": None}, r"eos was \(\d+,\) and is \(\)"),
        ({"bos": "<|user|>"}, "bos was"),
        ({"bad": "skip"}, "bad was 'quarantine' and is 'skip'"),
        ({"validation": "0.1"}, "validation was '0.2' and is '0.1'"),
        ({"shuffle": False}, "shuffle was on and is off"),
        ({"join": False}, "join was on and is off"),
        ({"documents": False}, "documents was on and is off"),
        ({"format": "npy"}, "format was 'bin' and is 'npy'"),
        ({"dtype": "uint32"}, "dtype was 'uint16' and is 'uint32'"),
        ({"special": "text"}, "special was 'raise' and is 'text'"),
        ({"special": {"<|end|>"}}, r"special was 'raise' and is \('<|end|>',\)"),
        ({"added": "text"}, "added was 'match' and is 'text'"),
        ({"errors": "replace"}, "errors was 'strict' and is 'replace'"),
        ({"longest": 5000}, "longest was 1000000000 and is 5000"),
        ({"delimiter": "\n"}, r"delimiter was .* and is"),
        ({"field": "body"}, "field was not set and is 'body'"),
        ({"id_field": "id"}, "id field was 'name' and is 'id'"),
        ({"task_size": 13_000}, "the tasks are cut otherwise"),
        ({"seed": 7, "join": False}, "seed was 6 and is 7; join was on and is off"),
    ],
)
def test_another_option_is_refused_by_its_name(half: Path, job: Job, others: dict[str, Any], named: str) -> None:
    before = digests(half)
    with pytest.raises(bp.CorpusError, match=f"has another plan: {named}"):
        bp.shard(job.files.source, job.tok, half, **options(job, **others))
    assert digests(half) == before


def test_another_tokenizer_is_refused(half: Path, job: Job) -> None:
    other = bp.train({"low": 5}, vocab_size=259, special_tokens=["<|end|>"])
    with pytest.raises(bp.CorpusError, match=r"fingerprint was \w+\.\.\. and is"):
        bp.shard(job.files.source, other, half, **options(job))


def test_another_version_of_what_writes_is_refused(half: Path, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digests(half)
    monkeypatch.setattr(packages, "_version", lambda _: "0.1")
    with pytest.raises(bp.CorpusError, match=r"has another plan: pyarrow was [\d.]+ and is 0\.1"):
        job.finish(half)
    # A worker has nobody who compares plans.
    with pytest.raises(
        bp.CorpusError, match=r"planned with pyarrow [\d.]+, which is 0\.1 here.*pip install 'pyarrow=="
    ):
        tasks.run(str(half), "join", 0)
    monkeypatch.setattr(packages, "_version", lambda _: None)
    with pytest.raises(bp.CorpusError, match="which is not installed here"):
        tasks.run(str(half), "join", 0)
    assert digests(half) == before


def test_other_inputs_are_refused_by_their_names(half: Path, job: Job, tmp_path: Path) -> None:
    web, books = job.files.source["web"], job.files.source["books"]
    more = tmp_path / "more.txt"
    more.write_text("more")
    for source, named in (
        ({"web": web, "books": [books, str(more)]}, r"the input '.*more\.txt' is new"),
        ({"web": web[:2], "books": books}, r"the input '.*c\.parquet' is gone"),
        ({"web": [web[1], web[0], web[2]], "books": books}, "the inputs come in another order"),
        ({"books": books, "web": web}, "the inputs come in another order"),
    ):
        with pytest.raises(bp.CorpusError, match=named):
            bp.shard(source, job.tok, half, **options(job))
    stat = Path(books).stat()
    data = Path(books).read_bytes()
    try:
        for change in (lambda: Path(books).write_bytes(data + b"more"), lambda: os.utime(books)):
            change()
            with pytest.raises(bp.CorpusError, match=r"the input '.*d\.txt' has changed"):
                bp.shard(job.files.source, job.tok, half, **options(job))
    finally:
        Path(books).write_bytes(data)
        os.utime(books, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    job.finish(half)


def test_inputs_that_change_go_or_break_meanwhile(tok: bp.Tokenizer, tmp_path: Path) -> None:
    def run(change: Any) -> tuple[Corpus, Path]:
        files = corpus(tmp_path / f"in{len(list(tmp_path.iterdir()))}", Random(8), bad=False)
        output = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        seen: list[Told] = []

        def told(state: Told) -> None:
            if not seen:
                change(Path(files.source["books"]))
            seen.append(state)

        with pytest.raises(bp.ArtifactError, match=r"d\.txt") as caught:
            bp.shard(files.source, tok, output, task_size=8000, engine=_Telling(told), **files.reading())
        assert "changed" in str(caught.value) or "No such file" in str(caught.value)
        assert len(list((output / "ledger").iterdir())) > 1
        assert not list(output.glob("work/temporary/*"))
        return files, output

    run(lambda path: path.unlink())
    run(os.utime)
    files, output = run(lambda path: path.write_bytes(path.read_bytes()[:-9]))
    with pytest.raises(bp.CorpusError, match=r"the input '.*d\.txt' has changed"):
        bp.shard(files.source, tok, output, task_size=8000, resume=True, **files.reading())


def test_two_runs_in_one_folder(job: Job, tmp_path: Path) -> None:
    seen: list[Told] = []

    def told(state: Told) -> None:
        if not seen:
            seen.append(state)
            with pytest.raises(bp.ArtifactError, match="another run is at work in this folder"):
                job.run(tmp_path / "out", resume=True)

    job.run(tmp_path / "out", engine=_Telling(told))
    assert seen
    job.finish(tmp_path / "out")


def test_a_folder_with_other_things_is_left_alone(job: Job, tmp_path: Path) -> None:
    (tmp_path / "tokenizer").mkdir()
    with pytest.raises(bp.CorpusError, match="other files in it, such as 'tokenizer'"):
        job.run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer"]


def test_what_is_lost_is_made_again(job: Job, tmp_path: Path) -> None:
    job.run(tmp_path / "out")
    lost = ["train.bin", "val.documents.parquet", "ledger/encode-00003.json", "ledger/join-00000.json", "summary.json"]
    lost += [name for name in job.clean[False] if name.startswith("quarantine/e")][:1]
    for name in lost:
        path = tmp_path / "out" / name
        if path.suffix == ".json":
            path.write_bytes(path.read_bytes()[:-30])
        else:
            path.unlink()
        job.finish(tmp_path / "out")
    path.unlink()
    (tmp_path / "out/ledger/finish-00000.json").unlink()
    job.finish(tmp_path / "out")


@pytest.mark.parametrize("join", [False, True])
@pytest.mark.parametrize("stage", ["encode", "shuffle", "join"])
def test_a_lost_entry_needs_the_stages_before(tok: bp.Tokenizer, tmp_path: Path, stage: str, join: bool) -> None:
    (tmp_path / "a.txt").write_text("low\nlower\nnewest\nwide\n" * 20)
    options: dict[str, Any] = {"delimiter": "\n", "task_size": 100, "shuffle": True, "join": join}
    bp.shard(tmp_path / "a.txt", tok, tmp_path / "out", **options)
    whole = digests(tmp_path / "out")
    entry = next((tmp_path / "out/ledger").glob(f"{stage}-*"), None)
    if entry:
        entry.unlink()
        bp.shard(tmp_path / "a.txt", tok, tmp_path / "out", resume=True, **options)
    assert digests(tmp_path / "out") == whole


@pytest.mark.parametrize("processes", [False, True])
def test_interrupted_by_the_keyboard(job: Job, tmp_path: Path, processes: bool) -> None:
    child = job.start(tmp_path / "out", processes=processes)
    while not list(tmp_path.glob("out/ledger/*")):
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    assert ended(child) not in (0, -signal.SIGKILL)
    assert not list(tmp_path.glob("out/work/temporary/*"))
    job.finish(tmp_path / "out", processes=processes)


def test_a_worker_process_that_is_killed(job: Job, tmp_path: Path) -> None:
    def kill() -> None:
        while not list(tmp_path.glob("out/ledger/*")):
            time.sleep(0.01)
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        mine = [pid for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        os.kill(int(mine[-1]), signal.SIGKILL)

    if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        pytest.skip("this system does not say which children there are")
    thread = threading.Thread(target=kill)
    thread.start()
    with pytest.raises(bp.CorpusError, match="a worker process was killed"):
        job.run(tmp_path / "out", processes=True, engine=Local(2, processes=True))
    thread.join()
    job.finish(tmp_path / "out", processes=True)
