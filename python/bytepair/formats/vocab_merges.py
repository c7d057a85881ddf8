"""``vocab.json`` and ``merges.txt``: GPT-2's two files, in the GPT-2 byte alphabet.

They hold neither the split pattern (readers assume GPT-2's) nor the special tokens. Those of CLIP have the same names,
and are read by `clip`.

Source: GPT-2's ``encoder.py``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bytepair.errors import FormatError
from bytepair.formats import hf_json
from bytepair.model import byte_alphabet
from bytepair.model.packed import PackedModel
from bytepair.model.spec import TokenizerSpec
from bytepair.model.split_patterns import split_pattern

if TYPE_CHECKING:
    from collections.abc import Container, Mapping


ASSUMED_SPLIT = (split_pattern("gpt2"),)
_HEADER = "#version: 0.2"


def read(vocab: Mapping[str, Any], merges: bytes, special_tokens: Mapping[str, int]) -> TokenizerSpec:
    """Reads a parsed ``vocab.json`` and ``merges.txt``; tokens named special are not tokens of the model.

    Raises:
        FormatError: One of them is malformed; ``pointer`` or ``line`` locates the fault.
    """
    listed = pairs(merges)
    columns = hf_json.read_model(
        vocab,
        [pair for _, pair in listed],
        added=special_tokens,
        vocab_pointer="",
        merge_place=lambda index: {"line": listed[index][0]},
    )
    return TokenizerSpec(PackedModel(columns), split=ASSUMED_SPLIT)


def pairs(merges: bytes) -> list[tuple[int, str]]:
    """The merges of ``merges.txt``, each with its line; FormatError if it is not UTF-8."""
    try:
        text = merges.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"merges.txt is not UTF-8: {error}", remedy="is it whole? fetch it again") from error
    lines = text.split("\n")
    if "\r" in text:
        lines = [line.rstrip("\r") for line in lines]
    if lines[0].startswith("#version"):
        lines[0] = ""
    return [(number, pair) for number, pair in enumerate(lines, 1) if pair]


def has_some_word_ends(vocab: Container[str]) -> bool:
    """Whether common letters have tokens for the end of a word, ``</w>``: such a vocabulary is not one of bytes."""
    return all(f"{letter}</w>" in vocab for letter in "aeirst")


def write(spec: TokenizerSpec) -> tuple[bytes, bytes]:
    """Writes ``vocab.json`` (special tokens included, as GPT-2 has them) and ``merges.txt``.

    Raises:
        FormatError: There is no merge list that gives the same ids.
    """
    # Most loaded tokenizers are never saved.
    from bytepair.model.semantics import to_merges  # noqa: PLC0415

    model = to_merges(spec.byte_pair)
    if model.ignore_merges:
        raise FormatError(
            "vocab.json + merges.txt cannot hold ignore_merges", remedy="save as tokenizer.json or as the native format"
        )
    spelled = {id: byte_alphabet.to_characters(token) for token, id in zip(model.tokens, model.ids, strict=True)}
    vocab = {token: id for id, token in spelled.items()} | dict(model.unreachable)
    vocab |= {token.content: token.id for token in spec.added_tokens}
    lines = [_HEADER, *(f"{spelled[left]} {spelled[right]}" for left, right in model.merges or ()), ""]
    by_id = dict(sorted(vocab.items(), key=lambda item: item[1]))
    return json.dumps(by_id, ensure_ascii=False).encode(), "\n".join(lines).encode()
