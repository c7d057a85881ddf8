"""Uploaded files: their results, and their limits."""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path

import pytest

import bytepair as bp
from bytepair.view.playground import reading, uploads
from bytepair.view.playground.shelf import MOST_UPLOADS
from tests.view.playground.conftest import Client, ask, send


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where uploads are stored briefly; it is empty after each test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def saved(tok: bp.Tokenizer, folder: Path, format: str, *names: str) -> list[tuple[str, bytes]]:
    drop = ("split", "special_tokens") if format in ("tiktoken", "vocab+merges") else ()
    tok.save(folder / "saved" / format.replace(".", "-"), format, drop=drop)
    return [(name, (folder / "saved" / format.replace(".", "-") / name).read_bytes()) for name in names]


@pytest.mark.parametrize("format", ["native", "tokenizer.json"])
def test_a_file_becomes_a_choice(
    client: Client, tok: bp.Tokenizer, tmp_path: Path, temporary: Path, format: str
) -> None:
    asked = client()
    name = {"native": "tokenizer.bytepair"}.get(format, format)
    answer = send(asked, *saved(tok, tmp_path, format, name))
    assert answer.status_code == 201
    made = answer.json()
    offer = {"key": "upload:1", "name": name, "origin": "upload", "note": "uploaded"}
    assert (made["offer"], made["notice"]) == (offer, "")
    assert made["offers"] == asked.get("/api/tokenizers").json()["offers"]
    assert made["offers"][-1] == made["offer"]
    counted = ask(asked, "def encode(self):", ["upload:1"]).json()
    assert counted["picture"]["tokenizers"][0]["ids"] == tok.encode("def encode(self):")
    assert list(temporary.iterdir()) == []


def test_files_of_one_folder_are_one_tokenizer(client: Client, tok: bp.Tokenizer, tmp_path: Path) -> None:
    asked = client()
    pair = saved(tok, tmp_path, "vocab+merges", "vocab.json", "merges.txt")
    made = send(asked, *pair).json()
    assert made["offer"]["name"] == "vocab.json + merges.txt"
    expected = bp.Tokenizer.from_file(tmp_path / "saved" / "vocab+merges")
    assert ask(asked, "a b", ["upload:1"]).json()["counts"]["upload:1"]["fingerprint"] == expected.fingerprint
    alone = send(asked, pair[0])
    assert alone.status_code == 422
    assert alone.json()["error"]["what"] == "vocab.json needs merges.txt"


def test_a_rank_file_asks_for_its_split_pattern(client: Client, tok: bp.Tokenizer, tmp_path: Path) -> None:
    asked = client()
    (file,) = saved(tok, tmp_path, "tiktoken", "tokenizer.tiktoken")
    refused = send(asked, file)
    assert refused.status_code == 422
    error = refused.json()["error"]
    assert (error["kind"], error["where"]) == ("SplitMissingError", {"file": "tokenizer.tiktoken"})
    rows = [f"{text}={id}" for text, id in tok.special_tokens.items()]
    assert send(asked, file, split="cl100k", special_token=rows).status_code == 201
    assert ask(asked, "<|end|> a", ["upload:1"]).json()["picture"]["tokenizers"][0]["ids"] == tok.encode(
        "<|end|> a", special="allow"
    )
    for wrong in ({"split": "nope"}, {"split": "("}, {"split": "none", "special_token": ["<|x|>"]}):
        answer = send(asked, file, **wrong)
        assert answer.status_code == 422
        assert answer.json()["error"]["remedy"]


def test_a_partial_alphabet_is_taken_and_told(client: Client) -> None:
    answer = send(client(), ("some.tiktoken", b"YQ== 0\nYg== 1\n"), split="none")
    assert answer.status_code == 201
    assert "no token for" in answer.json()["notice"]


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"", set()),
        (b"hello", set()),
        (b"\x00\xff" * 99, set()),
        (b'{"model": {"type": "BPE"}', {"line", "character"}),
        (b'{"version": "1.0", "model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "b"]]}}', {"pointer"}),
        (b"[" * 100_000, set()),
        (b'{"a": ' * 50_000, set()),
        (b"GGUF" + b"\xff" * 60, set()),
    ],
    ids=["empty", "text", "bytes", "cut", "merge", "list", "deep", "gguf"],
)
def test_what_is_no_tokenizer_says_why(client: Client, data: bytes, place: set[str], temporary: Path) -> None:
    asked = client()
    answer = send(asked, ("mine.bin", data))
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["where"]["file"] == "mine.bin"
    assert place <= set(error["where"])
    assert str(temporary) not in answer.text
    assert "bytepair-upload" not in answer.text
    assert list(temporary.iterdir()) == []
    assert ask(asked).status_code == 200


def test_no_damage_makes_the_server_fail(client: Client, tok: bp.Tokenizer, tmp_path: Path) -> None:
    asked = client()
    small = bp.train({"low": 5, "lower": 2}, 259)
    drawn = random.Random(9)
    for format, name in {"native": "tokenizer.bytepair", "tokenizer.json": "tokenizer.json"}.items():
        ((_, whole),) = saved(small, tmp_path, format, name)
        for _ in range(25):
            data = bytearray(whole)
            for _ in range(drawn.choice([1, 1, 3])):
                data[drawn.randrange(len(data))] = drawn.choice([0, 255, 34, 125, drawn.randrange(256)])
            if drawn.random() < 0.3:
                del data[drawn.randrange(len(data)) :]
            answer = send(asked, (name, bytes(data)))
            assert answer.status_code in (201, 422)
            if answer.status_code == 201:
                assert ask(asked, "low", [answer.json()["offer"]["key"]]).status_code in (200, 422)
    assert tok


@pytest.mark.parametrize(
    "name", ["../a.json", "/etc/a.json", "a/b.json", "..", "", ".hidden", "a\0b", "a" * 101, "é.json"]
)
def test_names_lead_nowhere(client: Client, tok: bp.Tokenizer, tmp_path: Path, temporary: Path, name: str) -> None:
    asked = client()
    (file,) = saved(tok, tmp_path, "tokenizer.json", "tokenizer.json")
    answer = send(asked, file, (name, b"{}"))
    assert answer.status_code == 422
    # Alone it is called nothing but in messages.
    assert send(asked, (name, file[1])).status_code == 201
    assert sorted(path.name for path in tmp_path.iterdir()) == ["saved", "temporary"]
    assert list(temporary.iterdir()) == []


def test_a_manifest_cannot_name_files_of_the_user(client: Client, tok: bp.Tokenizer, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    tok.save(tmp_path, "tokenizer.json")
    (tmp_path / "tokenizer.json").rename(secret)
    manifest = json.dumps({"format": 1, "files": {f"../../{secret.name}": "0" * 64, str(secret): "0" * 64}}).encode()
    for name in ("manifest.json", "Manifest.JSON"):
        answer = send(client(), (name, manifest), ("vocab.txt", b"a\nb\n"))
        assert answer.status_code == 422
        assert "refers to other files" in answer.json()["error"]["what"]


def test_chat_templates_are_not_run(client: Client, tok: bp.Tokenizer, tmp_path: Path) -> None:
    files = saved(tok, tmp_path, "tokenizer.json", "tokenizer.json")
    bomb = json.dumps({"chat_template": "{% for a in range(10**9) %}{{ raise_exception('run') }}{% endfor %}"}).encode()
    assert send(client(), *files, ("tokenizer_config.json", bomb)).status_code == 201


def test_the_latest_used_uploads_are_kept(client: Client, tmp_path: Path) -> None:
    small = bp.train({"low": 5}, 258)
    (file,) = saved(small, tmp_path, "native", "tokenizer.bytepair")
    asked = client()
    for _ in range(MOST_UPLOADS):
        send(asked, file)
    assert ask(asked, tokenizers=["upload:1"]).status_code == 200
    last = send(asked, file).json()
    keys = [offer["key"] for offer in last["offers"] if offer["origin"] == "upload"]
    assert keys == ["upload:1", *(f"upload:{number}" for number in range(3, MOST_UPLOADS + 2))]
    names = [offer["name"] for offer in last["offers"]]
    assert len(set(names)) == len(names)
    answer = ask(asked, tokenizers=["upload:2"])
    assert answer.status_code == 422
    assert str(MOST_UPLOADS) in answer.json()["error"]["remedy"]


def test_too_much_is_refused(client: Client) -> None:
    asked = client(upload_limit=100)
    for size in (101, 199, 5000):
        answer = send(asked, ("a", b"x" * size))
        assert answer.status_code == 413
        assert answer.json()["error"]["what"].startswith("the request is too large")
    files = [(f"a{number}", b"") for number in range(uploads.MOST_FILES + 1)]
    assert send(asked, *files).status_code == 422


@pytest.mark.parametrize(
    "query",
    [{}, {"name": ["a", "b"]}, {"name": "a", "size": "2"}, {"name": ["a", "b"], "size": ["-1", "4"]}, {"size": "3"}],
)
def test_sizes_that_do_not_fit_are_refused(client: Client, query: dict[str, object]) -> None:
    kind = {"Content-Type": "application/octet-stream"}
    answer = client().post("/api/tokenizers", params=query, content=b"abc", headers=kind)  # type: ignore[arg-type]
    assert answer.status_code == 422


def test_only_bytes_are_taken(client: Client) -> None:
    for kind in ("multipart/form-data", "text/plain"):
        answer = client().post("/api/tokenizers?name=a", content=b"a", headers={"Content-Type": kind})
        assert answer.status_code == 415


@pytest.mark.data
def test_real_files(client: Client, data: Path) -> None:
    path = next(iter(sorted(data.glob("vocabs/**/tokenizer.json"))))
    asked = client()
    assert send(asked, (path.name, path.read_bytes())).status_code == 201
    expected = bp.Tokenizer.from_file(path)
    assert ask(asked, "naïve 東京", ["upload:1"]).json()["picture"]["tokenizers"][0]["ids"] == expected.encode(
        "naïve 東京", special="allow"
    )


def test_what_was_read_apart_is_the_same(tok: bp.Tokenizer, tmp_path: Path) -> None:
    for format, name in {"native": "tokenizer.bytepair", "tokenizer.json": "tokenizer.json"}.items():
        files = [uploads.Upload(*file) for file in saved(tok, tmp_path, format, name)]
        read = uploads.load(files)
        assert read.tokenizer == tok
        assert read.notice == ""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory there")
def test_an_upload_ends_at_its_limits(temporary: Path) -> None:
    large = b'{"padding": {' + b",".join(b'"%d": %d' % (n, n) for n in range(900_000)) + b"}}"
    for limits in (reading.Limits(seconds=60, bytes=150 << 20), reading.Limits(seconds=0.01)):
        with pytest.raises(reading.ReadingLimitError, match=r"more than .* seconds or [0-9,]+ MiB of memory") as caught:
            uploads.load([uploads.Upload("big.json", large)], limits=limits)
        assert caught.value.file == "big.json"
    assert list(temporary.iterdir()) == []


def test_an_upload_that_ends_its_process_is_an_answer(
    client: Client, tok: bp.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = client()
    files = saved(tok, tmp_path, "native", "tokenizer.bytepair")
    for ends in ("import os; os.abort()", "raise SystemExit(3)", "pass"):
        with monkeypatch.context() as patched:
            patched.setattr(reading, "_CHILD", ends)
            answer = send(asked, *files)
        assert answer.status_code == 422
        assert answer.json()["error"]["remedy"] == "if you trust the file, pass it to bytepair serve -m"
    assert send(asked, *files).status_code == 201
