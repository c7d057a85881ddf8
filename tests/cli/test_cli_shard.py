"""The command shard as a new user runs it: from an empty folder, with typos, killed and resumed."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bytepair as bp
from bytepair.cli import main
from bytepair.shards.summaries import ShardSummary

LINES = [f"low lower {number} newest widest" for number in range(300)]

Fails = Callable[..., str]


@pytest.fixture(autouse=True)
def corpus(folder: Path) -> Path:
    Path("lines.txt").write_text("\n".join(LINES) + "\n", "utf-8")
    rows = [json.dumps({"text": line, "url": f"u{number}"}) for number, line in enumerate(LINES[:100])]
    Path("rows.jsonl.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    return folder


def said(capsysbinary: pytest.CaptureFixture[bytes], *arguments: str) -> list[str]:
    """The lines on stderr of a command line that succeeds and writes nothing to stdout."""
    code = main(["shard", *arguments])
    captured = capsysbinary.readouterr()
    assert code == 0, captured.err
    assert captured.out == b""
    return captured.err.decode().splitlines()


LINEWISE = ("lines.txt", "--delimiter", r"\n", "-m", "model")


def test_from_files_to_what_a_trainer_reads(tok: bp.Tokenizer, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    lines = said(capsysbinary, *LINEWISE, "--eos", "<|end|>", "--bos", "65", "-o", "out")
    ids = np.fromfile("out/train-00000.bin", np.uint16).tolist()
    end = tok.special_tokens["<|end|>"]
    assert ids == [id for line in LINES for id in [65, *tok.encode(line), end]]
    assert lines[0].startswith(f"300 documents (0 empty, 0 bad), {len(ids):,} tokens, ")
    assert lines[0].endswith("bytes per token")
    assert lines[1].endswith("B: out")
    assert "B/s, " in lines[1]
    assert " 2 files of " in lines[1]
    assert len(lines) == 2
    assert ShardSummary.read("out").tokens == len(ids)
    assert bp.Tokenizer.from_file("out/tokenizer") == tok


def test_it_verifies(capsysbinary: pytest.CaptureFixture[bytes], fails: Fails) -> None:
    said(capsysbinary, *LINEWISE, "-o", "out", "--validation", "0.1", "--format", "npy", "--shuffle")
    (line,) = said(capsysbinary, "--verify", "out")
    assert "300 documents" in line
    assert line.endswith("out is complete and unchanged")
    *_, last = said(capsysbinary, "--verify", "out", "--progress", "json")
    assert json.loads(last)["documents"] == 300
    with Path("out/train-00000.npy").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\xff")
    assert "train-00000.npy is not what was written" in fails("shard", "--verify", "out")
    assert "plan.json" in fails("shard", "--verify", "model")


def test_options_get_to_the_plan(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    said(
        capsysbinary,
        *("rows.jsonl.gz", "-m", "model", "-o", "out", "--format", "parquet", "--id-field", "url", "--special", "text"),
        *(
            "--added",
            "raise",
            "--errors",
            "replace",
            "--bad",
            "quarantine",
            "--longest",
            "2MB",
            "--shuffle",
            "--seed",
            "9",
        ),
        *("--validation", "0.250", "--dtype", "uint32", "--no-documents", "--task-size", "1KB", "--workers", "2"),
        *("--bos", "<|end|>", "--bos", "66", "--eos", "67"),
    )
    plan = json.loads(Path("out/plan.json").read_text("utf-8"))
    assert plan["options"] == {
        "format": "parquet",
        "dtype": "uint32",
        "bos": [bp.Tokenizer.from_file("model").special_tokens["<|end|>"], 66],
        "eos": [67],
        "special": "text",
        "added": "raise",
        "errors": "replace",
        "bad": "quarantine",
        "shuffle": True,
        "seed": 9,
        "validation": "0.250",
        "documents": False,
        "join": False,
    }
    assert plan["reading"] == {"field": None, "id_field": "url", "delimiter": None, "longest": 2_000_000}


def test_no_limit_and_joined(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    said(capsysbinary, *LINEWISE, "-o", "out", "--longest", "none", "--join", "--task-size", "3KB", "--documents")
    assert json.loads(Path("out/plan.json").read_text("utf-8"))["reading"]["longest"] is None
    assert sorted(path.name for path in Path("out").glob("*.bin")) == ["train.bin"]


def test_groups_are_summed_up(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    groups = ("--group", "a=rows.jsonl.gz", "--group", "b=text.txt", "--group", "b=lines.txt")
    said(capsysbinary, *groups, "-m", "model", "-o", "out")
    found = ShardSummary.read("out").tally.groups
    assert {name: amount.documents for name, amount in found.items()} == {"a": 100, "b": 2}


def test_json_lines_to_the_last(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    lines = said(capsysbinary, *LINEWISE, "-o", "out", "--progress", "json", "--shuffle", "--task-size", "2KB")
    told = [json.loads(line) for line in lines]
    assert [line["phase"] for line in told if line.get("ended")] == ["encode", "shuffle"]
    last = told[-1]
    assert last["phase"] == "done"
    assert last["seconds"] > 0
    assert last["summary"] == json.loads(json.dumps(ShardSummary.read("out").to_json()))


def test_silence(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert len(said(capsysbinary, *LINEWISE, "-o", "out", "--progress", "off")) == 2


def test_the_picture(capsysbinary: pytest.CaptureFixture[bytes], misused: Fails, fails: Fails) -> None:
    said(capsysbinary, *LINEWISE, "-o", "out", "--histogram", "lengths.svg")
    assert Path("lengths.svg").read_bytes().startswith(b"<svg ")
    assert "has to be outside OUT" in misused("shard", *LINEWISE, "-o", "new", "--histogram", "new/lengths.svg")
    assert "name it NAME.svg" in fails("shard", *LINEWISE, "-o", "new", "--histogram", "lengths.png")
    assert not Path("new").exists()


def test_tasks_one_by_one_are_the_same_run(capsysbinary: pytest.CaptureFixture[bytes], fails: Fails) -> None:
    options = (*LINEWISE, "--shuffle", "--task-size", "2KB", "--validation", "0.1")
    said(capsysbinary, *options, "-o", "whole")
    many = len(list(Path("whole/ledger").glob("encode-*")))
    assert many > 2
    said(capsysbinary, *options, "-o", "parts")
    for place in Path("parts/ledger").iterdir():
        place.unlink()
    for place in [*Path("parts").glob("train*"), *Path("parts").glob("val*"), *Path("parts").glob("summary.*")]:
        place.unlink()
    assert "before those of the next one" in fails("shard", "--task", "shuffle/0", "-o", "parts")
    lines = said(capsysbinary, "--task", f"encode/1-{many - 1}", "encode/0", "-o", "parts")
    assert [line.partition(":")[0] for line in lines] == [*(f"encode/{n}" for n in range(1, many)), "encode/0"]
    said(capsysbinary, "-o", "parts", "--task", f"shuffle/0-{many - 1}")
    assert "the summary is missing" in fails("shard", "--verify", "parts")
    said(capsysbinary, *options, "-o", "parts", "--resume")
    assert contents(Path("parts")) == contents(Path("whole"))
    assert f"has no task {many}" in fails("shard", "--task", f"encode/{many}", "-o", "parts")
    assert "has no stage 'encod'" in fails("shard", "--task", "encod/0", "-o", "parts")
    assert "nowhere" in fails("shard", "--task", "encode/0", "-o", "nowhere")
    assert not Path("nowhere").exists()
    said(capsysbinary, "--verify", "parts")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_going_on(capsysbinary: pytest.CaptureFixture[bytes], fails: Fails) -> None:
    said(capsysbinary, *LINEWISE, "-o", "out")
    before = contents(Path("out"))
    assert "--resume" in (line := fails("shard", *LINEWISE, "-o", "out"))
    assert "resume=True" not in line
    lines = said(capsysbinary, *LINEWISE, "-o", "out", "--resume")
    assert lines[0].startswith("300 documents")
    assert "B/s" not in lines[1]  # Nothing was read.
    assert contents(Path("out")) == before
    changed = fails("shard", *LINEWISE, "-o", "out", "--resume", "--seed", "4", "--validation", "0.1")
    assert "seed was 0 and is 4" in changed
    assert "validation was '0' and is '0.1'" in changed


def test_bad_documents(capsysbinary: pytest.CaptureFixture[bytes], fails: Fails) -> None:
    Path("lines.txt").write_bytes(b"good\nb\xffd\n<|end|>\n\ngood\n")
    line = fails("shard", *LINEWISE, "-o", "out")
    assert "lines.txt" in line
    assert "byte 6" in line
    assert "--special text" in fails("shard", *LINEWISE, "-o", "other", "--errors", "replace")
    first, _ = said(capsysbinary, *LINEWISE, "-o", "third", "--bad", "quarantine")
    assert first.startswith("2 documents (1 empty, 2 bad)")
    (place,) = Path("third/quarantine").iterdir()
    rows = [json.loads(line) for line in place.read_text("utf-8").splitlines()]
    assert [(row["input"], row["position"]) for row in rows] == [("lines.txt", 5), ("lines.txt", 9)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name the folder of the run: -o OUT"),
        (("-o", "out"), "there is no text; name a FILE, or a --group NAME=FILE"),
        (("lines.txt", "-o", "out"), "name the tokenizer: -m MODEL"),
        (("-", "-m", "model", "-o", "out"), "stdin cannot be read again for --resume; name files"),
        (("lines.txt", "--group", "a=b", "-m", "model", "-o", "out"), "FILE and --group do not go together"),
        ((*LINEWISE, "-o", "out", "--engine", "ray", "--processes"), "--processes is for the local engine; ray has"),
        ((*LINEWISE, "-o", "out", "--validation", "2"), "'2' is not a share from 0 to 1, such as 0.005"),
        ((*LINEWISE, "-o", "out", "--validation", "x"), "'x' is not a share from 0 to 1, such as 0.005"),
        ((*LINEWISE, "-o", "out", "--longest", "x"), "'x' is not a size of memory"),
        ((*LINEWISE, "-o", "out", "--task-size", "0"), "'0' is not a size of memory"),
        ((*LINEWISE, "-o", "out", "--workers", "0"), "'0' is not a whole number from 1"),
        ((*LINEWISE, "-o", "out", "--format", "bins"), "'bins' is none of"),
        ((*LINEWISE, "-o", "out", "--delimiter", r"\q"), r"\q is not an escape"),
        ((*LINEWISE, "-o", "out", "--delimiter", ""), "leave it out if each file is a document"),
        ((*LINEWISE, "-o", "out", "--shufle"), "there is no option --shufle; did you mean --shuffle?"),
        (("--verify", "out", "-o", "out"), "--verify OUT names the folder; leave -o out"),
        (("--verify", "out", "--shuffle"), "--verify does not go with --shuffle"),
        (("--verify", "out", "--task", "encode/1"), "--verify does not go with --task"),
        (("lines.txt", "--verify", "out"), "--verify does not go with FILE"),
        (("--task", "encode/0", "-o", "out", "-m", "model"), "--task does not go with --model"),
        (("--task", "encode/0"), "name the folder of the run: -o OUT"),
        (("--task", "encode", "-o", "out"), "'encode' is not STAGE/NUMBER or STAGE/FIRST-LAST"),
        (("--task", "encode/3-2", "-o", "out"), "'encode/3-2' is not STAGE/NUMBER or STAGE/FIRST-LAST"),
    ],
)
def test_misuse_is_said(misused: Fails, arguments: tuple[str, ...], message: str) -> None:
    assert message in misused("shard", *arguments)
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("line.txt", "-m", "model"), "'line.txt'"),
        (("lines.txt", "-m", "modle"), "'modle' is not a file or folder"),
        ((*LINEWISE, "--eos", "<|edn|>"), '"<|edn|>" is not a token; special tokens are <|end|>'),
        ((*LINEWISE, "--eos", "999"), "999"),
        ((*LINEWISE, "--field", "body"), "the field 'body' has no effect on text files"),
        ((*LINEWISE, "--dtype", "int8"), "cannot hold ids as 'int8'"),
        ((*LINEWISE, "--format", "parquet", "--join"), "cannot be joined"),
        (("rows.jsonl.gz", "-m", "model", "--delimiter", "x"), "delimiter"),
        (("model", "-m", "model"), "model"),
        (("b\udcff.txt", "-m", "model"), "not UTF-8, as those of plans and tables are"),
    ],
)
def test_what_does_not_fit_is_said_before_anything_is_written(
    fails: Fails, arguments: tuple[str, ...], message: str
) -> None:
    Path("b\udcff.txt").write_bytes(b"low")
    assert message in fails("shard", *arguments, "-o", "out")
    assert not Path("out").exists()


def test_remedies_speak_of_arguments(fails: Fails) -> None:
    Path("bad.jsonl").write_bytes(b'{"text": "low", "url": "u"}\n{"text": "a low<|end|>"}\n{"text": "\xff"}\n')
    bad = ("bad.jsonl", "-m", "model", "-o")
    assert '--field NAME names the field that holds the text, one of "text", "url"' in fails(
        "shard", *bad, "1", "--field", "txt"
    )
    # Runs that failed at once leave nothing in the way.
    assert "go on with --resume, or choose another folder; or remove 1" in fails("shard", *bad, "1")
    assert "field was 'txt' and is not set" in fails("shard", *bad, "1", "--resume")
    assert ", at byte 5 of the text, in the line that starts at byte 28 (file bad.jsonl)" in fails("shard", *bad, "2")
    assert "; --errors replace puts U+FFFD in its place" in fails("shard", *bad, "3", "--special", "text")
    assert "use a larger --longest, or leave such" in fails("shard", *bad, "4", "--longest", "20")


def test_a_package_that_is_missing_is_said_before_anything_is_written(
    fails: Fails, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("ray", "pyspark"):
        monkeypatch.setitem(sys.modules, package, None)
        engine = package.removeprefix("py")
        assert f"pip install '{package}" in fails("shard", *LINEWISE, "--engine", engine, "-o", "out")
    monkeypatch.setenv("PATH", "")
    assert "there is no sbatch on this machine" in fails("shard", *LINEWISE, "--engine", "slurm", "-o", "out")
    for package, format in (("streaming", "mds"), ("litdata", "litdata"), ("pyarrow", "parquet")):
        monkeypatch.setitem(sys.modules, package, None)
        line = fails("shard", *LINEWISE, "--format", format, "-o", "out")
        assert package in line
        assert "pip install" in line
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("written", "meant"),
    [(r"\n", "\n"), (r"\n\n", "\n\n"), (r"\x1e", "\x1e"), (r"a\\nb", "a\\nb"), (r"\t\r\0", "\t\r\0"), ("§", "§")],
)
def test_delimiters_have_escapes(capsysbinary: pytest.CaptureFixture[bytes], written: str, meant: str) -> None:
    Path("cut.txt").write_bytes(meant.join(["one", "two", "three"]).encode())
    said(capsysbinary, "cut.txt", "--delimiter", written, "-m", "model", "-o", "out")
    assert ShardSummary.read("out").documents == 3


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_keeps_what_is_done() -> None:
    Path("big.txt").write_text("\n".join(LINES * 300) + "\n", "utf-8")
    options = ["big.txt", "--delimiter", r"\n", "-m", "model", "-o", "out", "--task-size", "30KB", "--workers", "1"]
    command = [sys.executable, "-m", "bytepair", "shard", *options, "--progress", "json"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and len(list(Path("out/ledger").glob("encode-*"))) < 3:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err.splitlines()[-1] == "bytepair: interrupted; finished tasks are kept: --resume goes on with them"
    done = subprocess.run([*command, "--resume"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stderr.splitlines()[0])["before"] > 0
    assert ShardSummary.read("out").documents == 300 * 300
