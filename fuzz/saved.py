"""Sweep over saved files: whatever is cut off or flipped, loading raises on purpose or gives a tokenizer that works."""

from __future__ import annotations

import functools
import random as random_module
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bytepair as bp
from bytepair.formats import FILES
from fuzz.case import case, equal, trained

if TYPE_CHECKING:
    import random

TEXTS = ("", "abba ab\n", "日本 é😀", "It's  x1234 <|end|>\r\n")
MANIFEST = "manifest.json"
OPTIONS: dict[str, dict[str, Any]] = {"tiktoken": {"split": "o200k"}}


@functools.cache
def saved(format: str) -> tuple[bp.Tokenizer, dict[str, bytes]]:
    """The files of a small tokenizer in a format, and the tokenizer that they hold."""
    special = ["<|end|>"] if format in {"native", "tokenizer.json"} else []
    split = "gpt2" if format == "vocab+merges" else "o200k"
    drop = ("split",) if format == "tiktoken" else ()
    tok = trained(random_module.Random(format), "ab ", split=split, special_tokens=special)
    with tempfile.TemporaryDirectory() as folder:
        contents = {path.name: path.read_bytes() for path in tok.save(folder, format, drop=drop)}
        return bp.Tokenizer.from_file(folder, **OPTIONS.get(format, {})), contents


def damaged(random: random.Random, data: bytes) -> bytes:
    """The data cut short, or with one bit flipped."""
    if random.random() < 0.3:
        return data[: random.randrange(len(data))]
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


def sweep_files(random: random.Random) -> None:
    """A damaged file is refused with an error of bytepair's own, or gives a tokenizer that encodes and decodes."""
    format = random.choice(list(FILES))
    tok, contents = saved(format)
    names = list(contents) if random.random() < 0.5 else list(FILES[format])
    name = random.choice(names)
    data = damaged(random, contents[name])
    with tempfile.TemporaryDirectory() as folder, case(format=format, files=names, damaged=name, data=data):
        for each in names:
            Path(folder, each).write_bytes(data if each == name else contents[each])
        path = random.choice([Path(folder), Path(folder, FILES[format][0])])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", bp.TokenizerWarning)
                other = bp.Tokenizer.from_file(path, **OPTIONS.get(format, {}))
        except bp.BytepairError:
            return
        # A hash stands in the native format itself, and in the manifest; of the manifest there is none.
        if name == MANIFEST:
            equal("a tokenizer with a damaged manifest", other, tok)
        elif format == "native" or MANIFEST in names:
            raise AssertionError("the damage was not found")
        check_works(other)


def check_works(tok: bp.Tokenizer) -> None:
    """Encoding gives ids that decode to the text, unless it is refused."""
    for text in TEXTS:
        try:
            ids = tok.encode(text, special="text", added="text")
        except (bp.EncodeError, bp.PatternError):
            continue
        equal("decode", tok.decode(ids), text)
        equal("count", tok.count(text, special="text", added="text"), len(ids))
