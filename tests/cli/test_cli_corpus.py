from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

import bytepair as bp
from bytepair.cli import main

pytest.importorskip("pyarrow")

Call = Callable[..., bytes]
Fails = Callable[..., str]
Misused = Callable[..., str]
Captured = pytest.CaptureFixture[bytes]


@pytest.fixture(autouse=True)
def corpus() -> None:
    english = "low lower lowest newest, slower slowest, wider widest, happier happiest, kinder kindest\n"
    Path("en.txt").write_text(english * 9, encoding="utf-8")
    Path("fr.txt").write_text("la lune, le café et la nuit\n" * 6, encoding="utf-8")


GROUPS = {"en": ["en.txt"], "fr": ["fr*.txt", "text.txt"]}
GROUPED = [f"--group={name}={path}" for name, paths in GROUPS.items() for path in paths]


def trained(place: str = "out") -> bp.Tokenizer:
    return bp.Tokenizer.from_file(place)


def rows(counts: bp.Counts) -> list[tuple[bytes, int, str]]:
    return sorted((row.piece, row.count, row.group) for row in counts)


def test_groups_and_weights_are_those_of_the_api(call: Call) -> None:
    settings = ["--vocab-size", "290", "--normalizer", "NFKC", "--normalizer", "NFD", "--min-count", "2"]
    call("train", *GROUPED, *settings, "--weight", "fr=0.7", "--weight=en=2", "--memory", "100MB", "-o", "out")
    expected = bp.train(
        GROUPS, 290, normalizers=["NFKC", "NFD"], min_count=2, weights={"fr": Decimal("0.7"), "en": 2}, memory="100MB"
    )
    assert trained() == expected
    assert expected != bp.train(GROUPS, 290, normalizers=["NFKC", "NFD"])


def test_the_field_of_rows_is_named(call: Call) -> None:
    Path("rows.jsonl").write_text('{"body": "low lower lowest", "text": "x"}\n' * 5, encoding="utf-8")
    call("train", "rows.jsonl", "--field", "body", "--vocab-size", "260", "-o", "out")
    assert trained() == bp.train("rows.jsonl", 260, field="body")
    call("extend", "rows.jsonl", "--field", "body", "-m", "out", "--vocab-size", "262", "-o", "more")
    assert trained("more") == bp.train("rows.jsonl", 262, field="body")


def test_tables_add_up_to_the_table_of_all(call: Call, capsysbinary: Captured) -> None:
    special = ["--special-token", "<|end|>", "--normalizer", "NFC", "--split", "gpt2"]
    assert call("counts", "en.txt", *special, "-o", "1.parquet") == b""
    start = str(Path("en.txt").stat().st_size + 1)
    call("counts", "-", *special, "--start", start, "-o", "2.parquet", stdin=Path("fr.txt").read_bytes())
    tables = ["--from-counts", "1.parquet", "--from-counts", "2.parquet"]
    assert main(["counts", *tables, "-o", "sum.parquet"]) == 0
    whole = bp.Counts.of(["en.txt", "fr.txt"], special_tokens=["<|end|>"], normalizers=["NFC"], split="gpt2")
    assert list(bp.Counts.read("sum.parquet")) == list(whole)
    said = f"{len(whole)} rows, {whole.pieces} pieces, {whole.text_bytes} bytes: sum.parquet\n"
    assert capsysbinary.readouterr() == (b"", said.encode())

    call("train", *tables, "--vocab-size", "280", "--ties", "first_seen", "-o", "parts")
    call("train", "en.txt", "fr.txt", *special, "--vocab-size", "280", "--ties", "first_seen", "-o", "whole")
    assert trained("parts") == trained("whole")
    call("train", *tables, "--vocab-size", "280", "--special-token", "<|other|>", "-o", "other")
    assert trained("other").special_tokens == {"<|other|>": 279}

    call("extend", *tables, "-m", "parts", "--vocab-size", "285", "-o", "more")
    assert trained("more") == bp.extend(trained("parts"), ["en.txt", "fr.txt"], 285)
    call("prune", *tables, "-m", "parts", "--vocab-size", "270", "-o", "less")
    assert trained("less") == bp.prune(trained("parts"), 270, ["en.txt", "fr.txt"]).tokenizer


def test_tables_are_weighted_filtered_and_taken_apart(call: Call) -> None:
    call("counts", *GROUPED, "-o", "all.parquet", "--memory", "64KB", "--threads", "1", "--errors", "replace")
    whole = bp.Counts.of(GROUPS)
    assert rows(bp.Counts.read("all.parquet")) == rows(whole)
    changes: list[tuple[list[str], bp.Counts]] = [
        (["--weight", "en=0.5"], whole.weighted({"en": Decimal("0.5")})),
        (["--min-count", "7"], whole.filter(7)),
        (["--only-group", "fr"], whole.group("fr")),
        (["--only-group", "fr", "--weight", "fr=3", "--min-count", "13"], whole.group("fr").scale(3).filter(13)),
    ]
    for arguments, expected in changes:
        for source in (GROUPED, ["--from-counts", "all.parquet"]):
            call("counts", *source, *arguments, "-o", "changed.parquet")
            changed = bp.Counts.read("changed.parquet")
            assert (rows(changed), changed.denominator) == (rows(expected), expected.denominator)


def test_without_a_file_the_most_frequent_rows_are_shown(call: Call) -> None:
    whole = bp.Counts.of(GROUPS).weighted({"en": Decimal("0.5")})
    weighted = [*GROUPED, "--weight", "en=0.5"]
    table = call("counts", *weighted, "--top", "3").decode().splitlines()
    assert table == [f"{row.count / 2:>4}  {row.group}  {row.piece.decode()!r}" for row in whole.top(3)]
    assert len(call("counts", *weighted).splitlines()) == 20
    shown = [json.loads(line) for line in call("counts", *weighted, "--json", "--top", "99").splitlines()]
    assert [(row["piece"].encode(), row["count"], row["group"]) for row in shown] == [row[:3] for row in whole.top(99)]
    assert {row["denominator"] for row in shown} == {2}
    assert len(call("counts", "en.txt", "--top", "2", "-o", "en.parquet").splitlines()) == 2
    Path("evil.txt").write_bytes(b"\x1b[2J")
    assert b"\x1b" not in call("counts", "evil.txt", "--split", "none")


def test_pieces_that_are_not_utf8_are_shown_as_bytes(call: Call) -> None:
    bp.Counts.of({b"\xff\\": 3}).write("bytes.parquet")
    assert call("counts", "--from-counts", "bytes.parquet") == b"3  b'\\xff\\\\'\n"
    (line,) = call("counts", "--from-counts", "bytes.parquet", "--json").splitlines()
    assert json.loads(line)["piece"].encode("utf-8", "surrogateescape") == b"\xff\\"


def test_the_statistics_are_said(capsysbinary: Captured) -> None:
    statistics = bp.train_with_statistics("en.txt", 270).statistics
    assert main(["train", "en.txt", "--vocab-size", "270", "-o", "out"]) == 0
    _, said = capsysbinary.readouterr().err.decode().splitlines()
    expected = f"{statistics.bytes_per_token:.2f} bytes per token, {statistics.tokens_per_piece:.2f} tokens per piece, "
    assert said.startswith(expected + f"{statistics.rows} rows")
    assert main(["train", "en.txt", "--vocab-size", "270", "-o", "out", "--progress", "json"]) == 0
    facts = json.loads(capsysbinary.readouterr().err.splitlines()[-1])["statistics"]
    assert facts["bytes_per_token"] == statistics.bytes_per_token
    assert {"tokens_per_piece", "rows", "pieces", "text_bytes", "tokens", "peak_memory", "spilled"} < facts.keys()


def test_what_goes_to_the_disk_is_said(capsysbinary: Captured) -> None:
    Path("many.txt").write_text(" ".join(map(str, range(30_000))), encoding="utf-8")
    many = ["many.txt", "--split", "gpt2", "--memory", "1MB", "--threads", "1"]
    assert main(["counts", *many, "-o", "many.parquet"]) == 0
    assert b"sorted runs of" in capsysbinary.readouterr().err
    assert rows(bp.Counts.read("many.parquet")) == rows(bp.Counts.of("many.txt", split="gpt2"))


def test_a_training_goes_on_from_its_checkpoint(call: Call, fails: Fails) -> None:
    kept = ["--vocab-size", "270", "--checkpoint", "kept", "-o", "out"]
    call("train", "en.txt", *kept, "--log", "merges.jsonl")
    assert Path("merges.jsonl").read_bytes() == Path("kept/merges.jsonl").read_bytes()
    assert len(Path("merges.jsonl").read_bytes().splitlines()) == 14
    assert "--resume" in fails("train", "en.txt", *kept)
    call("train", "en.txt", *kept, "--resume", "--vocab-size", "275")
    assert trained() == bp.train("en.txt", 275)
    assert "min frequency: 2, not 3" in fails("train", "en.txt", *kept, "--resume", "--min-frequency", "3")


def test_the_total_of_compressed_files_is_what_is_on_the_disk(capsysbinary: Captured) -> None:
    Path("en.txt.gz").write_bytes(gzip.compress(Path("en.txt").read_bytes()))
    assert main(["counts", "en.txt.gz", "--top", "1", "--progress", "json"]) == 0
    told = [json.loads(line) for line in capsysbinary.readouterr().err.splitlines() if line.startswith(b"{")]
    size = Path("en.txt.gz").stat().st_size
    assert (told[-1]["done"], told[-1]["total"], told[-1]["ended"]) == (size, size, True)


TRAIN = ["train", "--vocab-size", "290", "-o", "out"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (TRAIN, "there is no text"),
        (["counts"], "there is no text"),
        (["counts", "-", "en.txt"], "goes alone"),
        ([*TRAIN, "en.txt", "--group", "fr=fr.txt"], "do not go together"),
        ([*TRAIN, "en.txt", "--from-counts", "x.parquet"], "do not go together"),
        ([*TRAIN, "--from-counts", "x.parquet", "--split", "gpt2"], "--split is for text"),
        ([*TRAIN, "--from-counts", "x.parquet", "--errors", "replace"], "--errors is for text"),
        (["counts", "--from-counts", "x.parquet", "--start", "5"], "--start is for text"),
        (["counts", "--from-counts", "x.parquet", "--special-token", "x"], "--special-token is for text"),
        (["counts", "en.txt", "--start", "-5"], "has to be 0 or more"),
        ([*TRAIN, "en.txt", "--weight", "en=2"], "make groups with --group NAME=FILE"),
        ([*TRAIN, "--group", "en=en.txt", "--weight", "rn=2"], "no group 'rn' to weight; the groups are en"),
        ([*TRAIN, "--group", "en=en.txt", "--weight", "en=2", "--weight", "en=3"], "names a group twice"),
        ([*TRAIN, "--group", "en=en.txt", "--weight", "en=0"], "'0', is not above 0"),
        ([*TRAIN, "--group", "en=en.txt", "--weight", "en"], "'en' is not GROUP=WEIGHT"),
        ([*TRAIN, "--group", "en.txt"], "'en.txt' is not GROUP=PATH"),
        ([*TRAIN, "en.txt", "--memory", "2XB"], "'2XB' is not a size of memory, such as '2GB'"),
        ([*TRAIN, "en.txt", "--resume"], "--resume goes with --checkpoint"),
        ([*TRAIN, "en.txt", "--normalizer", "NFX"], "NFKC"),
        ([*TRAIN, "en.txt", "--min-count", "0"], "whole number"),
    ],
)
def test_wrong_usage_says_what_is_right(misused: Misused, arguments: list[str], said: str) -> None:
    assert said in misused(*arguments)
    assert not Path("out").exists()


def test_the_groups_of_a_table_are_known(call: Call, fails: Fails, misused: Misused) -> None:
    call("counts", *GROUPED, "-o", "all.parquet")
    tables = ["--from-counts", "all.parquet"]
    assert "the groups are en, fr" in misused(*TRAIN, *tables, "--weight", "de=2")
    assert "the groups are 'en', 'fr'" in fails("counts", *tables, "--only-group", "de")
    call("counts", "en.txt", "--split", "gpt2", "-o", "other.parquet")
    assert "different split: o200k and gpt2" in fails("counts", *tables, "--from-counts", "other.parquet")
    assert "different split" in fails("extend", *tables, "-m", "model", "--vocab-size", "300", "-o", "out")
    Path("no.parquet").write_bytes(b"PAR1")
    assert "no.parquet" in fails(*TRAIN, "--from-counts", "no.parquet")


def test_without_pyarrow_nothing_is_counted(fails: Fails, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install" in fails("counts", "nope.txt", "-o", "x.parquet")
    assert "pip install" in fails(*TRAIN, "--from-counts", "x.parquet")


def test_an_engine_counts_what_one_process_counts(call: Call, fails: Fails) -> None:
    settings = ["--vocab-size", "290", "--split", "gpt2", "--weight", "fr=0.5", "--ties", "first_seen"]
    engine = ["--engine", "local", "--workers", "2", "--task-size", "100"]
    call("train", *GROUPED, *settings, "-o", "one")
    call("train", *GROUPED, *settings, *engine, "--work", "work", "-o", "other")
    assert sorted(path.name for path in Path("one").iterdir()) == sorted(path.name for path in Path("other").iterdir())
    assert all(path.read_bytes() == Path("other", path.name).read_bytes() for path in Path("one").iterdir())
    assert "there is a run in this folder" in fails("train", *GROUPED, *settings, *engine, "--work", "work", "-o", "no")
    call("train", *GROUPED, *settings, *engine, "--work", "work", "--resume", "-o", "again")
    assert trained("again") == trained("one")
    call("counts", *GROUPED, "-o", "one.parquet")
    call("counts", *GROUPED, *engine, "--work", "counting", "-o", "other.parquet")
    assert Path("one.parquet").read_bytes() == Path("other.parquet").read_bytes()
    assert Path("one.parquet").read_bytes() == Path("counting", "counts.parquet").read_bytes()
    call("counts", *GROUPED, *engine, "--work", "counting", "--resume", "-o", "again.parquet")
    assert Path("one.parquet").read_bytes() == Path("again.parquet").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["en.txt", "--engine", "local"], "--engine goes with --work DIR"),
        (["en.txt", "--work", "out"], "--work goes with --engine"),
        (["en.txt", "--workers", "2"], "--workers goes with --engine"),
        (["-", "--engine", "local", "--work", "out"], "not stdin"),
        (["en.txt", "--engine", "mainframe", "--work", "out"], "'mainframe' is none of local, slurm"),
        (["--from-counts", "a.parquet", "--engine", "local", "--work", "out"], "is counted already"),
        (["en.txt", "--resume"], "--resume goes with"),
        (["en.txt", "--engine", "local", "--work", "out", "--start", "5"], "orders the parts itself"),
    ],
)
def test_wrong_usage_of_engines_says_what_is_right(misused: Misused, arguments: list[str], said: str) -> None:
    assert said in misused("counts", *arguments)
    if "--start" not in arguments:
        assert said in misused("train", *arguments, "--vocab-size", "300", "-o", "out")
