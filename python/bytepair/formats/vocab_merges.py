"""``vocab.json`` and ``merges.txt``: GPT-2's two files, in the GPT-2 byte alphabet.

They hold neither the split pattern (readers assume GPT-2's) nor the special tokens. A vocabulary in which each byte
also occurs with ``</w>`` behind it is CLIP's: there the end of a word is a part of its last token.
Source: GPT-2's ``encoder.py``; the published ``tokenizer.json`` of CLIP.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bytepair.errors import FormatError
from bytepair.formats import hf_json, hf_stages
from bytepair.model import byte_alphabet
from bytepair.model.packed import PackedModel
from bytepair.model.spec import TokenizerSpec
from bytepair.model.split_patterns import split_pattern

if TYPE_CHECKING:
    from collections.abc import Container, Mapping


ASSUMED_SPLIT = (split_pattern("gpt2"),)
_HEADER = "#version: 0.2"
_WORD_END = "</w>"
_CLIP_SPECIAL = ("<|startoftext|>", "<|endoftext|>")
_CLIP_SPLIT = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def read(vocab: Mapping[str, Any], merges: bytes, special_tokens: Mapping[str, int]) -> TokenizerSpec:
    """Reads a parsed ``vocab.json`` and ``merges.txt``; tokens named special are not tokens of the model.

    Raises:
        FormatError: One of them is malformed; ``pointer`` or ``line`` locates the fault.
    """
    listed = _listed(merges)
    columns = hf_json.read_model(
        vocab,
        [pair for _, pair in listed],
        added=special_tokens,
        vocab_pointer="",
        merge_place=lambda index: {"line": listed[index][0]},
    )
    return TokenizerSpec(PackedModel(columns), split=ASSUMED_SPLIT)


def _listed(merges: bytes) -> list[tuple[int, str]]:
    """The merges, each with its line."""
    try:
        lines = merges.decode().split("\n")
    except UnicodeDecodeError as error:
        raise FormatError(f"merges.txt is not UTF-8: {error}", remedy="is it whole? fetch it again") from error
    if lines and lines[0].startswith("#version"):
        lines[0] = ""
    pairs = [line.rstrip("\r") for line in lines]
    return [(number, pair) for number, pair in enumerate(pairs, 1) if pair]


def has_word_ends(vocab: Container[str]) -> bool:
    """Whether each byte has a token for the end of a word."""
    return all(f"{character}{_WORD_END}" in vocab for character in byte_alphabet.to_characters(bytes(range(256))))


def read_clip(vocab: Mapping[str, Any], merges: bytes, special_tokens: Mapping[str, int] | None) -> TokenizerSpec:
    """As `read`, for the files of CLIP: with its stages, and with its special tokens unless they are named."""
    begin, end = _CLIP_SPECIAL
    if special_tokens is None:
        special_tokens = {name: id for name in _CLIP_SPECIAL if (id := vocab.get(name)) is not None}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    # The published file matches the first one in normalized text.
    added = [
        {"id": id, "content": name, "special": True, "normalized": name == begin, **flags}
        for name, id in sorted(special_tokens.items(), key=lambda item: item[1])
    ]
    frame = {"trim_offsets": False, "add_prefix_space": False}
    byte_level = hf_stages.byte_level(add_prefix_space=False)
    split = {"type": "Split", "pattern": {"Regex": _CLIP_SPLIT}, "behavior": "Removed", "invert": True}
    model = {"type": "BPE", "vocab": vocab, "merges": [pair for _, pair in _listed(merges)]}
    return hf_json.read(
        {
            "version": "1.0",
            "added_tokens": added,
            "normalizer": {
                "type": "Sequence",
                "normalizers": [
                    {"type": "NFC"},
                    {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
                    {"type": "Lowercase"},
                ],
            },
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
            "post_processor": (
                {"type": "RobertaProcessing", "sep": [end, vocab[end]], "cls": [begin, vocab[begin]], **frame}
                if special_tokens.keys() >= set(_CLIP_SPECIAL)
                else None
            ),
            "decoder": byte_level,
            "model": {**model, "unk_token": end if end in vocab else None, "end_of_word_suffix": _WORD_END},
        }
    )


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
