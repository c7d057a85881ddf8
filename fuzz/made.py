"""Made tokenizers: every combination of two stages, with every kind of model and of added tokens."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import math
import random as random_module
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import tokenizers

import bytepair as bp
from bytepair.formats import hf_json
from bytepair.model.models import BytePair, Characters, Unigram
from bytepair.model.steps import spell_step
from fuzz import kinds, pipelines
from fuzz.pipelines import Json

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

BYTE_LEVEL: Json = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
_GPT2 = bp.SPLIT_PATTERNS["gpt2"]


def _split(pattern: Json, behavior: str, *, invert: bool = False) -> Json:
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def _replace(content: str, **pattern: str) -> Json:
    return {"type": "Replace", "pattern": pattern, "content": content}


def _bert(**fields: Any) -> Json:
    return {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, **fields}


def _of_sentencepiece(charsmap: str = "", **fields: Any) -> Json:
    flags = {"add_dummy_prefix": True, "remove_extra_whitespaces": True, "escape_whitespaces": True}
    fields = {**flags, "treat_whitespace_as_suffix": False, **fields}
    return {"type": "SentencePiece", "precompiled_charsmap": charsmap, **fields}


NORMALIZERS: list[Json] = [
    *pipelines.NORMALIZERS,
    {"type": "Strip", "strip_left": False, "strip_right": True},
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Precompiled", "precompiled_charsmap": kinds.charsmap()},
    {"type": "Precompiled", "precompiled_charsmap": kinds.charsmap(b"\0")},
    _replace("b", String="ab"),
    _replace("", String="\n"),
    _replace("  ", String="x"),
    _replace(" ", Regex=" {2,}"),
    _replace("", Regex=r"\p{Mn}"),
    _replace("▁", Regex=r"\s(?=\S)"),
    _bert(strip_accents=True, lowercase=False),
    _bert(strip_accents=False, lowercase=True) | {"clean_text": False, "handle_chinese_chars": False},
    _of_sentencepiece(kinds.charsmap()),
    _of_sentencepiece(add_dummy_prefix=False),
    _of_sentencepiece(kinds.charsmap(), add_dummy_prefix=False, keep_leading_space=True),
    _of_sentencepiece(kinds.charsmap(), remove_extra_whitespaces=False),
    _of_sentencepiece(treat_whitespace_as_suffix=True, escape_whitespaces=False),
    _of_sentencepiece(kinds.charsmap(), user_defined_symbols=["ab", "e ", "\u0301"]),
]
"""Each normalizer, with the fields that change what it does."""

PRE_TOKENIZERS: list[Json] = [
    *pipelines.PRE_TOKENIZERS,
    {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": False},
    *({"type": "Punctuation", "behavior": behavior} for behavior in ("Removed", "MergedWithNext")),
    _split({"String": " "}, "MergedWithPrevious"),
    _split({"String": "ll"}, "MergedWithNext"),
    _split({"String": "a"}, "Contiguous"),
    _split({"Regex": _GPT2}, "Isolated"),
    _split({"Regex": _GPT2}, "Removed", invert=True),
    _split({"Regex": r"(?:(?=a)a|\p{L})+|\s|."}, "Isolated"),
    _split({"Regex": r"\s+(?!\S)|\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"}, "MergedWithPrevious"),
]
"""Each pre-tokenizer, with the fields that change what it does."""

FLAGS = ("lstrip", "rstrip", "single_word", "normalized", "special")
CONTENTS = (*pipelines.ADDED, "▁", "aa", "a a", "E", "\u0301", " b", "<s", "s>")


@functools.cache
def _bytes(suffix: str | None) -> str:
    """A model over bytes, as JSON."""
    tok = tokenizers.Tokenizer(tokenizers.models.BPE())
    tok.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    more: Json = {"end_of_word_suffix": suffix} if suffix else {}
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=900, show_progress=False, initial_alphabet=alphabet, special_tokens=["[UNK]"], **more
    )
    tok.train_from_iterator(pipelines.corpus(), trainer)
    return json.dumps(json.loads(tok.to_str())["model"])


def _longest_first() -> str:
    """A model over bytes that takes the longest token first, and spells everything."""
    vocab = json.loads(_bytes(None))["vocab"]
    options = {"continuing_subword_prefix": "", "max_input_chars_per_word": (1 << 32) - 1}
    return json.dumps({"type": "WordPiece", "unk_token": "[UNK]", **options, "vocab": vocab})


def _trained(kind: str, *, fallback: bool = False, suffix: bool = False, prefix: bool = False, size: int = 601) -> str:
    return pipelines.trained_model(kind, fallback, suffix, prefix, size)


MODELS: dict[str, tuple[Callable[[], str], Json]] = {
    "bytes": (lambda: _bytes(None), {}),
    "bytes taken whole": (lambda: _bytes(None), {"ignore_merges": True}),
    "bytes longest first": (_longest_first, {}),
    "bytes with a suffix": (lambda: _bytes("</w>"), {}),
    "characters": (lambda: _trained("BPE"), {"unk_token": "[UNK]"}),
    "characters fused": (lambda: _trained("BPE", size=900), {"unk_token": "[UNK]", "fuse_unk": True}),
    "characters dropped": (lambda: _trained("BPE", size=560), {"unk_token": None}),
    "characters taken whole": (lambda: _trained("BPE"), {"unk_token": "[UNK]", "ignore_merges": True}),
    "characters with fallback": (lambda: _trained("BPE", fallback=True), {"unk_token": "[UNK]", "fuse_unk": True}),
    "characters with a suffix": (lambda: _trained("BPE", suffix=True), {"unk_token": "[UNK]"}),
    "characters with a prefix": (lambda: _trained("BPE", prefix=True), {"unk_token": "[UNK]"}),
    "characters with a separator": (lambda: _trained("BPE", suffix=True), {"unk_token": "[UNK]"}),
    "characters with both": (lambda: _trained("BPE", suffix=True, prefix=True), {"unk_token": "[UNK]"}),
    "WordPiece": (lambda: _trained("WordPiece"), {"unk_token": "[UNK]"}),
    "WordPiece of short words": (lambda: _trained("WordPiece"), {"unk_token": "[UNK]", "max_input_chars_per_word": 5}),
    "Unigram": (lambda: _trained("Unigram"), {}),
    "Unigram with fallback": (lambda: _trained("Unigram", fallback=True, size=560), {}),
    "Unigram with other pieces": (lambda: _trained("Unigram", size=900), {}),
    "Unigram of sentencepiece with other pieces": (lambda: _trained("Unigram", size=900), {}),
    "Unigram from the end": (lambda: _trained("Unigram", size=900), {}),
    "Unigram from the end with fallback": (lambda: _trained("Unigram", fallback=True, size=560), {}),
    "Unigram that raises": (lambda: _trained("Unigram", size=560), {"unk_id": None}),
    "WordLevel": (lambda: _trained("WordLevel"), {"unk_token": "[UNK]"}),
}
"""Each kind of model: its JSON, and what is changed in it."""

Pair = tuple[tuple[Json, ...], tuple[Json, ...]]

LIKE: dict[str, Pair] = {
    "Llama 2": (({"type": "Prepend", "prepend": "▁"}, _replace("▁", String=" ")), ()),
    "BERT": ((_bert(strip_accents=None, lowercase=True),), ({"type": "BertPreTokenizer"},)),
    "T5": (
        ({"type": "Precompiled", "precompiled_charsmap": kinds.charsmap()},),
        (
            {"type": "WhitespaceSplit"},
            {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        ),
    ),
    "XLM-RoBERTa": ((_of_sentencepiece(kinds.charsmap()),), ()),
    "CLIP": (
        ({"type": "NFC"}, _replace(" ", Regex=r"\s+"), {"type": "Lowercase"}),
        (_split({"Regex": r"'s|'t|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+"}, "Removed", invert=True), BYTE_LEVEL),
    ),
    "T5 without legacy": (
        (_of_sentencepiece(kinds.charsmap(), add_dummy_prefix=False, keep_leading_space=True),),
        ({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False},),
    ),
    "GPT-NeoX": (({"type": "NFC"},), ({**BYTE_LEVEL, "use_regex": True},)),
    "DeepSeek": (
        (),
        (
            {"type": "Digits", "individual_digits": False},
            {"type": "Punctuation", "behavior": "Isolated"},
            _split({"Regex": "[一-龥]+"}, "Isolated"),
        ),
    ),
}
"""Stages as published tokenizers combine them."""

PAIRS: list[Pair] = [
    *LIKE.values(),
    *((both, ()) for both in itertools.product(NORMALIZERS, repeat=2)),
    *(((one,), (other,)) for one, other in itertools.product(NORMALIZERS, PRE_TOKENIZERS)),
    *(((), both) for both in itertools.product(PRE_TOKENIZERS, repeat=2)),
]
"""Normalizers and pre-tokenizers: those, and every two stages in order. One twice is one alone, or more."""

ADDED: list[tuple[str, ...]] = [(), *((flag,) for flag in FLAGS), *itertools.combinations(FLAGS, 2)]
"""The flags of added tokens: none (no such tokens), each, and each two."""


def _with_other_pieces(spec: bp.TokenizerSpec, unk_score: float | None) -> bp.TokenizerSpec:
    """The tokenizer of a Unigram as Marian has them: some of its pieces are no tokens, and some tokens no pieces."""
    model = spec.model
    assert isinstance(model, Unigram)
    chance = random_module.Random(len(model.tokens))
    stay = {model.unk_id, *(token.id for token in spec.added_tokens)}
    rows = list(zip(model.tokens, model.ids, model.scores, strict=True))
    others = {row for row in rows if row[1] not in stay and chance.random() < 0.2}
    kept = [(token, id, -math.inf if chance.random() < 0.2 else score) for token, id, score in rows]
    tokens, ids, scores = zip(*(row for row, was in zip(kept, rows, strict=True) if was not in others), strict=True)
    unlisted = tuple(sorted((token.decode(), score) for token, _, score in others))
    return spec.replace(model=Unigram(tokens, ids, scores, model.unk_id, model.byte_fallback, unk_score, unlisted))


def _from_end(spec: bp.TokenizerSpec) -> bp.TokenizerSpec:
    model = spec.model
    assert isinstance(model, Unigram)
    return spec.replace(model=dataclasses.replace(model, from_end=True))


def _with_separator(spec: bp.TokenizerSpec) -> bp.TokenizerSpec:
    """The tokenizer of a model with a suffix as PhoBERT has it: with a separator, and some texts that are no tokens."""
    model = spec.model
    assert isinstance(model, BytePair)
    chance = random_module.Random(len(model.tokens))
    stay = {token.id for token in spec.added_tokens}
    stay |= {id for id, token in zip(model.ids, model.tokens, strict=True) if token == b"[UNK]"}

    def spelled(token: bytes, id: int) -> bytes:
        return token if id in stay else token.removesuffix(b"</w>") if token.endswith(b"</w>") else token + b"@@"

    rows = {id: spelled(token, id) for id, token in zip(model.ids, model.tokens, strict=True)}
    merged = {id for pair in model.merges or () for id in pair}
    # A token that ends with the separator by itself would be there twice.
    if len(set(rows.values())) < len(rows):
        raise bp.FormatError("two tokens are spelled alike")
    gone = [id for id in rows if id not in stay and chance.random() < 0.2]
    kept = {id: token for id, token in rows.items() if id not in gone}
    above = 1 + max(kept)
    ids = {id: id for id in kept} | {id: above + place for place, id in enumerate(gone)}
    assert merged <= ids.keys()
    alphabet = Characters("[UNK]", separator="@@", unlisted=tuple(rows[id].decode() for id in gone))
    merges = tuple((ids[left], ids[right]) for left, right in model.merges or ())
    return spec.replace(model=BytePair(tuple(kept.values()), tuple(kept), merges, alphabet=alphabet))


_CHANGED: dict[str, Callable[[bp.TokenizerSpec], bp.TokenizerSpec]] = {
    "Unigram with other pieces": functools.partial(_with_other_pieces, unk_score=None),
    "Unigram of sentencepiece with other pieces": functools.partial(_with_other_pieces, unk_score=-30.0),
    "Unigram from the end": _from_end,
    "Unigram from the end with fallback": _from_end,
    "characters with a separator": _with_separator,
}
"""Models that `tokenizer.json` cannot hold, made of others."""


class Made(NamedTuple):
    """A tokenizer, and its definition for a report."""

    tok: bp.Tokenizer
    said: str


def _read(table: Json, normalizers: Sequence[Json]) -> bp.TokenizerSpec:
    """The tokenizer of a file; the normalizer of `sentencepiece` is put in later, as no such file can hold it."""
    of_file = [step for step in normalizers if step["type"] != "SentencePiece"]
    spec = hf_json.read({**table, "normalizer": {"type": "Sequence", "normalizers": of_file} if of_file else None})
    others = iter(spec.normalizers)
    steps = [spell_step(step) if step["type"] == "SentencePiece" else next(others) for step in normalizers]
    return spec.replace(normalizers=tuple(steps))


@functools.cache
def _model(name: str) -> Json:
    text, changes = MODELS[name]
    made: Json = {**json.loads(text()), **changes}
    return made


def made(random: random.Random, pair: Pair, model: str, flags: tuple[str, ...]) -> Made | None:
    """The tokenizer of some stages, a model, and added tokens with flags; None if that is refused.

    Args:
        random: Draws the texts of added tokens.
        pair: Normalizers and pre-tokenizers.
        model: A name of `MODELS`.
        flags: Those of each added token; without any there are no such tokens.
    """
    normalizers, pre_tokenizers = pair
    table = _model(model)
    steps = [*pre_tokenizers]
    if model.startswith("bytes") and not any(step["type"] == "ByteLevel" for step in (*steps, *normalizers)):
        steps.append(BYTE_LEVEL)
    vocab = table["vocab"]
    known = vocab if isinstance(vocab, dict) else {row[0]: id for id, row in enumerate(vocab)}
    above = itertools.count(max(known.values()) + 1)
    contents = random.sample(CONTENTS, random.randint(1, 4)) if flags else []
    ids = {content: known[content] if content in known else next(above) for content in contents}
    added = [kinds.added(content, id, **dict.fromkeys(flags, True)) for content, id in ids.items()]
    stages = {
        "added_tokens": sorted(added, key=lambda token: int(token["id"])),
        "normalizer": {"type": "Sequence", "normalizers": [*normalizers]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps} if steps else None,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.TokenizerWarning)
        try:
            spec = _read({"version": "1.0", "model": table, **stages}, normalizers)
            tok = bp.Tokenizer(_CHANGED[model](spec) if model in _CHANGED else spec)
        except bp.FormatError:
            return None
    return Made(tok, json.dumps({"model": model, **stages}, ensure_ascii=False))


def random_made(random: random.Random) -> Made:
    """Any of them that is not refused."""
    while True:
        found = made(random, random.choice(PAIRS), random.choice(list(MODELS)), random.choice(ADDED))
        if found:
            return found
