from __future__ import annotations

import argparse
import doctest
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from benchmarks import choose, encoders, measure, packages, peers, plot, texts, worker, worst

import bytepair as bp


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
    assert names == {library.package for library in peers.LIBRARIES.values()} - {"bytepair", "tokenizers-1"}


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
    corpus.write_text("low\nlower\nlow\n")
    vocabulary = peers.write(tok, tmp_path)
    files = {"ranks": str(vocabulary.ranks), "json": str(vocabulary.json)}
    job = {"library": "bytepair", "vocabulary": {**vars(vocabulary), **files}, "corpus": str(corpus)}
    assert worker.main({**job, "mode": "load"}).keys() == {"load", "peak"}
    assert worker.main({**job, "mode": "cold"})["digest"] == worker.digest(tok.encode("low\nlower\nlow\n"))
    second = worker.halves("low\nlower\nlow\n")[1]
    assert worker.main({**job, "mode": "fresh"})["digest"] == worker.digest(tok.encode(second))


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
    """Stands for what `Tokenizer.encoder` gives."""

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


@pytest.mark.parametrize("module", [choose, encoders, packages, peers, texts, worker])
def test_the_examples_are_right(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


def test_documents_are_the_text() -> None:
    text = "low lower " * 2_000
    assert "".join(texts.documents(text)) == text
