from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bytepair as bp
from bytepair.cli import main

Call = Callable[..., bytes]
Fails = Callable[..., str]


@pytest.fixture
def more() -> str:
    Path("more.txt").write_text("slower slowest slowly\n" * 9, encoding="utf-8")
    return "more.txt"


def test_extend_is_the_api_call(
    call: Call, more: str, tok: bp.Tokenizer, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    settings = ["-m", "model", "--vocab-size", "295", "--ties", "first_seen", "--min-frequency", "1"]
    settings += ["--max-token-length", "6", "--errors", "replace", "--threads", "1"]
    assert main(["extend", "*ore.txt", *settings, "-o", "out"]) == 0
    captured = capsysbinary.readouterr()
    assert captured.out == b""
    assert captured.err.decode() == "295 tokens, 5 of them new: out/tokenizer.json, out/manifest.json\n"
    expected = bp.extend(tok, more, 295, ties="first_seen", min_frequency=1, max_token_length=6, errors="replace")
    assert bp.Tokenizer.from_file("out") == expected
    call("extend", "-", *settings, "-o", "out.bytepair", stdin=Path(more).read_bytes())
    assert bp.Tokenizer.from_file("out.bytepair") == expected


def test_prune_is_the_api_call(
    call: Call, more: str, tok: bp.Tokenizer, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["prune", "-m", "model", "--vocab-size", "270", "-o", "out", "--map", "ids.npy"]) == 0
    captured = capsysbinary.readouterr()
    assert captured.out == b""
    assert captured.err.decode() == "270 tokens, 20 removed: out/tokenizer.json, out/manifest.json, ids.npy\n"
    expected = bp.prune(tok, 270)
    assert bp.Tokenizer.from_file("out") == expected.tokenizer
    np.testing.assert_array_equal(np.load("ids.npy"), expected.ids)

    about = bp.prune(tok, 270, more)
    assert about.tokenizer != expected.tokenizer
    for name in ("ids.json", "-"):
        shown = call("prune", more, "-m", "model", "--vocab-size", "270", "-o", "out", "--map", name)
        assert json.loads(shown or Path(name).read_bytes()) == about.ids.tolist()
        assert bp.Tokenizer.from_file("out") == about.tokenizer


def test_what_is_wrong_is_one_line(fails: Fails, misused: Callable[..., str], more: str) -> None:
    extend = ["extend", "-m", "model", "-o", "out", "--vocab-size"]
    prune = ["prune", "-m", "model", "-o", "out", "--vocab-size"]
    assert "cannot be extended to 280" in fails(*extend, "280", more)
    assert "nope" in fails(*extend, "300", "nope*.txt")
    assert "no text" in fails(*extend, "300", "-")
    assert "goes alone" in misused(*extend, "300", "-", more)
    assert "FILE" in misused(*extend, "300")
    assert "cannot be pruned to 300" in fails(*prune, "300")
    assert "can be removed" in fails(*prune, "200")
    assert "neither .npy nor .json" in misused(*prune, "270", "--map", "ids.txt")
    assert "tiktoken cannot hold" in fails("prune", "-m", "model", "-o", "x.tiktoken", "--vocab-size", "270")
    assert not Path("out").exists()
