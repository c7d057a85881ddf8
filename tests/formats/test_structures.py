"""The combinations of stages that published ``tokenizer.json`` files have, each small, beside ``tokenizers``."""

from __future__ import annotations

import json
import random
import warnings
from typing import TYPE_CHECKING, Any

import pytest

import bytepair as bp
from bytepair import lowlevel
from bytepair.model import byte_alphabet

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]
ALPHABET = [byte_alphabet.to_characters(bytes([byte])) for byte in range(256)]
PARTS = [
    "the",
    "low",
    " ",
    "  ",
    "a",
    "1",
    "12",
    ",",
    "\n",
    "é",
    "日",
    "'s",
    "T",
    "▁",
    ".",
    " the",
    "<br>",
    "ﬁ",
    "\u200b",
]


def of(kind: str, **options: Any) -> Json:
    return {"type": kind, **options}


def sequence(key: str, *steps: Json) -> Json:
    return of("Sequence", **{key: [*steps]})


def normal(*steps: Json) -> Json:
    return sequence("normalizers", *steps)


def pre(*steps: Json) -> Json:
    return sequence("pretokenizers", *steps)


def decoding(*steps: Json) -> Json:
    return sequence("decoders", *steps)


def replace(pattern: str, content: str, kind: str = "String") -> Json:
    return of("Replace", pattern={kind: pattern}, content=content)


def split(pattern: str, behavior: str = "Isolated", *, invert: bool = False, kind: str = "Regex") -> Json:
    return of("Split", pattern={kind: pattern}, behavior=behavior, invert=invert)


def byte_level(*, space: bool = False, regex: bool = True) -> Json:
    return of("ByteLevel", add_prefix_space=space, trim_offsets=True, use_regex=regex)


def metaspace(**options: Any) -> Json:
    return of("Metaspace", replacement="▁", **({"prepend_scheme": "always", "split": True} | options))


def pairs(start: list[str], merges: list[str], **options: Any) -> Json:
    tokens = [*start, *(merge.replace(" ", "", 1) for merge in merges)]
    return of("BPE", vocab={token: id for id, token in enumerate(dict.fromkeys(tokens))}, merges=merges, **options)


SPELLED = ["▁ a", "t h", "th e", "▁ the", "▁ ▁", "l o", "lo w"]
BYTES = pairs(ALPHABET, ["Ġ a", "t h", "th e", "1 2", "Ġ Ġ", "l o", "lo w"])
NAMED = ["<unk>", "<s>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁athelow12,."]
FALLBACK = pairs(NAMED, SPELLED, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
CHARACTERS = pairs(["<unk>", *"▁athelow12,."], SPELLED, unk_token="<unk>", fuse_unk=True)
ENDS = pairs(
    ["<unk>", *"thelow12,", *(f"{letter}</w>" for letter in "thelow12,")],
    ["t h", "th e</w>", "l o", "lo w</w>"],
    unk_token="<unk>",
    end_of_word_suffix="</w>",
)
SCORES = {"<unk>": 0.0, "▁": -2.0, "a": -3.0, "▁a": -3.5, "th": -4.0, "e": -4.1, "▁the": -5.0, "low": -6.0, "1": -6.1}
UNIGRAM = of("Unigram", unk_id=0, vocab=[[*row] for row in SCORES.items()], byte_fallback=False)
WORDS = ["[UNK]", "the", "low", "a", "##a", "l", "##o", "##w", "1", "##2", ",", "é", "e"]
WORDPIECE = of(
    "WordPiece",
    unk_token="[UNK]",
    continuing_subword_prefix="##",
    max_input_chars_per_word=100,
    vocab={word: id for id, word in enumerate(WORDS)},
)
BERT = of("BertNormalizer", clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)
STRIP = of("Strip", strip_left=True, strip_right=True)
SIGNS = r"""[!"\#\$%\&'\(\)\*\+,\-\.:;=\?@\[\\\]\^_`\{\|\}\~]"""
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
BLANKS = decoding(replace("▁", " "), of("ByteFallback"), of("Fuse"))
NO_SPACE = of("Strip", content=" ", start=1, stop=0)

CASES: dict[str, tuple[Json | None, Json | None, Json | None, Json]] = {
    "ALBERT": (
        normal(replace("``", '"'), replace("''", '"'), of("NFKD"), of("StripAccents"), of("Lowercase")),
        pre(of("WhitespaceSplit"), metaspace()),
        metaspace(),
        UNIGRAM,
    ),
    "an old Metaspace": (
        of("NFKC"),
        pre(of("WhitespaceSplit"), of("Metaspace", replacement="▁", str_rep="▁", add_prefix_space=True)),
        of("Metaspace", replacement="▁", add_prefix_space=True),
        UNIGRAM,
    ),
    "NLLB": (
        normal(of("NFKC"), replace(" {2,}", " ", "Regex")),
        metaspace(prepend_scheme="first"),
        metaspace(),
        CHARACTERS,
    ),
    "DeBERTa": (normal(STRIP, of("NFKC")), pre(of("Punctuation", behavior="Isolated"), metaspace()), None, UNIGRAM),
    "XLM-R": (normal(of("Nmt"), of("NFKC")), metaspace(split=False), decoding(metaspace(split=False)), UNIGRAM),
    "SigLIP": (
        normal(of("Lowercase"), replace(SIGNS, "", "Regex"), replace(r"\s+", " ", "Regex"), STRIP),
        metaspace(),
        metaspace(),
        UNIGRAM,
    ),
    "CLIP": (
        normal(of("NFC"), replace(r"\s+", " ", "Regex"), of("Lowercase")),
        pre(split(CLIP, "Removed", invert=True), byte_level()),
        byte_level(),
        BYTES,
    ),
    "Falcon": (
        None,
        pre(
            of("Punctuation", behavior="Contiguous"),
            byte_level(),
            of("Digits", individual_digits=False),
            split("[0-9][0-9][0-9]"),
        ),
        byte_level(),
        BYTES,
    ),
    "StarCoder": (None, pre(of("Digits", individual_digits=True), byte_level()), byte_level(), BYTES),
    "SuperBPE": (
        None,
        pre(split(r"\p{N}+"), split(r"(?=(\d{3})+(?!\d))"), byte_level(regex=False)),
        byte_level(),
        BYTES,
    ),
    "DeepSeek": (
        of("NFC"),
        pre(split(r"\p{N}{1,3}"), split("[一-龥]+"), split(r"\s+(?!\S)|\s+"), byte_level(regex=False)),
        decoding(byte_level()),
        BYTES,
    ),
    "words of a pattern": (
        None,
        pre(split(r" ?\w+|[^\w\s]+", "Removed", invert=True), byte_level(regex=False)),
        byte_level(),
        BYTES,
    ),
    "Llama 2": (
        normal(of("Prepend", prepend="▁"), replace(" ", "▁")),
        None,
        decoding(*BLANKS["decoders"], NO_SPACE),
        FALLBACK,
    ),
    "Gemma": (replace(" ", "▁"), split(" ", "MergedWithPrevious", kind="String"), BLANKS, FALLBACK),
    "whole tokens": (replace(" ", "▁"), None, BLANKS, FALLBACK | {"ignore_merges": True}),
    "HerBERT": (BERT, of("BertPreTokenizer"), of("BPEDecoder", suffix="</w>"), ENDS),
    "BERT": (BERT, of("BertPreTokenizer"), of("WordPiece", prefix="##", cleanup=True), WORDPIECE),
    "jina, Chinese": (None, of("WhitespaceSplit"), None, ENDS),
    "wav2vec": (
        replace(" ", "|"),
        split("", kind="String"),
        of("CTC", pad_token="<pad>", word_delimiter_token="|", cleanup=True),
        of(
            "WordLevel", unk_token="<unk>", vocab={word: id for id, word in enumerate(["<unk>", "<pad>", *"|thelow1a"])}
        ),
    ),
    "bytes of a Unigram": (
        of("NFKC"),
        metaspace(),
        decoding(of("ByteFallback"), metaspace()),
        UNIGRAM | {"byte_fallback": True, "vocab": [*UNIGRAM["vocab"], *([f"<0x{b:02X}>", -20.0] for b in range(256))]},
    ),
    "bytes of words": (
        None,
        byte_level(space=True),
        byte_level(),
        of("WordLevel", unk_token="<unk>", vocab={"<unk>": 0, "Ġlow": 1, "Ġthe": 2}),
    ),
    "bytes as a normalizer": (of("ByteLevel"), split("Ġ", "MergedWithNext", kind="String"), byte_level(), BYTES),
    "a space stripped": (None, byte_level(space=True), decoding(byte_level(), NO_SPACE), BYTES),
    "empty sequences": (normal(), pre(), None, of("WordLevel", unk_token="<unk>", vocab={"<unk>": 0, "low": 1})),
    "no type": (
        None,
        of("Whitespace"),
        None,
        {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"], "unk_token": "a"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_structure_in_use_gives_what_its_library_gives(name: str, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    normalizer, pre_tokenizer, decoder, model = CASES[name]
    stages = {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "post_processor": None, "decoder": decoder}
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps({"version": "1.0", "added_tokens": [], **stages, "model": model}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.TokenizerWarning)
        tok = bp.load(file)
    peer = tokenizers.Tokenizer.from_file(str(file))
    chance = random.Random(name)
    texts = ["", "The LOW, é 12 3456 123456789\n\n  a", *("".join(chance.choices(PARTS, k=8)) for _ in range(60))]
    for text in texts:
        expected = peer.encode(text)
        ids, places, _, _ = lowlevel.locate(tok, text)
        assert ids == tok.encode(text) == expected.ids, text
        assert places == expected.offsets, text
        assert tok.count(text) == len(ids)
        assert tok.decode(ids) == peer.decode(ids, skip_special_tokens=False), text
    assert bp.load(tok.save(tmp_path / "native", "native")[0]) == tok
    saved = tok.save(tmp_path / "again")[0]
    assert bp.load(saved) == tok
    again = tokenizers.Tokenizer.from_file(str(saved))
    assert all(again.encode(text).ids == peer.encode(text).ids for text in texts)
