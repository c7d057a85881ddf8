"""Every benchmark in small, and its tables, refusals and reports.

Long because each benchmark has its part.
"""

from __future__ import annotations

import argparse
import doctest
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest
from benchmarks import (
    children,
    choose,
    chunks,
    core,
    count,
    counting_families,
    counting_hostile,
    counting_worker,
    encoders,
    endless,
    growing,
    ladder,
    measure,
    packages,
    paired,
    peers,
    plot,
    published,
    slices,
    texts,
    train,
    trainers,
    worker,
    worst,
)

import bytepair as bp
from bytepair import reference


@pytest.fixture
def tok() -> bp.Tokenizer:
    return bp.train({"low": 5, "lower": 2}, vocab_size=259, split="o200k", special_tokens=["<|end|>"])


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> measure.Report:
    monkeypatch.setattr(measure, "ROOT", tmp_path)
    monkeypatch.setattr(plot, "ROOT", tmp_path)
    made = measure.Report("test", ["bytepair", "tiktoken"])
    made.head("table")
    return made


def values(report: measure.Report) -> dict[tuple[str, str], str]:
    return {(row["measure"], row["library"]): row["value"] for row in report.rows}


def test_a_wrong_result_has_no_time(report: measure.Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs: dict[str, Callable[[], Any]] = {"bytepair": lambda: [1], "tiktoken": lambda: [2]}
    taken = measure.timed(report, "array", runs, [1], measure.QUICK, megabytes=1)
    assert taken.keys() == {"bytepair"}
    assert values(report)["array", "tiktoken"] == "WRONG"
    assert not report.wrong  # It is the peer that is wrong.
    report.save()
    assert "not right everywhere: tiktoken" in capsys.readouterr().out
    (path,) = (tmp_path / "build" / "bench").iterdir()
    assert path.read_text().startswith("date,title,measure,unit,ratio,library,value,cpu,cores,python,")
    measure.timed(report, "array", {"bytepair": lambda: [2]}, [1], measure.QUICK)
    assert report.wrong


def test_names_are_chosen_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    known = ["cold", "fresh", "warm"]
    assert choose.chosen(parser, "--only", None, known) == known
    assert choose.chosen(parser, "--only", ["warm", "cold,warm"], known) == ["cold", "warm"]
    with pytest.raises(SystemExit):
        choose.chosen(parser, "--only", ["hot"], known)
    assert "--only hot: there is no such name; there are cold, fresh, warm" in capsys.readouterr().err


def test_every_pinned_peer_is_a_library() -> None:
    pinned = packages.group((peers.ROOT / "pyproject.toml").read_text(), "bench")
    names = {requirement.partition("==")[0] for requirement in pinned if "==" in requirement}
    encoding = {library.package for library in peers.LIBRARIES.values()}
    assert names == (encoding | trainers.TRAINERS.keys() | chunks.CHUNKERS.keys()) - {
        "bytepair",
        "tokenizers-1",
        trainers.RAW,
        "youtokentome",
    }


def test_a_peer_that_fails_is_named(tok: bp.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: peers.Vocabulary) -> peers.Peer:
        raise ValueError("no such pattern")

    def absent(_: peers.Vocabulary) -> peers.Peer:
        raise ImportError("no module")

    def late(_: peers.Vocabulary) -> peers.Peer:
        return peers.Peer(encode=dict[str, Any]().__getitem__)

    monkeypatch.setitem(peers.LIBRARIES, "splintr", peers.Library(late, "splintr", "splintr-rs"))
    monkeypatch.setitem(peers.LIBRARIES, "toktok", peers.Library(refuse, "toktok", "toktok-rs"))
    monkeypatch.setitem(peers.LIBRARIES, "quicktok", peers.Library(absent, "quicktok", "quicktok-v1"))
    told: list[str] = []
    found = peers.load_all(peers.write(tok, tmp_path), told.append, ["bytepair", "toktok", "quicktok", "splintr"])
    assert found.keys() == {"bytepair"}
    assert "no such pattern" in told[0]
    assert "it is not installed" in told[1]
    assert "splintr takes no part: it refuses" in told[2]


def test_the_fresh_process_gives_what_it_promises(tok: bp.Tokenizer, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("low\nlower\nlow\n" * 5_000)
    vocabulary = peers.write(tok, tmp_path)
    files = {"ranks": str(vocabulary.ranks), "json": str(vocabulary.json)}
    job = {"library": "bytepair", "vocabulary": {**vars(vocabulary), **files}, "corpus": str(corpus)}
    assert worker.main({**job, "mode": "load"}).keys() == {"load", "peak"}
    text = corpus.read_text()
    assert worker.main({**job, "mode": "whole"})["digest"] == worker.digest(tok.encode(text))
    passes = worker.main({**job, "mode": "halves"})
    assert passes["digest"] == worker.digest(tok.encode(worker.halves(text)[1]))
    assert passes.keys() == {"load", "peak", "cold", "fresh", "warm", "count", "counted", "digest"}
    assert passes["counted"]


def test_worst_cases_are_new_texts_and_checked(
    report: measure.Report, tok: bp.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worst, "worst_cases", lambda: {"letters": "low"})
    vocabulary = peers.write(tok, tmp_path)
    ours = peers.load("bytepair", vocabulary)
    seen: list[str] = []

    def encode(text: str) -> list[int]:
        seen.append(text)
        return [*tok.encode(text), 0]

    found = {"bytepair": ours, "tiktoken": peers.Peer(encode)}
    worst.pieces(report, found, vocabulary, 1_000, measure.QUICK, full=False)
    assert len(set(seen)) == 2 * worst.TEXTS + 1
    assert values(report)["letters, 0.001M", "tiktoken"] == "WRONG"
    assert float(values(report)["letters, growth", "bytepair"]) > 0


@dataclass
class Encoder:
    """A stand-in for the result of `Tokenizer.encoder`."""

    tok: bp.Tokenizer
    exact: bool

    def encode_piece(self, piece: bytes) -> list[int]:
        return [self.tok.token_id(bytes([byte])) for byte in piece]


def test_exact_encoders_agree_or_are_wrong(
    report: measure.Report, tok: bp.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Odd(Encoder):
        def encode_piece(self, piece: bytes) -> list[int]:
            return super().encode_piece(piece)[1:]

    made: dict[str, Encoder] = {name: Encoder(tok, exact=True) for name in encoders.ENCODERS}
    made["heap"], made["greedy"] = Odd(tok, exact=True), Encoder(tok, exact=False)
    monkeypatch.setattr(bp.Tokenizer, "encoder", lambda _, name: made[name], raising=False)
    report.head("table", encoders.ENCODERS)
    encoders.compare(report, tok, 10, repeats=1)
    found = values(report)
    assert found["10 tokens", "heap"] == "WRONG"
    assert float(found["10 tokens", "naive"]) > 0
    assert float(found["10 tokens, given for 100 of the exact", "greedy"]) == 100
    encoders.compare(report, tok, 10_000, repeats=1)
    assert ("10000 tokens", "naive") not in values(report)


def test_slices_are_whole_characters_of_the_text(tok: bp.Tokenizer, tmp_path: Path) -> None:
    text = "low é lower 🦊 new " * 60
    made = slices.of_text(tok, text)
    assert made.text == text
    assert {size: len(parts) for size, parts in made.slices.items()} == {10: 10, 100: 10, 1000: 10}
    made.write(tmp_path / "text", tmp_path / "slices")
    data = (tmp_path / "text").read_bytes()
    for part in made.slices[100]:
        assert data[part.start_byte : part.end_byte].decode() == text[part.start : part.end]
    drawn = slices.of_random_tokens(tok, 300)
    assert [*drawn.slices] == [10, 100]
    assert drawn == slices.of_random_tokens(tok, 300)


def test_counting_in_part_is_compared(report: measure.Report, tok: bp.Tokenizer, tmp_path: Path) -> None:
    found = peers.load_all(peers.write(tok, tmp_path), print, ["bytepair", "tiktoken"])
    sliced = slices.of_text(tok, "🦊é low 🦊🦊lower " * 60)
    compared = growing.Comparison(report, "text", tok, found, sliced, measure.Pace(1, 1))
    compared.tables()
    assert not report.wrong
    assert "WRONG" not in values(report).values()
    titles = [row["title"] for row in report.rows if row["library"] == "tiktoken"]
    assert [*dict.fromkeys(titles)] == [
        "text: encode",
        "text: count",
        "text: append each byte, count after each",
        "text: count an interval",
        "text: 1000 tokens cut to fewer",
        "text: 1000 tokens, more than a limit?",
    ]
    assert sum(float(values(report)[f"{limit}, then other ids", "tiktoken"]) for limit in (10, 100)) > 0
    found["tiktoken"] = peers.Peer(lambda _: [1])
    compared.appending()
    assert values(report)["10 tokens", "tiktoken"] == "WRONG"


def test_a_text_that_grows_is_compared_in_places(tok: bp.Tokenizer) -> None:
    def length(text: str) -> int:
        return len(tok.encode(text))

    text = "low é 🦊 lower " * 20
    assert growing.grown(tok, text) == growing.again(length, text) == growing.from_scratch(length, text)
    assert growing.is_longest(tok, "low low", "low", 1)
    assert not growing.is_longest(tok, "low low", "lo", 2)
    assert not growing.is_longest(tok, "low low", "low", 0)


def test_rows_of_the_core(report: measure.Report) -> None:
    rows: list[dict[str, int | str | None]] = [
        {"measure": "index", "nanoseconds": 400, "bytes": 50, "of": 200},
        {"tokens": 10, "measure": "encode", "nanoseconds": 100, "of": 50},
        {"tokens": 10, "measure": "append", "nanoseconds": 300, "of": 50},
        {"tokens": 10, "measure": "fit", "nanoseconds": None, "of": 5},
    ]
    count.core_rows(report, rows)
    found = {(row["measure"], row["unit"], row["library"]): row["value"] for row in report.rows}
    assert found["index of the text", "bytes/byte", "interval"] == "0.25"
    assert found["10 tokens", "ns/byte", "append"] == "6"
    assert found["10 tokens, of encode", "times", "append"] == "3"
    assert found["10 tokens", "ns", "fit"] == "WRONG"
    assert report.wrong


def test_what_is_not_linear_or_too_slow_is_named(
    report: measure.Report, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def piece(_: peers.Vocabulary, case: tuple[str, str, str], size: int, seconds: float) -> tuple[float | None, int]:
        operation = case[2]
        if operation == "append" and size > 10:
            raise subprocess.TimeoutExpired("count", seconds)
        if operation == "fit":
            raise core.CoreError("it fails")
        if operation == "index":
            return None, 0
        return (size**2 if operation == "prepend" else size) / 1e9, 4 * size

    monkeypatch.setattr(core, "piece", piece)
    monkeypatch.setattr(endless, "KINDS", ("spaces",))
    endless.pieces(report, peers.Vocabulary("trained", "", None, {}, None, None), "o200k", (10, 100))
    found = values(report)
    assert found["growth, last step", "count"] == "1"
    assert found["0.0001 MB", "append"] == "> 120 s"
    assert (found["1e-05 MB", "fit"], found["1e-05 MB", "index"]) == ("RAISES", "WRONG")
    assert ("0.0001 MB", "fit") not in found
    assert found["0.0001 MB, peak", "count"] == "4"
    told = capsys.readouterr().out
    assert "not linear: prepend of spaces takes 10 times as long" in told
    assert "not linear: interval of spaces takes 10 times as long" in told
    assert "append of spaces at 0.0001 MB: takes more than 120 s" in told
    assert "fit of spaces at 1e-05 MB: it fails" in told


def test_chunks_are_the_text_and_fit(
    report: measure.Report, tok: bp.Tokenizer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "low lower " * 100
    halves: chunks.Chunker = lambda _, text, __: [text[:500], text[500:]]  # noqa: E731
    monkeypatch.setattr(chunks, "CHUNKERS", {"halves": ("bytepair", halves), "none": ("no_such_module", halves)})
    monkeypatch.setattr(chunks, "_ours", lambda _, text, limit: [text[at : at + limit] for at in range(0, 1000, limit)])
    chunks.table(report, "chunks", tok, text, measure.QUICK)
    found = values(report)
    assert (found["128 tokens", "bytepair"], found["1024 tokens", "bytepair"]) == ("8", "1")
    assert (found["128 tokens", "halves"], found["1024 tokens", "halves"]) == ("WRONG", "2")
    assert "none takes no part in chunks: it is not installed" in capsys.readouterr().out


TEXT = "low lower. Lowest é low\n\n🦊 low low. " * 40


@pytest.fixture
def corpus(tok: bp.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a text, and a tokenizer by every name."""
    monkeypatch.setattr(published, "tokenizer", lambda _: tok)
    monkeypatch.setattr(published, "path", lambda name: None if name == "T5" else tmp_path / "file")
    monkeypatch.setattr(published, "peer", lambda _: None)
    monkeypatch.setattr(counting_worker, "LIMITS", (10, 50))
    monkeypatch.setattr(counting_worker, "FITS", (50, 100, 200))
    (tmp_path / "corpora").mkdir()
    path = tmp_path / "corpora" / "en_1mb.txt"
    path.write_text(TEXT, "utf-8")
    return path


def job(corpus: Path, *measures: str) -> dict[str, Any]:
    return {
        "tokenizer": "GPT-2",
        "corpus": str(corpus),
        "bytes": 1_200,
        "repeats": 1,
        "seconds": 0,
        "measures": measures,
    }


def test_every_way_to_count_in_part_is_checked_and_timed(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counting_worker.main(job(corpus, *counting_worker.MEASURES))
    rows = {row.pop("measure"): row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert rows.keys() == counting_worker.MEASURES.keys()
    assert not any("WRONG" in row for row in rows.values())
    assert all(row["ours"] > 0 < row["encode"] for name, row in rows.items() if name[:3] not in ("fre", "fit", "str"))
    assert rows["chunks 10 character"]["chunks"] > rows["chunks 50 character"]["chunks"] > 1
    assert rows["fit left"].keys() == {f"{limit} {length}" for limit in (50, 100, 200) for length in ("long", "short")}
    assert rows["stride 10"] == {}


@pytest.mark.parametrize(
    ("measure", "result"),
    [
        ("chunks 10 sentence", [bp.Chunk(0, 5, 4)]),
        ("chunks 10 sentence", [bp.Chunk(0, 1200, 9)]),
        ("fit left", "lo"),
        ("fit right", TEXT),
    ],
)
def test_what_counts_otherwise_than_encoding_has_no_time(
    corpus: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    measure: str,
    result: object,
) -> None:
    monkeypatch.setattr(bp.Tokenizer, measure.split(maxsplit=1)[0], lambda *_, **__: result, raising=False)
    counting_worker.main(job(corpus, measure))
    (line,) = capsys.readouterr().out.splitlines()
    assert "WRONG" in json.loads(line)


def test_tables_of_every_tokenizer(
    report: measure.Report, corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[list[str]] = []

    def lines(_: str, job: Any, seconds: float) -> Any:
        asked.append([*job["measures"]])
        for name in asked[-1]:
            if name == "chunks 50 sentence" and seconds == 7:
                raise children.OverError
            if name == "index":
                raise children.FailedError("it fails")
            if name == "interval":
                yield {"measure": name, "WRONG": "other tokens"}
            elif name == "fresh":
                yield {"measure": name, "encode": 1, "10": 2, "50": 1, "500": 1, "5000": 1}
            elif name.startswith("fit"):
                yield {"measure": name, "50 long": 1.0, "100 long": 3.0, "50 short": 2.0}
            else:
                yield {"measure": name, "ours": 5.0, "encode": 1.0, "chunks": 3, "calls": 1.0}

    monkeypatch.setattr(children, "lines", lines)
    parts = ["chunks", "fit", "index", "append"]
    options: dict[str, Any] = {"corpora": ["en_1mb"], "parts": parts, "pace": measure.QUICK, "limit": 7}
    counting_families.tables(report, corpus.parent.parent, names=["GPT-2", "T5"], **options)
    assert [row[:1] for row in asked] == [["encode"], ["chunks 500 sentence"], ["interval"]]
    found = values(report)
    assert (found["chunks, sentence", "10"], found["chunks, sentence", "50"]) == ("5", "> 7 s")
    assert (found["chunks, the first time", "10"], found["each", "less calls"]) == ("2", "4")
    assert found["GPT-2, en_1mb", "interval"] == "WRONG"
    assert report.wrong
    told = capsys.readouterr().out
    assert "T5 is not measured: there is no t5-small/tokenizer.json" in told
    assert "GPT-2, en_1mb: fit 2n is 3, above 2.2 t(2n)/t(n), at most" in told
    assert "GPT-2, en_1mb: chunks is > 7 s" in told


def test_endless_texts_are_checked_and_what_is_not_linear_is_named(
    report: measure.Report, corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert corpus.is_file()
    for operation in counting_hostile.OPERATIONS:
        job = {"tokenizer": "GPT-2", "kind": "Hans", "operation": operation, "sizes": [300, 30_000]}
        counting_hostile.child(job)
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [(row["size"], row["right"]) for row in rows] == [(300, True), (30_000, True)]
    assert not counting_hostile.are_chunks(published.tokenizer(""), "low", [bp.Chunk(0, 2, 2)])
    assert not counting_hostile.is_fit(published.tokenizer(""), "low", "l")

    def lines(_: str, job: Any, __: float) -> Any:
        yield {"size": 10, "seconds": 1.0, "peak": 2.0, "right": job["operation"] != "index"}
        if job["operation"] == "fit":
            raise children.OverError
        if job["operation"] == "append":
            raise children.FailedError("it fails")
        yield {"size": 100, "seconds": 100.0 if job["operation"] == "count" else 10.0, "peak": 2.0, "right": True}

    monkeypatch.setattr(children, "lines", lines)
    operations = [*counting_hostile.OPERATIONS]
    options: dict[str, Any] = {"kinds": ["letter"], "operations": operations, "sizes": [10, 100], "limit": 7}
    counting_hostile.tables(report, names=["GPT-2", "T5"], **options)
    found = values(report)
    assert (found["0.0001 MB", "fit"], found["0.0001 MB", "append"]) == ("> 7 s", "RAISES")
    assert (found["1e-05 MB", "index"], found["of 1e-05 MB", "chunks"]) == ("WRONG", "10")
    told = capsys.readouterr().out
    assert "GPT-2, count of letter: 100 times" in told
    assert "GPT-2, fit of letter: > 7 s" in told
    assert "chunks of letter" not in told


def test_children_have_a_time_for_each_line() -> None:
    assert [*children.lines("benchmarks.choose", {}, 60)] == []
    with pytest.raises(children.OverError):
        next(children.lines("benchmarks.counting_hostile", {}, 0.01))
    with pytest.raises(children.FailedError, match="KeyError"):
        next(children.lines("benchmarks.counting_hostile", {}, 60))


def test_blocks_are_the_text_and_change_no_piece(tmp_path: Path) -> None:
    text = "low\nlower é\n\n  new\nest\r\nwide " * 4_000
    path = tmp_path / "corpus.txt"
    path.write_bytes(text.encode())
    parts = [*trainers.blocks(path)]
    assert len(parts) > 2
    assert "".join(parts) == text
    pattern = bp.SPLIT_PATTERNS["gpt2"]
    assert pattern == trainers.GPT2
    assert reference.count_pieces(parts, pattern) == reference.count_pieces([text], pattern)


def test_trainings_are_compared_under_one_rule(
    report: measure.Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("low lower lowest\nnew newer\n" * 3)
    made = train.run("bytepair", path, 262, 1)
    assert isinstance(made, train.Run)
    assert made.learned == worker.digest(trainers.TRAINERS["bytepair"].train(path, 262, 1))
    assert made.peak > 1
    assert "no file matches" in str(train.run("bytepair", tmp_path / "none.txt", 262, 1))

    def run(name: str, *_: Any) -> train.Run | str:
        learned = {"rustbpe": "other", "sentencepiece": worker.digest(262), "bpeasy": "raw", trainers.RAW: "raw"}
        return "it refuses" if name == "ffbpe" else train.Run(learned.get(name, "gpt2"), 1, 2, 3)

    monkeypatch.setattr(train, "run", run)
    report.head("table", [*trainers.TRAINERS])
    train.compare(report, [*trainers.TRAINERS], path, 262, 1, repeats=2)
    found = values(report)
    assert found["262 tokens, cpu", "tokenizers"] == "1"
    assert found["262 tokens, cpu", "bpeasy"] == "1"
    assert found["262 tokens, peak", "rustbpe"] == "WRONG"
    assert found["262 tokens", "sentencepiece"] == "own alg."
    assert found["262 tokens", "youtokentome"] == "WRONG"
    assert found["262 tokens, wall", "ffbpe"] == "RAISES"
    assert "ffbpe, 262 tokens: it refuses" in capsys.readouterr().out


def test_a_trainer_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "rustbpe" else name)
    assert train.installed(["bytepair", trainers.RAW, "rustbpe"]) == ["bytepair"]
    assert "rustbpe takes no part: it is not installed" in capsys.readouterr().out
    assert train.installed(["bytepair", trainers.RAW, "bpeasy"]) == ["bytepair", trainers.RAW, "bpeasy"]


def test_copies_of_the_large_corpus_have_other_pieces(tmp_path: Path) -> None:
    (tmp_path / "mixed_100mb.txt").write_text("low é Z\n")
    path = train.corpus_file("mixed_1gb", tmp_path, tmp_path)
    assert path.read_text().splitlines()[:2] == ["low é Z", "mpx é Z"]
    assert len(path.read_text().splitlines()) == 10


EXTENT = ladder.Extent((300, 600), (260, 300), 60, 500, 20, 60)


def test_the_ladder_compares_and_then_times(report: measure.Report, capsys: pytest.CaptureFixture[str]) -> None:
    text = "the newest lower lowest widest news, aaaa abab\n" * 30
    ladder.growing(report, text, EXTENT, processes=1)
    ladder.counting(report, text, EXTENT, processes=1)
    ladder.compaction(report, text, EXTENT)
    ladder.slow_data(report, text, EXTENT)
    found = values(report)
    assert all(float(found["260 tokens", name]) >= 0 for name in ("bytepair", *ladder.VERSIONS))
    assert found["made", "positions"] == "20"
    assert "overtake" in capsys.readouterr().out


def test_a_climb_that_differs_is_wrong_and_a_long_one_ends(report: measure.Report) -> None:
    text = "the newest lower lowest widest news\n" * 9
    made = ladder.climb(lambda: reference.train_heap({"aaaa": 3}, 5), 60)
    assert len(made.merges) == 2
    assert not ladder.right(made, ladder.core([text], 5)[0])
    ended = ladder.climb(lambda: reference.train_naive({text: 1}, 20), -1)
    assert (ended.merges, ended.ended, ended.at(1)) == ([], True, None)
    assert ladder.right(ended, ladder.core([text], 5)[0])
    ladder.slow_data(report, text, ladder.Extent(slow_merges=3, slow_seconds=-1))
    assert values(report)["all merges", "lists"].startswith("~")
    slower, faster = ladder.Climb([], [1, 2, 3, 4]), ladder.Climb([], [2, 2.5, 3, 3.5])
    assert ladder.overtaking(slower, faster) == 3
    assert ladder.overtaking(faster, ladder.Climb([], [3, 3, 4, 5])) is None


@pytest.mark.parametrize(
    "module",
    [
        choose,
        chunks,
        counting_families,
        counting_hostile,
        counting_worker,
        encoders,
        endless,
        growing,
        ladder,
        packages,
        paired,
        peers,
        slices,
        texts,
        train,
        trainers,
        worker,
    ],
)
def test_the_examples_are_right(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


def test_documents_are_the_text() -> None:
    text = "low lower " * 2_000
    assert "".join(texts.documents(text)) == text


class Clock:
    """Seconds that each call of a tokenizer takes: those of its name, in turns."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Paced:
    """A tokenizer that takes so many seconds for a call, and that may be wrong about a text."""

    def __init__(self, clock: Clock, seconds: float, calls: list[float], wrong: str = "-") -> None:
        self.clock, self.seconds, self.calls, self.wrong = clock, seconds, calls, wrong

    def encode(self, text: str, **_: object) -> list[int]:
        self.clock.now += self.seconds
        self.calls.append(self.seconds)
        return [ord(character) for character in text] + [0] * (self.wrong in text)

    encode_array = encode

    def count(self, text: str, **options: object) -> int:
        return len(self.encode(text, **options))


def test_paired_builds_take_turns_and_their_ids_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paired, "halves", lambda text: worker.halves(text, 4))
    monkeypatch.setattr(paired, "CHUNK", 3)
    clock, calls = Clock(), list[float]()
    toks: Any = {"old": Paced(clock, 4.0, calls), "new": Paced(clock, 1.0, calls)}
    found = list(paired.rounds(toks, "abcdefghijklmno", ["fresh", "warm", "count"], 2, clock))
    assert [part.part for part in found] == ["fresh"] * 3 + (["warm"] * 3 + ["count"] * 3) * 2
    assert calls[:8] == [1.0, 4.0, 4.0, 1.0, 1.0, 4.0, 4.0, 1.0]
    assert paired.summary(found, "old")["new"][1:] == (4.0, 4.0, 4.0)
    toks["new"].wrong = "m"
    with pytest.raises(paired.DifferentIdsError, match=r"differ in chunk 1 of fresh"):
        list(paired.rounds(toks, "abcdefghijklmno", ["warm"], 1, clock))


def test_paired_builds_are_loaded_beside_the_package() -> None:
    build = paired.Build.parse(f"{bp._core.__file__}@plain")
    tok = paired.load(build, lambda package: package.train({"low": 5}, vocab_size=258))
    assert tok.encode("low") == [257]
    assert not isinstance(tok, bp.Tokenizer)
    assert bp.train({"low": 5}, vocab_size=258).encode("low") == [257]


def test_the_chart_of_the_readme_is_drawn_from_measured_rows(report: measure.Report, tmp_path: Path) -> None:
    rates: dict[str, float | str] = {"bytepair": 100.0, "tiktoken": 5.0, "gigatoken": "WRONG"}
    for text in ("en", "multi"):
        report.head(f"o200k_base, {text}")
        with pytest.raises(ValueError, match="the chart needs the rows"):
            plot.speed(report, tmp_path)
        for name in ("to an array, fresh", "to a list"):
            report.row(name, rates, "MB/s", higher_is_better=True)
    light, dark = plot.speed(report, tmp_path)
    for path in (light, dark):
        drawing = ElementTree.fromstring(path.read_text("utf-8"))
        assert drawing.tag.endswith("svg")
        assert int(drawing.get("height", "0")) > 300
        words = "".join(drawing.itertext())
        assert "English, text never seen before" in words
        assert words.count("tiktoken, 50 languages, text never seen before: 5") == 1
        # A wrong result has no bar, but its name is there.
        assert len(list(drawing.iter("{http://www.w3.org/2000/svg}rect"))) == 2 * len(plot.TABLES)
        assert "gigatoken" in words
        assert "var(" not in path.read_text("utf-8")
    assert light.read_text("utf-8") != dark.read_text("utf-8")
