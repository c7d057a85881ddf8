"""`bytepair serve`."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any
from urllib.request import urlopen

import pytest

from bytepair.cli import main
from bytepair.view import playground


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The calls that would serve a playground."""
    calls: list[dict[str, Any]] = []

    def serve(tokenizers: Any, **options: Any) -> None:
        calls.append({"tokenizers": tokenizers, **options})
        options["ready"]("http://127.0.0.1:1/")

    monkeypatch.setattr("bytepair.cli.serve.serve", serve)
    return calls


def test_what_is_said_is_served(served: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve"]) == 0
    assert main(["serve", "-m", "model", "-m", "./model", "--host", "::1", "--port", "0", "--encodings", "here"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "bytepair: the playground is at http://127.0.0.1:1/ (Ctrl-C ends it)\n" * 2
    first, second = ({k: v for k, v in call.items() if k != "ready"} for call in served)
    assert first == {"tokenizers": {}, "host": "127.0.0.1", "port": playground.PORT, "encodings": None}
    assert list(second.pop("tokenizers")) == ["model", "model (2)"]
    assert second == {"host": "::1", "port": 0, "encodings": "here"}


def test_the_browser_is_opened(served: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    opened: list[str] = []
    done = threading.Event()

    def open_(url: str) -> None:
        opened.append(url)
        done.set()

    monkeypatch.setattr("webbrowser.open", open_)
    assert main(["serve"]) == 0
    assert opened == []
    assert main(["serve", "--open"]) == 0
    assert done.wait(10)
    assert (opened, len(served)) == (["http://127.0.0.1:1/"], 2)


def test_wrong_usage(misused: Callable[..., str]) -> None:
    assert "'65536' is not a port" in misused("serve", "--port", "65536")
    assert "'-1' is not a port" in misused("serve", "--port=-1")


def test_a_port_that_is_taken_is_one_line(fails: Callable[..., str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = fails("serve", "--port", str(taken.getsockname()[1]))
    assert "is taken; use another port" in said


def test_a_model_that_is_none_is_one_line(fails: Callable[..., str]) -> None:
    assert "is not a file or folder" in fails("serve", "-m", "nothing")


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_with_130() -> None:
    command = [sys.executable, "-m", "bytepair", "serve", "-m", "model", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        said = process.stderr.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:\d+/", said)
        assert found, said
        with urlopen(found[0], timeout=20) as answer:
            assert answer.status == 200
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, b"", b"bytepair: interrupted\n")
