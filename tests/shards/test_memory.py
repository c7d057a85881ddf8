"""The memory of a run does not grow with the corpus.

``BYTEPAIR_SHARD_GB=5`` makes each corpus that large; else they have 96 MB. They are compared with ones of 32 MB, which
have a task for each of two workers and fill all that a run keeps.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import bytepair as bp
from tests.conftest import ROOT

MB = 1_000_000
SIZE = int(float(os.environ.get("BYTEPAIR_SHARD_GB", "0.096")) * 1000) * MB
SMALL = 32 * MB
BLOCK = 4 * MB
DELIMITER = "\n\n"

MORE = 96
"""In MB. The tasks that run at the same time, and the memory that allocators keep, differ from run to run."""

RUN = """
import json, sys
import bytepair as bp
from benchmarks.worker import peak
from bytepair.shards.sharding import shard
source, tokenizer, output, options = sys.argv[1:]
tok = bp.Tokenizer.from_file(tokenizer)
imported = peak()
summary = shard(source, tok, output, workers=2, longest=None, **json.loads(options))
print(json.dumps({"peak": peak(), "imported": imported, "documents": summary.documents, "tokens": summary.tokens}))
"""


def words(size: int) -> Iterator[bytes]:
    """A given number of bytes of documents of some kB, in blocks of whole documents."""
    draws = np.random.default_rng(0)
    letters = draws.integers(ord("a"), ord("z") + 1, BLOCK, np.uint8)
    letters[draws.random(BLOCK) < 0.2] = ord(" ")
    block = letters.tobytes()
    while size > 0:
        # Other words in each block.
        start = int(draws.integers(BLOCK))
        text = block[start:] + block[:start]
        yield b"".join(text[at : at + 4_000] + DELIMITER.encode() for at in range(0, min(size, BLOCK), 4_000))
        size -= BLOCK


def write(folder: Path, kind: str, size: int) -> Path:
    if kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = folder / f"{size}.parquet"
        with pq.ParquetWriter(path, pa.schema([("text", pa.string())])) as writer:
            for block in words(size):
                writer.write_table(pa.table({"text": block.decode().split(DELIMITER)[:-1]}))
        return path
    path = folder / f"{size}.txt"
    with path.open("wb") as file:
        for block in words(size):
            file.write(block)
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = next(words(BLOCK)).decode()[:100_000]
    tok = bp.train(iter([text]), 1_000, special_tokens=["<|end|>"])
    return tok.save(tmp_path_factory.mktemp("model") / "model", "native")[0]


def ran(folder: Path, model: Path, kind: str, size: int, options: dict[str, object]) -> dict[str, float]:
    source = write(folder, kind, size)
    output = folder / f"out-{size}"
    arguments = [str(source), str(model), str(output), json.dumps({"eos": "<|end|>", "task_size": "16MB", **options})]
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=7200
    )
    source.unlink()
    shutil.rmtree(output, ignore_errors=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, float] = json.loads(done.stdout)
    print(f"{kind} {options}, {size // MB} MB: {found}")  # pytest -s shows it
    return found


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("text", {"delimiter": DELIMITER}),
        ("text", {}),
        ("parquet", {"format": "megatron"}),
        ("parquet", {"shuffle": True, "validation": "0.01"}),
    ],
    ids=["documents", "one document", "parquet", "shuffled"],
)
def test_memory_does_not_grow_with_the_corpus(
    tmp_path: Path, model: Path, kind: str, options: dict[str, object]
) -> None:
    small, large = (ran(tmp_path, model, kind, size, options) for size in (SMALL, SIZE))
    assert large["documents"] == (1 if kind == "text" and not options else pytest.approx(SIZE / 4_000, rel=0.01))
    assert large["tokens"] > 2 * small["tokens"]
    assert large["peak"] < small["peak"] + MORE
