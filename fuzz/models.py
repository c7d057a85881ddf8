"""Sweeps over models: training, encoding, conversions and peers, on alphabets of two or three letters."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import peers

import bytepair as bp
from bytepair import reference
from bytepair.model import semantics
from fuzz.case import LETTERS, case, counts_of, equal, text_of, trained

if TYPE_CHECKING:
    import random

BYTES = tuple(bytes([byte]) for byte in range(256))


def sweep_training(random: random.Random) -> None:
    """The core learns the merges and counts of a reference trainer."""
    alphabet = random.choice(reference.ALPHABETS)
    options: dict[str, Any] = {
        "ties": random.choice(reference.TIES),
        "min_frequency": random.choice([1, 1, 2, 5]),
        "max_token_length": random.choice([None, None, 2, 3, 5]),
        "alphabet": alphabet,
        "end_of_word_suffix": random.choice([None, "</w>"]) if alphabet == "characters" else None,
    }
    name = random.choice(list(reference.TRAINERS))
    counts, merges = counts_of(random, random.choice(LETTERS)), random.randint(0, 25)
    texts = [piece for piece, count in counts.items() for _ in range(count)]
    with case(counts=counts, merges=merges, options=options, reference=name):
        expected = reference.TRAINERS[name](counts, merges, **options).merges
        equal("the training on counts", bp.train_merges(counts, merges, **options), expected)
        equal("the training on texts", bp.train_merges(iter(texts), merges, split="none", **options), expected)


def random_model(random: random.Random) -> bp.BytePair:
    """A vocabulary that no training produces: any tokens over two letters, in any order, with any merges of them."""
    letters = [b"a", b"b"]
    strings = list(letters)
    grown = random.random() < 0.5  # of tokens before them: then the semantics can often be converted
    for _ in range(random.randint(0, 12)):
        parts = random.choices(strings if grown else letters, k=2 if grown else random.randint(2, 5))
        strings.append(b"".join(parts))
    longer = list(dict.fromkeys(string for string in strings[2:] if len(string) < 20))
    tokens = [*BYTES, *longer]
    if random.random() < 0.3:
        random.shuffle(tokens)
    ids = sorted(random.sample(range(len(tokens) * 2), len(tokens)))
    if random.random() < 0.4:
        return bp.BytePair(tuple(tokens), tuple(ids))
    id_of = dict(zip(tokens, ids, strict=True))
    cuts = [(token[:cut], token[cut:]) for token in longer for cut in range(1, len(token))]
    made = [(id_of[left], id_of[right]) for left, right in cuts if left in id_of and right in id_of]
    pairs = random.sample(made, random.randint(0, len(made)))
    return bp.BytePair(tuple(tokens), tuple(ids), merges=tuple(pairs), ignore_merges=random.random() < 0.5)


def naive(model: bp.BytePair, text: str) -> list[int]:
    """The ids of a text by definition."""
    id_of = dict(zip(model.tokens, model.ids, strict=True))
    if model.merges is None:
        return [id_of[token] for token in reference.encode_ranks(text.encode(), id_of)]
    token_of = dict(zip(model.ids, model.tokens, strict=True))
    merges = [(token_of[left], token_of[right]) for left, right in model.merges]
    whole = id_of if model.ignore_merges else None
    return [id_of[token] for token in reference.encode_merges(text.encode(), merges, whole)]


def _shown(model: bp.BytePair) -> dict[str, Any]:
    """The model for a report, without the bytes that are at their usual places."""
    id_of = dict(zip(model.tokens, model.ids, strict=True))
    longer = {token: id for token, id in id_of.items() if len(token) > 1 or token in b"ab"}
    return {"tokens": longer, "merges": model.merges, "ignore_merges": model.ignore_merges}


def sweep_encoding(random: random.Random) -> None:
    """Trained and improper vocabularies produce the ids of the definition."""
    letters = random.choice(LETTERS)
    if random.random() < 0.5:
        model = random_model(random)
        letters = "ab"
    else:
        model = trained(random, letters).spec.byte_pair
    tok = bp.Tokenizer(bp.TokenizerSpec(model))
    for _ in range(3):
        text = text_of(random, letters)
        with case(text=text, **_shown(model)):
            expected = naive(model, text)
            equal("encode", tok.encode(text), expected)
            equal("count", tok.count(text), len(expected))
            equal("decode", tok.decode(expected), text)


def sweep_conversions(random: random.Random) -> None:
    """A model that can be converted keeps its ids."""
    letters = random.choice(LETTERS)
    model = trained(random, letters).spec.byte_pair if random.random() < 0.3 else random_model(random)
    with case(**_shown(model)):
        try:
            converted = (semantics.to_merges if model.merges is None else semantics.to_ranks)(model)
        except bp.FormatError:
            return
    tok, other = bp.Tokenizer(bp.TokenizerSpec(model)), bp.Tokenizer(bp.TokenizerSpec(converted))
    for _ in range(5):
        text = text_of(random, random.choice([letters, "ab"]))
        with case(text=text, converted=_shown(converted), **_shown(model)):
            equal("the conversion", other.encode(text), tok.encode(text))


def sweep_peers(random: random.Random) -> None:
    """A trained tokenizer, saved, reloads equal in bytepair and produces the same ids in the peers."""
    letters, split = random.choice(LETTERS), random.choice(list(bp.SPLIT_PATTERNS))
    specials = random.choice([(), ("<|end|>",)])
    tok = trained(random, letters, split=split, special_tokens=specials)
    texts = [text_of(random, letters) for _ in range(5)]
    with tempfile.TemporaryDirectory() as folder, case(split=split, texts=texts, **_shown(tok.spec.byte_pair)):
        vocabulary = peers.write(tok, Path(folder))
        equal("the file", bp.Tokenizer.from_file(vocabulary.json or "").fingerprint, tok.fingerprint)
        for name, peer in peers.load_all(vocabulary, tell=lambda _: None).items():
            for text in texts:
                equal(f"{name}'s encode of {text!r}", peer.encode(text), tok.encode(text))
