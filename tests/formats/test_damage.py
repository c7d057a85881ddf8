"""A damaged file gives FormatError with a place, or a tokenizer that passes the load checks; never anything else."""

from __future__ import annotations

import json
import tracemalloc
import warnings
from typing import TYPE_CHECKING

import pytest

import bytepair as bp
from bytepair import formats
from tests.formats import models

if TYPE_CHECKING:
    from pathlib import Path

CHARSMAP = (8).to_bytes(4, "little") + bytes(8) + b"x\0"
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
        loaded = formats.load(path, partial_alphabet=True)
        loaded.check()
        loaded.spec().check()
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
    formats_of = formats.detect(tmp_path_with(tmp_path / file, data)).format
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
            formats.load(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 * len(data) + 2_000_000, name


def test_errors_say_where(tmp_path: Path) -> None:
    pieces = models.model(models.pair_pieces())
    cases = {
        "a.model": (pieces[:-3], "longer than the message", "byte"),
        "vocab.txt": (b"[UNK]\nlow\nlow\n", "stands in line 2", "line"),
        "bpe.codes": (b"#version: 0.2\nl o</w>\nlo\n", "is not a merge", "line"),
        "b.gguf": (models.gguf_pairs()[:-2], "the file ends before", "byte"),
        "tekken.json": (json.dumps({**models.small_tekken(), "vocab": [{}, {}, {}]}).encode(), "of rank 0", "pointer"),
    }
    for name, (data, message, place) in cases.items():
        with pytest.raises(bp.FormatError, match=message) as caught:
            formats.load(tmp_path_with(tmp_path / name, data))
        assert getattr(caught.value, place) is not None, name
