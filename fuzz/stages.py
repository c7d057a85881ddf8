"""Sweep over trainings in stages: merges within words, then across them, are those of naive stages."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, get_args

import bytepair as bp
from bytepair.reference import Pair, merge_pair, train_staged
from bytepair.training.learning import Ties
from fuzz.case import case, equal, quiet

if TYPE_CHECKING:
    from random import Random

SPLITS = ("gpt2", "superwords", "none", r"\S+", r"[^a]+|a")


def merges_of(tok: bp.Tokenizer) -> list[Pair]:
    """The merges of a tokenizer, as bytes."""
    return [(tok.token_bytes(left), tok.token_bytes(right)) for left, right in tok.spec.byte_pair.merges or ()]


def pieces_of(texts: list[str], split: str, special: list[str]) -> dict[bytes, int]:
    """The pieces of some texts without special tokens, in order."""
    tok = bp.train({"a": 1}, 256 + len(special), split=split, special_tokens=special)
    plain = bp.Tokenizer(tok.spec.replace(added_tokens=()))
    parts = [part for text in texts for part in (text.split(special[0]) if special else [text])]
    return dict(Counter(piece.encode() for part in parts for piece in plain.pieces(part)))


def random_texts(random: Random) -> list[str]:
    """Some texts of words."""
    letters = random.choice(["ab ", "aab  :1", "abé \n1"])
    return ["".join(random.choices(letters, k=random.randint(1, 40))) for _ in range(random.randint(1, 4))]


class Texts(list[bytes]):
    """Texts that can be read again, and are no paths."""


def texts_of(texts: list[str]) -> Any:
    """Texts as a source."""
    return Texts(text.encode() for text in texts)


def sweep_stages(random: Random) -> None:
    """A tokenizer trained in stages has the merges of naive stages, and encodes by them."""
    texts = random_texts(random)
    special = random.choice([[], ["b:"]])
    ends = [random.randint(0, 8), random.randint(0, 8), random.randint(1, 8)][random.choice([0, 1]) :]
    splits = random.choices(SPLITS, k=len(ends))
    options: dict[str, Any] = {
        "ties": random.choice(get_args(Ties)),
        "min_frequency": random.randint(1, 2),
        "max_words": random.choice([None, 1, 2, 3]),
        "max_token_length": random.choice([None, 4]),
    }
    first = 256 + len(special)
    begins = [first + sum(ends[:number]) for number in range(len(ends) + 1)]
    stages = list(zip(begins[1:-1], splits[1:], strict=True))
    ids: Any = random.choice(["first", "last"])
    with case(texts=texts, split=splits[0], stages=stages, size=begins[-1], special=special, options=options), quiet():
        tok = bp.train(
            texts_of(texts),
            begins[-1],
            split=splits[0],
            stages=stages,
            special_tokens=special,
            special_ids=ids,
            **options,
        )
        learned: list[Pair] = []
        done: list[tuple[dict[bytes, int], int]] = []
        for end, split in zip(begins[1:], splits, strict=True):
            # A stage that ran out of pairs leaves its merges to the next one.
            done.append((pieces_of(texts, split, special), end - first - len(learned)))
            learned = train_staged(done, **options).pairs
        equal("the merges", merges_of(tok), learned)
        for piece in done[-1][0]:
            symbols = [bytes([byte]) for byte in piece]
            for pair in learned:
                symbols = merge_pair(symbols, pair)
            found = [tok.token_bytes(id) for id in tok.encoder("heap").encode_piece(piece)]
            equal(f"the tokens of {piece!r}", found, symbols)
