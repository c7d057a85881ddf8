from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import bytepair as bp
from bytepair.cli import main

TEXT = "low lower lowest\nnew newer newest\n\nthe widest café in 東京 is the newest\n" * 2

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
Call = Callable[..., bytes]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a text and a tokenizer, without access to the network or to the user's cache."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BYTEPAIR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.setenv("BYTEPAIR_ENCODINGS_URL", "http://127.0.0.1:1")
    monkeypatch.delenv("BYTEPAIR_ENCODINGS", raising=False)
    Path("text.txt").write_bytes(TEXT.encode())
    bp.train(["text.txt"], vocab_size=290, special_tokens=["<|end|>"], split="gpt2").save("model")
    return tmp_path


@pytest.fixture
def tok() -> bp.Tokenizer:
    return bp.Tokenizer.from_file("model")


@pytest.fixture
def call(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Runs the command line here; returns its stdout."""

    def run(*arguments: str, stdin: bytes = b"") -> bytes:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(arguments)
        captured = capsysbinary.readouterr()
        assert code == 0, captured.err
        return captured.out

    return run


@pytest.fixture
def fails(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Runs a command line whose data or model is at fault; returns its one line on stderr, after those on fetching."""

    def run(*arguments: str, stdin: bytes = b"") -> str:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        assert main(arguments) == 1
        lines = capsysbinary.readouterr().err.decode().splitlines(keepends=True)
        err = "".join(line for line in lines if not line.startswith("bytepair: fetching "))
        assert err.startswith("bytepair: ")
        assert err.count("\n") == 1
        return err

    return run


@pytest.fixture
def misused(capsysbinary: pytest.CaptureFixture[bytes]) -> Callable[..., str]:
    """Runs a wrong command line; returns the last line on stderr."""

    def run(*arguments: str) -> str:
        with pytest.raises(SystemExit) as raised:
            main(arguments)
        assert raised.value.code == 2
        return capsysbinary.readouterr().err.decode().splitlines()[-1]

    return run


@pytest.fixture
def shell() -> Run:
    """Runs a line of shell in which ``bytepair`` is this command."""

    def run(line: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        function = f'bytepair() {{ "{sys.executable}" -m bytepair "$@"; }}\n'
        return subprocess.run(["sh", "-c", function + line], input=stdin, capture_output=True, check=False)

    if os.name != "posix":
        pytest.skip("needs sh")
    return run
