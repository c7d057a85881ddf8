"""`bytepair inspect`: facts, stages and findings; its exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import bytepair as bp
from bytepair.cli import main
from tests.cli.conftest import Call


def test_stages_and_findings_follow_the_facts(call: Call) -> None:
    facts, drawn, found = call("inspect", "model").decode().split("\n\n")
    assert "fingerprint" in facts
    assert drawn.startswith("text\n │\n ▼  added tokens    1 special")
    assert found == "0 errors, 0 warnings, 0 notes\n"
    table = json.loads(call("inspect", "model", "--format", "json"))
    assert [stage["name"] for stage in table["stages"]][:3] == ["added tokens", "normalizer", "split"]
    assert table["lint"] == {"counts": {"error": 0, "warning": 0, "note": 0}, "findings": []}


def test_embeddings(tok: bp.Tokenizer, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "model", "--embeddings", "320"]) == 0
    assert "embedding-padded" in capsys.readouterr().out
    assert main(["inspect", "model", "--embeddings", str(tok.vocab_size - 1)]) == 1
    assert "error    embedding-too-small" in capsys.readouterr().out
    assert main(["inspect", "model", "--embeddings", "no-folder"]) == 1
    assert "is not a folder" in capsys.readouterr().err


def test_a_page(call: Call) -> None:
    assert b"fingerprint" in call("inspect", "model", "--html", "out.html")
    page = Path("out.html").read_text("utf-8")
    assert "<h1>model</h1>" in page
    assert "No findings" in page


def test_what_does_not_load(capsys: pytest.CaptureFixture[str]) -> None:
    path = Path("model", "tokenizer.json")
    table = json.loads(path.read_text("utf-8"))
    table["model"]["vocab"]["a"] = 5
    path.write_text(json.dumps(table), "utf-8")
    Path("model", "manifest.json").unlink()
    assert main(["inspect", "model", "--html", "out.html"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("error    does-not-load: two tokens have the id 5")
    assert "duplicate-id" in said
    assert "duplicate-id" in Path("out.html").read_text("utf-8")
    assert main(["inspect", "model", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["stages"] == []


def test_a_file_that_is_not_as_it_was_saved(capsys: pytest.CaptureFixture[str]) -> None:
    path = Path("model", "tokenizer.json")
    path.write_text(path.read_text("utf-8") + " ", "utf-8")
    assert main(["inspect", "model"]) == 1
    assert "does-not-load" in capsys.readouterr().out


def test_no_such_model(call: Call, fails: Callable[..., str]) -> None:
    assert "is not a file or folder" in fails("inspect", "nothing")
    call("convert", "model", "-o", "x.tiktoken", "--drop", "split,special_tokens")
    assert "stages-unknown" in call("inspect", "x.tiktoken").decode()
