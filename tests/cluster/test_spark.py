"""The engine for Spark, in a local session that is started here; encoding of its data frames, and counts of them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.shards.engines.spark import Spark, counts, encoded_schema, encoder
from bytepair.training.counts import Counts

pytest.importorskip("pyspark")
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def session(armed: Path) -> Iterator[Any]:
    """Two workers; a task may fail three times."""
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed: 'sudo apt install openjdk-17-jre-headless'")
    from pyspark.sql import SparkSession

    assert not armed.exists()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.sql.shuffle.partitions", "3")
        started = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
        started.sparkContext.setLogLevel("OFF")
        yield started
        started.stop()


@pytest.fixture
def frame(session: Any, texts: list[str]) -> Any:
    rows = [(number, text) for number, text in enumerate(texts)]
    return session.createDataFrame(rows, "number int, text string").repartitionByRange(5, "number")


def test_it_leaves_what_the_local_engine_leaves(gives_the_same: Callable[[Any], None], session: Any) -> None:
    gives_the_same(Spark(session=session))


def test_a_task_whose_worker_is_killed_is_done_again(
    gives_the_same: Callable[[Any], None], session: Any, armed: Path
) -> None:
    armed.touch()
    assert session  # It is the active one.
    gives_the_same(Spark(workers=2))
    assert not armed.exists()


def test_errors_are_those_of_the_task(fails_the_same: Callable[[Any], None], session: Any) -> None:
    fails_the_same(Spark(session=session))


def test_a_data_frame_is_encoded(tokenizer: bp.Tokenizer, frame: Any, texts: list[str], tmp_path: Path) -> None:
    tokenizer.save(tmp_path / "tok")
    for given in (tokenizer, str(tmp_path / "tok")):
        encode = encoder(given, bos="<|end|>")
        rows = frame.mapInArrow(encode, encoded_schema(frame)).orderBy("number").collect()
        first = tokenizer.token_id("<|end|>")
        assert [row["input_ids"] for row in rows] == [[first, *tokenizer.encode(text)] for text in texts]
        assert [row["text"] for row in rows] == texts


def test_a_text_that_cannot_be_encoded_ends_the_job(tokenizer: bp.Tokenizer, session: Any) -> None:
    frame = session.createDataFrame([("low",), ("low <|end|>",)], "text string")
    with pytest.raises(Exception, match="SpecialTokenError"):
        frame.mapInArrow(encoder(tokenizer), encoded_schema(frame)).collect()


def test_counts_are_those_of_one_process(frame: Any, texts: list[str], tmp_path: Path) -> None:
    options: dict[str, Any] = {"split": "gpt2", "normalizers": ["NFC"], "special_tokens": ["12345"]}
    counts(frame, **options).write(tmp_path / "spark.parquet")
    Counts.of(iter(texts), **options, digest=False).write(tmp_path / "local.parquet")
    assert (tmp_path / "spark.parquet").read_bytes() == (tmp_path / "local.parquet").read_bytes()


def test_counts_of_nothing(session: Any) -> None:
    found = counts(session.createDataFrame([], "text string"))
    assert len(found) == 0
    assert found.end == 0


def test_what_cannot_be_counted_raises(session: Any) -> None:
    frame = session.createDataFrame([("low",), (None,)], "text string")
    with pytest.raises(bp.CorpusError, match="is null"):
        counts(frame)
    with pytest.raises(bp.CorpusError, match="holds int"):
        counts(session.range(3), "id")
    with pytest.raises(bp.PatternError):
        counts(frame, split="(")
