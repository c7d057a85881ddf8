"""verify_shards names every fault of a run, and reports none for a whole one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import bytepair as bp
from bytepair.shards import ledger, sealed
from tests.shards.corpora import corpus, digests


@pytest.fixture(scope="module")
def whole(tok: bp.Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verified")
    files = corpus(folder / "in", Random(11), 40)
    bp.shard(
        files.source,
        tok,
        folder / "out",
        task_size=5000,
        validation=0.2,
        shuffle=True,
        bad="quarantine",
        **files.reading(),
    )
    return folder / "out"


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "run"))


def changed(path: Path, place: int, data: bytes) -> None:
    content = bytearray(path.read_bytes())
    assert content[place : place + len(data)] != data
    content[place : place + len(data)] = data
    path.write_bytes(content)


def sealed_again(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    value = sealed.read(path)
    change(value)
    sealed.write(path, value)


FAULTS: dict[str, Callable[[Path], object]] = {
    "train-00001.bin is missing": lambda run: (run / "train-00001.bin").unlink(),
    # The sample of documents depends on the names of the inputs, which contain the temporary folder.
    r"val-\d+.bin has 1 bytes of \d+": lambda run: os.truncate(next(run.glob("val-*.bin")), 1),
    "train-00002.documents.parquet is not what was written": lambda run: changed(
        run / "train-00002.documents.parquet", 9, b"!"
    ),
    r"quarantine/encode-\d+.jsonl is missing": lambda run: next(run.glob("quarantine/*")).unlink(),
    "train-1.bin is there, and no task wrote it": lambda run: (run / "train-1.bin").touch(),
    r"work/encode/x/\S+ is there, and no task wrote it": lambda run: shutil.copytree(
        run / "ledger", run / "work/encode/x"
    ),
    "ledger's entry of task 1 of 'shuffle': the file is damaged": lambda run: changed(
        run / "ledger/shuffle-00001.json", 9, b"!!"
    ),
    "tokenizer: ": lambda run: changed(run / "tokenizer/tokenizer.bytepair", 99, b"\xf7"),
    "tokenizer/manifest.json is missing": lambda run: (run / "tokenizer/manifest.json").unlink(),
    "tokenizer/vocab.json is there, and no task wrote it": lambda run: (run / "tokenizer/vocab.json").touch(),
    "summary.json does not say what the ledger says|the file is damaged": lambda run: changed(
        run / "summary.json", 30, b"\n\n"
    ),
    "the stage 'shuffle' wrote .* of .*": lambda run: sealed_again(
        run / "ledger/encode-00000.json", lambda entry: entry["splits"]["train"].update(documents=1)
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_named(fault: str, run: Path) -> None:
    FAULTS[fault](run)
    with pytest.raises(bp.IntegrityError, match=f"the run is damaged: .*({fault})"):
        bp.verify_shards(run)


def test_a_tokenizer_that_is_damaged_after_its_run(tok: bp.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("low")
    bp.shard(tmp_path / "a.txt", tok, tmp_path / "run")
    changed(tmp_path / "run/tokenizer/tokenizer.bytepair", 99, b"\xf7")  # which a worker of this process has loaded
    with pytest.raises(bp.IntegrityError, match="tokenizer: "):
        bp.verify_shards(tmp_path / "run")


def test_all_faults_are_named(run: Path) -> None:
    (run / "train-00000.bin").unlink()
    os.truncate(run / "train-00001.bin", 2)
    (run / "more").touch()
    with pytest.raises(bp.IntegrityError) as caught:
        bp.verify_shards(run)
    message = str(caught.value)
    assert all(fault in message for fault in ("more is there", "00000.bin is missing", "00001.bin has 2 bytes"))


def test_ids_that_no_tokenizer_has(run: Path) -> None:
    path = run / "train-00000.bin"
    ids = np.fromfile(path, np.uint16)
    ids[5] = 60_000
    ids.tofile(path)
    row = {"size": path.stat().st_size, "sha256": ledger.hash_of(path)}
    sealed_again(
        run / "ledger/shuffle-00000.json",
        lambda entry: next(one for one in entry["files"] if one["name"] == path.name).update(row),
    )
    with pytest.raises(bp.IntegrityError, match=r"train-00000\.bin has the id 60000, and the largest .* is 1999"):
        bp.verify_shards(run)


def test_a_run_that_is_not_complete(run: Path) -> None:
    (run / "ledger/finish-00000.json").unlink()
    with pytest.raises(bp.CorpusError, match="all tasks are done, and the summary is missing"):
        bp.verify_shards(run)
    for name in ("shuffle-00001", "shuffle-00003", "encode-00002"):
        (run / f"ledger/{name}.json").unlink()
    pattern = r"not complete: 1 of \d+ tasks of 'encode' are not done; 2 of \d+ tasks of 'shuffle' are not done"
    with pytest.raises(bp.CorpusError, match=pattern):
        bp.verify_shards(run)


def test_what_is_no_run(run: Path, tmp_path: Path) -> None:
    with pytest.raises(bp.ArtifactError, match=r"plan\.json"):
        bp.verify_shards(tmp_path)
    with pytest.raises(ValueError, match="threads=0"):
        bp.verify_shards(run, threads=0)
    changed(run / "plan.json", 50, b"!!")
    with pytest.raises(bp.IntegrityError, match=r"plan\.json"):
        bp.verify_shards(run)


def test_nothing_is_changed_and_progress_is_told(run: Path) -> None:
    before = digests(run)
    told: list[Any] = []
    found = bp.verify_shards(run, threads=3, progress=told.append)
    assert digests(run) == before
    assert told[-1].ended
    assert told[-1].done == told[-1].total == found.bytes
    assert len(told) == found.files


def test_a_folder_without_a_run_is_called_that(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(bp.ArtifactError, match="there is no run in this folder") as caught:
            bp.verify_shards(folder)
        assert caught.value.file == str(folder)
