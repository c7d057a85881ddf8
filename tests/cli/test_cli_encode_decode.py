from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bytepair as bp

Call = Callable[..., bytes]
Fails = Callable[..., str]

TEXTS = [
    b"",
    b"\n",
    b"\n\n",
    b"low",
    b"low\n",
    b"low\r\nnewest\r\n",
    b"\n\nlow\n \n",
    "東京 café\u2028\x0b\x85 \n".encode(),
]


def test_ids_are_those_of_the_api(call: Call, tok: bp.Tokenizer) -> None:
    text = Path("text.txt").read_text(encoding="utf-8")
    expected = " ".join(map(str, tok.encode(text))).encode() + b"\n"
    assert call("encode", "text.txt", "-m", "model") == expected
    assert call("encode", "-m", "model/tokenizer.json", stdin=text.encode()) == expected
    assert call("encode", "-", "-m", "model", stdin=text.encode()) == expected
    assert call("encode", "--text", text, "-m", "model") == expected


@pytest.mark.parametrize("format", ["ids", "jsonl", "npy"])
@pytest.mark.parametrize("text", TEXTS)
def test_encode_then_decode_gives_the_bytes_back(call: Call, text: bytes, format: str) -> None:
    ids = call("encode", "-m", "model", "--format", format, stdin=text)
    assert call("decode", "-m", "model", "--format", format, stdin=ids) == text


@pytest.mark.parametrize("format", ["ids", "jsonl"])
@pytest.mark.parametrize("text", TEXTS)
def test_lines_come_back_as_lines(call: Call, text: bytes, format: str) -> None:
    ids = call("encode", "--lines", "-m", "model", "--format", format, stdin=text)
    ended = text if text.endswith(b"\n") or not text else text + b"\n"
    assert ids.count(b"\n") == ended.count(b"\n")
    assert call("decode", "--lines", "-m", "model", "--format", format, stdin=ids) == ended


def test_files_come_back_one_after_another(call: Call) -> None:
    Path("a").write_bytes(b"low")
    Path("b").write_bytes(b"er\n")
    ids = call("encode", "a", "b", "-", "-m", "model", stdin=b"new")
    assert call("decode", "-m", "model", stdin=ids) == b"lower\nnew"


def test_jsonl_names_the_file(call: Call, tok: bp.Tokenizer) -> None:
    rows = call("encode", "text.txt", "-", "-m", "model", "--format", "jsonl", stdin=b"low").splitlines()
    text = Path("text.txt").read_bytes()
    assert [json.loads(row) for row in rows] == [
        {"file": "text.txt", "ids": tok.encode(text)},
        {"file": "-", "ids": tok.encode("low")},
    ]


def test_npy_is_one_uint32_array_whole_in_its_file(call: Call, tok: bp.Tokenizer) -> None:
    assert call("encode", "text.txt", "-m", "model", "--format", "npy", "-o", "out/ids.npy") == b""
    ids = np.load("out/ids.npy")
    assert ids.dtype == np.uint32
    assert ids.tolist() == tok.encode(Path("text.txt").read_bytes())
    assert call("decode", "out/ids.npy", "--format", "npy", "-m", "model") == Path("text.txt").read_bytes()
    assert [path.name for path in Path("out").iterdir()] == ["ids.npy"]


def test_npy_holds_one_text(misused: Callable[..., str]) -> None:
    assert "npy holds one text" in misused("encode", "a", "b", "-m", "model", "--format", "npy")
    assert "npy holds one text" in misused("encode", "a", "--lines", "-m", "model", "--format", "npy")


def test_special_tokens_are_as_the_call_says(call: Call, fails: Fails, tok: bp.Tokenizer) -> None:
    text = "low<|end|>"
    assert "<|end|>" in fails("encode", "--text", text, "-m", "model")
    for special in ("text", "allow"):
        ids = call("encode", "--text", text, "-m", "model", "--special", special)
        assert ids.split() == [str(id).encode() for id in tok.encode(text, special=special)]
    assert call("encode", "--text", text, "-m", "model", "--special", "<|end|>") == ids
    assert call("decode", "-m", "model", stdin=ids) == text.encode()
    assert call("decode", "--skip-special-tokens", "-m", "model", stdin=ids) == b"low"
    assert "not a special token" in fails("encode", "--text", text, "-m", "model", "--special", "<|end|>,nope")
    fails("encode", "--text", text, "-m", "model", "--special", "\udcff")


def test_text_that_is_not_utf8_is_placed(call: Call, fails: Fails) -> None:
    Path("bad.txt").write_bytes(b"low\nl\xffw\n")
    assert "file bad.txt, character 5, byte 5" in fails("encode", "bad.txt", "-m", "model")
    assert "file bad.txt, line 2, character 1, byte 1" in fails("encode", "--lines", "bad.txt", "-m", "model")
    ids = call("encode", "bad.txt", "--errors", "replace", "-m", "model")
    assert call("decode", "-m", "model", stdin=ids) == "low\nl\ufffdw\n".encode()


def test_half_characters_are_as_the_call_says(call: Call, fails: Fails) -> None:
    ids = b"108 230 119\n"
    assert call("decode", "-m", "model", stdin=ids) == "l\ufffdw".encode()
    assert call("decode", "--errors", "surrogateescape", "-m", "model", stdin=ids) == b"l\xe6w"
    assert call("decode", "--errors", "backslashreplace", "-m", "model", stdin=ids) == rb"l\xe6w"
    assert "0xe6 in position 1" in fails("decode", "--errors", "strict", "-m", "model", stdin=ids)


def npy(array: object) -> bytes:
    file = io.BytesIO()
    np.save(file, np.asarray(array))
    return file.getvalue()


@pytest.mark.parametrize(
    ("format", "data", "said"),
    [
        ("ids", b"1\n2 x", "line 2"),
        ("ids", b"1\n2 999", "no token has id 999 (file -, line 2, row 1)"),
        ("ids", b"-1", "-1"),
        ("ids", b"9" * 5000, "not an id"),
        ("jsonl", b'{"ids": [1]}\n{"ids": [1', "line 2"),
        ("jsonl", b'{"ids": [1]}\n\n', "line 2"),
        ("jsonl", b'{"ids": [1.0]}', "whole numbers"),
        ("jsonl", b'{"ids": [true]}', "whole numbers"),
        ("jsonl", b"[1]", "line 1"),
        ("jsonl", b"[" * 100_000, "not JSON"),
        ("npy", b"", "not an npy file"),
        ("npy", npy([1, 2])[:-1], "not an npy file"),
        ("npy", npy([1.5]), "the array is not of ids"),
        ("npy", npy([[1]]), "the array is not of ids"),
        ("npy", npy([-1]), "-1"),
        ("npy", npy([1, 999]), "no token has id 999"),
    ],
)
def test_ids_that_are_none_are_named(fails: Fails, format: str, data: bytes, said: str) -> None:
    assert said in fails("decode", "-m", "model", "--format", format, stdin=data)


def test_a_failure_leaves_the_output_as_it_was(fails: Fails) -> None:
    Path("out.txt").write_text("before")
    fails("decode", "-m", "model", "-o", "out.txt", stdin=b"1\n999\n")
    assert Path("out.txt").read_text() == "before"


def test_count_is_like_wc(call: Call, fails: Fails, tok: bp.Tokenizer) -> None:
    Path("empty").touch()
    count = tok.count(Path("text.txt").read_bytes())
    assert call("count", "text.txt", "-m", "model").decode() == f"{count} text.txt\n"
    assert call("count", "text.txt", "empty", "-m", "model").decode() == (
        f"{count} text.txt\n{0:>{len(str(count))}} empty\n{count} total\n"
    )
    assert call("count", "-m", "model", stdin=b"low") == b"%d\n" % tok.count("low")
    assert call("count", "--text", "low low", "-m", "model") == b"%d\n" % tok.count("low low")
    one = json.loads(call("count", "--text", "low", "-m", "model", "--format", "jsonl"))
    assert one == {"file": "--text", "tokens": tok.count("low")}
    assert call("count", "-", "-m", "model", stdin=b"low") == b"%d -\n" % tok.count("low")
    rows = call("count", "text.txt", "empty", "-m", "model", "--format", "jsonl").splitlines()
    assert [json.loads(row) for row in rows] == [{"file": "text.txt", "tokens": count}, {"file": "empty", "tokens": 0}]
    assert "file nope" in fails("count", "nope", "-m", "model")
    assert call("count", "--special", "text", "-m", "model", stdin=b"<|end|>") != b"1\n"


@pytest.mark.parametrize("arguments", [["--text", "a", "b.txt"], ["--text", "a", "-"]])
def test_text_goes_without_files(misused: Callable[..., str], arguments: list[str]) -> None:
    for command in ("encode", "count"):
        assert "--text goes without files" in misused(command, *arguments, "-m", "model")
