"""Remedies of the command line: they name its own options, not the calls and keywords of Python."""

from __future__ import annotations

import base64
import io
import json
import re
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair import cli
from bytepair.cli import main
from bytepair.errors import BytepairError

PYTHON = re.compile(
    r"\b[a-z_]+=(?=[\"'\[({\w.])|=\(|\btok\.|\bTokenizer\b|\bbp\.|\bTrue\b|\bFalse\b|\bNone\b|\bbytepair\.\w"
)
"""The spelling of a call: ``name=value``, a method, a constant."""

TRAIN = ["train", "-o", "out", "--vocab-size", "270"]
SHARD = ["shard", "-m", "model", "-o", "run"]
MODEL = ["-m", "model"]

# A command line, and a part of the remedy that it ends with.
FAILS: list[tuple[list[str], str]] = [
    # The options of a model, by each command that loads one.
    *(
        ([*command, *how, "bare.tiktoken"], "superwords, and --special-token TEXT=ID")
        for command, how in (
            (["encode", "text.txt"], ["-m"]),
            (["decode", "ids.txt"], ["-m"]),
            (["count", "text.txt"], ["-m"]),
            (["chunk", "text.txt", "--limit", "9"], ["-m"]),
            (["bench", "text.txt"], ["-m"]),
            (["view", "low"], ["-m"]),
            (["explain", "low"], ["-m"]),
            (["compare", "model"], []),
            (["report", "--corpus", "text.txt"], ["-m"]),
            (["convert", "-o", "out"], []),
            (["extend", "text.txt", "--vocab-size", "300", "-o", "out"], ["-m"]),
            (["prune", "--vocab-size", "270", "-o", "out"], ["-m"]),
            (["shard", "text.txt", "-o", "run"], ["-m"]),
            (["serve"], ["-m"]),
        )
    ),
    (["count", "text.txt", *MODEL, "--split", "gpt2"], "leave --split out"),
    (["count", "text.txt", *MODEL, "--special-token", "x=1"], "leave --special-token out"),
    (["count", "text.txt", "-m", "partial.json"], "--partial-alphabet"),
    (["count", "text.txt", "-m", "gpt2"], "--encodings FOLDER"),
    (["convert", "model", "-o", "x.tiktoken"], "--drop split,special_tokens"),
    ([*TRAIN, "text.txt", "-o", "x.tiktoken"], "--drop split"),
    (["convert", "model", "-o", "out", "--drop", "no"], "use split"),
    # The options of text.
    *(
        ([*command, "bad.txt"], "--errors replace")
        for command in (
            ["encode", *MODEL],
            ["encode", "--lines", *MODEL],
            ["count", *MODEL],
            ["chunk", *MODEL, "--limit", "9"],
            ["bench", *MODEL],
            TRAIN,
            ["counts"],
            ["extend", *MODEL, "--vocab-size", "300", "-o", "out"],
            ["prune", *MODEL, "--vocab-size", "270", "-o", "out"],
            SHARD,
            ["report", *MODEL, "--corpus"],
            ["compare", "model", "model", "--corpus"],
        )
    ),
    *(
        ([*command, "special.txt"], "--special text encodes it")
        for command in (
            ["encode", *MODEL],
            ["chunk", *MODEL, "--limit", "9"],
            ["bench", *MODEL],
            SHARD,
            ["report", *MODEL, "--special", "raise", "--corpus"],
        )
    ),
    (["explain", "a<|end|>", *MODEL, "--special", "raise"], "--special text encodes it"),
    (["view", "--text", "a<|end|>", *MODEL, "--special", "raise"], "--special text encodes it"),
    (["encode", "text.txt", *MODEL, "--special", "<|no|>"], "bytepair inspect lists them"),
    (["encode", "--text", "zzz", "-m", "added.json", "--added", "raise"], "--added match lets text become"),
    (["decode", "ids.txt", *MODEL], "ids are below 290"),
    # The options of files of rows.
    *(
        ([*command, "rows.jsonl"], '--field NAME names the field that holds the text, one of "body"')
        for command in (
            TRAIN,
            ["counts"],
            SHARD,
            ["report", *MODEL, "--corpus"],
            ["compare", "model", "model", "--corpus"],
        )
    ),
    (["counts", "broken.jsonl"], "--field NAME names the field"),
    (["counts", "text.txt", "--field", "body"], "leave it out"),
    ([*SHARD, "text.txt", "--field", "body"], "leave it out"),
    ([*SHARD, "rows.tar"], "--field EXTENSION"),
    # The options of training.
    (["train", "text.txt", "--vocab-size", "20", "-o", "out"], "--vocab-size 256 or more"),
    ([*TRAIN, "nope"], "check the path"),
    ([*TRAIN, "text.txt", "--memory", "1KB"], "allow more --memory, or leave out rare pieces: --min-count 2"),
    ([*TRAIN, "text.txt", "--checkpoint", "kept"], "--resume"),
    ([*TRAIN, "text.txt", "--checkpoint", "kept", "--resume", "--max-token-length", "9"], "resume with the settings"),
    (["extend", "text.txt", *MODEL, "--vocab-size", "10", "-o", "out"], "`bytepair prune`"),
    (["prune", *MODEL, "--vocab-size", "400", "-o", "out"], "`bytepair extend`"),
    (["prune", *MODEL, "--vocab-size", "200", "-o", "out"], "use a vocabulary size"),
    (["explain", "--timeline", "text.jsonl"], "`bytepair train --log`"),
    # The options of runs.
    (["shard", "text.txt", *MODEL, "-o", "begun"], "go on with --resume"),
    (["shard", "text.txt", *MODEL, "-o", "begun", "--resume", "--no-documents"], "documents was on and is off"),
    (["shard", "text.txt", *MODEL, "-o", "begun", "--resume", "--validation", "0.1"], "resume with the same sources"),
    (["shard", "--verify", "incomplete"], "go on with --resume"),
    ([*SHARD, "text.txt", "--format", "parquet", "--join"], "leave --join out, or use --format"),
    ([*SHARD, "text.txt", "--format", "parquet", "--documents"], "leave --documents out"),
    ([*SHARD, "text.txt", "--dtype", "int8"], "leave it out"),
    ([*SHARD, "text.txt", "--longest", "1"], "use a larger --longest, or leave such documents out with --bad skip"),
    (["counts", "text.txt", "--engine", "local", "--work", "counting"], "go on with --resume"),
    (["report", *MODEL, "--parallel", "--corpus", "one=text.txt", "two=special.txt"], "leave --parallel out"),
]


@pytest.fixture
def prepared(folder: Path, tok: bp.Tokenizer) -> Path:
    """The files that the command lines name."""
    Path("bad.txt").write_bytes(b"low \xff lower")
    Path("special.txt").write_text("a low<|end|>")
    Path("ids.txt").write_text("999")
    Path("rows.jsonl").write_text('{"body": "low"}\n')
    Path("broken.jsonl").write_text("nonsense\n")
    Path("text.jsonl").write_text("{}\n")
    Path("bare.tiktoken").write_bytes(
        b"\n".join(base64.b64encode(bytes([byte])) + b" %d" % byte for byte in range(256))
    )
    spec = json.loads(Path("model/tokenizer.json").read_text("utf-8"))
    del spec["model"]["vocab"]["a"]
    partial = {**spec, "model": {**spec["model"], "merges": []}}
    Path("partial.json").write_text(json.dumps(partial), "utf-8")
    tok.with_added_tokens(["zzz"]).save("added.json")
    with tarfile.open("rows.tar", "w") as archive:
        member = tarfile.TarInfo("a.txt2")
        archive.addfile(member, io.BytesIO())
    bp.train("text.txt", 270, checkpoint="kept")
    bp.shard("text.txt", tok, "begun")
    bp.shard("text.txt", tok, "incomplete")
    next(Path("incomplete/ledger").glob("*.json")).unlink()
    bp.count_corpus("text.txt", "counting")
    return folder


@pytest.mark.usefixtures("prepared")
def test_remedies_name_the_options_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = []
    for arguments, remedy in FAILS:
        shutil.rmtree("run", ignore_errors=True)
        code = main(arguments)
        said = re.sub(r"^bytepair: fetching .*\n", "", capsys.readouterr().err.strip())
        if code != 1 or remedy not in said or said.count("\n") or PYTHON.search(said):
            wrong.append((" ".join(arguments), code, said))
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.usefixtures("prepared")
def test_remedies_in_reports_name_the_options_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, remedy in (
        (["verify", "bare.tiktoken"], "superwords, and --special-token TEXT=ID"),
        (["verify", "bare.tiktoken", "--json"], "superwords, and --special-token TEXT=ID"),
        (["verify", "partial.json"], "--partial-alphabet"),
        (["inspect", "bare.tiktoken"], "superwords, and --special-token TEXT=ID"),
        (["inspect", "partial.json"], "--partial-alphabet"),
        (["inspect", "partial.json", "--format", "json"], "--partial-alphabet"),
    ):
        main(arguments)
        said = capsys.readouterr()
        assert remedy in said.out, arguments
        assert not PYTHON.search(said.out.replace("GPT2 BPE", "")), (arguments, PYTHON.search(said.out))


def every_option() -> Iterator[tuple[str, str]]:
    """The long options of each command."""
    for command in cli.COMMANDS:
        for action in cli.parsers()[1][command].fill().actions:
            yield from ((command, option) for option in action.option_strings if option.startswith("--"))


def test_options_in_remedies_are_options_of_the_command() -> None:
    known: dict[str, set[str]] = {}
    for command, option in every_option():
        known.setdefault(command, set()).add(option)
    for arguments, remedy in FAILS:
        for option in re.findall(r"(?<![\w`])--[a-z-]+", remedy):
            if f"`bytepair train {option}`" not in remedy:
                assert option in known[arguments[0]], (arguments, option)


def test_a_warning_names_no_keyword(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "text.txt", "--vocab-size", "9k", "-o", "out"]) == 0
    (said,) = (line for line in capsys.readouterr().err.splitlines() if "warning" in line)
    assert "tokens instead of 9000" in said
    assert not PYTHON.search(said)
    assert main(["extend", "-m", "model", "text.txt", "--vocab-size", "9k", "-o", "out"]) == 0
    assert not PYTHON.search(capsys.readouterr().err.splitlines()[0])


def raised_on_purpose(error: Any) -> BytepairError:
    with pytest.raises(BytepairError) as caught:
        error()
    return caught.value


def test_python_gets_the_remedy_of_python(folder: Path) -> None:
    (folder / "bad.txt").write_bytes(b"\xff")
    error = raised_on_purpose(lambda: bp.train("bad.txt", 300))
    assert str(error).endswith('; pass errors="replace" to put U+FFFD in its place')
    assert error.for_cli().endswith("; --errors replace puts U+FFFD in its place")
