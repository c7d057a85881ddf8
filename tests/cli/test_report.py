from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import bytepair as bp
from tests.cli.conftest import TEXT, Call


def test_a_table_json_and_a_page(call: Call, tok: bp.Tokenizer) -> None:
    Path("other.txt").write_text("日本語 lower\n")
    corpora = ("--corpus", "en=text.txt", "ja=other.txt")
    table = call("report", "-m", "model", *corpora, "--context", "1k").decode()
    assert table.splitlines()[0].split() == ["corpus", "documents", "characters", "bytes", "words"]
    assert f"{tok.count(TEXT):,}" in next(line for line in table.splitlines() if line.startswith("tokens "))
    assert "characters in 1,000 tokens" in table
    found = json.loads(call("report", "-m", "model", *corpora, "--format", "json", "--html", "out.html"))
    assert [cost["corpus"] for cost in found["costs"]] == ["en", "ja"]
    assert found["costs"][0]["tokens"] == tok.count(TEXT)
    assert found == bp.report({"model": tok}, {"en": "text.txt", "ja": "other.txt"}).as_dict()
    page = Path("out.html").read_text("utf-8")
    assert page == bp.report({"model": tok}, {"en": "text.txt", "ja": "other.txt"}).html()


def test_names_of_corpora(call: Call, misused: Callable[..., str]) -> None:
    Path("b.txt").write_text("b")
    command = ("report", "-m", "model", "--format", "json", "--corpus")
    found = json.loads(call(*command, "text.txt", "x=b.txt", "--corpus", "x=text.txt"))
    assert [(size["name"], size["documents"]) for size in found["corpora"]] == [("text.txt", 1), ("x", 2)]
    assert "not NAME=FILE" in misused("report", "-m", "model", "--corpus", "=b.txt")
    assert "--corpus" in misused("report", "-m", "model")


def test_several_models_and_parallel_lines(call: Call, fails: Callable[..., str]) -> None:
    bp.train({"other": 3}, vocab_size=258).save("second")
    Path("de.txt").write_text("eins\nzwei\n")
    Path("en.txt").write_text("one\ntwo\n")
    command = ("report", "-m", "model", "-m", "second", "--corpus", "en=en.txt", "de=de.txt")
    found = json.loads(call(*command, "--parallel", "--format", "json"))
    assert [use["tokenizer"] for use in found["vocabularies"]] == ["model", "second"]
    assert [cost["parity"] for cost in found["costs"]][::2] == [1, 1]
    Path("de.txt").write_text("eins\n")
    assert "2 documents and 'de' has 1" in fails(*command, "--parallel")


def test_what_is_wrong_is_said(fails: Callable[..., str]) -> None:
    assert "no file matches" in fails("report", "-m", "model", "--corpus", "en=missing.txt")
    Path("bad.txt").write_bytes(b"a\xff")
    assert "byte 1" in fails("report", "-m", "model", "--corpus", "bad.txt")
    Path("special.txt").write_text("<|end|>")
    assert "--special text" in fails("report", "-m", "model", "--corpus", "special.txt", "--special", "raise")
    assert "cannot write" in fails("report", "-m", "model", "--corpus", "text.txt", "--html", "no/such/out.html")
