"""The engine for Ray, on a cluster of two workers that is started here; and encoding for Ray Data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.shards.engines.ray import Encode, Ray

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module", autouse=True)
def cluster(armed: Path) -> Iterator[Path]:
    """Two workers; yields a function that kills one of them."""
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100_000_000)
    yield armed
    ray.shutdown()


def test_it_leaves_what_the_local_engine_leaves(gives_the_same: Callable[[Any], None]) -> None:
    gives_the_same(Ray())


def test_a_task_whose_worker_is_killed_is_done_again(gives_the_same: Callable[[Any], None], cluster: Path) -> None:
    cluster.touch()
    gives_the_same(Ray(workers=2))
    assert not cluster.exists()


def test_errors_are_those_of_the_task(fails_the_same: Callable[[Any], None]) -> None:
    fails_the_same(Ray(workers=1))


def test_a_data_set_is_encoded(tokenizer: bp.Tokenizer, texts: list[str], tmp_path: Path) -> None:
    tokenizer.save(tmp_path / "tok")
    rows = [{"number": number, "text": text} for number, text in enumerate(texts)]
    encoded = ray.data.from_items(rows, override_num_blocks=5).map_batches(
        Encode,
        fn_constructor_kwargs={"tokenizer": str(tmp_path / "tok"), "field": "text", "eos": "<|end|>"},
        batch_format="pyarrow",
        concurrency=2,
    )
    found = sorted(encoded.take_all(), key=lambda row: row["number"])
    end = tokenizer.token_id("<|end|>")
    assert [list(row["input_ids"]) for row in found] == [[*tokenizer.encode(text), end] for text in texts]
    assert [row["text"] for row in found] == texts
