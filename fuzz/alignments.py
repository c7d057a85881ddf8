"""Sweep over alignments: places against offsets, groups against the definition, batches against single texts."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

import bytepair as bp
from bytepair.alignment.places import place
from bytepair.reference import aligning
from fuzz import drawn
from fuzz.case import case, equal

if TYPE_CHECKING:
    import random

_LONGEST = 300
"""Tokens of a text that the definition groups."""


def sweep_alignments(random: random.Random) -> None:
    """An alignment has the ids of encoding, in the groups of the definition."""
    a, letters, said = drawn.tokenizer(random)
    b, of, other = drawn.tokenizer(random)
    texts = [drawn.text(random, letters or of, a, b) for _ in range(random.choice([1, 1, 3]))]
    special = random.choice(["allow", "text"])
    with case(texts=texts, tokenizers=[said, other], special=special):
        try:
            expected = [[tok.encode(text, special=special) for text in texts] for tok in (a, b)]
        except bp.EncodeError:
            return
        batch = bp.align_batch(texts, a, b, special=special)
        for number, (text, found) in enumerate(zip(texts, batch, strict=True)):
            equal("ids of a", found.a.ids.tolist(), expected[0][number])
            equal("ids of b", found.b.ids.tolist(), expected[1][number])
            alone = bp.align(text, a, b, special=special)
            equal("alone", alone.as_dict(), found.as_dict())
            places = [_places(tok, text, special) for tok in (a, b)]
            if sum(map(len, places)) <= _LONGEST:
                equal("groups", _groups(found), aligning.align(*places))


def _places(tok: bp.Tokenizer, text: str, special: str) -> list[tuple[int, int]]:
    """Places as `align` has them, each compared with `offsets`, which know whole characters only."""
    placed = place(tok, [text.encode()], special=special, added="match", threads=1)
    places = placed.all_places()
    starts = np.cumsum([0, *(len(character.encode()) for character in text)])
    offsets = tok.offsets(text, special=special)
    # What is in front of a text goes with the token behind it, or with the first character of that.
    kept = slice(int(bool(placed.covers.all()) and 0 in placed.lengths), None)
    whole = [int(starts[end]) for _, end in offsets]
    equal("ends", starts[np.searchsorted(starts, places[kept, 1])].tolist(), whole[kept])
    return [(start, end) for start, end in places.tolist()]


def _groups(found: bp.Alignment) -> list[tuple[list[int], list[int]]]:
    sides = ([[*range(start, end)] for start, end in pairwise(side.offsets.tolist())] for side in (found.a, found.b))
    return list(zip(*sides, strict=True))
