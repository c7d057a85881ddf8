"""The ledger's record of stages, and the cost of a stage for the next one."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

import bytepair as bp
from bytepair.shards import ledger, plans, sealed, tasks
from bytepair.shards.engines.local import Local
from tests.shards.corpora import corpus


class Encoding(Local):
    """Runs the first stage only."""

    def run(self, folder: str, tasks: Any, told: Any) -> None:
        if tasks[0][0] != "encode":
            raise InterruptedError
        super().run(folder, tasks, told)


@pytest.fixture
def encoded(tok: bp.Tokenizer, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    files = corpus(tmp_path / "in", Random(3), 60)
    options = {"source": files.source, "shuffle": True, "bad": "skip", "task_size": 5000, **files.reading()}
    with pytest.raises(bp.ArtifactError):
        bp.shard(tokenizer=tok, output=tmp_path / "run", engine=Encoding(1), validation=0.1, **options)
    return tmp_path / "run", options


def test_a_task_of_the_shuffle_reads_no_entries_of_the_stage_before(
    encoded: tuple[Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = encoded
    read: list[str] = []
    true_read = sealed.read

    def noted(path: Path) -> dict[str, Any]:
        read.append(path.name)
        return true_read(path)

    monkeypatch.setattr(sealed, "read", noted)
    tasks.run(str(folder), "shuffle", 1)
    assert [name for name in read if name.startswith("encode")] == []
    assert "index.json" in read


def test_the_index_of_a_stage_is_made_again_if_it_is_lost_or_damaged(encoded: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = encoded
    plan = plans.read(folder)
    found = ledger.tasks_by_split(folder, plan, "encode")
    entries = list(ledger.entries(folder, plan))
    assert len(entries) > len(found["val"]) > 1
    for split in ("train", "val"):
        assert found[split] == [entry["number"] for entry in entries if split in entry["splits"]]
    place = folder / "work/encode/index.json"
    whole = place.read_bytes()
    for data in (None, b"{}", whole[:-9], whole.replace(b'"val"', b'"vul"')):
        place.unlink()
        if data is not None:
            place.write_bytes(data)
        assert ledger.tasks_by_split(folder, plan, "encode") == found
        assert place.read_bytes() == whole


def test_the_index_waits_for_all_tasks_of_its_stage(encoded: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = encoded
    (folder / "work/encode/index.json").unlink()
    (folder / "ledger/encode-00002.json").unlink()
    with pytest.raises(bp.CorpusError, match=r"task 2 of the stage 'encode' is not done.*before those of the next one"):
        tasks.run(str(folder), "shuffle", 0)
    assert not (folder / "work/encode/index.json").exists()


def test_a_plan_is_known_by_the_hash_of_its_file(
    encoded: tuple[Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plans.read(encoded[0])
    fresh = plans.Plan(plan.options, plan.reading, plan.tokenizer, plan.inputs, plan.stages, plan.packages)
    assert plan == fresh
    assert plan.digest == fresh.digest
    again = plans.read(encoded[0])
    monkeypatch.setattr(sealed, "digest", lambda _: pytest.fail("hashed once more"))
    assert again.digest == plan.digest
