"""Fixtures for the tests of engines: a corpus, the shards of one process, and workers that kill themselves.

`make test-cluster` runs them, in build/cluster. They are skipped where their packages are not installed.
"""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.shards.engines.local import Local

collect_ignore = ["killing", "sbatch.py"]  # programs of their own

KILLING = Path(__file__).with_name("killing")
WORDS = ["low", "lower", "newest", "wide", "Ünïcode", "日本語", "😀", "don't", "12345", "\n"]
OPTIONS: dict[str, Any] = {
    "eos": "<|end|>",
    "shuffle": True,
    "validation": "0.2",
    "seed": 3,
    "bad": "quarantine",
    "task_size": 30_000,
}


def tree(folder: Path) -> dict[str, bytes]:
    """All files of a folder, by their names."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="session")
def tokenizer() -> bp.Tokenizer:
    """A small tokenizer."""
    counts = dict.fromkeys(WORDS, 5) | {" low": 9, " lower": 9}
    return bp.train(counts, vocab_size=290, special_tokens=["<|end|>"])


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """Texts of a data frame."""
    draw = random.Random(7)
    return [" ".join(draw.choices(WORDS, k=draw.randrange(1, 30))) for _ in range(500)]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Files of lines of JSON: some tasks of documents, one of which cannot be used."""
    folder = tmp_path_factory.mktemp("corpus")
    draw = random.Random(5)
    for number in range(3):
        rows = [{"text": " ".join(draw.choices(WORDS, k=draw.randrange(60)))} for _ in range(500)]
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        if number == 1:
            (folder / "1.jsonl.gz").write_bytes(gzip.compress(data, mtime=0))
        else:
            (folder / f"{number}.jsonl").write_bytes(data + b'{"text": 7}\n' * (number == 2))
    return [str(folder / "*")]


@pytest.fixture(scope="session")
def shards(corpus: list[str], tokenizer: bp.Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files that the local engine writes."""
    folder = tmp_path_factory.mktemp("local") / "out"
    bp.shard(corpus, tokenizer, folder, engine=Local(2), **OPTIONS)
    found = tree(folder)
    assert len([name for name in found if name.startswith("ledger/encode")]) > 3
    assert any(name.startswith("quarantine/") for name in found)
    return found


@pytest.fixture(scope="session", autouse=True)
def armed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A path: once there is a file, the next worker that commits removes it and kills itself.

    Services that start workers must start after this, also in tests that kill none: the JVM of Spark persists.
    """
    place = tmp_path_factory.mktemp("killing") / "armed"
    changed = {
        "BYTEPAIR_TEST_ARMED": str(place),
        "PYTHONPATH": os.pathsep.join([str(KILLING), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
    }
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    yield place
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


@pytest.fixture
def gives_the_same(
    corpus: list[str], tokenizer: bp.Tokenizer, shards: dict[str, bytes], tmp_path: Path
) -> Callable[[Any], None]:
    """Shards a corpus with an engine, and compares all files with those of the local engine."""

    def check(engine: Any) -> None:
        told: list[Any] = []
        bp.shard(corpus, tokenizer, tmp_path / "out", engine=engine, progress=told.append, **OPTIONS)
        found = tree(tmp_path / "out")
        assert sorted(found) == sorted(shards)
        assert [name for name, data in found.items() if data != shards[name]] == []
        assert told

    return check


@pytest.fixture
def fails_the_same(tokenizer: bp.Tokenizer, tmp_path: Path) -> Callable[[Any], None]:
    """Gives an engine a document that cannot be used, and compares its error with the local engine's."""

    def check(engine: Any) -> None:
        (tmp_path / "bad.jsonl").write_text('{"text": "low"}\n{"text": "low <|end|>"}\n')
        errors = []
        for number, doer in enumerate([Local(1), engine]):
            with pytest.raises(bp.SpecialTokenError) as raised:
                bp.shard(tmp_path / "bad.jsonl", tokenizer, tmp_path / f"out{number}", engine=doer)
            errors.append(raised.value)
        assert str(errors[0]) == str(errors[1])
        assert vars(errors[0]) == vars(errors[1])

    return check
