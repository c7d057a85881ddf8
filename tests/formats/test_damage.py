"""A damaged file raises FormatError with a place, or loads as a tokenizer that passes all checks; nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import struct
import tracemalloc
import warnings
from collections import Counter
from operator import methodcaller
from typing import TYPE_CHECKING, Any

import pytest
from fuzz import kinds, saved

import bytepair as bp
from bytepair.formats import detection, loading, native
from tests.formats import models

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CHARSMAP = base64.b64decode(kinds.charsmap())
FIXTURES: dict[str, tuple[str, bytes]] = {
    "sentencepiece": (
        "m.model",
        models.model(models.pair_pieces(["lo", "low"]), normalizer=((2, CHARSMAP), (4, False))),
    ),
    "unigram": ("m.model", models.model(models.unigram_pieces(user=("<x>",)), 1)),
    "tekken": ("tekken.json", json.dumps(models.small_tekken()).encode()),
    "vocab.txt": ("vocab.txt", models.VOCAB_TXT),
    "codes": ("bpe.codes", models.CODES),
    "fastBPE": ("bpe.codes", b"l o 12\nlo w</w> 7\ne r</w> 3\n"),
    "gguf-llama": ("m.gguf", models.gguf_pieces(models.pair_pieces(["lo", "low"]), "llama")),
    "gguf-t5": ("m.gguf", models.gguf_pieces(models.unigram_pieces(), "t5")),
    "gguf-gpt2": ("m.gguf", models.gguf_pairs()),
    "gguf-bert": ("m.gguf", models.gguf_bert()),
}


def load(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    try:
        loaded = loading.load(path, partial_alphabet=True)
        loaded.check()
        loaded.check()
    except bp.FormatError as error:
        caught = error
    else:
        return
    assert caught.file == str(path)
    assert caught.what


@pytest.mark.parametrize("name", FIXTURES)
def test_every_cut_and_every_flipped_bit(tmp_path: Path, name: str) -> None:
    file, data = FIXTURES[name]
    assert len(data) < 1200
    formats_of = detection.detect(tmp_path_with(tmp_path / file, data)).format
    assert formats_of
    with warnings.catch_warnings():
        # Scores that became equal are spoken of.
        warnings.simplefilter("ignore", bp.TokenizerWarning)
        load(tmp_path / file, data)
        for cut in range(len(data)):
            load(tmp_path / file, data[:cut])
        for bit in range(8 * len(data)):
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            load(tmp_path / file, bytes(flipped))


def tmp_path_with(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_a_count_costs_no_memory(tmp_path: Path) -> None:
    huge = (1 << 62).to_bytes(8, "little")
    header = b"GGUF" + (3).to_bytes(4, "little") + bytes(8)
    key = (21).to_bytes(8, "little") + b"tokenizer.ggml.tokens"
    one = (1).to_bytes(8, "little")
    array = (9).to_bytes(4, "little") + (8).to_bytes(4, "little")
    nested = (9).to_bytes(4, "little") + (9).to_bytes(4, "little")
    files = {
        "a.gguf": header + huge + bytes(100),
        "b.gguf": header + one + key + array + huge + bytes(100),
        "c.gguf": header + one + huge + bytes(100),
        "d.gguf": header + one + key + nested * 1000 + bytes(100),
        "a.model": b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x0a\x03low" + bytes(100),
        "tekken.json": json.dumps({**models.small_tekken(), "vocab": []})
        .encode()
        .replace(b'"default_vocab_size": 4', b'"default_vocab_size": 2000000')
        .replace(b'"default_num_special_tokens": 2', b'"default_num_special_tokens": 2000000'),
        "e.json": b'{"a":' * 100_000,
    }
    for name, data in files.items():
        path = tmp_path_with(tmp_path / name, data)
        tracemalloc.start()
        with pytest.raises(bp.FormatError):
            loading.load(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 * len(data) + 2_000_000, name


def test_errors_say_where(tmp_path: Path) -> None:
    pieces = models.model(models.pair_pieces())
    cases = {
        "a.model": (pieces[:-3], "longer than the message", "byte"),
        "vocab.txt": (b"[UNK]\nlow\nlow\n", "is also in line 2", "line"),
        "bpe.codes": (b"#version: 0.2\nl o</w>\nlo\n", "is not a merge", "line"),
        "b.gguf": (models.gguf_pairs()[:-2], "the file ends before", "byte"),
        "tekken.json": (json.dumps({**models.small_tekken(), "vocab": [{}, {}, {}]}).encode(), "of rank 0", "pointer"),
    }
    for name, (data, message, place) in cases.items():
        with pytest.raises(bp.FormatError, match=message) as caught:
            loading.load(tmp_path_with(tmp_path / name, data))
        assert getattr(caught.value, place) is not None, name


@pytest.mark.parametrize("kind", kinds.FILES)
def test_a_damaged_file_of_any_kind_is_refused_or_works(tmp_path: Path, kind: str) -> None:
    # `python -m fuzz.saved` does all of them; the steps have no factor in common with eight bits.
    path = tmp_path / "tokenizer.json"
    assert saved.check_damaged(path, kinds.FILES[kind]) == "loaded"
    came = Counter(saved.check_damaged(path, data) for data in saved.every_damage(kinds.FILES[kind], 61))
    assert came["FormatError"] > 50
    assert came.keys() <= {"FormatError", "PatternError", "loaded"}
    whole = saved.small(kind)
    assert saved.check_damaged(path, whole) == "loaded"
    came = Counter(saved.check_damaged(path, data, hashed=True) for data in saved.every_damage(whole, 31))
    assert came.keys() == {"FormatError"}


@pytest.mark.parametrize("kind", kinds.FILES)
@pytest.mark.parametrize("format", ["native", "tokenizer.json"])
def test_a_folder_with_a_manifest_finds_each_damage(tmp_path: Path, kind: str, format: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(kinds.FILES[kind])
    tok = bp.Tokenizer.from_file(path, partial_alphabet=True)
    file, *_ = tok.save(tmp_path / "saved", format)
    assert bp.Tokenizer.from_file(tmp_path / "saved", partial_alphabet=True) == tok
    data = file.read_bytes()
    for each in saved.every_damage(data, 101):
        file.write_bytes(each)
        with pytest.raises(bp.IntegrityError):
            bp.Tokenizer.from_file(tmp_path / "saved", partial_alphabet=True)


def rewritten(data: bytes, edit: Callable[[dict[str, Any]], object], columns: Callable[[bytes], bytes]) -> bytes:
    """A native file with other content, and the hash of that content."""
    line, _, rest = data[len(native.MAGIC) + 32 :].partition(b"\n")
    head = json.loads(line)
    edit(head)
    payload = json.dumps(head, sort_keys=True, separators=(",", ":")).encode() + b"\n" + columns(rest)
    return native.MAGIC + hashlib.sha256(payload).digest() + payload


DEEP = "[" * 10_000
HEADS: dict[str, dict[str, Any]] = {
    "no tokens": {"tokens": -1},
    "too many tokens": {"tokens": 1 << 60},
    "merges": {"merges": 1 << 40},
    "an unknown step": {"normalizers": ["Upper"]},
    "a number for a step": {"normalizers": [1]},
    "an object for a step": {"decoders": [{}]},
    "a nested step": {"pre_tokenizers": ['{"type":' + DEEP]},
    "a step that is spelled otherwise": {"normalizers": ['{"type":"NFC"}']},
    "half a character": {"normalizers": ["\ud800"]},
    "a pattern that is a number": {"split": [1]},
    "a pattern of half a character": {"split": ["\ud800"]},
    "too many patterns": {"split": ["a"] * 100},
    "a post-processor": {"post_processor": '{"type": "X"}'},
    "a nested post-processor": {"post_processor": DEEP},
    "no added token": {"added_tokens": [{}]},
    "an added list": {"added_tokens": [[1]]},
    "an added token with another field": {"added_tokens": [{"content": "a", "id": 99, "x": 1}]},
    "an added id": {"added_tokens": [{"content": "a", "id": "99"}]},
    "an added fraction": {"added_tokens": [{"content": "a", "id": 1.5}]},
    "a huge added id": {"added_tokens": [{"content": "a", "id": 1 << 70}]},
    "an added number": {"added_tokens": [{"content": 5, "id": 99}]},
    "an added half": {"added_tokens": [{"content": "\ud800", "id": 99}]},
    "an added flag": {"added_tokens": [{"content": "a", "id": 99, "lstrip": 1}]},
    "an unknown field": {"x": 1},
    "a model that is broken": {"model": "{"},
    "a nested model": {"model": '{"type":' + DEEP},
    "a model that is a list": {"model": "[]"},
    "a model without a type": {"model": "{}"},
    "a model of another type": {"model": '{"type": "X"}'},
    "a model without options": {"model": '{"type": "WordPiece"}'},
    "a model with a key twice": {"model": '{"type": "WordLevel", "unk_token": "a", "unk_token": "<unk>"}'},
    "a model with other options": {"model": '{"ignore_merges": true, "type": "WordLevel", "unk_token": "<unk>"}'},
    "an unknown token that is none": {"model": '{"type": "WordLevel", "unk_token": "nope"}'},
    "an unknown token of half a character": {"model": '{"type": "WordLevel", "unk_token": "\ud800"}'},
    "an unknown id that is none": {"model": '{"byte_fallback": false, "type": "Unigram", "unk_id": 77}'},
    "a length that is too large": {
        "model": json.dumps(
            {
                "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 1 << 70,
                "type": "WordPiece",
                "unk_token": "[UNK]",
            }
        )
    },
}


@pytest.mark.parametrize("kind", kinds.FILES)
def test_a_native_file_with_a_right_hash_and_a_wrong_content(tmp_path: Path, kind: str) -> None:
    whole, path = saved.small(kind), tmp_path / "x.bytepair"
    head = json.loads(whole[len(native.MAGIC) + 32 :].partition(b"\n")[0])
    tokens, size = head["tokens"], struct.calcsize("I")

    def put(place: int, value: int) -> Callable[[bytes], bytes]:
        return lambda rest: rest[: size * place] + struct.pack("<I", value) + rest[size * (place + 1) :]

    columns = {
        "an id twice": put(0, 1),
        "an id that is none": put(0, (1 << 32) - 1),
        "a long token": put(tokens, (1 << 32) - 1),
        "a longer token": put(tokens, 99),
        "less": lambda rest: rest[:-1],
        "more": lambda rest: rest + b"x",
        "nothing": lambda _: b"",
    }
    if head["merges"]:
        columns |= {"a merge of no token": put(2 * tokens, 77), "a merge that makes none": put(2 * tokens + 1, 0)}
    if head.get("scores"):
        score = struct.pack("<d", -2.5)
        for name, other in (("NaN", math.nan), ("infinite", math.inf)):
            columns[name] = methodcaller("replace", score, struct.pack("<d", other))
    same = rewritten(whole, lambda _: None, lambda rest: rest)
    assert same == whole
    cases = {name: rewritten(whole, lambda _: None, edit) for name, edit in columns.items()}
    cases |= {name: rewritten(whole, methodcaller("update", said), bytes) for name, said in HEADS.items()}
    for name in head.keys() - {"pre_tokenizers", "decoders"}:
        cases[f"without {name}"] = rewritten(whole, methodcaller("pop", name), bytes)
    for name, data in cases.items():
        assert data != whole, name
        assert saved.check_damaged(path, data, hashed=True) == "FormatError", name
