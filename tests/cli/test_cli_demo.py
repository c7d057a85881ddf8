from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

import bytepair as bp
from bytepair.cli import demo

Call = Callable[..., bytes]

SOURCE = 'class Low:\n    """The lowest café."""\n\n    def encode(self, text):\n        return text\n'


@pytest.fixture(autouse=True)
def library(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python library of a few files."""
    root = folder / "library"
    for name in ("a.py", "deep/b.rst", "c.txt", "empty.py", "d.bin", "site-packages/x.py", "deep/test/y.py"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("" if "empty" in name else SOURCE, encoding="utf-8")
    (root / "latin.py").write_bytes("café".encode("latin-1"))
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"stdlib": str(root)})


def test_the_demo_shows_what_it_did(call: Call) -> None:
    out = call("demo", "--vocab-size", "300").decode()
    assert re.search(r"^text +4 files, 0\.0 MB; 1 skipped that are not UTF-8$", out, re.M)
    assert re.search(r"^round trip +4 of 4 files come back byte for byte$", out, re.M)
    assert re.search(r"^compression +\d+\.\d\d bytes per token$", out, re.M)
    assert "\x1b" not in out
    tok = bp.Tokenizer.from_file("demo-output")
    assert len(tok) == 300
    assert "|".join(token.decode("utf-8", "backslashreplace") for token in tok.tokens(demo.SAMPLE)) in out


def test_what_it_says_to_try_works_when_pasted(
    call: Call, monkeypatch: pytest.MonkeyPatch, shell: Callable[[str], subprocess.CompletedProcess[bytes]]
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    out = call("demo", "--folder", "my demo").decode()
    commands = out.partition("Next:\n")[2].splitlines()
    assert len(commands) == 5
    for command in commands:
        assert f"{sys.executable} -m bytepair" in command
        done = shell(command)
        assert done.returncode == 0, (command, done.stderr)


def test_a_terminal_gets_colours_unless_it_wants_none(tok: bp.Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = demo._coloured(tok)
    plain = re.sub("\x1b\\[[0-9;]*m", "", coloured)
    assert coloured.count("\x1b[30") == tok.count(demo.SAMPLE)
    assert coloured.endswith("\x1b[0m")
    monkeypatch.setenv("NO_COLOR", "1")
    assert demo._coloured(tok).replace("|", "") == plain


def test_no_text_is_one_line(fails: Callable[..., str], monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"stdlib": str(folder / "nowhere")})
    assert "this Python has no text with it" in fails("demo", "--vocab-size", "270")


def test_a_text_that_does_not_come_back_is_an_error(fails: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bp.Tokenizer, "decode_bytes", lambda *_: b"?")
    assert "did not come back" in fails("demo", "--vocab-size", "270")
