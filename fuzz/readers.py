"""Sweep over the readers of files: small files of every format, changed in ways that a flip or a cut is not.

Ranges are copied, removed, swapped and doubled, numbers become extreme, and files are read under another format's name.
Loading raises an error of bytepair's own that names a file, in a short message, or returns a working tokenizer.
"""

from __future__ import annotations

import base64
import functools
import itertools
import struct
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bytepair as bp
from bytepair.formats import FILES, sentencepiece
from fuzz import kinds
from fuzz.case import case
from fuzz.saved import OF_BYTES, OPTIONS, saved, use

if TYPE_CHECKING:
    import random

MOST_SHOWN = 2500
EXTREMES = [
    b"\0",
    b"\xff",
    b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\xff",
    b"\xff" * 8,
    b"\0" * 8,
    b"\x80" * 10,
    b"-1",
    b"1e999",
]
EXTREMES += [
    b'"',
    b"{",
    b"]",
    b"\\ud800",
    b"\xed\xa0\x80",
    b"\r\n",
    b" ",
    b"null",
    b"4294967295",
    b"999999999999999999999",
]


def gguf() -> bytes:
    """A GGUF file of a model of scores."""
    tokens = ["<unk>", "<s>", "l", "o", "w", "lo", "low", *(f"<0x{byte:02X}>" for byte in range(256))]

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value.encode())) + value.encode()

    scores = [-float(row) for row in range(len(tokens))]
    types = [2, 3, *[1] * 5, *[6] * 256]
    rows = [
        ("general.architecture", struct.pack("<I", 8) + text("llama")),
        ("tokenizer.ggml.model", struct.pack("<I", 8) + text("llama")),
        ("tokenizer.ggml.tokens", struct.pack("<IIQ", 9, 8, len(tokens)) + b"".join(map(text, tokens))),
        ("tokenizer.ggml.scores", struct.pack(f"<IIQ{len(tokens)}f", 9, 6, len(tokens), *scores)),
        ("tokenizer.ggml.token_type", struct.pack(f"<IIQ{len(tokens)}i", 9, 5, len(tokens), *types)),
        ("tokenizer.ggml.bos_token_id", struct.pack("<II", 4, 1)),
        ("tokenizer.ggml.add_space_prefix", struct.pack("<IB", 7, 1)),
    ]
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(rows)) + b"".join(text(key) + value for key, value in rows)


OF_CLASSES = {
    "bytes": {"tokenizer_config.json": '{"tokenizer_class": "ByT5Tokenizer", "extra_ids": 2, "pad_token": "<p>"}'},
    "ctc": {
        "vocab.json": '{"<pad>": 0, "<unk>": 1, "|": 2, "l": 3, "o": 4, "<hm>": 5}',
        "tokenizer_config.json": '{"tokenizer_class": "Wav2Vec2CTCTokenizer", "unk_token": {"content": "<unk>"}}',
    },
    "separated": {
        "vocab.json": '{"__unk__": 0, "__start__": 1, "lo@@": 2, "w": 3, "low": 4}',
        "merges.txt": "#version: 0.2\nl o\nlo w</w>\n",
        "tokenizer_config.json": '{"tokenizer_class": "BlenderbotSmallTokenizer"}',
    },
}
"""Files that a class of transformers reads in its own way."""


def model(kind: int) -> bytes:
    """A model of sentencepiece with a table of rules: a Unigram (1) or a BPE (2)."""
    texts = ["▁", *"low", "lo", "▁lo", "low"]
    pieces = [sentencepiece.Piece("<unk>", 0.0, sentencepiece.UNKNOWN)]
    pieces += [sentencepiece.Piece(text, -1.0 - row, sentencepiece.NORMAL) for row, text in enumerate(texts)]
    pieces += [sentencepiece.Piece("<s>", 0.0, sentencepiece.CONTROL)]
    normalizer = sentencepiece.Normalizer(base64.b64decode(kinds.charsmap()))
    return sentencepiece.write(sentencepiece.build(pieces, normalizer, sentencepiece.TrainerSettings(kind)))


@functools.cache
def samples() -> tuple[tuple[str, dict[str, bytes]], ...]:
    """Small files by name, for each format, as many kinds of tokenizers as it holds."""
    found: list[tuple[str, dict[str, bytes]]] = [("gguf", {"m.gguf": gguf()})]
    found += [(format, saved(format)[1]) for format in OF_BYTES]
    found += [("sentencepiece", {"tokenizer.model": model(kind)}) for kind in (1, 2)]
    found.append(
        ("codes", {"bpe.codes": b"#version: 0.2\nl o\nlo w</w>\ne r</w>\n", "bpe.vocab": b"lo@@ 3\nlow 2\ner 1\n"})
    )
    found += [(name, {each: text.encode() for each, text in texts.items()}) for name, texts in OF_CLASSES.items()]
    counts = {"low": 5, "lower": 3, "newest": 6}
    made = {"tekken.json": bp.train(counts, 262, special_tokens=["<s>", "</s>"], special_ids="first")}
    made["vocab.txt"] = bp.train_wordpiece(counts, 28)
    for format, tok in made.items():
        with tempfile.TemporaryDirectory() as name:
            found.append((format, {each.name: each.read_bytes() for each in tok.save(name, format)}))
    for table, format in itertools.product(kinds.FILES.values(), FILES):
        with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
            warnings.simplefilter("ignore", bp.TokenizerWarning)
            path = Path(name, "tokenizer.json")
            path.write_bytes(table)
            try:
                paths = bp.Tokenizer.from_file(path, partial_alphabet=True).save(Path(name, "saved"), format)
            except bp.FormatError:
                continue
            found.append((format, {each.name: each.read_bytes() for each in paths}))
    return tuple(found)


def changed(random: random.Random, data: bytes) -> bytes:
    """The data after one to four changes."""
    for _ in range(random.choice([1, 1, 2, 4])):
        start, end = sorted(random.randrange(len(data) + 1) for _ in range(2))
        end = min(end, start + random.choice([1, 4, 8, 64, len(data)]))
        at = random.randrange(len(data) + 1)
        part = data[start:end]
        match random.randrange(6):
            case 0:
                data = data[:start] + data[end:]
            case 1:
                data = data[:at] + part + data[at:]
            case 2:
                data = data[:start] + part * random.choice([2, 3, 50]) + data[end:]
            case 3:
                extreme = random.choice(EXTREMES)
                data = data[:start] + extreme + data[start + random.choice([0, len(extreme)]) :]
            case 4:
                data = data[:start] + bytes(random.randrange(256) for _ in part[:64]) + data[start + len(part[:64]) :]
            case _:
                data = data[:at] + part + data[at + len(part) :]
        if not data:
            return data
    return data


def sweep_readers(random: random.Random) -> None:
    """A changed file is refused with an error of bytepair's own, or loads as a working tokenizer."""
    format, contents = random.choice(samples())
    names = [name for name in contents if name != "manifest.json"]
    name = random.choice(names)
    data = changed(random, contents[name])
    # Also under a name of another format, which decides nothing.
    renamed = random.choice([name, name, "tokenizer.json", "tokenizer.model", "x.tiktoken", "vocab.txt"])
    options: dict[str, Any] = {"partial_alphabet": True, **OPTIONS.get(format, {})}
    with tempfile.TemporaryDirectory() as folder, case(format=format, name=renamed, data=data):
        for each in names:
            Path(folder, each).write_bytes(contents[each])
        path = Path(folder, renamed)
        path.write_bytes(data)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", bp.TokenizerWarning)
                tok = bp.Tokenizer.from_file(path, **options)
        except bp.BytepairError as error:
            if not error.file:
                raise AssertionError("the error names no file") from error
            if len(str(error)) > MOST_SHOWN:
                raise AssertionError("the error is longer than who reads it") from error
            return
        use(tok)
