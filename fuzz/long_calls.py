"""Long calls of tokenizers of every kind, for sweeps that interrupt them or take their memory away."""

from __future__ import annotations

import base64
import functools
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bytepair as bp
from bytepair import lowlevel
from bytepair.formats import hf_json
from fuzz import kinds

if TYPE_CHECKING:
    from collections.abc import Callable

    Calls = dict[str, Callable[[], Any]]

COUNTS = {"low low": 5, "lower": 3, "slowest": 2, "aaaa": 4}
WORDS, ONE_WORD = "slower lowest é ", "a"

_SPACES = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
_LIKE_T5 = {
    "normalizer": {"type": "Precompiled", "precompiled_charsmap": kinds.charsmap()},
    "pre_tokenizer": _SPACES,
    "decoder": _SPACES,
}


def _published(model: kinds.Table, **stages: Any) -> bp.Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.TokenizerWarning)
        return bp.Tokenizer(hf_json.read({"version": "1.0", "added_tokens": [], "model": model, **stages}))


@functools.cache
def tokenizers() -> dict[str, bp.Tokenizer]:
    """Tokenizers by the way they encode: by pieces, in one piece, normalized first, and each model of characters."""
    cut = bp.train(COUNTS, vocab_size=262, split="gpt2")
    return {
        "pattern": cut,
        "one piece": bp.train(COUNTS, vocab_size=262, split="none"),
        "normalized": bp.Tokenizer(cut.spec.replace(normalizers=("NFKC", "Lowercase"))),
        "unigram": bp.train_unigram(COUNTS, vocab_size=14),
        "t5": _published(kinds.unigram(), **_LIKE_T5),
        "wordpiece": bp.train_wordpiece(COUNTS, vocab_size=30),
        "characters": _published(kinds.bpe(), pre_tokenizer=_SPACES, decoder=_SPACES),
        "word level": _published(kinds.word_level(), pre_tokenizer={"type": "Whitespace"}),
    }


def calls(tok: bp.Tokenizer, text: str) -> Calls:
    """Long calls on a text. Each returns something that another run of it returns as well."""
    array = tok.encode_array(text)
    ids = array.tolist()
    half = max(1, len(ids) // 2)
    many = text.split(" ") if " " in text else [text, text]
    bytes_of_text = text.encode()
    parts = [text[at : at + 100_000] for at in range(0, len(text), 100_000)]

    def grown(growing: bp.Appender | bp.Prepender) -> tuple[int, int, int]:
        for part in parts:
            growing.append(part) if isinstance(growing, bp.Appender) else growing.prepend(part)
        return growing.count(), sum(growing.ids()), len(growing.text)

    def streamed() -> int:
        stream = tok.encode_stream()
        return sum(stream.push(part).size for part in parts) + stream.finish().size

    return {
        "encode": lambda: tok.encode(text),
        "encode of bytes": lambda: tok.encode(bytes_of_text),
        "encode_array": lambda: tok.encode_array(text).tobytes(),
        "encode_array by one thread": lambda: tok.encode_array(text, threads=1).tobytes(),
        "encode_batch": lambda: tok.encode_batch([text, text]),
        "encode_batch of short ones": lambda: tok.encode_batch(many),
        "encode_batch_array": lambda: int(tok.encode_batch_array(many).ids.sum()),
        "count": lambda: tok.count(text),
        "count by one thread": lambda: tok.count(text, threads=1),
        "count_batch": lambda: tok.count_batch(many),
        "count_until": lambda: tok.count_until(text, len(ids)),
        "decode": lambda: tok.decode(ids),
        "decode of an array": lambda: tok.decode(array),
        "decode_bytes": lambda: tok.decode_bytes(array),
        "decode_batch": lambda: tok.decode_batch([ids, ids]),
        "decode_stream": lambda: tok.decode_stream().push(ids),
        "locate": lambda: lowlevel.locate(tok, text),
        "offsets": lambda: len(tok.offsets(text)),
        "call": lambda: tok(text)["input_ids"],
        "sample": lambda: tok.sample(text, 1, 0.1, seed=1),
        "pieces": lambda: tok.pieces(text),
        "chunks": lambda: tok.chunks(text, 1000),
        "chunks at words": lambda: tok.chunks(text, 1000, boundary="word"),
        "chunks of parts": lambda: list(tok.chunk_parts(parts, 1000)),
        "fit": lambda: tok.fit(text, half),
        "fit from the right": lambda: tok.fit(text, half, "right"),
        "fit_batch": lambda: tok.fit_batch([text, text], half),
        "index": lambda: tok.index(text).count(3, len(text) - 3),
        "appender": lambda: grown(tok.appender()),
        "prepender": lambda: grown(tok.prepender()),
        "encode_parts": lambda: [ids.tobytes() for ids in tok.encode_parts([text, text])],
        "encode_stream": streamed,
        "is_valid": lambda: tok.is_valid(ids),
        "align": lambda: len(bp.align(text, tok, tok)),
        "PrefixCache": lambda: bp.PrefixCache(tok).encode(text).tobytes(),
        "PrefixCache, count": lambda: bp.PrefixCache(tok).count(text),
        "residues": lambda: bp.residues(tok, iter([text])).ids,
    }


@functools.cache
def _large() -> bp.Tokenizer:
    """A vocabulary whose tables are long themselves: all pairs of bytes, and the doubles of half of them."""
    single = [bytes([byte]) for byte in range(256)]
    pairs = [left + right for left in single for right in single]
    tokens = [*single, *pairs, *(pair * 2 for pair in pairs if pair[0] <= pair[1])]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.tiktoken"
        rows = (b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens))
        path.write_bytes(b"".join(rows))
        return bp.load(path, split="gpt2")


def vocabularies() -> Calls:
    """Long calls on whole vocabularies."""
    large, small = _large(), tokenizers()["pattern"]

    def saved() -> str:
        with tempfile.TemporaryDirectory() as folder:
            large.save(Path(folder) / "large.json")
            return bp.load(Path(folder) / "large.json").fingerprint

    return {
        "align_vocabularies": lambda: bytes(bp.align_vocabularies(large, small).ids),
        "align_vocabularies of characters": lambda: bytes(bp.align_vocabularies(large, tokenizers()["t5"]).ids),
        "trie": lambda: len(bp.Tokenizer(large.spec).trie()),
        "prune": lambda: bp.prune(large, remove=[large.vocab_size - 1])[0].fingerprint,
        "save and load": saved,
    }


def chats(text: str) -> Calls:
    """Long calls on a conversation with a text in it."""
    cut = tokenizers()["pattern"]
    marks = ("<|im_start|>", "<|im_end|>")
    added = tuple(bp.AddedToken(mark, cut.vocab_size + at, special=True) for at, mark in enumerate(marks))
    tok = bp.Tokenizer(cut.spec.replace(added_tokens=added))
    chat = [{"role": "user", "content": text}, {"role": "assistant", "content": text}]

    def encoded(**options: Any) -> tuple[int, int]:
        example = tok.encode_chat(chat, "chatml", **options)
        return int(example.input_ids.sum()), int(example.labels.sum())

    return {
        "encode_chat": encoded,
        "encode_chat, untrained": lambda: encoded(train_on=None),
        "encode_chat, cut": lambda: encoded(max_length=len(text) // 10, truncation="left"),
    }


def trainings(text: str) -> Calls:
    """Counting and training on a text."""
    words = [f"{text[at % 7 : at % 7 + 3]}{at:x}" for at in range(len(text) // 16)]
    return {
        "train": lambda: bp.train(iter([text]), vocab_size=260, split="gpt2").fingerprint,
        "train on many words": lambda: bp.train(iter(words), vocab_size=300, split="gpt2").fingerprint,
        "train for parity": lambda: (
            bp.train({"a": iter(words[::2]), "b": iter([text])}, vocab_size=300, objective="parity").fingerprint
        ),
        "train on one piece": lambda: bp.train(iter([text]), vocab_size=262, split="none").fingerprint,
        "train_wordpiece": lambda: bp.train_wordpiece(iter(words), vocab_size=60).fingerprint,
        "train_unigram": lambda: bp.train_unigram(iter(words), vocab_size=80).fingerprint,
    }
