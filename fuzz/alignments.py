"""Sweep over alignments: places against offsets, groups against the definition, batches against single texts."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

import bytepair as bp
from bytepair.alignment.places import Placed, place
from bytepair.reference import aligning
from fuzz import drawn
from fuzz.case import case, equal

if TYPE_CHECKING:
    import random

    from numpy.typing import NDArray

FORMS = {"NFC", "NFD", "NFKC", "NFKD"}

_LONGEST = 300
"""Tokens of a text that the definition groups."""


def sweep_alignments(random: random.Random) -> None:
    """An alignment has the ids of encoding, in the groups of the definition."""
    a, letters, said = drawn.tokenizer(random)
    b, of, other = drawn.tokenizer(random)
    texts = [drawn.text(random, letters or of, a, b) for _ in range(random.choice([1, 1, 3]))]
    if random.random() < 0.3:
        # Most of a text is kept then.
        texts = [f"{'a lower b ' * random.randrange(200)}{text}{' ab' * random.randrange(200)}" for text in texts]
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
    check_ends(tok, text, special, placed, places)
    return [(start, end) for start, end in places.tolist()]


def check_ends(tok: bp.Tokenizer, text: str, special: str, placed: Placed, places: NDArray[np.int64]) -> None:
    """Each end is that of `offsets`, once it is moved to the end of its character.

    There a character that a normal form joined has the first of its parts alone, here all of them.
    """
    starts = np.cumsum([0, *(len(character.encode()) for character in text)])
    offsets = tok.offsets(text, special=special)
    ends = [end for _, end in offsets]
    found = np.searchsorted(starts, places[:, 1]).tolist()
    if not (tok.spec.is_byte_level and tok.spec.normalizers and set(tok.spec.normalizers) <= FORMS):
        # A space put in front of a text goes with the token behind it, or with the first character of that.
        kept = slice(int(bool(placed.covers.all()) and 0 in placed.lengths), None)
        equal("ends", found[kept], ends[kept])
        return
    most = begin = len(text)
    for at in reversed(range(len(offsets))):
        next_begin, begin = begin, min(offsets[at][0], begin)
        # Tokens of parts of one character begin together.
        most = max(ends[at], most if begin == next_begin and at + 1 < len(offsets) else next_begin)
        # Where most of a text is kept, parts of characters end with their bytes; an empty token is of those behind it.
        if placed.covers.all():
            assert placed.lengths[at] == 0 or found[at] in (ends[at], most), (at, found[at], ends[at], most)
        else:
            equal("an end", found[at], most)


def _groups(found: bp.Alignment) -> list[tuple[list[int], list[int]]]:
    sides = ([[*range(start, end)] for start, end in pairwise(side.offsets.tolist())] for side in (found.a, found.b))
    return list(zip(*sides, strict=True))
