from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair import errors
from bytepair.errors import ArtifactError, BytepairError, CorpusError, EncodeError
from bytepair.shards.engines import ENGINES, engine, watched
from bytepair.shards.engines.local import Local
from bytepair.shards.engines.slurm import Slurm
from bytepair.shards.plans import TaskName
from bytepair.shards.tasks import run

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, BytepairError)]
PLACES: dict[str, Any] = {"file": "a.txt", "pointer": "/a", "line": 1, "row": 2, "character": 3, "byte": 4}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("places", [{}, {"row": 7}, PLACES], ids=str)
def test_errors_survive_the_way_from_a_worker(kind: type[BytepairError], places: dict[str, Any]) -> None:
    error = kind("no text", remedy="add some", **places)
    for again in (pickle.loads(pickle.dumps(error)), watched.unpacked(watched.packed(error))):
        assert type(again) is kind
        assert vars(again) == vars(error)
        assert str(again) == str(error)


def test_errors_of_a_user_s_own_kind_are_told_as_ours() -> None:
    class OwnError(EncodeError):
        pass

    assert type(watched.unpacked(watched.packed(OwnError("no", row=1)))) is EncodeError


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "PLACES", "what": "", "remedy": "", "where": {}}'])
def test_what_is_no_packed_error_is_said(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        watched.unpacked(text)


class Job:
    """Runs the first of its tasks, and ends."""

    def __init__(self, folder: str, tasks: Sequence[TaskName], most: int) -> None:
        self._folder, self._tasks = folder, list(tasks[:most])
        self.is_cancelled = False

    def ended(self, seconds: float) -> bool:
        assert seconds > 0
        if self._tasks:
            task = self._tasks.pop(0)
            try:
                watched.run(self._folder, *task)
            except BytepairError:
                return True
        return not self._tasks

    def cancel(self) -> None:
        self.is_cancelled = True

    def why(self) -> str:
        return "the node was lost"


class Lossy:
    """An engine that loses all results after the first tasks."""

    def __init__(self, most: int, attempts: int) -> None:
        self._most, self._attempts = most, attempts
        self.jobs: list[Job] = []

    def run(self, folder: str, tasks: Sequence[TaskName], told: Callable[[Any], None]) -> None:
        def submit(left: Sequence[TaskName]) -> Job:
            self.jobs.append(Job(folder, left, self._most))
            return self.jobs[-1]

        watched.have_done(folder, tasks, told, submit, worker="x", poll=0.001, attempts=self._attempts)


@pytest.fixture
def tokenizer() -> bp.Tokenizer:
    return bp.train({"low": 5}, vocab_size=258, special_tokens=["<|end|>"])


@pytest.fixture
def source(tmp_path: Path) -> Path:
    place = tmp_path / "a.jsonl"
    place.write_text("".join(json.dumps({"text": f"low {number}"}) + "\n" for number in range(50)))
    return place


def test_tasks_that_are_lost_are_done_again(tmp_path: Path, tokenizer: bp.Tokenizer, source: Path) -> None:
    lossy = Lossy(3, 3)
    bp.shard(source, tokenizer, tmp_path / "out", engine=lossy, task_size=150)
    bp.shard(source, tokenizer, tmp_path / "local", engine=Local(1), task_size=150)
    assert 1 < len(lossy.jobs) <= 3
    assert all(job.is_cancelled for job in lossy.jobs)
    for path in (tmp_path / "local").glob("*.bin"):
        assert path.read_bytes() == (tmp_path / "out" / path.name).read_bytes()


def test_tasks_are_not_done_again_for_ever(tmp_path: Path, tokenizer: bp.Tokenizer, source: Path) -> None:
    with pytest.raises(CorpusError, match="ended 2 times without being done, such as encode/2: the node was lost"):
        bp.shard(source, tokenizer, tmp_path / "out", engine=Lossy(1, 2), task_size=150)
    bp.shard(source, tokenizer, tmp_path / "out", engine=Local(1), task_size=150, resume=True)


def test_the_error_of_a_task_comes_back_at_once(tmp_path: Path, tokenizer: bp.Tokenizer, source: Path) -> None:
    with source.open("a") as file:
        file.write('{"text": "<|end|>"}\n')
    lossy = Lossy(99, 3)
    with pytest.raises(bp.SpecialTokenError, match="in the line that starts at byte") as raised:
        bp.shard(source, tokenizer, tmp_path / "out", engine=lossy, task_size=150)
    assert raised.value.file == str(source)
    assert len(lossy.jobs) == 1
    # An error is raised once: the next try starts afresh.
    source.write_text(source.read_text())
    with pytest.raises(CorpusError, match="has changed"):
        bp.shard(source, tokenizer, tmp_path / "out", engine=Lossy(99, 3), task_size=150, resume=True)


def test_a_damaged_word_of_a_failure_is_told(tmp_path: Path, tokenizer: bp.Tokenizer, source: Path) -> None:
    class Damaging(Lossy):
        def run(self, folder: str, tasks: Sequence[TaskName], told: Callable[[Any], None]) -> None:
            def submit(left: Sequence[TaskName]) -> Job:
                place = Path(folder, "work", "failed", f"{left[0][0]}-{left[0][1]}.json")
                place.parent.mkdir(parents=True)
                place.write_text("{")
                return Job(folder, left, 0)

            watched.have_done(folder, tasks, told, submit, worker="x", poll=0.001, attempts=1)

    with pytest.raises(ArtifactError, match="is damaged"):
        bp.shard(source, tokenizer, tmp_path / "out", engine=Damaging(0, 1))


def test_engines_are_made_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(engine("local", 2), Local)
    # Its check looks for sbatch on PATH, where this machine may have one or not.
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CorpusError, match="there is no sbatch on this machine"):
        engine("slurm")
    with pytest.raises(CorpusError, match="there is no sbatch on this machine"):
        engine(Slurm())
    (tmp_path / "sbatch").touch(mode=0o755)
    assert isinstance(engine("slurm"), Slurm)
    assert {"local", "slurm", "ray", "spark"} == set(ENGINES)
    with pytest.raises(CorpusError, match="no engine 'mainframe'"):
        engine("mainframe")
    with pytest.raises(ValueError, match="would do nothing"):
        engine("local", 0)
    with pytest.raises(ValueError, match="would do nothing"):
        Slurm(jobs=0)
    with pytest.raises(TypeError, match="use a list"):
        Slurm(options="--mem=4G --time=5")


@pytest.mark.parametrize("name", ["ray", "spark"])
def test_an_engine_whose_package_is_missing_names_it(
    name: str, tmp_path: Path, tokenizer: bp.Tokenizer, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, {"ray": "ray", "spark": "pyspark"}[name], None)
    with pytest.raises(CorpusError, match=rf"pip install '{'ray' if name == 'ray' else 'pyspark'}\W"):
        bp.shard(source, tokenizer, tmp_path / "out", engine=name)


def test_a_task_of_nobody_is_told_to_nobody(tmp_path: Path) -> None:
    for do in (run, watched.run):
        with pytest.raises(BytepairError):
            do(str(tmp_path), "encode", 0)
    assert list(tmp_path.iterdir()) == []
