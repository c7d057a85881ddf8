"""Paths and files that are no tokenizer: nothing waits, and the error says in a short message what is there."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import lzma
import os
import socket
import struct
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fuzz import kinds

import bytepair as bp
from bytepair import errors, files
from bytepair.cli import main
from bytepair.formats import encodings, gguf
from tests.formats import models

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_IN_A_MESSAGE = 2500
"""The characters of a message: the fault, its place and the remedy."""

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="no such files there")


@pytest.fixture(params=["pipe", "link to a pipe", "device", "link to a device", "socket"])
def endless(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A path that a reader would wait at for ever, and what a message says that it is."""
    place = tmp_path / "tokenizer.json"
    kind, target, listener = request.param.split()[-1], tmp_path / "pipe", None
    if kind == "pipe":
        os.mkfifo(target)
    elif kind == "device":
        target = Path("/dev/zero")
    else:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(place))
    if request.param.startswith("link"):
        place.symlink_to(target)
    elif kind == "device":
        place = target
    elif kind == "pipe":
        target.rename(place)
    yield place, ("a link to " if request.param.startswith("link") else "") + f"a {'named ' * (kind == 'pipe')}{kind}"
    if listener:
        listener.close()


@POSIX
@pytest.mark.parametrize("call", [bp.Tokenizer.from_file, bp.load])
def test_no_reader_waits_for_what_is_no_file(endless: tuple[Path, str], call: Callable[[Path], Any]) -> None:
    path, kind = endless
    with pytest.raises(bp.ArtifactError, match=f"the path is {kind}, not a regular file") as caught:
        call(path)
    assert caught.value.file == str(path)


@POSIX
def test_no_other_reader_waits_either(endless: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    path, kind = endless
    import bytepair.compat.tiktoken as tiktoken_face
    import bytepair.compat.tokenizers as tokenizers_face

    for call in (
        bp.verify,
        bp.lint,
        tokenizers_face.Tokenizer.from_file,
        tokenizers_face.models.WordLevel.read_file,
        tiktoken_face.load.load_tiktoken_bpe,
    ):
        with pytest.raises(OSError, match="not a regular file"):
            call(str(path))
    assert main(["encode", "-m", str(path), "--text", "low"]) == 1
    assert kind in capsys.readouterr().err


@POSIX
@pytest.mark.parametrize(
    "name",
    ["tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "chat_template.jinja", "manifest.json"],
)
def test_a_pipe_beside_a_tokenizer_is_not_waited_for(tmp_path: Path, name: str) -> None:
    (tmp_path / "tokenizer.json").write_bytes(json.dumps(kinds.file(kinds.bpe())).encode())
    os.mkfifo(tmp_path / name)
    with pytest.raises(bp.ArtifactError, match="named pipe"):
        bp.load(tmp_path)


@POSIX
def test_a_pipe_in_place_of_merges_or_an_encoding(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text('{"a": 0}')
    os.mkfifo(tmp_path / "merges.txt")
    with pytest.raises(bp.ArtifactError, match="named pipe"):
        bp.load(tmp_path / "vocab.json")
    os.mkfifo(tmp_path / encodings.ENCODINGS["gpt2"].file)
    with pytest.raises(bp.ArtifactError, match="named pipe"):
        bp.get_encoding("gpt2", folder=tmp_path)


@POSIX
def test_texts_may_come_from_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import threading

    bp.train({"low": 5}, vocab_size=258).save(tmp_path / "tok")
    os.mkfifo(tmp_path / "text")
    writer = threading.Thread(target=lambda: (tmp_path / "text").write_bytes(b"low low"), daemon=True)
    writer.start()
    assert main(["encode", "-m", str(tmp_path / "tok"), str(tmp_path / "text")]) == 0
    writer.join()
    assert capsys.readouterr().out


def test_a_file_beyond_the_limit_is_refused_unless_a_call_allows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = (place for place in bp.train({"low": 5}, vocab_size=258).save(tmp_path) if place.name == "tokenizer.json")
    size = path.stat().st_size
    for most in (size - 1, 1):
        with pytest.raises(bp.ArtifactError, match=f"larger than {most:,} bytes.*max_bytes") as caught:
            bp.load(path, max_bytes=most)
        assert caught.value.file == str(path)
    assert bp.load(path, max_bytes=size) == bp.Tokenizer.from_file(path, max_bytes=size) == bp.load(path)
    assert main(["encode", "-m", str(path), "--max-bytes", str(size - 1), "--text", "low"]) == 1
    assert "--max-bytes" in capsys.readouterr().err
    assert main(["encode", "-m", str(path), "--max-bytes", str(size), "--text", "low"]) == 0
    # The limit of a call is for that call.
    assert bp.load(path)
    with path.open("r+b") as file:
        file.truncate(files.MOST_BYTES + 1)
    with pytest.raises(bp.ArtifactError, match="larger than 536,870,912 bytes"):
        bp.load(path)


@pytest.mark.skipif(sys.platform != "linux", reason="no /proc there")
def test_a_file_that_states_no_size_is_read_to_its_end() -> None:
    data = files.read(Path("/proc/self/status"))
    assert data.startswith(b"Name:")
    with files.at_most(10), pytest.raises(bp.ArtifactError, match="larger than 10 bytes"):
        files.read(Path("/proc/self/status"))


def zipped(data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tokenizer.json", data)
    return file.getvalue()


def tarred(data: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        info = tarfile.TarInfo("tokenizer.json")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


WHOLE = json.dumps(kinds.file(kinds.bpe())).encode()
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 9085657\n"
FOREIGN = {
    "a web page": (b"\xef\xbb\xbf\r\n <!DOCTYPE HTML>\n<html><body>[UNK]\n[UNK]</body></html>", "/resolve/"),
    "a web page (HTML)": (b"<html lang=en>", "/raw/"),
    "a pointer of Git LFS": (POINTER, "git lfs pull"),
    "compressed by gzip": (gzip.compress(WHOLE), "gunzip"),
    "compressed by bzip2": (bz2.compress(WHOLE), "bunzip2"),
    "compressed by xz": (lzma.compress(WHOLE), "unxz"),
    "compressed by zstd": (b"\x28\xb5\x2f\xfd" + bytes(100), "unzstd"),
    "a zip archive": (zipped(WHOLE), "unzip"),
    "a tar archive": (tarred(WHOLE), "tar -xf"),
    "empty": (b"", "fetch it again"),
}


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize(
    "name", ["tokenizer.json", "tokenizer.model", "x.tiktoken", "vocab.txt", "m.gguf", "merges.txt"]
)
def test_what_often_stands_for_a_tokenizer_is_named(tmp_path: Path, kind: str, name: str) -> None:
    data, remedy = FOREIGN[kind]
    path = tmp_path / name
    path.write_bytes(data)
    if name == "merges.txt":
        (tmp_path / "vocab.json").write_text('{"a": 0}')
    with pytest.raises(bp.FormatError) as caught:
        bp.load(path if name != "merges.txt" else tmp_path / "vocab.json")
    assert kind in str(caught.value)
    assert remedy in caught.value.remedy
    assert caught.value.file == str(path)


@pytest.mark.parametrize("kind", FOREIGN)
def test_so_are_those_beside_one(tmp_path: Path, kind: str) -> None:
    (tmp_path / "tokenizer.json").write_bytes(WHOLE)
    (tmp_path / "tokenizer_config.json").write_bytes(FOREIGN[kind][0])
    with pytest.raises(bp.FormatError, match="not a tokenizer") as caught:
        bp.load(tmp_path)
    assert caught.value.file == str(tmp_path / "tokenizer_config.json")


CLS = {"id": "<s>", "ids": [9], "tokens": ["<s>"]}
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [{"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}],
}


@pytest.mark.parametrize(
    ("step", "pointer"),
    [
        (TEMPLATE | {"special_tokens": {"<s>": CLS}}, "/special_tokens/<s>/ids/0"),
        ({"type": "BertProcessing", "sep": ["l", 1], "cls": ["<s>", 2**32 - 2]}, "/cls/1"),
        ({"type": "RobertaProcessing", "sep": ["l", 9], "cls": ["<s>", 0], "trim_offsets": True}, "/sep/1"),
        (
            {"type": "Sequence", "processors": [TEMPLATE | {"special_tokens": {"a/b": CLS}}]},
            "/processors/0/special_tokens/a~1b/ids/0",
        ),
    ],
)
def test_a_template_does_not_add_ids_beyond_the_vocabulary(tmp_path: Path, step: dict[str, Any], pointer: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(kinds.file(kinds.bpe(), post_processor=step)))
    with pytest.raises(bp.FormatError, match=r"adds the id (9|4294967294), and the vocabulary ends at 7") as caught:
        bp.load(path)
    assert (caught.value.pointer, caught.value.file) == (f"/post_processor{pointer}", str(path))


def test_a_gguf_file_has_each_key_once(tmp_path: Path) -> None:
    whole = models.gguf_pairs()
    assert gguf.metadata(whole)
    (count,) = struct.unpack_from("<Q", whole, 16)
    at = 24
    key = b"general.name"
    row = struct.pack("<Q", len(key)) + key + struct.pack("<II", 4, 7)
    twice = whole[:16] + struct.pack("<Q", count + 2) + row + row + whole[at:]
    path = tmp_path / "m.gguf"
    path.write_bytes(twice)
    with pytest.raises(bp.FormatError, match=r"the key 'general.name' occurs twice"):
        bp.load(path)
    path.write_bytes(whole[:16] + struct.pack("<Q", count + 1) + row + whole[at:])
    assert bp.load(path, partial_alphabet=True)


@pytest.mark.parametrize("rank", ["0256", "+256", "256 ", "2_56"])
def test_a_rank_has_one_spelling(tmp_path: Path, rank: str) -> None:
    path = tmp_path / "x.tiktoken"
    lines = [base64.b64encode(bytes([byte])).decode() + f" {byte}" for byte in range(256)]
    path.write_text("\n".join([*lines, f"YWI= {rank}", ""]))
    with pytest.raises(bp.FormatError, match=f"the rank '{rank.replace('+', '[+]')}', which is not an id.*line 257"):
        bp.load(path, split="gpt2")


@pytest.mark.parametrize("kind", ["Precompiled", "SentencePiece"])
@pytest.mark.parametrize("trie", [bytes(400), b"\xff\x7f\xff\x7f" + bytes(2000), bytes(range(256)) * 8])
def test_junk_as_a_table_of_rules_is_refused(tmp_path: Path, kind: str, trie: bytes) -> None:
    table = struct.pack("<I", len(trie)) + trie + b"x\0"
    path = tmp_path / "x"
    if kind == "Precompiled":
        step = {"type": kind, "precompiled_charsmap": base64.b64encode(table).decode()}
        path.write_text(json.dumps(kinds.file(kinds.bpe(), normalizer=step)))
    else:
        path.write_bytes(models.model(models.unigram_pieces(), 1, normalizer=((2, table), (4, False))))
    with pytest.raises(bp.FormatError, match=r"table.*(has|leads)"):
        bp.load(path)


def long_files() -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    """Files with a fault in or at a token of 160 kB."""
    long = "ab'\"\n" * 32_000
    spelled = base64.b64encode(long.encode()).decode()
    yield "x.tiktoken", f"{spelled} 0\n{spelled} 1\n".encode(), {"split": "gpt2"}
    yield "x.tiktoken", f"{spelled} {'1' * 100_000}\n".encode(), {"split": "gpt2"}
    pieces = models.pair_pieces(["lo", "low"])
    for twice in (long, "x" * 160_000):
        yield "x.model", models.model([*pieces, (twice, -9.0, 1), (twice, -9.5, 1)]), {}
    vocab = kinds.bpe()["vocab"] | {long: 8}
    for change in (
        {"vocab": vocab | {long: 1.5}},
        {"vocab": vocab | {long: 7}},
        {"merges": [[long, long]]},
        {"merges": [long]},
        {"unk_token": long * 2},
        {long: 1},
        {"type": long},
    ):
        yield "tokenizer.json", json.dumps(kinds.file(kinds.bpe() | change)).encode(), {}
    for stage in ("normalizer", "pre_tokenizer", "decoder", "post_processor"):
        yield "tokenizer.json", json.dumps(kinds.file(kinds.bpe(), **{stage: {"type": long}})).encode(), {}
    yield "tokenizer.json", json.dumps(kinds.file(kinds.bpe()) | {long: 1}).encode(), {}
    yield "tokenizer.json", json.dumps(kinds.file(kinds.bpe(), added_tokens=[kinds.added(long, 9)] * 2)).encode(), {}
    yield "vocab.txt", f"[UNK]\n{'y' * 160_000}\n{'y' * 160_000}\n".encode(), {}
    yield "bpe.codes", f"#version: 0.2\n{'y' * 160_000}</w> a\n".encode(), {}
    yield "m.gguf", models.gguf_pieces([*models.pair_pieces(["lo"]), (long, -2.0, 9)], "llama"), {}


@pytest.mark.parametrize(
    ("name", "data", "options"), [pytest.param(*made, id=str(row)) for row, made in enumerate(long_files())]
)
def test_messages_stay_short(tmp_path: Path, name: str, data: bytes, options: dict[str, Any]) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(bp.FormatError) as caught:
        bp.load(path, **options)
    shown = str(caught.value)
    assert len(shown) < MOST_IN_A_MESSAGE, shown[:300]
    assert len(repr(caught.value)) < MOST_IN_A_MESSAGE


def test_a_long_message_keeps_its_ends() -> None:
    whole = "word " * 180
    assert errors.brief(whole) == whole
    shown = errors.brief(f"start {'word ' * 100_000}end")
    assert shown.startswith("start word")
    assert shown.endswith("word end")
    assert len(shown) < 900
    # Escapes are not cut, and the quotation mark is the same on both sides.
    quoted = errors.brief("the token {!r} is {!a}".format("\n" * 50_000, "\t" * 5000))
    start, end = r"\n" * 99, r"\t" * 99
    assert quoted == f"the token '{start}'... (100,000 characters) is '{end}'... (10,000 characters)"
    assert len(str(bp.TokenizerWarning(f"of {'x' * 9999!r}"))) < 200


def test_a_copy_of_an_error_is_equal() -> None:
    error = bp.FormatError(f"the token {'x' * 9999!r} is none", file="a", line=3)
    again = error.__reduce__()[0](*error.__reduce__()[1])
    assert (str(again), again.parts()) == (str(error), error.parts())
