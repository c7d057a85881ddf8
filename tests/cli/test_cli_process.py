"""Behaviour that needs a process of its own: pipes, signals, start-up."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import bytepair as bp
from bytepair.cli import COMMANDS, main

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


def test_pipes_give_the_bytes_back(shell: Run) -> None:
    done = shell("bytepair encode -m model | bytepair decode -m model", stdin=b"low\r\n\n\n newest")
    assert (done.stdout, done.stderr) == (b"low\r\n\n\n newest", b"")


@pytest.mark.parametrize("line", ["encode --lines many.txt -m model", "--help", "inspect model"])
def test_a_closed_pipe_ends_silently(shell: Run, line: str) -> None:
    Path("many.txt").write_text("low lower lowest\n" * 50_000)
    # The first `true` closes the pipe; the sleep lets it.
    done = shell(f"{{ sleep 0.2; bytepair {line}; echo $? >&2; }} | true")
    # Without a buffer for stdout (PYTHONUNBUFFERED), argparse ignores that its help cannot be written.
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


def interrupted(phase: str, *arguments: str) -> tuple[list[str], int]:
    """Presses Ctrl-C during the phase; returns the lines on stderr that are not progress, and the exit code."""
    command = [sys.executable, "-m", "bytepair", *arguments, "--progress", "json"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                state = json.loads(line)
                if state["phase"] == phase and (phase == "count" or state["done"]):
                    break
            process.send_signal(signal.SIGINT)
            said = [line for line in process.stderr.read().splitlines() if not line.startswith("{")]
            return said, process.wait(60)
        finally:
            process.kill()


def letters(size: int, alphabet: bytes) -> bytes:
    return random.Random(1).randbytes(size).translate(alphabet * (256 // len(alphabet)))


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("checkpoint", [[], ["--checkpoint", "kept"]])
def test_ctrl_c_while_merging_saves_the_merges(checkpoint: list[str]) -> None:
    """Repeated many times: whether the merges were right once depended on when Ctrl-C came."""
    # One piece, on which there is more to merge than anyone waits for.
    Path("long.txt").write_bytes(letters(1_500_000, b"abcdefgh"))
    train = ["train", "long.txt", "--split", "none", "--min-frequency", "1", *checkpoint, "-o", "out", "--vocab-size"]
    merges = bp.train("long.txt", 2500, split="none").spec.byte_pair.merges
    assert merges
    done = 0
    for turn in range(5):
        resume = ["--resume"] if checkpoint and turn else []
        (said,), code = interrupted("merge", *train, "900k", *resume)
        assert code == 130
        found = re.fullmatch(
            r"bytepair: interrupted after ([\d,]+) merges, which are saved: out/tokenizer.json, out/manifest.json"
            + ("; --checkpoint kept --resume goes on" if checkpoint else ""),
            said,
        )
        assert found, said
        done = int(found[1].replace(",", ""))
        saved = bp.Tokenizer.from_file("out").spec.byte_pair.merges or ()
        assert len(saved) == done
        shared = min(done, len(merges))
        assert saved[:shared] == merges[:shared]
    if checkpoint:
        assert main([*train, str(256 + done + 5), "--resume"]) == 0
        assert bp.Tokenizer.from_file("out") == bp.train("long.txt", 256 + done + 5, split="none", min_frequency=1)


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["train", "--vocab-size", "40k"], ""),
        (["train", "--vocab-size", "40k", "--checkpoint", "kept"], "; --checkpoint kept --resume counts again"),
        (["counts"], ""),
        (["extend", "-m", "model", "--vocab-size", "40k"], ""),
    ],
)
def test_ctrl_c_while_counting_saves_nothing(arguments: list[str], hint: str) -> None:
    Path("many.txt").write_bytes(letters(1 << 24, b"abcdefghijklmnopqrstuvwxyz     \n"))
    said, code = interrupted("count", *arguments, "many.txt", "--threads", "1", "-o", "out.bytepair")
    assert (said, code) == ([f"bytepair: interrupted; nothing is saved{hint}"], 130)
    assert not Path("out.bytepair").exists()


def test_nothing_heavy_is_imported_to_encode() -> None:
    code = (
        "import sys; from bytepair.cli import main; main(['encode', 'text.txt', '-m', 'model']);"
        "assert not {'numpy', 'regex', 'bytepair.cli.train', 'bytepair.cli.demo'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_help_imports_no_command() -> None:
    code = (
        "import sys, contextlib; from bytepair.cli import main\n"
        "with contextlib.suppress(SystemExit): main(['--help'])\n"
        "loaded = {name for name in sys.modules if name.startswith('bytepair.cli.')}\n"
        "assert not loaded, loaded\n"
        "slow = {'numpy', 'dataclasses', 'inspect', 'json', 'tempfile', 'bytepair.training', 'bytepair.shards'}\n"
        "assert not slow & sys.modules.keys(), slow & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


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


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("demo", "serve")])
def test_the_examples_of_the_help_work(command: str, shell: Run, capsys: pytest.CaptureFixture[str]) -> None:
    examples = re.findall(r"^  (?:\w+ .*\| )?bytepair .*", help_of(command, capsys).partition("\nexample")[2], re.M)
    assert examples
    Path("model").rename("demo-output")
    Path("docs").mkdir()
    Path("docs/a.md").write_text("low lower\n" * 3)
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


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["trian"], "there is no command 'trian'; did you mean train?"),
        (["xyzzy"], "there is no command 'xyzzy'; bytepair --help lists them"),
        (["--versoin"], "there is no option --versoin; did you mean --version?"),
        (["count", "-m", "model", "--formt", "jsonl"], "there is no option --formt; did you mean --format?"),
        # Without the check of names, this says that --model is missing.
        (["count", "--modle=model"], "there is no option --modle; did you mean --model?"),
        (["count", "-m", "model", "--format", "json"], "'json' is none of table, jsonl; did you mean jsonl?"),
        (["inspect", "--model", "model"], "there is no option --model; give the model without it here"),
        (["explain", "--text", "low"], "there is no option --text; give the text without it here"),
        (["inspect", "-m", "model"], "give the model without -m here"),
        (["count", "text.txt"], "the following arguments are required: -m/--model"),
    ],
)
def test_wrong_usage_is_two_lines_with_the_closest_name(
    arguments: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 2
    usage, error = capsys.readouterr().err.splitlines()
    assert usage.startswith("usage: bytepair ")
    assert usage.endswith(" --help)")
    assert ": error: " in error
    assert error.endswith(hint)


def test_a_text_that_looks_like_an_option_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", "-m", "model", "--text", "--nope is text"]) == 0
    assert main(["count", "-m", "model", "--", "text.txt"]) == 0
    assert capsys.readouterr().err == ""


def test_the_environment_names_the_tokenizer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "BYTEPAIR_MODEL" in " ".join(help_of("count", capsys).split())
    monkeypatch.setenv("BYTEPAIR_MODEL", "model")
    for command in (["count", "text.txt"], ["view", "low"], ["explain", "low"], ["report", "--corpus", "text.txt"]):
        assert main(command) == 0, command
        there = capsys.readouterr().out
        assert main([*command, "-m", "model"]) == 0
        assert capsys.readouterr().out == there
    monkeypatch.setenv("BYTEPAIR_MODEL", "nowhere")
    assert main(["count", "text.txt", "-m", "model"]) == 0
    assert main(["count", "text.txt"]) == 1
    assert "nowhere" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["trian"], ["count"], ["encode", "-m", "model", "--format", "pickle"]])
def test_wrong_usage_is_2(misused: Callable[..., str], arguments: list[str]) -> None:
    assert ": error: " in misused(*arguments)
