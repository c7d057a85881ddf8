"""Vocabularies for chats: small ones with added tokens of every kind, and real ones if there is a data folder."""

from __future__ import annotations

import functools
import json
import lzma
import random
import re
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokenizers

import bytepair as bp
from bytepair.model import byte_alphabet
from fuzz.chat_templates import data_folder
from fuzz.hostile import ATOMS
from fuzz.ranked import Ranked, kimi

Json = dict[str, Any]

KINDS = ("bytes", "nfc", "words", "folded")
"""Byte-level like GPT-2; the same under NFC and a pattern like Qwen's; words at U+2581 like Llama 2; lower case under
NFKC, where added tokens are found in the normalized text."""
ADDED = ("plain", "special", "strips", "single", "spaces", "normalized", "seams")
"""Kinds of added tokens; ``spaces`` adds runs of white space to the marks, ``seams`` marks with a letter more."""
_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_REAL = {"llama3": "llama3", "qwen2": "qwen2", "qwen3": "qwen3", "qwen3_coder": "qwen3", "deepseek": "deepseek",
         "deepseek31": "deepseek", "kimi": "kimi-k2"}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """One vocabulary, for bytepair and for `tokenizers`.

    ``bare`` has no added tokens, so all text is text.
    """

    name: str
    tok: bp.Tokenizer
    full: tokenizers.Tokenizer | Ranked
    bare: tokenizers.Tokenizer | Ranked
    added: tuple[Json, ...]

    @functools.cached_property
    def reserved(self) -> dict[int, Json]:
        """The added tokens except white space."""
        return {row["id"]: row for row in self.added if row["content"].replace("▁", " ").strip()}

    @functools.cached_property
    def spelled(self) -> re.Pattern[str]:
        """Find the literals of reserved tokens that are matched as they are."""
        exact = [row["content"] for row in self.reserved.values() if not (self.is_folded and row["normalized"])]
        return re.compile("|".join(map(re.escape, exact)) or "(?!)")

    @functools.cached_property
    def is_folded(self) -> bool:
        """Whether a normalizer turns text into added tokens that it does not spell."""
        return self.name.startswith("folded")


def _made(name: str, table: Json) -> Vocabulary:
    # Offsets are those of the text, not what a post-processor trims.
    table = {**table, "post_processor": None, "truncation": None, "padding": None}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.TokenizerWarning)
        path = Path(folder) / "tokenizer.json"
        path.write_text(json.dumps(table, ensure_ascii=False), "utf-8")
        tok = bp.Tokenizer.from_file(path)
    full = tokenizers.Tokenizer.from_str(json.dumps(table))
    bare = tokenizers.Tokenizer.from_str(json.dumps({**table, "added_tokens": []}))
    return Vocabulary(name, tok, full, bare, tuple(table["added_tokens"]))


def _level(content: str) -> str:
    """The spelling of a text in a byte-level model."""
    return byte_alphabet.to_characters(content.encode())


@functools.cache
def _trained(kind: str) -> str:
    """A model and its stages, trained by the peer, as JSON."""
    if kind == "words":
        tok = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
        tok.normalizer = tokenizers.normalizers.Sequence(
            [tokenizers.normalizers.Prepend("▁"), tokenizers.normalizers.Replace(" ", "▁")]
        )
        first = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256))]
        trainer = tokenizers.trainers.BpeTrainer(vocab_size=900, show_progress=False, special_tokens=first)
    else:
        tok = tokenizers.Tokenizer(tokenizers.models.BPE())
        level = tokenizers.pre_tokenizers.ByteLevel
        tok.pre_tokenizer = level(add_prefix_space=False, use_regex=kind != "nfc")
        if kind == "nfc":
            tok.normalizer = tokenizers.normalizers.NFC()
            split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(_PATTERN), "isolated")
            tok.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
                [split, level(add_prefix_space=False, use_regex=False)]
            )
        if kind == "folded":
            folds = tokenizers.normalizers
            tok.normalizer = folds.Sequence([folds.NFKC(), folds.Lowercase()])
        alphabet = level.alphabet()
        trainer = tokenizers.trainers.BpeTrainer(vocab_size=800, show_progress=False, initial_alphabet=alphabet)
    words = [atom for atoms in ATOMS.values() for atom in atoms]
    marks = ["<|im_start|>user\n", "<|im_end|>\n", "assistant", "system", "tool", '{"name": "x", "arguments": ', "\n\n",
             "<tool_call>", "</think>", " the", "|>", "<|", "\n<", "function", "parameter", "}\n</"]  # fmt: skip
    corpus = [" ".join(words[start::5]) * 3 for start in range(5)] + ["".join(words), *(mark * 20 for mark in marks)]
    tok.train_from_iterator(corpus, trainer)
    table = json.loads(tok.to_str())
    # Only the trainer's tokens without a text of their own stay special.
    table["added_tokens"] = []
    return json.dumps(table)


@functools.lru_cache(maxsize=64)
def small(kind: str, added: str, marks: tuple[str, ...]) -> Vocabulary:
    """A vocabulary of some hundred tokens with these marks, a function of its arguments."""
    chooses = random.Random(f"{kind}/{added}/{marks}")
    table: Json = json.loads(_trained(kind))
    contents = list(marks)
    if added == "spaces":
        contents += ["  ", "    ", "\n\n", "\t\t"]
    if added == "seams":
        contents += [mark + "a" for mark in marks] + ["a" + mark for mark in marks] + ["\n" + marks[0], ">a"]
    # Merges can make a token that the model also has from content: then it is not protocol.
    contents = [
        content
        for content in contents
        if content not in table["model"]["vocab"] and _level(content) not in table["model"]["vocab"]
    ]
    rows: list[Json] = []
    for number, content in enumerate(contents):
        row: Json = {"id": len(table["model"]["vocab"]) + number, "content": content}
        row |= dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        row["special"] = content.strip() != "" and (added == "special" or chooses.random() < 0.5)
        if added == "strips":
            row |= {"lstrip": chooses.random() < 0.6, "rstrip": chooses.random() < 0.6}
        if added == "single":
            row["single_word"] = chooses.random() < 0.5
        if kind == "folded":
            row |= {"single_word": False, "lstrip": False, "rstrip": False, "normalized": chooses.random() < 0.8}
        elif added == "normalized" and kind == "bytes":
            row["normalized"] = chooses.random() < 0.6
        rows.append(row)
    table["added_tokens"] = rows
    return _made(f"{kind}, {added}", table)


@functools.lru_cache(maxsize=6)
def _real(folder: str) -> Vocabulary:
    if folder == "kimi-k2":
        tok, full, bare, added = kimi(data_folder() / folder)
        return Vocabulary(folder, tok, full, bare, tuple(added))
    table = json.loads(lzma.decompress((data_folder() / folder / "tokenizer.json.xz").read_bytes()))
    return _made(folder, table)


def real(subject: str) -> Vocabulary | None:
    """The published vocabulary of a template, if it is installed."""
    folder = _REAL.get(subject, "")
    file = "tiktoken.model" if subject == "kimi" else "tokenizer.json.xz"
    if not folder or not (data_folder() / folder / file).is_file():
        return None
    return _real(folder)
