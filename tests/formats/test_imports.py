"""The modules that a load imports: a process that loads one tokenizer waits for those of its format alone."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import bytepair as bp
from tests.formats import models

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import sys, bytepair as bp
bp.load(sys.argv[1], split="gpt2" if "tiktoken" in sys.argv[1] else None)
print(*(name.split(".")[-1] for name in sys.modules))
"""
READERS = {"hf_json", "hf_spelled", "sentencepiece", "gguf", "clip", "vocab_txt", "tekken", "rwkv", "codes"}
SLOW = {"json", "dataclasses", "hashlib"}


@pytest.mark.parametrize(
    ("format_name", "needed", "slow"),
    [
        ("tiktoken", set(), set()),
        ("native", set(), {"hashlib", "json"}),
        ("tokenizer.json", {"hf_json"}, {"json"}),
        ("sentencepiece", {"sentencepiece"}, {"json", "dataclasses"}),
    ],
)
def test_a_load_imports_what_its_format_needs(
    tmp_path: Path, format_name: str, needed: set[str], slow: set[str]
) -> None:
    if format_name == "sentencepiece":
        path = tmp_path / "tokenizer.model"
        path.write_bytes(models.model(models.pair_pieces()))
    else:
        tok = bp.train({"low": 5, "lower": 2}, vocab_size=260)
        path, *_ = tok.save(tmp_path, format_name, drop=("split",) if format_name == "tiktoken" else ())
        # Its hashes would be checked.
        (tmp_path / "manifest.json").unlink()
    program = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(path)]
    done = subprocess.run(program, check=True, stdout=subprocess.PIPE, text=True)
    found = set(done.stdout.split())
    assert (READERS & found, SLOW & found) == (needed, slow)
