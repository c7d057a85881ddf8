"""What only shows in a process of its own: pipes, signals, start-up."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bytepair.cli import _COMMANDS, main

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


def test_pipes_give_the_bytes_back(shell: Run) -> None:
    done = shell("bytepair encode -m model | bytepair decode -m model", stdin=b"low\r\n\n\n newest")
    assert (done.stdout, done.stderr) == (b"low\r\n\n\n newest", b"")


@pytest.mark.parametrize("line", ["encode --lines many.txt -m model", "--help", "inspect model"])
def test_a_closed_pipe_ends_silently(shell: Run, line: str) -> None:
    Path("many.txt").write_text("low lower lowest\n" * 50_000)
    # The first `true` closes the pipe; the sleep lets it.
    done = shell(f"{{ sleep 0.2; bytepair {line}; echo $? >&2; }} | true")
    # Where stdout has no buffer (PYTHONUNBUFFERED), argparse ignores that its help cannot be written.
    assert done.stderr in ((b"141\n", b"0\n") if line == "--help" else (b"141\n",))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line(shell: Run) -> None:
    done = shell("bytepair count text.txt -m model > /dev/full")
    assert (done.returncode, done.stderr) == (1, b"bytepair: No space left on device\n")


@pytest.mark.parametrize("line", ["encode -m model <&-", "count text.txt -m model >&-"])
def test_a_closed_stream_is_one_line(shell: Run, line: str) -> None:
    done = shell(f"bytepair {line}")
    assert (done.returncode, done.stderr) == (1, b"bytepair: Bad file descriptor\n")


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_with_130() -> None:
    command = [sys.executable, "-m", "bytepair", "train", "-", "--vocab-size", "300", "-o", "out"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        # More than a pipe holds: when all of it is gone, the command is reading.
        process.stdin.write(b"low " * 100_000)
        process.stdin.flush()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
        assert process.stderr.read() == b"bytepair: interrupted\n"
    assert not Path("out").exists()


def test_nothing_heavy_is_imported_to_encode() -> None:
    code = (
        "import sys; from bytepair.cli import main; main(['encode', 'text.txt', '-m', 'model']);"
        "assert not {'numpy', 'regex', 'bytepair.cli.train', 'bytepair.cli.demo'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["--version"])
    assert raised.value.code == 0
    assert re.fullmatch(r"bytepair \d+\.\d+\.\d+\S*\n", capsys.readouterr().out)


def help_of(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as raised:
        main([command, "--help"])
    assert raised.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", [name for name in _COMMANDS if name != "demo"])
def test_the_examples_of_the_help_work(command: str, shell: Run, capsys: pytest.CaptureFixture[str]) -> None:
    examples = re.findall(r"^  (?:\w+ .*\| )?bytepair .*", help_of(command, capsys).partition("\nexample")[2], re.M)
    assert examples
    Path("model").rename("demo-output")
    Path("docs").mkdir()
    Path("docs/a.txt").write_text("low lower\n" * 3)
    Path("README.md").write_text("newest\n\n  widest\n")
    for example in examples:
        done = shell(example)
        assert done.returncode == 0, (example, done.stderr)


def test_wrong_usage_shows_the_usage_of_the_subcommand(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["count", "-m", "model", "--formt", "jsonl"])
    assert raised.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("usage: bytepair count")
    assert "--formt" in err


@pytest.mark.parametrize("arguments", [[], ["trian"], ["count"], ["encode", "-m", "model", "--format", "pickle"]])
def test_wrong_usage_is_2(misused: Callable[..., str], arguments: list[str]) -> None:
    assert ": error: " in misused(*arguments)
