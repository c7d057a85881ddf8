from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.cli import bench_libraries, bench_timing
from bytepair.cli.bench import _documents

Call = Callable[..., bytes]
Fails = Callable[..., str]

ROWS = ["array, first pass", "array", "list", "count", "batch, 2 threads", "decode"]


def benched(call: Call, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        call("bench", "-m", "model", "--repeats", "1", "--threads", "2", "--json", *arguments)
    )
    return found


def test_json_says_what_was_measured(call: Call, tok: bp.Tokenizer) -> None:
    found = benched(call, "text.txt", "text.txt")
    data = Path("text.txt").read_bytes()
    facts = {name: found[name] for name in ("model", "files", "bytes", "tokens", "threads", "unit")}
    tokens = 2 * tok.count(data)
    assert facts == {
        "model": "model",
        "files": 2,
        "bytes": 2 * len(data),
        "tokens": tokens,
        "threads": 2,
        "unit": "MB/s",
    }
    assert found["bytes_per_token"] == round(2 * len(data) / tokens, 3)
    assert list(found["rates"]) == ROWS
    assert all(isinstance(row["bytepair"], float) for row in found["rates"].values())


def test_the_others_are_right_or_named(call: Call) -> None:
    for name in ("tiktoken", "tokenizers"):
        pytest.importorskip(name)
    found = benched(call, "text.txt")
    assert found["absent"] == {}
    libraries = {library.split()[0] for row in found["rates"].values() for library in row}
    assert libraries == {"bytepair", "tiktoken", "tokenizers"}
    assert all(isinstance(rate, float) for row in found["rates"].values() for rate in row.values())


def test_other_ids_are_wrong_and_have_no_time(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def shifted(tokenizer: bp.Tokenizer, *_: object) -> tuple[dict[str, bench_libraries.Calls], dict[str, str]]:
        calls = bench_libraries.Calls(
            to_array=lambda text: tokenizer.encode_array(text) + 1,
            to_list=lambda text: [id + 1 for id in tokenizer.encode(text)],
            count=lambda _: 1 // 0,
            batch=lambda texts, _: [[]] * len(texts),
            decode=lambda _: "",
        )
        return {"shifted": calls}, {"gone": "not installed"}

    monkeypatch.setattr("bytepair.cli.bench.rivals", shifted)
    found = benched(call, "text.txt")
    assert [row["shifted"] for row in found["rates"].values()] == [
        "RAISES" if name == "count" else "WRONG" for name in ROWS
    ]
    table = call("bench", "text.txt", "-m", "model", "--repeats", "1").decode()
    assert "WRONG" in table
    assert "gone is left out: not installed\n" in table


def test_the_table_names_what_is_not_installed(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    table = call("bench", "-", "-m", "model", "--repeats", "1", stdin=b"low lower\n").decode()
    assert "tiktoken is left out: not installed\ntokenizers is left out: not installed\n" in table
    assert "ratio" not in table


def test_a_library_that_cannot_hold_the_model_says_why(tok: bp.Tokenizer, tmp_path: Path) -> None:
    pytest.importorskip("tiktoken")
    found, absent = bench_libraries.rivals(bp.Tokenizer(tok.spec.replace(normalizers=("NFC",))), tmp_path)
    assert not any(name.startswith("tiktoken") for name in found)
    assert "normalizers" in absent["tiktoken"]


def test_special_tokens_in_the_text_follow_the_option(call: Call, fails: Fails) -> None:
    Path("special.txt").write_text("low <|end|> low\n")
    assert "<|end|>" in fails("bench", "special.txt", "-m", "model")
    found = benched(call, "special.txt", "--special", "text")
    assert "WRONG" not in str(found)


def test_what_cannot_be_read_is_one_line(fails: Fails, misused: Callable[..., str]) -> None:
    assert "nope.txt" in fails("bench", "nope.txt", "-m", "model")
    assert "'nope'" in fails("bench", "text.txt", "-m", "nope")
    assert "no text to time" in fails("bench", "-", "-m", "model")
    Path("latin.txt").write_bytes(b"caf\xe9\n")
    assert "latin.txt" in fails("bench", "latin.txt", "-m", "model")
    assert "--repeats" in misused("bench", "text.txt", "-m", "model", "--repeats", "0")


def test_bytes_that_are_not_utf_8_may_be_replaced(call: Call, tok: bp.Tokenizer) -> None:
    Path("latin.txt").write_bytes(b"caf\xe9\n")
    assert benched(call, "latin.txt", "--errors", "replace")["tokens"] == tok.count(b"caf\xe9\n", errors="replace")


def test_documents_are_the_text() -> None:
    text = "low lower\n" * 1000 + "the end"
    documents = _documents(text)
    assert "".join(documents) == text
    assert len(documents) > 1
    assert all(len(document) < 4_000 for document in documents)


def test_a_panic_is_told_and_ctrl_c_is_not() -> None:
    class PanicException(BaseException):
        pass

    def raising(error: type[BaseException]) -> Callable[[], None]:
        def run() -> None:
            raise error

        return run

    assert bench_timing.verdict(raising(PanicException), None) == "PANIC"
    with pytest.raises(KeyboardInterrupt):
        bench_timing.verdict(raising(KeyboardInterrupt), None)


def test_what_is_slow_is_repeated_less() -> None:
    now = 0.0
    runs = {"slow": 0, "fast": 0}

    def taking(name: str, seconds: float) -> Callable[[], None]:
        def run() -> None:
            nonlocal now
            now += seconds
            runs[name] += 1

        return run

    taken = bench_timing.medians(
        {"slow": taking("slow", 5), "fast": taking("fast", 0.5)}, repeats=4, seconds=3, clock=lambda: now
    )
    assert taken == {"slow": 5, "fast": 0.5}
    assert runs == {"slow": 1, "fast": 4}


def test_added_tokens_follow_the_option(call: Call, tok: bp.Tokenizer) -> None:
    pytest.importorskip("tokenizers")
    token = bp.AddedToken("low er", 400, special=False)
    bp.Tokenizer(tok.spec.replace(added_tokens=(*tok.spec.added_tokens, token))).save("model")
    Path("added.txt").write_text("low er low er\n")
    for added in ("match", "text"):
        found = benched(call, "added.txt", "--added", added)
        assert "WRONG" not in str(found)
        assert ("tiktoken" in found["absent"]) == (added == "match")
