"""Common behaviour of `view`, `explain`, `compare`, `report` and `inspect`: pages, corpora, stdin and messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import bytepair as bp
from bytepair.cli import main
from tests.cli.conftest import Call

COMMANDS = [
    ("view", "low", "-m", "model"),
    ("explain", "low", "-m", "model"),
    ("explain", "--timeline", "model"),
    ("compare", "model", "model"),
    ("report", "-m", "model", "--corpus", "text.txt"),
    ("inspect", "model"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_page_has_a_place(command: tuple[str, ...], fails: Callable[..., str], misused: Callable[..., str]) -> None:
    for place in ("no/such/out.html", "model"):
        assert f"cannot write the page: {'Is' if place == 'model' else 'No'}" in fails(*command, "--html", place)
    assert not Path("no").exists()
    for place in ("-", ""):
        assert "--html names a file" in misused(*command, "--html", place)
    assert not Path("-").exists()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_it_is_said_where_a_page_is(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--html", "out.html"]) == 0
    assert "out.html" in capsys.readouterr().err.splitlines()
    assert Path("out.html").read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("command", [("compare", "model", "model"), ("report", "-m", "model")])
def test_corpora_have_the_same_names_everywhere(
    command: tuple[str, ...], call: Call, misused: Callable[..., str]
) -> None:
    Path("a").mkdir()
    Path("a/text.txt").write_text("low")
    Path("a=b.txt").write_text("low")
    found = json.loads(
        call(*command, "--format", "json", "--corpus", "text.txt", "a/text.txt", "./a=b.txt", "x=text.txt")
    )
    names = [one["name"] for one in found["corpora" if "corpora" in found else "sources"]]
    assert names == ["text.txt", "a/text.txt", "a=b.txt", "x"]
    for wrong in ("=text.txt", "en="):
        assert "not NAME=FILE" in misused(*command, "--corpus", wrong)


def test_errors_speak_of_options(fails: Callable[..., str], misused: Callable[..., str]) -> None:
    bp.train({"low": 2}, vocab_size=258).save("bare.tiktoken", drop=("split",))
    assert "superwords, and --special-token TEXT=ID" in fails("view", "low", "-m", "bare.tiktoken")
    assert "pass --encodings FOLDER" in fails("inspect", "gpt2")
    assert "bytepair inspect lists them" in fails("explain", "low", "-m", "model", "--special", "<|no|>")
    Path("bad.txt").write_bytes(b"\xff")
    assert "; --errors replace puts U+FFFD" in fails("report", "-m", "model", "--corpus", "bad.txt")
    assert "without -m" in misused("inspect", "-m", "model")
    assert "without -m" in misused("compare", "-m", "model", "-m", "model")


def test_explain_reads_stdin(call: Call, fails: Callable[..., str]) -> None:
    for text in ([], ["-"]):
        assert call("explain", *text, "-m", "model", stdin=b"lowest") == call("explain", "lowest", "-m", "model")
    assert "(file stdin, character 1, byte 2)" in fails(
        "explain", "-m", "model", stdin="é\udcff".encode(errors="surrogateescape")
    )


def test_a_text_that_looks_like_a_path_is_said_to_be_none(capsys: pytest.CaptureFixture[str]) -> None:
    for text, said in (
        ("text.tx", "there is no file 'text.tx'"),
        ("notes/text.md", "there is no file"),
        ("model", "'model' is a folder"),
        ("It is 3.5", ""),
        ("3.5", ""),
        ("the end.", ""),
        ("x" * 5000, ""),
    ):
        assert main(["view", text, "-m", "./model"]) == 0
        err = capsys.readouterr().err
        assert said in err
        assert bool(err) == bool(said)
        assert main(["view", "--text", text, "-m", "./model"]) == 0
        assert not capsys.readouterr().err


def test_a_stage_with_a_long_table_is_shortened_but_in_json(call: Call) -> None:
    long = json.dumps({"type": "Replace", "pattern": {"String": "q"}, "content": "z" * 999})
    spec = json.loads(Path("model/tokenizer.json").read_text("utf-8"))
    spec["normalizer"] = json.loads(long)
    Path("long.json").write_text(json.dumps(spec), "utf-8")
    assert max(map(len, call("inspect", "long.json").decode().splitlines())) < 250
    assert "z" * 999 in json.loads(call("inspect", "long.json", "--format", "json"))["normalizers"][0]


def test_added_tokens_that_are_matched_otherwise_have_the_same_id(call: Call) -> None:
    spec = json.loads(Path("model/tokenizer.json").read_text("utf-8"))
    spec["added_tokens"][0]["lstrip"] = True
    Path("other.json").write_text(json.dumps(spec), "utf-8")
    shown = call("compare", "model", "other.json").decode()
    assert "1 in both with the same id" in shown
    assert "with other flags: <|end|>" in shown
