r"""CLIP's files: ``vocab.json`` with ``merges.txt``, and the list they come from, ``bpe_simple_vocab_16e6.txt.gz``.

The end of a word is a part of its last token, ``</w>``. The list has more merges than CLIP was trained with; its
tokens are numbered in order: all bytes, all bytes at the end of a word, what the merges make, two special ones. Texts
are changed as in the published ``tokenizer.json``: CLIP's own code also repairs broken text with `ftfy` and decodes
references of HTML.

Source: ``simple_tokenizer.py`` of CLIP; its published ``tokenizer.json``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.errors import FormatError
from bytepair.formats import hf_json, hf_stages
from bytepair.formats.text_files import lines
from bytepair.formats.vocab_merges import pairs
from bytepair.model.byte_alphabet import to_characters

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from bytepair.model.spec import TokenizerSpec

_NAME = "bpe_simple_vocab_16e6.txt"
_MERGES = 49152 - 256 - 2
_WORD_END = "</w>"
_GZIP = 16
"""Added to the size of the window, this asks `zlib` for the format of gzip."""
_LARGEST = 64 << 20
_SPECIAL = ("<|startoftext|>", "<|endoftext|>")
_SPLIT = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def has_word_ends(vocab: Container[str]) -> bool:
    """Whether each byte has a token for the end of a word, as in CLIP's ``vocab.json``."""
    return all(f"{character}{_WORD_END}" in vocab for character in to_characters(bytes(range(256))))


def looks_like(data: bytes) -> bool:
    """Whether the file is the list: its first line names it."""
    return data.startswith(f'"{_NAME}#version'.encode())


def unpacked(data: bytes) -> bytes | None:
    """The list, of a file that is the list compressed by gzip, as CLIP publishes it; None for any other file.

    Raises:
        FormatError: It is cut off, damaged or too large.
    """
    import zlib  # noqa: PLC0415

    stream = zlib.decompressobj(zlib.MAX_WBITS | _GZIP)
    try:
        begin = stream.decompress(data, len(_NAME) + 16)
    except zlib.error:
        return None
    if not looks_like(begin):
        return None
    try:
        found = begin + stream.decompress(stream.unconsumed_tail, _LARGEST)
    except zlib.error as error:
        raise FormatError(f"CLIP's list of merges is damaged: {error}", remedy="fetch it again") from error
    if not stream.eof:
        raise FormatError(
            f"CLIP's list of merges is cut off, or larger than {_LARGEST >> 20} MB", remedy="fetch it again"
        )
    return found


def read(data: bytes) -> TokenizerSpec:
    """Reads the list.

    Raises:
        FormatError: It is not UTF-8, or has too few merges; or one of them is not two tokens that are there.
    """
    # The rest of the file is merges that CLIP does not have.
    begin = b"\n".join(data.split(b"\n", _MERGES + 1)[: _MERGES + 1])
    merges = lines(begin, "the list of merges")[1:]
    if len(merges) < _MERGES:
        raise FormatError(f"the list has {len(merges)} merges, not {_MERGES}", remedy="is it whole? fetch it again")
    # The byte alphabet is numbered in the order of its characters.
    alphabet = sorted(to_characters(bytes(range(256))))
    tokens = [*alphabet, *(character + _WORD_END for character in alphabet)]
    tokens += [merge.replace(" ", "") for merge in merges]
    vocab = {token: id for id, token in enumerate((*tokens, *_SPECIAL))}
    return _build(vocab, merges, {name: vocab[name] for name in _SPECIAL})


def read_pair(vocab: Mapping[str, Any], merges: bytes, special_tokens: Mapping[str, int] | None) -> TokenizerSpec:
    """Reads a parsed ``vocab.json`` and ``merges.txt``, with CLIP's special tokens unless they are named.

    Raises:
        FormatError: One of them is malformed.
    """
    if special_tokens is None:
        special_tokens = {name: id for name in _SPECIAL if (id := vocab.get(name)) is not None}
    return _build(vocab, [pair for _, pair in pairs(merges)], special_tokens)


def _build(vocab: Mapping[str, Any], merges: Sequence[str], special_tokens: Mapping[str, int]) -> TokenizerSpec:
    begin, end = _SPECIAL
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    # The published file matches the first one in normalized text.
    added = [
        {"id": id, "content": name, "special": True, "normalized": name == begin, **flags}
        for name, id in sorted(special_tokens.items(), key=lambda item: item[1])
    ]
    frame = {"trim_offsets": False, "add_prefix_space": False}
    byte_level = hf_stages.byte_level(add_prefix_space=False)
    split = {"type": "Split", "pattern": {"Regex": _SPLIT}, "behavior": "Removed", "invert": True}
    model = {"type": "BPE", "vocab": vocab, "merges": merges}
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
                if special_tokens.keys() >= set(_SPECIAL)
                else None
            ),
            "decoder": byte_level,
            "model": {**model, "unk_token": end if end in vocab else None, "end_of_word_suffix": _WORD_END},
        }
    )
