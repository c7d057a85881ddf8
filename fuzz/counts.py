"""Sweep over counting: for any split, threads, memory and parts of a corpus, the pieces are the tokenizer's."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import bytepair as bp
from bytepair.training.learning import TIES
from fuzz.case import case, equal
from fuzz.variants import SPECIALS, random_text, tokenizer

if TYPE_CHECKING:
    import random


def sweep_counts(random: random.Random) -> None:
    """Counts are those of the pieces of each text, and training on the parts learns the merges of the whole."""
    split = random.choice(list(bp.SPLIT_PATTERNS))
    texts = [random_text(random) for _ in range(random.randint(1, 5))]
    cut = random.randint(0, len(texts))
    options: dict[str, Any] = {"threads": random.choice([1, 2, 5]), "memory": random.choice([None, 1, 50_000])}
    with case(split=split, texts=texts, cut=cut, options=options):
        expected = pieces_of(split, texts)
        options |= {"split": split, "special_tokens": SPECIALS, "digest": False}
        whole = bp.Counts.of(iter(texts), **options)
        first = bp.Counts.of(iter(texts[:cut]), **options)
        rest = bp.Counts.of(iter(texts[cut:]), start=first.end, **options)
        equal("the counts", {row.piece: row.count for row in whole}, expected)
        equal("the sum of two parts", list(first + rest), list(whole))
        equal("the counts by frequency", [row.count for row in whole.top(5)], sorted(expected.values())[:-6:-1])
        halved = whole.scale("0.5")
        equal("half of the counts", ([row.count for row in halved], halved.denominator), ([*expected.values()], 2))
        if expected:
            settings: dict[str, Any] = {"ties": random.choice(TIES)}
            learned = bp.train_merges(whole, 20, **settings)
            equal("the merges of the sum", bp.train_merges(first + rest, 20, **settings), learned)


def pieces_of(split: str, texts: list[str]) -> dict[bytes, int]:
    """The pieces between special tokens, in order of first occurrence, and their counts."""
    tok = tokenizer(split)
    found: Counter[bytes] = Counter()
    for text in texts:
        # Added tokens that are not special are text to a counter of these special tokens.
        for stretch in filter(None, _stretches(text)):
            found.update(piece.encode() for piece in tok.pieces(stretch, special="text", added="text"))
    return dict(found)


def _stretches(text: str) -> list[str]:
    """The text between special tokens; where several start, the longest wins."""
    stretches, start, at = [], 0, 0
    while at < len(text):
        token = max((token for token in SPECIALS if text.startswith(token, at)), key=len, default="")
        if token:
            stretches.append(text[start:at])
            start = at = at + len(token)
        else:
            at += 1
    return [*stretches, text[start:]]
