"""`bytepair compare`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import bytepair as bp
from bytepair.cli import main
from tests.cli.conftest import Call


@pytest.fixture(autouse=True)
def other(folder: Path) -> None:
    bp.train(["text.txt"], vocab_size=270, split="o200k").save("other")
    (folder / "rows.jsonl").write_text('{"text": "low"}\n{"text": "x"}\n')


def test_it_says_what_compare_says(call: Call, tok: bp.Tokenizer) -> None:
    found = json.loads(call("compare", "model", "other", "--corpus", "text.txt", "r=rows.jsonl", "--format", "json"))
    again = bp.compare(
        tok,
        bp.Tokenizer.from_file("other"),
        {"text.txt": ["text.txt"], "r": ["rows.jsonl"]},
        names=("model", "other"),
    )
    assert found == json.loads(json.dumps(again.as_dict()))
    assert [source["documents"] for source in found["sources"]] == [1, 2]


def test_a_table_and_a_page(call: Call) -> None:
    shown = call("compare", "model", "other", "--corpus", "text.txt", "--html", "page.html").decode()
    assert "A  model: 290 tokens, merges" in shown
    assert "B needs" in shown
    assert "<!doctype html>" in Path("page.html").read_text("utf-8")
    assert "differ in" in call("compare", "model", "other").decode()


def test_the_exit_code_says_whether_ids_differ_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    text = ["--corpus", "text.txt"]
    assert main(["compare", "model", "other", *text]) == 0
    assert main(["compare", "model", "other", *text, "--exit-code"]) == 1
    assert main(["compare", "model", "model", *text, "--exit-code"]) == 0
    assert main(["compare", "model", "other", "--corpus", "rows.jsonl", "--delimiter", "x"]) == 1
    assert "no effect" in capsys.readouterr().err


def test_wrong_usage(misused: Callable[..., str], fails: Callable[..., str]) -> None:
    assert "required" in misused("compare", "model")
    assert "--exit-code goes with --corpus" in misused("compare", "model", "other", "--exit-code")
    assert "--field goes with --corpus" in misused("compare", "model", "other", "--field", "a")
    for option, value in {"special": "allow", "added": "text", "errors": "replace", "threads": "2", "top": "3"}.items():
        assert f"--{option} goes with --corpus" in misused("compare", "model", "other", f"--{option}", value)
    assert "no file matches" in fails("compare", "model", "other", "--corpus", "none.txt")
