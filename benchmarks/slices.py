"""Slices of texts with given numbers of tokens, for the counting benchmarks."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import bytepair as bp

SIZES = (10, 100, 1_000, 10_000)
SLICES = 10
"""Slices of each size."""


@dataclass(frozen=True)
class Slice:
    """A part of a text: its intended number of tokens, and its place in bytes and in characters."""

    tokens: int
    start_byte: int
    end_byte: int
    start: int
    end: int


@dataclass(frozen=True)
class Sliced:
    """A text and its slices, by size."""

    text: str
    slices: dict[int, list[Slice]]

    def texts(self, tokens: int) -> list[str]:
        """The slices of one size as texts."""
        return [self.text[part.start : part.end] for part in self.slices[tokens]]

    def write(self, text: Path, slices: Path) -> None:
        """Write the text, and places in bytes in the format that the core's example reads."""
        text.write_bytes(self.text.encode())
        parts = itertools.chain.from_iterable(self.slices.values())
        slices.write_text(json.dumps([[part.tokens, part.start_byte, part.end_byte] for part in parts]))


def sliced(tokens: list[bytes]) -> Sliced:
    """Random slices of a text passed token by token; a size that the text does not have is left out.

    Args:
        tokens: The tokens of a text, in order. They may end inside characters, slices do not.

    Example:
        >>> made = sliced([b"low", b" ", "é".encode()[:1], "é".encode()[1:]] * 25)
        >>> made.text[:5], {tokens: len(slices) for tokens, slices in made.slices.items()}
        ('low é', {10: 10})
    """
    data = b"".join(tokens)
    places = list(itertools.accumulate(map(len, tokens), initial=0))
    # A byte that goes on with a character has 10 as its highest bits.
    whole = [place == len(data) or data[place] >> 6 != 0b10 for place in places]
    choice = random.Random(0)
    slices: dict[int, list[Slice]] = {}
    for size in SIZES:
        first = [at for at in range(len(places) - size) if whole[at] and whole[at + size]]
        if len(tokens) > size and first:
            pairs = [(places[at], places[at + size]) for at in choice.choices(first, k=SLICES)]
            slices[size] = [
                Slice(size, start, end, len(data[:start].decode()), len(data[:end].decode())) for start, end in pairs
            ]
    return Sliced(data.decode(), slices)


def of_random_tokens(tok: bp.Tokenizer, tokens: int) -> Sliced:
    """Random tokens that are whole characters: the text of the `bpe` crate's README."""
    choice = random.Random(tokens)
    readable = [token for token in tok.spec.byte_pair.tokens if token.decode(errors="ignore").encode() == token]
    return sliced(choice.choices(readable, k=tokens))


def of_text(tok: bp.Tokenizer, text: str) -> Sliced:
    """Slices of a real text between its tokens."""
    return sliced([tok.token_bytes(id) for id in tok.encode(text, special="text")])
