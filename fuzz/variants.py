"""Small byte-level tokenizers, of every split pattern and with features that affect counting, and texts for them."""

from __future__ import annotations

import functools
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bytepair as bp

if TYPE_CHECKING:
    import random

SPECIALS = ("<|end|>", "<|end|>>", "<|")
ADDED = "<t>"

# A few of each class that some split pattern tells apart; the special tokens come whole and in parts.
CLASSES: dict[str, tuple[str, ...]] = {
    "upper": ("A", "S", "É", "Я", "ǅ"),
    "lower": ("a", "s", "t", "ll", "é", "я", "ſ", "ß", "ı"),
    "other letters": ("日", "ん", "ห", "한", "ʰ", "ª", "א"),
    "marks": ("\u0301", "\u0e31", "\u093f", "\ufe0f"),
    "numbers": ("1", "2345", "٣", "Ⅷ", "½", "²"),
    "spaces": (" ", "  ", "\t", "\u00a0", "\u3000", "\u2003", "\v", "\f", "\x1c", "\u180e"),
    "newlines": ("\n", "\r", "\r\n", "\n\n", "\u0085", "\u2028"),
    "contractions": ("'s", "'T", "'ll", "'Re", "'ſ", "’s", "'"),
    "punctuation": (".", "!?", "/", "//", "-", "_", "(", "。", "…", "$", "+", "\\"),
    "others": ("😀", "👩\u200d💻", "\u200b", "\ufeff", "\x00", "\x7f", "\U0010ffff", "\ue000", "\u0378"),
    "tokens": (*SPECIALS, ADDED, "end", "|>", "<", ">"),
}


@functools.cache
def tokenizer(split: str) -> bp.Tokenizer:
    """A tokenizer of some merges within and across the bytes of characters, with added tokens of both kinds."""
    text = "".join(one + two for atoms in CLASSES.values() for one in atoms for two in ("", "a", " ", "1", one))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.TokenizerWarning)
        spec = bp.train([text.encode()], 450, split=split, special_tokens=SPECIALS).spec
    added = bp.AddedToken(ADDED, len(spec.byte_pair.tokens) + len(SPECIALS), special=False)
    return bp.Tokenizer(spec.replace(added_tokens=(*spec.added_tokens, added)))


def random_text(random: random.Random) -> str:
    """A text from a few of the classes, so that runs and repetitions are as likely as changes."""
    classes = random.sample(list(CLASSES), random.randint(1, 4))
    atoms = [atom for name in classes for atom in random.sample(CLASSES[name], min(3, len(CLASSES[name])))]
    longest = 400 if random.random() < 0.03 else 25
    return "".join(random.choices(atoms, k=random.randint(0, longest)))


# Tokens that begin and end with each other, so that tokens found are taken back when more text comes.
OVERLAPPING = ("<", "<|end", "|>", ">>", "aa", "aaaa", "sa", "1 a", "'s", "  ")

FAST = ("plain", "merges", "taken whole", "several ways", "overlapping")
SLOW = ("flags", "normalized", "in a row", "other engine")


@functools.cache
def variant(split: str, kind: str) -> bp.Tokenizer:
    """A tokenizer with a split pattern and a feature that affects counting."""
    tok = tokenizer(split)
    if kind == "plain":
        return tok
    spec, model = tok.spec, tok.spec.byte_pair
    above = tok.vocab_size
    ranks = dict(zip(model.tokens, model.ids, strict=True))

    def added(contents: tuple[str, ...], **flags: Any) -> tuple[bp.AddedToken, ...]:
        new = (bp.AddedToken(content, above + at, special=False, **flags) for at, content in enumerate(contents))
        return (*spec.added_tokens, *new)

    def with_tokens(*more: bytes) -> bp.BytePair:
        new = ((above + at, token) for at, token in enumerate(more) if token not in ranks)
        joined = [*((id, token) for token, id in ranks.items()), *new]
        return bp.BytePair(tuple(token for _, token in joined), tuple(id for id, _ in joined))

    changes: dict[str, dict[str, Any]] = {
        "merges": {"model": replace(model, ignore_merges=True)},
        # No merges lead to them.
        "taken whole": {"model": with_tokens(b"AsA1", b" \n1", "日ん日".encode(), b"aSaS")},
        # Tokens with a part that ranks above them.
        "several ways": {"model": with_tokens(b"aSs", b"aS", b"  1", b" 1", b"ts1", b"ts")},
        "overlapping": {"added_tokens": added(OVERLAPPING)},
        "flags": {"added_tokens": added(("<s>", "1 "), lstrip=True, single_word=True)},
        "normalized": {"normalizers": ("NFC",), "added_tokens": added(("ta",), normalized=True)},
        "in a row": {"split": (r"\p{N}{1,3}", "[一-龥]+", bp.SPLIT_PATTERNS["gpt2"])},
        "other engine": {"split": (r"(?:(?=a)a|\w)+|\s|.",)},
    }
    return bp.Tokenizer(spec.replace(**changes[kind]))


def random_variant(random: random.Random) -> tuple[bp.Tokenizer, str]:
    """One of the variants, more often one that is counted fast, and its definition for a report."""
    kind = random.choice(SLOW if random.random() < 0.15 else FAST)
    split = random.choice(list(bp.SPLIT_PATTERNS))
    return variant(split, kind), f"{split}, {kind}"


def growing_text(random: random.Random) -> str:
    """Texts with runs in between, so that pieces are short and long."""
    atoms = [atom for name in CLASSES for atom in CLASSES[name]]
    run = random.choice([*atoms, *OVERLAPPING, ADDED, SPECIALS[0]]) * random.randint(0, 150)
    return random.choice([run + random_text(random), random_text(random) + run, random_text(random)])
