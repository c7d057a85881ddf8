"""The example of shards: from files to rows of ids with their targets."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import bytepair as bp
from tests.conftest import ROOT, script

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("fsspec")

SCRIPT = ROOT / "examples" / "shards.py"


@pytest.fixture(scope="module")
def shards() -> Any:
    return script(SCRIPT)


def test_it_runs_as_a_program_and_goes_on(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"{number}.txt").write_text(f"low lower {number} newest widest\n" * (number + 1), "utf-8")
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    call = [
        sys.executable,
        str(SCRIPT),
        "*.txt",
        "--model",
        "model",
        "--out",
        "run",
        "--length",
        "16",
        "--validation",
        "0.2",
    ]
    bp.train(str(tmp_path / "*.txt"), 270, special_tokens=["<|endoftext|>"]).save(tmp_path / "model")
    done = subprocess.run(call, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("40 documents, ")
    assert lines[3].startswith("a batch: (2, 16), it begins with '")
    again = subprocess.run(call, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert again.stdout == done.stdout
    missing = subprocess.run(
        [*call[:2], "gone.txt", *call[3:]], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert missing.returncode == 1
    assert missing.stderr.startswith("shards: ")


def test_rows_are_all_of_a_split_once_an_epoch(shards: Any) -> None:
    rows = shards.Rows(np.arange(1001, dtype=np.uint16), length=10)
    assert len(rows) == 100
    firsts = []
    for step in range(50):
        inputs, targets = rows.batch(step, 4)
        assert inputs.shape == targets.shape == (4, 10)
        assert (targets == inputs + 1).all()
        firsts += inputs[:, 0].tolist()
    assert sorted(firsts[:100]) == sorted(firsts[100:]) == list(range(0, 1000, 10))
    assert firsts[:100] != firsts[100:]
    assert (rows.batch(7, 4)[0] == shards.Rows(rows.ids, 10).batch(7, 4)[0]).all()
    with pytest.raises(ValueError, match="make no row of 10"):
        shards.Rows(np.arange(10, dtype=np.uint16), length=10).batch(0, 1)
