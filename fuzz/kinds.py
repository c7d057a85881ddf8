"""Small files of every kind: a ``tokenizer.json`` of each model, which together contain each stage."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

Table = dict[str, Any]


def charsmap(replacement: bytes = b"a\0") -> str:
    """The smallest table of a ``Precompiled`` normalizer: "A" is replaced."""
    # A root whose child "A" is the unit 1, whose value is the unit 2: where its replacement starts.
    units = struct.pack("<3I", 0x40 << 10, 3 << 10 | 1 << 8 | 0x41, 1 << 31)
    return base64.b64encode(struct.pack("<I", len(units)) + units + replacement).decode()


def _sequence(name: str, *steps: Table) -> Table:
    return {"type": "Sequence", name: list(steps)}


def _step(kind: str, **fields: Any) -> Table:
    return {"type": kind, **fields}


def added(content: str, id: int, **flags: bool) -> Table:
    """An added token."""
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"id": id, "content": content, **{name: flags.get(name, False) for name in names}}


def bpe(**options: Any) -> Table:
    """A model over characters."""
    tokens = ["<unk>", "l", "o", "w", "▁", "<0x0A>", "lo", "low"]
    merges = [["l", "o"], ["lo", "w"]]
    return {"type": "BPE", "unk_token": "<unk>", "vocab": _numbered(tokens), "merges": merges, **options}


def affixed() -> Table:
    """A model over characters that are spelled differently within words and at their end."""
    tokens = ["?", "l", "##o", "##w</w>", "l</w>", "lo", "low</w>"]
    return {
        "type": "BPE",
        "unk_token": "?",
        "fuse_unk": True,
        "continuing_subword_prefix": "##",
        "end_of_word_suffix": "</w>",
        "vocab": _numbered(tokens),
        "merges": ["l ##o", ["lo", "##w</w>"]],
    }


def of_bytes() -> Table:
    """A model over a few bytes."""
    return {"type": "BPE", "vocab": _numbered(["l", "o", "Ġ", "lo", "Ġlo"]), "merges": ["l o", "Ġ lo"]}


def word_piece() -> Table:
    """A model of BERT's kind."""
    return {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 9,
        "vocab": _numbered(["[UNK]", "lo", "##w", "l", "##o", ".", "[CLS]", "[SEP]"]),
    }


def unigram(**options: Any) -> Table:
    """A model of T5's kind."""
    vocab = [["<unk>", 0.0], ["▁", -2.5], ["lo", -3.25], ["▁low", -4.0], ["l", -5.0], ["<0x41>", -9.0]]
    return {"type": "Unigram", "unk_id": 0, "vocab": vocab, **options}


def word_level() -> Table:
    """A model of whole words."""
    return {"type": "WordLevel", "vocab": _numbered(["<unk>", "low", "lo", "."]), "unk_token": "<unk>"}


def _numbered(tokens: list[str]) -> dict[str, int]:
    return {token: id for id, token in enumerate(tokens)}


def file(model: Table, **stages: Any) -> Table:
    """A ``tokenizer.json`` with a model and stages."""
    return {"version": "1.0", "model": model, **stages}


REPLACE = _step("Replace", pattern={"String": " "}, content="▁")
BERT = _step("BertNormalizer", clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)
METASPACE = _step("Metaspace", replacement="▁", prepend_scheme="first", split=True)
BYTE_LEVEL = _step("ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=True)
WORD_PIECE = _step("WordPiece", prefix="##", cleanup=True)
CTC = _step("CTC", pad_token="_", word_delimiter_token="|", cleanup=True)
TEMPLATE = _step(
    "TemplateProcessing",
    single=[{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    pair=[{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    special_tokens={"[CLS]": {"id": "[CLS]", "ids": [6], "tokens": ["[CLS]"]}},
)
ROBERTA = _step("RobertaProcessing", sep=["[SEP]", 5], cls=["[CLS]", 4], trim_offsets=True, add_prefix_space=False)


def _split(behavior: str, **pattern: str) -> Table:
    return _step("Split", pattern=pattern, behavior=behavior, invert=False)


TABLES: dict[str, Table] = {
    "llama": file(
        bpe(byte_fallback=True, fuse_unk=True),
        added_tokens=[added("<s>", 8, special=True), added("<x>", 9, lstrip=True, rstrip=True, normalized=True)],
        normalizer=_sequence("normalizers", _step("Prepend", prepend="▁"), REPLACE),
        decoder=_sequence(
            "decoders",
            _step("Replace", pattern={"String": "▁"}, content=" "),
            _step("ByteFallback"),
            _step("Fuse"),
            _step("Strip", content=" ", start=1, stop=0),
        ),
    ),
    "affixes": file(
        affixed(),
        normalizer=_sequence("normalizers", _step("NFD"), _step("StripAccents"), _step("Lowercase")),
        pre_tokenizer=_sequence("pretokenizers", _step("BertPreTokenizer"), _step("Digits", individual_digits=True)),
        decoder=_step("BPEDecoder", suffix="</w>"),
        post_processor=_step("BertProcessing", sep=["l", 1], cls=["?", 0]),
    ),
    "bytes": file(
        of_bytes(),
        added_tokens=[added("<|end|>", 5, special=True)],
        normalizer=_step("NFC"),
        pre_tokenizer=_sequence("pretokenizers", _split("Isolated", Regex=r"\p{L}+|\s+(?!\S)"), BYTE_LEVEL),
        decoder=BYTE_LEVEL,
        post_processor=_step("ByteLevel", add_prefix_space=True, trim_offsets=False, use_regex=True),
    ),
    "bert": file(
        word_piece(),
        added_tokens=[added("[CLS]", 6, special=True), added("lo", 1, single_word=True)],
        normalizer=BERT,
        pre_tokenizer=_step("BertPreTokenizer"),
        decoder=WORD_PIECE,
        post_processor=TEMPLATE,
    ),
    "t5": file(
        unigram(),
        normalizer=_sequence(
            "normalizers",
            _step("Precompiled", precompiled_charsmap=charsmap()),
            _step("Replace", pattern={"Regex": " {2,}"}, content=" "),
            _step("Strip", strip_left=True, strip_right=False),
        ),
        pre_tokenizer=METASPACE,
        decoder=METASPACE,
        post_processor=_sequence("processors", ROBERTA),
    ),
    "words": file(
        word_level(),
        normalizer=_sequence("normalizers", _step("NFKC"), _step("Nmt"), _step("ByteLevel")),
        pre_tokenizer=_sequence(
            "pretokenizers",
            _step("Whitespace"),
            _step("Punctuation", behavior="Contiguous"),
            _step("UnicodeScripts"),
        ),
        decoder=CTC,
    ),
    "cuts": file(
        unigram(byte_fallback=True),
        normalizer=_step("NFKD"),
        pre_tokenizer=_sequence(
            "pretokenizers",
            _step("WhitespaceSplit"),
            _step("CharDelimiterSplit", delimiter="-"),
            _step("FixedLength", length=7),
            _split("MergedWithNext", Regex=r"[^\s\p{P}]+|\d{1,3}"),
            _split("Removed", String="x"),
            BYTE_LEVEL,
        ),
        decoder=_sequence("decoders", _step("ByteLevel"), _step("Replace", pattern={"Regex": "a*"}, content="")),
    ),
}
"""Files small enough to flip every bit, which contain each step and each field once."""

FILES: dict[str, bytes] = {name: json.dumps(table, separators=(",", ":")).encode() for name, table in TABLES.items()}
