from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

import bytepair as bp
from bytepair.cli.arguments import add_models, load_models
from bytepair.view import terminal
from bytepair.view.pictures import picture

Call = Callable[..., bytes]


@pytest.fixture(autouse=True)
def columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests do not depend on the terminal that they run in."""
    monkeypatch.setenv("COLUMNS", "100")


def _load(*arguments: str, names: tuple[str, ...] = ()) -> dict[str, bp.Tokenizer]:
    parser = ArgumentParser()
    add_models(parser, *names, required=False)
    parser.set_defaults(usage_error=_wrong_usage)
    return load_models(parser.parse_args(arguments))


class _UsageError(Exception):
    pass


def _wrong_usage(message: str) -> NoReturn:
    raise _UsageError(message)


def test_several_models_have_names_that_differ(tok: bp.Tokenizer) -> None:
    for folder in ("a/b", "c/b", "d"):
        tok.save(folder)
    options = [f"-m{path}" for path in ("a/b", "./c/b/", "d/tokenizer.json", "d", "a/../d", "d")]
    found = _load(*options)
    assert list(found) == ["a/b", "c/b", "d/tokenizer.json", "d", "d (2)", "d (3)"]
    assert all(model == tok for model in found.values())
    assert list(_load("a/b", "d", names=("A", "B"))) == ["b", "d"]
    assert _load() == {}


def test_what_bare_files_lack_is_for_files_and_folders_of_encodings_for_encodings(tok: bp.Tokenizer) -> None:
    tok.save("bare.tiktoken", drop=("split", "special_tokens"))
    bare = ["--split", "gpt2", "--special-token", "<|end|>=289"]
    assert _load("-mbare.tiktoken", *bare)["bare.tiktoken"].encode("low") == tok.encode("low")
    with pytest.raises(_UsageError, match="gpt2, o200k_base are encodings"):
        _load("-mgpt2", "-mo200k_base", *bare)
    with pytest.raises(_UsageError, match=r"bare\.tiktoken, model are none"):
        _load("-mbare.tiktoken", "-mmodel", "--encodings", ".")
    with pytest.raises(_UsageError, match="twice"):
        _load("-mbare.tiktoken", *bare, *bare[2:])


def test_a_text_a_file_or_stdin_is_shown(call: Call, tok: bp.Tokenizer) -> None:
    text = "the newest café"
    Path("a.txt").write_text(text)
    wanted = shown(tok, text, "model")
    assert call("view", text, "-m", "model").decode() == wanted
    assert call("view", "a.txt", "-m", "model").decode() == wanted
    assert call("view", "--file", "a.txt", "-m", "model").decode() == wanted
    assert call("view", "-m", "model", stdin=text.encode()).decode() == wanted
    assert call("view", "-", "-m", "model", stdin=text.encode()).decode() == wanted
    assert call("view", "--file", "-", "-m", "model", stdin=text.encode()).decode() == wanted
    assert call("view", "--text", "a.txt", "-m", "model").decode() == shown(tok, "a.txt", "model")
    assert call("view", "--text", "-", "-m", "model").decode() == shown(tok, "-", "model")
    # Longer than any name of a file.
    assert call("view", "low " * 2000, "-m", "model").decode() == shown(tok, "low " * 2000, "model")


def shown(tok: bp.Tokenizer, text: str | bytes, name: str, **settings: Any) -> str:
    return terminal.text(picture({name: tok}, text), terminal.TerminalOptions(**settings)) + "\n"


def test_options_act(call: Call, tok: bp.Tokenizer) -> None:
    text = "low <|end|>\nnewest 東京\n" * 4
    for options, settings in (
        (["--ids"], {"ids": True}),
        (["--pieces", "--width", "40"], {"pieces": True, "width": 40}),
        (["--color", "always"], {"colour": True}),
        (["--color", "always", "--boundaries"], {"colour": True, "boundaries": True}),
    ):
        assert call("view", text, "-m", "model", *options).decode() == shown(tok, text, "model", **settings)
    both = call("view", text, "-m", "model", "-m", "./model", "--by-line").decode()
    seen = picture([("model", tok), ("model (2)", tok)], text)
    assert both == terminal.text(seen, terminal.TerminalOptions(by_line=True)) + "\n"
    as_text = picture({"model": tok}, text, special="text")
    assert call("view", text, "-m", "model", "--special", "text").decode() == terminal.text(as_text) + "\n"


def test_bytes_that_are_not_utf8_are_shown(call: Call, tok: bp.Tokenizer) -> None:
    Path("a.bin").write_bytes(b"a\xff\xe2\x82")
    wanted = shown(tok, b"a\xff\xe2\x82", "model")
    assert call("view", "a.bin", "-m", "model").decode() == wanted
    assert call("view", os.fsdecode(b"a\xff\xe2\x82"), "-m", "model").decode() == wanted


def test_a_page_is_written_whole_or_not_at_all(call: Call, fails: Callable[..., str]) -> None:
    assert call("view", "</script>low", "-m", "model", "--html", "out.html") == b""
    page = Path("out.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "</script>low" not in page
    assert "nowhere" in fails("view", "low", "-m", "model", "--html", "nowhere/out.html")
    assert not Path("nowhere").exists()


def test_what_is_at_fault_is_named(fails: Callable[..., str], misused: Callable[..., str]) -> None:
    Path("a.txt").write_text("low <|end|>")
    said = fails("view", "a.txt", "-m", "model", "--special", "raise")
    assert "file a.txt" in said
    assert "--special text" in said
    assert "no.txt" in fails("view", "--file", "no.txt", "-m", "model")
    assert "is not a file or folder" in fails("view", "low", "-m", "no-model")
    assert "use one of TEXT" in misused("view", "low", "--text", "low", "-m", "model")
    assert "at least 30" in misused("view", "low", "-m", "model", "--width", "29")
    assert "a page shows all of it" in misused("view", "low", "-m", "model", "--html", "a.html", "--ids")
    assert "--model" in misused("view", "low")
