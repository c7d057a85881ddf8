"""Counting on clusters: the tables of all engines are those of one process, and so are the tokenizers."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.shards.count_corpus import count_corpus
from bytepair.shards.engines.ray import Ray
from bytepair.shards.engines.spark import Spark
from bytepair.training.counts import Counts
from bytepair.training.learning import TIES
from tests.cluster.conftest import WORDS, tree

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory, corpus: list[str]) -> dict[str, list[str]]:
    folder = tmp_path_factory.mktemp("text")
    for number in range(3):
        (folder / f"{number}.txt").write_text(" ".join(WORDS[number:] * 1000))
    good = Path(corpus[0]).parent
    return {"json": [str(good / "[01].jsonl*")], "text": [str(folder / "*.txt")]}


def engine(name: str, request: pytest.FixtureRequest) -> Any:
    if name == "ray":
        ray = pytest.importorskip("ray")
        if not ray.is_initialized():
            request.addfinalizer(ray.shutdown)
        return Ray(num_cpus=2, object_store_memory=100_000_000)
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    request.addfinalizer(session.stop)
    return Spark(session=session)


@pytest.mark.parametrize("name", ["ray", "spark"])
def test_tables_and_tokenizers_are_those_of_one_process(
    name: str, sources: dict[str, list[str]], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    doer = engine(name, request)
    pieces: dict[str, Any] = {"split": "gpt2", "special_tokens": ["<|end|>"]}
    counts = count_corpus(sources, tmp_path / "out", **pieces, engine=doer, task_size=20_000)
    Counts.of(sources, **pieces).write(tmp_path / "whole.parquet")
    assert (tmp_path / "out" / "counts.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert len(list((tmp_path / "out" / "ledger").iterdir())) > 10
    for ties in TIES:
        options: dict[str, Any] = {"vocab_size": 300, "ties": ties, "special_tokens": ["<|end|>"]}
        bp.train(Counts.read(tmp_path / "whole.parquet"), **options).save(tmp_path / f"one-{ties}")
        bp.train(counts, **options).save(tmp_path / f"other-{ties}")
        assert tree(tmp_path / f"one-{ties}") == tree(tmp_path / f"other-{ties}")
