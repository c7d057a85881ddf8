"""Small tokenizers of every kind, and files of theirs, made here."""

from __future__ import annotations

import base64
import struct
from typing import TYPE_CHECKING, Any

import bytepair as bp
from bytepair.formats import codes, protobuf, sentencepiece, vocab_txt
from bytepair.model.models import BytePair
from bytepair.model.spec import TokenizerSpec

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

_LETTERS = "▁abcdelorw"
BASE = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)]
BYTES = [(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256)]
MADE = ["lo", "▁lo", "low", "▁low", "er", "ab", "▁a", "▁▁", "ow", "▁lower"]


def model(
    pieces: list[tuple[str, float, int]],
    kind: int = 2,
    *,
    byte_fallback: bool = False,
    suffix: bool = False,
    normalizer: tuple[tuple[int, Any], ...] = (),
) -> bytes:
    """A file of sentencepiece."""
    rows = [
        protobuf.write((1, protobuf.write((1, content), (2, score), (3, type_)))) for content, score, type_ in pieces
    ]
    trainer = protobuf.write((3, kind), (24, suffix), (35, byte_fallback))
    return b"".join(rows) + protobuf.write((2, trainer), (3, protobuf.write(*normalizer)))


def pair_pieces(made: list[str] = MADE, *, user: tuple[str, ...] = ()) -> list[tuple[str, float, int]]:
    letters = [(letter, -100.0 - place, 1) for place, letter in enumerate(_LETTERS)]
    return [*BASE, *((symbol, 0.0, 4) for symbol in user), *((t, float(-r), 1) for r, t in enumerate(made)), *letters]


def unigram_pieces(*, user: tuple[str, ...] = ()) -> list[tuple[str, float, int]]:
    letters = [(letter, -5.0 - place / 8, 1) for place, letter in enumerate(_LETTERS)]
    return [*BASE, *((s, 0.0, 4) for s in user), *((t, -2.0 - r / 4, 1) for r, t in enumerate(MADE)), *letters]


VOCAB_TXT = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nlow\n##er\n##est\nl\n##o\n\xe4\xb8\xad\n"
CODES = b"#version: 0.2\nl o\nlo w</w>\nw e\nr</w> x\n".replace(b"r</w> x\n", b"e r</w>\n")
VOCAB = b"low 12\nlo@@ 5\nl@@ 3\nr 2\n"


def byte_spec() -> TokenizerSpec:
    """256 bytes and a few ranks."""
    made = (b"lo", b"low", b" low", b"er")
    tokens = (*(bytes([byte]) for byte in range(256)), *made)
    special = (bp.AddedToken("<unk>", 0), bp.AddedToken("<s>", 1))
    model = BytePair(tokens, tuple(range(2, len(tokens) + 2)))
    return TokenizerSpec(model, split=(bp.SPLIT_PATTERNS["gpt2"],), added_tokens=special)


def small_tekken() -> dict[str, Any]:
    """Fewer tokens than there are bytes, unlike any published file; for damaging."""
    vocab = [
        {"rank": r, "token_bytes": base64.b64encode(t).decode(), "token_str": None}
        for r, t in enumerate([b"a", b"b", b"ab"])
    ]
    config = {"pattern": "[a-z]+", "num_vocab_tokens": 3, "default_vocab_size": 4, "default_num_special_tokens": 2}
    return {
        "config": {**config, "version": "v7"},
        "vocab": vocab,
        "special_tokens": [{"rank": 0, "token_str": "<s>", "is_control": True}],
    }


def gguf(table: dict[str, Any]) -> bytes:
    """A GGUF file with nothing but these keys: strings, bools, ints (uint32), and lists of strings, floats or ints."""

    def string(text: str) -> bytes:
        return struct.pack("<Q", len(text.encode())) + text.encode()

    def value(item: Any) -> bytes:
        match item:
            case bool():
                return struct.pack("<I?", 7, item)
            case int():
                return struct.pack("<II", 4, item)
            case str():
                return struct.pack("<I", 8) + string(item)
            case [str(), *_]:
                return struct.pack("<IIQ", 9, 8, len(item)) + b"".join(map(string, item))
            case [float(), *_]:
                return struct.pack(f"<IIQ{len(item)}f", 9, 6, len(item), *item)
            case _:
                return struct.pack(f"<IIQ{len(item)}i", 9, 5, len(item), *item)

    entries = b"".join(string(key) + value(item) for key, item in table.items())
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(table)) + entries


def gguf_pieces(pieces: list[tuple[str, float, int]], kind: str, **more: str) -> bytes:
    """A GGUF file of these pieces, with more keys of ``tokenizer``."""
    contents, scores, kinds = (list(column) for column in zip(*pieces, strict=True))
    table = {"general.name": "x", "tokenizer.ggml.model": kind, "tokenizer.ggml.tokens": contents}
    table |= {"tokenizer.ggml.scores": scores, "tokenizer.ggml.token_type": kinds}
    table |= {f"tokenizer.{key}": value for key, value in more.items()}
    return gguf({**table, "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.add_bos_token": True})


def gguf_pairs() -> bytes:
    table: dict[str, Any] = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2"}
    table |= {"tokenizer.ggml.tokens": ["a", "b", "ab", "<s>"], "tokenizer.ggml.token_type": [1, 1, 1, 3]}
    return gguf({**table, "tokenizer.ggml.merges": ["a b"], "tokenizer.ggml.eos_token_id": 3})


def gguf_bert() -> bytes:
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁low", "er", "▁l"]
    table: dict[str, Any] = {"tokenizer.ggml.model": "bert", "tokenizer.ggml.tokens": tokens}
    return gguf({**table, "tokenizer.ggml.cls_token_id": 2, "tokenizer.ggml.seperator_token_id": 3})


def specs() -> dict[str, TokenizerSpec]:
    """A tokenizer for each format that is written."""
    return {
        "sentencepiece": sentencepiece.read(model(pair_pieces(user=("<sep>",)))),
        "vocab.txt": vocab_txt.read(VOCAB_TXT, {"strip_accents": False}),
        "codes": codes.read(CODES, VOCAB),
        "tekken.json": byte_spec(),
    }


def save(spec: TokenizerSpec, path: Path, format: str, drop: Collection[str]) -> list[Path]:
    """Saves a tokenizer of a spec."""
    return bp.Tokenizer(spec).save(path, format, drop=drop)
