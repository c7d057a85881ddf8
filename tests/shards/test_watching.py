"""The progress of a run, from workers' reports in any order, late or repeated."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.progress import Progress, RunProgress, Worker
from bytepair.shards import ledger, sealed
from bytepair.shards.engines.local import Local
from bytepair.shards.plans import LEDGER, Plan, Portion, ShardOptions, Stage
from bytepair.shards.tasks import Told
from bytepair.shards.watching import Watch, sizes
from bytepair.sources.inputs import Input
from bytepair.sources.source import Reading

OPTIONS = ShardOptions("bin", "uint16", (), (), "raise", "match", "strict", "raise", True, 0, "0", False, True)
SIZES = (1000, 70, 301)


def a_plan(*later: str) -> Plan:
    """A plan of six tasks: four of the first input, one of the second, one of the third."""
    inputs = (
        Input("a.txt", "/a.txt", "text", None, 1000, "1"),
        Input("b.jsonl.gz", "/b.jsonl.gz", "jsonl", "gzip", 70, "1"),
        Input("c.parquet", "/c.parquet", "parquet", None, 301, "1"),
    )
    cuts = [(0, 250), (250, 500), (500, 900), (900, None)]
    tasks: list[tuple[Portion, ...]] = [(Portion(0, *cut),) for cut in cuts]
    tasks.append((Portion(1, 0, None), Portion(2, 0, 1)))
    tasks.append((Portion(2, 1, 2), Portion(2, 2, None)))
    stages = [Stage("encode", tuple(tasks)), *(Stage(name, ((0,), (1,), (2,))) for name in later)]
    return Plan(OPTIONS, Reading(delimiter="\n"), "f" * 64, inputs, tuple(stages))


def commit(folder: Path, plan: Plan, task: tuple[str, int], documents: int, tokens: int) -> None:
    stage, number = task
    (folder / LEDGER).mkdir(exist_ok=True)
    facts = {"plan": plan.digest, "stage": stage, "number": number, "files": []}
    place = folder / LEDGER / f"{plan.stem(stage, number)}.json"
    sealed.write(place, facts | {"read": 1, "documents": documents, "tokens": tokens})
    assert ledger.entry(folder, plan, task) is not None


class Ear:
    """Keeps the reported states, with the times of a clock that the test controls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.states: list[RunProgress] = []
        monkeypatch.setattr("bytepair.shards.watching.time.perf_counter", lambda: self.now)

    def __call__(self, state: Progress) -> None:
        assert isinstance(state, RunProgress)
        self.states.append(state)

    @property
    def last(self) -> RunProgress:
        return self.states[-1]


@pytest.fixture
def ear(monkeypatch: pytest.MonkeyPatch) -> Ear:
    return Ear(monkeypatch)


Tell = Callable[..., None]


def teller(watch: Watch, ear: Ear, stage: str = "encode") -> Tell:
    def tell(worker: str, number: int, read: int, documents: int = 0, tokens: int = 0, *, ended: bool = False) -> None:
        ear.now += 1
        watch.told(Told(worker, (stage, number), read, documents, tokens, ended=ended))

    return tell


def every(plan: Plan, stage: str) -> list[tuple[str, int]]:
    return [(stage, number) for number in range(len(plan.stage(stage).tasks))]


def test_sizes_of_tasks_are_those_of_the_inputs() -> None:
    # The third input has 301 bytes in three portions.
    assert sizes(a_plan()) == [250, 250, 400, 100, 70 + 100, 100 + 101]


def test_a_stage_from_its_start_to_its_end(tmp_path: Path, ear: Ear) -> None:
    plan = a_plan()
    with Watch(tmp_path, plan, ear) as watch:
        tell = teller(watch, ear)
        watch.begin(plan.stages[0], every(plan, "encode"))
        assert ear.last == RunProgress("encode", 0, 1371, 0.0, unit="bytes", tasks=6)
        tell("0", 0, 100, 2, 50)
        tell("1", 1, 50, 1, 20)
        assert (ear.last.done, ear.last.documents, ear.last.tokens, ear.last.tasks_done) == (150, 3, 70, 0)
        assert ear.last.workers == (Worker("0", 0, 100, 250, 0), Worker("1", 1, 50, 250, 0))
        tell("0", 0, 260, 5, 120, ended=True)
        assert (ear.last.done, ear.last.documents, ear.last.tokens, ear.last.tasks_done) == (300, 6, 140, 1)
        assert ear.last.workers == (Worker("0", None, 0, 0, 1), Worker("1", 1, 50, 250, 0))
    assert ear.last.ended
    assert ear.last.seconds == 3.0


def test_it_never_goes_back(tmp_path: Path, ear: Ear) -> None:
    plan = a_plan()
    random_ = random.Random(1)
    told = []
    for number, size in enumerate(sizes(plan)):
        for worker in ("0", "1"):  # Each task is done twice, by workers that tell all of it.
            steps = sorted(random_.randrange(size * 2) for _ in range(9))
            told += [(random_.random(), worker, number, step, step // 10, step // 3, False) for step in steps]
            told.append((random_.random(), worker, number, size, size // 10, size // 3, True))
    with Watch(tmp_path, plan, ear) as watch:
        tell = teller(watch, ear)
        watch.begin(plan.stages[0], every(plan, "encode"))
        for _, worker, number, read, documents, tokens, ended in sorted(told):
            tell(worker, number, min(read, 400), documents, tokens, ended=ended)
    for before, after in zip(ear.states, ear.states[1:], strict=False):
        assert before.done <= after.done
        assert before.documents <= after.documents
        assert before.tokens <= after.tokens
        assert before.tasks_done <= after.tasks_done
        assert after.done <= (after.total or 0)
    assert (ear.last.done, ear.last.tasks_done) == (1371, 6)
    assert sum(worker.ended for worker in ear.last.workers) == 12


def test_a_run_that_goes_on_starts_from_what_is_done(tmp_path: Path, ear: Ear) -> None:
    plan = a_plan()
    commit(tmp_path, plan, ("encode", 0), 10, 100)
    commit(tmp_path, plan, ("encode", 4), 20, 200)
    left = [task for task in every(plan, "encode") if task[1] not in (0, 4)]
    with Watch(tmp_path, plan, ear) as watch:
        tell = teller(watch, ear)
        watch.begin(plan.stages[0], left)
        first = ear.last
        assert (first.done, first.before, first.documents, first.tokens, first.tasks_done) == (420, 420, 30, 300, 2)
        # A worker given a finished task finds so at once, and reports it.
        tell("0", 4, 170, 20, 200, ended=True)
        assert (ear.last.done, ear.last.documents, ear.last.tasks_done) == (420, 30, 2)
        tell("0", 1, 250, 1, 10, ended=True)
        assert (ear.last.done, ear.last.documents, ear.last.tasks_done) == (670, 31, 3)
        assert ear.last.before == 420


def test_later_stages_are_measured_in_the_tokens_of_the_first(tmp_path: Path, ear: Ear) -> None:
    plan = a_plan("shuffle", "join")
    for number in range(6):
        commit(tmp_path, plan, ("encode", number), 2, 50)
    commit(tmp_path, plan, ("shuffle", 1), 3, 80)
    with Watch(tmp_path, plan, ear) as watch:
        tell = teller(watch, ear, "shuffle")
        watch.begin(plan.stages[1], [("shuffle", 0), ("shuffle", 2)])
        assert (ear.last.phase, ear.last.unit, ear.last.done, ear.last.total) == ("shuffle", "tokens", 80, 300)
        tell("7", 0, 999, 1, 40)
        # Still told of the stage before, by a worker that was cut off.
        teller(watch, ear, "encode")("3", 0, 999, 9, 999, ended=True)
        tell("7", 0, 999, 5, 120, ended=True)
        assert (ear.last.done, ear.last.documents) == (200, 8)
        watch.begin(plan.stages[2], every(plan, "join"))
        assert [state.phase for state in ear.states[-2:]] == ["shuffle", "join"]
        assert ear.states[-2].ended
        assert (ear.last.done, ear.last.total, ear.last.tasks_done) == (0, 300, 0)


def test_tables_are_measured_in_tasks(tmp_path: Path, ear: Ear) -> None:
    plan = a_plan("reduce-1")
    with Watch(tmp_path, plan, ear) as watch:
        watch.begin(plan.stages[1], every(plan, "reduce-1"))
        teller(watch, ear, "reduce-1")("0", 2, 500, ended=True)
        assert (ear.last.unit, ear.last.done, ear.last.total) == ("tasks", 1, 3)


def test_what_comes_fast_is_told_now_and_then_and_the_last_always(tmp_path: Path, ear: Ear) -> None:
    plan = a_plan()
    with Watch(tmp_path, plan, ear) as watch:
        watch.begin(plan.stages[0], every(plan, "encode"))
        for step in range(250):
            ear.now += 0.01
            watch.told(Told("0", ("encode", 0), step, 0, 0, ended=False))
    assert 10 <= len(ear.states) <= 14
    assert (ear.last.done, ear.last.ended) == (249, True)


def test_an_error_ends_the_phase_and_nothing_is_told_after(tmp_path: Path, ear: Ear) -> None:
    plan = a_plan()
    watch = Watch(tmp_path, plan, ear)

    def fails() -> None:
        with watch:
            watch.begin(plan.stages[0], every(plan, "encode"))
            raise ValueError("it was the disk")

    with pytest.raises(ValueError, match="disk"):
        fails()
    assert [state.ended for state in ear.states] == [False, True]
    watch.told(Told("0", ("encode", 0), 9, 0, 0, ended=True))
    assert len(ear.states) == 2


def test_without_a_listener_the_ledger_is_not_read(tmp_path: Path) -> None:
    plan = a_plan("shuffle")
    with Watch(tmp_path / "nowhere", plan, None) as watch:
        watch.begin(plan.stages[1], [])
        watch.told(Told("0", ("shuffle", 0), 9, 0, 0, ended=True))


def run(folder: Path, ear: Callable[[Progress], None], **options: Any) -> bp.ShardSummary:
    source = folder / "a.txt"
    if not source.exists():
        source.write_text("".join(f"low lower {number}\n" for number in range(3000)), "utf-8")
    tok = bp.train({"low": 5, "lower": 3}, 260)
    given: dict[str, Any] = {"delimiter": "\n", "task_size": "9KB", "documents": False, "shuffle": True, "join": True}
    return bp.shard(source, tok, folder / "out", validation=0.1, progress=ear, **given, **options)


@pytest.mark.parametrize("processes", [False, True])
def test_a_real_run_tells_what_it_comes_to(tmp_path: Path, processes: bool) -> None:
    states: list[RunProgress] = []

    def hear(state: Progress) -> None:
        assert isinstance(state, RunProgress)
        states.append(state)

    summary = run(tmp_path, hear, engine=Local(2, processes=processes))
    ends = [state for state in states if state.ended]
    assert [state.phase for state in ends] == ["encode", "shuffle", "join"]
    for state in ends:
        assert (state.documents, state.tokens) == (summary.documents, summary.tokens)
        assert state.done == state.total
        assert state.tasks_done == state.tasks
        assert sum(worker.ended for worker in state.workers) == state.tasks
    assert ends[0].total == (tmp_path / "a.txt").stat().st_size
    states.clear()
    run(tmp_path, hear, resume=True)
    assert all(state.before == state.done == state.total for state in states)
    assert not any(state.workers for state in states)


def test_a_run_that_lost_tasks_tells_only_of_these(tmp_path: Path) -> None:
    states: list[RunProgress] = []

    def hear(state: Progress) -> None:
        assert isinstance(state, RunProgress)
        states.append(state)

    summary = run(tmp_path, hear)
    for place in (tmp_path / "out" / LEDGER).iterdir():
        if not place.name.startswith("encode") or place.name.endswith("2.json"):
            place.unlink()
    states.clear()
    assert run(tmp_path, hear, resume=True) == summary
    ends = [state for state in states if state.ended]
    assert [state.done for state in ends] == [state.total for state in ends]
    assert [(state.documents, state.tokens) for state in ends] == [(summary.documents, summary.tokens)] * 3
