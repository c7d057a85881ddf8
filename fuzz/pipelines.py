"""Sweep over every kind of tokenizer of `tokenizers`: models, stages, added tokens; on hostile texts."""

from __future__ import annotations

import functools
import json
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tokenizers

import bytepair as bp
from bytepair import lowlevel
from bytepair.formats import hf_json
from bytepair.model import byte_alphabet
from fuzz.case import case, equal
from fuzz.hostile import ATOMS, hostile_text

if TYPE_CHECKING:
    import random

Json = dict[str, Any]

_SPACE, _MARK = {"String": " "}, "▁"
NORMALIZERS: list[Json] = [
    *({"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel")),
    {"type": "Strip", "strip_left": True, "strip_right": False},
    {"type": "Prepend", "prepend": _MARK},
    {"type": "Replace", "pattern": _SPACE, "content": _MARK},
    {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
    {"type": "Replace", "pattern": {"String": "e"}, "content": ""},
    {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
]
PRE_TOKENIZERS: list[Json] = [
    *({"type": name} for name in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts")),
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
    *({"type": "Metaspace", "replacement": _MARK, "prepend_scheme": scheme, "split": split}
      for scheme in ("always", "first", "never") for split in (True, False)),
    *({"type": "Punctuation", "behavior": behavior} for behavior in ("Isolated", "Contiguous", "MergedWithPrevious")),
    *({"type": "Digits", "individual_digits": each} for each in (True, False)),
    *({"type": "Split", "pattern": {"Regex": r"\p{L}+|\p{N}"}, "behavior": behavior, "invert": invert}
      for behavior in ("Isolated", "Removed", "MergedWithNext", "Contiguous") for invert in (True, False)),
    {"type": "CharDelimiterSplit", "delimiter": " "},
    {"type": "FixedLength", "length": 3},
]  # fmt: skip
DECODERS: list[Json | None] = [
    None,
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    {"type": "WordPiece", "prefix": "##", "cleanup": True},
    {"type": "Metaspace", "replacement": _MARK, "prepend_scheme": "always", "split": True},
    {"type": "BPEDecoder", "suffix": "</w>"},
    {"type": "CTC", "pad_token": "a", "word_delimiter_token": "|", "cleanup": True},
    {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": _MARK}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    },
]
ADDED = ("[UNK]", "<s>", "</s>", "<mask>", "hello", "the", "  ", "é", "中", "##a", "<0x0A>")


@functools.cache
def corpus() -> list[str]:
    """The texts that small models are trained on: all atoms, and ASCII."""
    words = [atom for atoms in ATOMS.values() for atom in atoms]
    return [" ".join(words[start::7]) * 3 for start in range(7)] + ["".join(words), "".join(map(chr, range(32, 127)))]


@functools.cache
def trained_model(kind: str, byte_fallback: bool, suffix: bool, prefix: bool, size: int) -> str:
    """A small model of a kind, trained by the peer, as JSON; a function of its arguments."""
    tok = tokenizers.Tokenizer(getattr(tokenizers.models, kind)())
    tok.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="never") if size % 2 else None
    trainers = tokenizers.trainers
    trainer: Any
    options: Json = {"vocab_size": size, "show_progress": False, "special_tokens": ["[UNK]", "</s>"]}
    if kind == "BPE":
        more: Json = {"end_of_word_suffix": "</w>"} if suffix else {}
        more |= {"continuing_subword_prefix": "##"} if prefix else {}
        trainer = trainers.BpeTrainer(**options, **more, limit_alphabet=120)
    elif kind == "WordPiece":
        tok.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(**options)
    elif kind == "Unigram":
        trainer = trainers.UnigramTrainer(**options, unk_token="[UNK]")
    else:
        tok.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
        trainer = trainers.WordLevelTrainer(**options)
    tok.train_from_iterator(corpus(), trainer)
    model: Json = json.loads(tok.to_str())["model"]
    if byte_fallback and kind in ("BPE", "Unigram"):
        model["byte_fallback"] = True
        known = set(model["vocab"]) if kind == "BPE" else {row[0] for row in model["vocab"]}
        names = [name for name in (f"<0x{byte:02X}>" for byte in range(256)) if name not in known]
        if kind == "BPE":
            model["vocab"] |= {name: len(model["vocab"]) + at for at, name in enumerate(names)}
        else:
            model["vocab"] += [[name, -15.0] for name in names]
    return json.dumps(model)


def random_table(random: random.Random) -> Json:
    """A ``tokenizer.json``."""
    kind = random.choice(["BPE", "BPE", "BPE", "WordPiece", "Unigram", "Unigram", "WordLevel"])
    decorated = random.random() < 0.3
    # With both, the peer takes the bytes of the decoration for text: it gives places beyond the end.
    fallback = random.random() < 0.5 and not decorated
    shape = (fallback, decorated and random.random() < 0.7, decorated and random.random() < 0.7)
    model = json.loads(trained_model(kind, *shape, random.choice([560, 601, 900])))
    if kind == "BPE":
        model["unk_token"] = random.choice([None, "[UNK]"])
        model["fuse_unk"] = random.random() < 0.5
        model["ignore_merges"] = random.random() < 0.2
    elif kind != "Unigram":
        model["unk_token"] = "[UNK]"
    normalizers = random.sample(NORMALIZERS, random.choice([0, 0, 1, 1, 2, 3]))
    steps = random.sample(PRE_TOKENIZERS, random.choice([0, 1, 1, 1, 2]))
    vocab = (
        model["vocab"] if isinstance(model["vocab"], dict) else {row[0]: at for at, row in enumerate(model["vocab"])}
    )
    added: list[Json] = []
    next_id = max(vocab.values()) + 1
    takes = random.random() < 0.4
    # Tokens that take white space never meet one of white space: docs/compatibility.md.
    for content in random.sample([token for token in ADDED if token.strip() or not takes], random.randint(0, 4)):
        id = vocab.get(content)
        if id is None:
            id, next_id = next_id, next_id + 1
        flags: Json = {name: random.random() < 0.25 for name in ("single_word", "normalized")}
        strips = {name: takes and random.random() < 0.4 for name in ("lstrip", "rstrip")}
        # Only the peer's models make special tokens of text: where a normalizer changed it, or inside a word.
        special = random.random() < 0.5 and not (content in vocab and (normalizers or content.startswith("##")))
        added.append({"id": id, "content": content, "special": special, **flags, **strips})
    added.sort(key=lambda token: int(token["id"]))
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {"type": "Sequence", "normalizers": normalizers} if normalizers else None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps} if steps else None,
        "post_processor": None,
        "decoder": random.choice(DECODERS),
        "model": model,
    }


def random_tokenizer(random: random.Random) -> tuple[bp.Tokenizer, str]:
    """A tokenizer of random stages, which the peer takes no part in, and its definition for a report."""
    while True:
        table = random_table(random)
        shown = {key: table[key] for key in ("added_tokens", "normalizer", "pre_tokenizer")}
        shown["model"] = {key: value for key, value in table["model"].items() if key not in ("vocab", "merges")}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bp.TokenizerWarning)
            try:
                return bp.Tokenizer(hf_json.read(table)), json.dumps(shown, ensure_ascii=False)
            except bp.FormatError:
                continue


def sweep_pipelines(random: random.Random) -> None:
    """Ids, places, tokens and text are those of `tokenizers`; saved and reloaded, the tokenizer is equal."""
    table = random_table(random)
    # The vocabulary is too long to be shown; the case is repeated by its seed.
    brief = {key: value for key, value in table["model"].items() if key not in ("vocab", "merges")}
    shown = {"added": table["added_tokens"], "model": brief}
    shown |= {key: table[key] for key in ("normalizer", "pre_tokenizer", "decoder")}
    # Nor do they meet one another.
    takes = [token for token in table["added_tokens"] if token["lstrip"] or token["rstrip"]]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.TokenizerWarning)
        path = Path(folder) / "tokenizer.json"
        path.write_text(json.dumps(table, ensure_ascii=False), "utf-8")
        with case(**shown):
            try:
                tok = bp.Tokenizer.from_file(path)
            except bp.FormatError as error:
                refused = ("once it is normalized", "byte alphabet", "has no token for")
                if any(reason in str(error) for reason in refused):
                    return
                raise
            peer = tokenizers.Tokenizer.from_str(path.read_text("utf-8"))
            equal("what is loaded again", bp.Tokenizer.from_file(tok.save(folder + "/again")[0]), tok)
            equal("what is loaded from native", bp.Tokenizer.from_file(tok.save(folder + "/n", "native")[0]), tok)
            again = tokenizers.Tokenizer.from_str(hf_json.write(tok.spec).decode())
    # The peer knows special tokens by their content, and forgets that they are special where that was normalized.
    unnamed = any(token.special and token.normalized for token in tok.spec.added_tokens) and tok.spec.normalizers
    names = {token.id: token.content for token in tok.spec.added_tokens}
    spell = byte_alphabet.to_characters if tok.spec.is_byte_level else bytes.decode
    contents = [token["content"] for token in table["added_tokens"]]
    for _ in range(12):
        text = hostile_text(random, random.choice([1, 2, 4, 10, 40]), [] if takes else contents)
        with case(text=text, **shown):
            expected = peer.encode(text, add_special_tokens=False)
            ids, places, words, surfaces = lowlevel.locate(tok, text, special="allow")
            equal("ids", ids, expected.ids)
            equal("ids of encode", tok.encode(text, special="allow"), ids)
            equal("count", tok.count(text, special="allow"), len(ids))
            equal("places", places, expected.offsets)
            equal("words", words, expected.word_ids)
            spelled = [
                surfaces[row] if row in surfaces else names.get(id) or spell(tok.token_bytes(id))
                for row, id in enumerate(ids)
            ]
            equal("tokens", spelled, expected.tokens)
            equal("text", tok.decode(ids), peer.decode(ids, skip_special_tokens=False))
            if not unnamed:
                equal("text less special", tok.decode(ids, skip_special_tokens=True), peer.decode(ids))
            equal("ids of what was written", again.encode(text, add_special_tokens=False).ids, ids)
            stream, whole = tok.decode_stream(), tok.decode(ids)
            streamed = "".join([*map(stream.push, ids), stream.finish()])
            # For bytes that are not UTF-8, and for a suffix inside a token, the decoders depend on later tokens, which
            # a stream has not seen.
            minds = "\ufffd" in whole or (table["decoder"] or {}).get("type") == "BPEDecoder"
            equal("streamed", whole if minds else streamed, whole)
