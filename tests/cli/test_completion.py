"""Completion scripts: made from the arguments of the commands, and run by the shells themselves where they are."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from bytepair.cli import COMMANDS, parsers
from tests.cli.conftest import Call

SHELLS = ("bash", "zsh", "fish")


def shell(name: str) -> str:
    if (path := shutil.which(name)) is None:
        pytest.skip(f"no {name} is installed")
    return path


@pytest.fixture
def script(call: Call, request: pytest.FixtureRequest) -> str:
    """The file of the script for the shell that the test names."""
    place = Path(f"completion.{request.param}")
    place.write_bytes(call("completion", request.param))
    return str(place)


@pytest.mark.parametrize("name", SHELLS)
def test_every_command_and_option_is_in_the_script(name: str, call: Call) -> None:
    script = call("completion", name).decode()
    assert all(command in script for command in COMMANDS)
    for parser in parsers()[1].values():
        for action in parser.fill().actions:
            for option in action.option_strings:
                in_fish = f" -l {option[2:]} " if option[:2] == "--" else f" -s {option[1:]} "
                assert (in_fish if name == "fish" else option) in script, option


@pytest.mark.parametrize(("script", "name"), [(name, name) for name in SHELLS], indirect=["script"])
def test_the_shell_reads_the_script(script: str, name: str) -> None:
    done = subprocess.run([shell(name), "-n", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def completed(script: str, line: str) -> list[str]:
    """The completions of a line in bash, as Tab would have them."""
    words = line.split(" ")
    program = """
        source "$1"; shift
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
        $(complete -p bytepair | sed 's/.*-F \\([^ ]*\\) .*/\\1/') bytepair "${COMP_WORDS[COMP_CWORD]}" ""
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    done = subprocess.run(
        [shell("bash"), "-c", program, "bash", script, *words], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return [word for word in done.stdout.split("\n") if word]


@pytest.mark.parametrize("script", ["bash"], indirect=True)
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("bytepair co", ["count", "counts", "convert", "compare", "completion"]),
        ("bytepair --v", ["--version"]),
        ("bytepair train --ti", ["--ties"]),
        ("bytepair train --ties first", ["first_seen"]),
        ("bytepair count -m cl1", ["cl100k_base"]),
        ("bytepair count -m mod", ["model"]),
        ("bytepair inspect r50", ["r50k_base"]),
        ("bytepair count two", ["two words.txt"]),
        ("bytepair count --format j", ["jsonl"]),
        ("bytepair nonsense --form", []),
    ],
)
def test_bash_completes(script: str, line: str, expected: list[str]) -> None:
    Path("two words.txt").touch()
    assert sorted(completed(script, line)) == sorted(expected)


@pytest.mark.parametrize("script", ["fish"], indirect=True)
def test_fish_completes(script: str) -> None:
    def words(line: str) -> set[str]:
        done = subprocess.run(
            [shell("fish"), "--no-config", "-c", f"source {script}; complete -C '{line}'"],
            capture_output=True,
            text=True,
            check=True,
        )
        return {row.partition("\t")[0] for row in done.stdout.splitlines()}

    assert words("bytepair co") == {"count", "counts", "convert", "compare", "completion"}
    assert "--ties" in words("bytepair train --ti")
    assert words("bytepair train --ties first") == {"first_seen"}


@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh_completes(script: str) -> None:
    zsh = shell("zsh")
    Path("two words.txt").touch()
    process, terminal = pty.fork()
    if process == 0:
        os.environ["TERM"] = "dumb"
        os.execv(zsh, [zsh, "-f", "-i"])

    def until(expected: str) -> str:
        """The terminal's output up to a text."""
        seen = ""
        end = time.monotonic() + 20
        while expected not in seen:
            assert time.monotonic() < end, f"{expected!r} is not in {seen!r}"
            if select.select([terminal], [], [], 0.1)[0]:
                seen += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x07", "", os.read(terminal, 1 << 16).decode(errors="replace"))
        return seen

    try:
        os.write(terminal, f"autoload -Uz compinit; compinit -u -D; source {script}; print rea''dy\n".encode())
        until("ready")
        for line, expected in (
            ("bytepair conv", "convert"),
            ("bytepair --v", "--version"),
            ("bytepair train --ti", "--ties"),
            ("bytepair train --ties first", "first_seen"),
            ("bytepair count -m cl1", "cl100k_base"),
            ("bytepair count -m tw", "two\\ words.txt"),
            ("bytepair inspect r50", "r50k_base"),
            ("bytepair count tw", "two\\ words.txt"),
            ("bytepair count --format j", "jsonl"),
        ):
            os.write(terminal, f"{line}\t".encode())
            until(expected)
            os.write(terminal, b"\x15")  # erases the line
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)
