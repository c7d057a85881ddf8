"""``bytepair explain``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bytepair as bp
from bytepair.cli import main


@pytest.fixture
def model(tmp_path: Path) -> str:
    folder = tmp_path / "model"
    bp.train({"low": 5, "lower": 2}, vocab_size=260, special_tokens=["<|e|>"], log=tmp_path / "log").save(folder)
    return str(folder)


def test_text_is_that_of_the_view(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "lower<|e|>", "-m", model]) == 0
    out = capsys.readouterr().out
    assert "rank 1  lo + w → low" in out
    assert "added token" in out
    assert "\x1b" not in out


def test_json_and_stdin(model: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["explain", "lower", "-m", model, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["ids"] == [257, 258]
    from bytepair.cli import explain as command

    monkeypatch.setattr(command, "read", lambda name: b"low" if name == "-" else b"")
    assert main(["explain", "-", "-m", model, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["text"] == "low"


def test_a_page(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "out.html"
    assert main(["explain", "lower", "-m", model, "--html", str(place)]) == 0
    assert place.read_text("utf-8").startswith("<!doctype html>")
    assert capsys.readouterr() == ("", f"{place}\n")


def test_timelines(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--timeline", model, "--most", "1"]) == 0
    assert capsys.readouterr().out.startswith("The first 1 of 3 merges, from a tokenizer\n")
    log = str(tmp_path / "log")
    assert main(["explain", "--timeline", log]) == 0
    assert "   0      7  l  + o  lo\n" in capsys.readouterr().out
    assert main(["explain", "--timeline", log, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["merges"][0]["count"] == 7
    place = tmp_path / "timeline.html"
    assert main(["explain", "--timeline", log, "--html", str(place)]) == 0
    assert "Counts of merged pairs" in place.read_text("utf-8")
    capsys.readouterr()
    Path(log).write_text('{"rank": 1}\n', "utf-8")
    assert main(["explain", "--timeline", log]) == 1
    assert "not a line of a merge log" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["low"],
        ["low", "-m", "model", "--timeline", "log"],
        ["low", "-m", "model", "--most", "3"],
        ["low", "-m", "model", "--html", "a", "--format", "json"],
    ],
)
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["explain", *arguments])
    assert caught.value.code == 2
    assert capsys.readouterr().err


def test_errors_name_what_is_wrong(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "a<|e|>", "-m", model, "--special", "raise"]) == 1
    assert "<|e|>" in capsys.readouterr().err
    assert main(["explain", "--timeline", "no such file"]) == 1
    assert "is not a file or folder" in capsys.readouterr().err
