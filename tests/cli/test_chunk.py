from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bytepair as bp
from bytepair.chunk.chunks import KINDS, Kind

Call = Callable[..., bytes]
Fails = Callable[..., str]


def rows(output: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


@pytest.mark.parametrize("boundary", KINDS)
def test_chunks_are_those_of_the_api(call: Call, tok: bp.Tokenizer, boundary: Kind) -> None:
    data = Path("text.txt").read_bytes()
    expected = [
        {"file": "text.txt", **chunk._asdict(), "text": data[chunk.start : chunk.end].decode()}
        for chunk in tok.chunks(data, 12, overlap=3, boundary=boundary)
    ]
    options = ("-m", "model", "--limit", "12", "--overlap", "3", "--boundary", boundary)
    assert len(expected) > 3
    assert rows(call("chunk", "text.txt", *options)) == expected
    assert call("chunk", "text.txt", *options, "-o", "chunks.jsonl") == b""
    assert rows(Path("chunks.jsonl").read_bytes()) == expected
    twice = rows(call("chunk", "text.txt", "-", *options, stdin=data))
    assert twice == expected + [{**row, "file": "-"} for row in expected]


def test_sentences_without_overlap_are_usual(call: Call, tok: bp.Tokenizer) -> None:
    text = "One low. Two lower! Newest 東京?\n" * 9
    found = rows(call("chunk", "-m", "model", "--limit", "40", stdin=text.encode()))
    assert "".join(row["text"] for row in found) == text
    assert [row["tokens"] for row in found] == [chunk.tokens for chunk in tok.chunks(text, 40)]
    assert call("chunk", "-m", "model", "--limit", "40") == b""


def test_replaced_bytes_keep_the_places_of_the_file(call: Call, tok: bp.Tokenizer) -> None:
    data = b"low\nl\xffw lower\n" * 9
    Path("bad.txt").write_bytes(data)
    Path("bad.txt.gz").write_bytes(gzip.compress(data))
    expected = [chunk._asdict() for chunk in tok.chunks(data, 12, errors="replace")]
    for name in ("bad.txt", "bad.txt.gz", "-"):
        found = rows(call("chunk", name, "-m", "model", "--limit", "12", "--errors", "replace", stdin=data))
        assert [{key: row[key] for key in ("start", "end", "tokens")} for row in found] == expected
        assert all(row["text"] == data[row["start"] : row["end"]].decode("utf-8", "replace") for row in found)
        assert (found[0]["file"], found[-1]["end"]) == (name, len(data))


def test_what_is_wrong_is_named(call: Call, fails: Fails, misused: Callable[..., str]) -> None:
    Path("bad.txt").write_bytes(b"low\nl\xffw\n")
    assert "file bad.txt, character 5, byte 5" in fails("chunk", "bad.txt", "-m", "model", "--limit", "5")
    assert "; --errors replace puts" in fails("chunk", "bad.txt", "-m", "model", "--limit", "5")
    assert "file nope" in fails("chunk", "nope", "-m", "model", "--limit", "5")
    assert "(file -, character 0, byte 0); use a limit of at least" in fails(
        "chunk", "-m", "model", "--limit", "1", stdin="🦊".encode()
    )
    special = ("chunk", "-m", "model", "--limit", "50")
    said = fails(*special, stdin=b"low<|end|>")
    assert "<|end|>" in said
    assert "--special text" in said
    assert rows(call(*special, "--special", "allow", stdin=b"low<|end|>"))[0]["text"] == "low<|end|>"
    assert "--overlap has to be less than --limit" in misused("chunk", "-m", "model", "--limit", "5", "--overlap", "5")
    assert "--limit" in misused("chunk", "-m", "model")
