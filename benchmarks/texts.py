"""The vocabularies and the texts of the benchmarks."""

from __future__ import annotations

import json
import lzma
import random
import sysconfig
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import bytepair as bp
from benchmarks.peers import Vocabulary, write
from bytepair.model.split_patterns import split_name

if TYPE_CHECKING:
    from collections.abc import Sequence

CORPORA = ("en", "code", "multi", "mixed")
MB = 1_000_000


@dataclass(frozen=True)
class Material:
    """Vocabularies and texts by name; of some texts there is a long form for first passes."""

    vocabularies: dict[str, Vocabulary]
    corpora: dict[str, Path]
    long: dict[str, Path] = field(default_factory=dict)


def _written(tok: bp.Tokenizer, work: Path, name: str) -> Vocabulary:
    # `tokenizers` matches special tokens wherever they stand; the texts hold some that are to be text.
    bare = bp.Tokenizer(tok.spec.replace(added_tokens=()))
    return replace(write(bare, work / name, name), special_tokens=tok.special_tokens)


JSON_SPLITS = {
    "cl100k_base": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
}
"""Split patterns as published tokenizer.json files spell them, which is the spelling that tokenizers 1 knows. This one
differs from tiktoken's in white space at the end of a text; ids are checked."""


def _respelled(path: Path, split: str) -> Path:
    tokenizer = json.loads(path.read_text())
    for step in tokenizer["pre_tokenizer"]["pretokenizers"]:
        if step["type"] == "Split":
            step["pattern"] = {"Regex": split}
    path.write_text(json.dumps(tokenizer))
    return path


def with_data(
    folder: Path, work: Path, vocabularies: Sequence[str], corpora: Sequence[str], *, write_json: bool
) -> Material:
    """The published vocabularies and real texts; tokenizer.json, which takes seconds to write, only on request."""
    published = folder / "vocabs" / "openai"
    found = {}
    for name in vocabularies:
        tok = bp.get_encoding(name, folder=published)
        split, ranks = tok.spec.split[0], published / f"{name}.tiktoken"
        written = _written(tok, work, name).json if write_json else None
        if written and name in JSON_SPLITS:
            written = _respelled(written, JSON_SPLITS[name])
        found[name] = Vocabulary(name, split, split_name(split), tok.special_tokens, ranks, written)
    texts = {name: folder / "corpora" / f"{name}_1mb.txt" for name in corpora}
    return Material(found, texts, {name: path for name in corpora if (path := _unpacked(folder, name, work))})


def _unpacked(folder: Path, name: str, work: Path) -> Path | None:
    packed = folder / "corpora" / f"{name}_20mb.txt.xz"
    if not packed.is_file():
        return None
    path = work / packed.stem
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    return path


def _sources() -> list[Path]:
    return sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))


def trained() -> bp.Tokenizer:
    """A tokenizer trained on half of the Python sources that every machine has."""
    return bp.train(_sources()[::2], 16_000, split="o200k", special_tokens=["<|endoftext|>"])


def without_data(work: Path) -> Material:
    """The trained tokenizer, and a text of the other half of those sources."""
    corpus = work / "stdlib.txt"
    corpus.write_text("".join(path.read_bytes().decode() for path in _sources()[1::2])[:MB], encoding="utf-8")
    return Material({"trained": _written(trained(), work, "trained")}, {"stdlib": corpus})


def documents(text: str) -> list[str]:
    """A text in documents of 2,000 to 4,000 characters.

    Example:
        >>> found = documents("low " * 5000)
        >>> len(found), "".join(found) == "low " * 5000
        (7, True)
    """
    lengths = random.Random(0)
    found = []
    start = 0
    while start < len(text):
        end = start + lengths.randint(2_000, 4_000)
        found.append(text[start:end])
        start = end
    return found


def worst_cases() -> dict[str, str]:
    """Alphabets whose characters no split pattern in use separates (except digits); one text is drawn from each."""
    return {
        "one letter": "a",
        "random letters": "abcdefghijklmnopqrstuvwxyz",
        "spaces": " ",
        "newlines": "\n",
        "CJK": "".join(map(chr, range(0x4E00, 0x9FA6))),
        "punctuation": "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
        "digits": "0123456789",
    }


def drawn(alphabet: str, characters: int, seed: int) -> str:
    """A text of random characters; texts of different seeds differ, if necessary in length.

    Example:
        >>> drawn("ab", 8, 0), drawn("a", 8, 2)
        ('bbbaaaaa', 'aaaaaaaaaa')
    """
    import numpy as np  # A hundred million characters are too many for a loop.

    points = np.array([ord(character) for character in alphabet], dtype="<u4")
    chosen = np.random.default_rng(seed).integers(len(alphabet), size=characters + seed)
    return points[chosen].tobytes().decode("utf-32-le")
