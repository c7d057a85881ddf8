"""Sweep over prompts cut anywhere: masks, covers and healing against the encodings of every short text."""

from __future__ import annotations

import itertools
import unicodedata
from typing import TYPE_CHECKING, cast

import numpy as np

import bytepair as bp
from bytepair.reference import canonical
from fuzz.case import case, equal, trained
from fuzz.models import random_model

if TYPE_CHECKING:
    import random

    from numpy.typing import NDArray

    from bytepair.model.spec import NormalForm

_LETTERS = {
    # What tokens are made of, and characters of texts besides, which no token has or which patterns tell apart.
    "ab": "c.",
    "ab ": "c.",
    "abc ": ".",
    "a'l ": "bs",
    "a1 ": "\n.",
    # Another white space lets the end of a run be no token where a line end follows, as in "\n \t\n".
    "a \n": ".\t",
    # A letter and a sign that begin with the same byte as é.
    "aé": "ã×",
    "Aa.": " ",
    "日a": "早搀",
}
_MARKED = {
    # Marks that compose, are sorted, or keep others from composing; starters that compose; what no form keeps.
    "ae\u0301": "\u0323\u00e9",
    "e\u0323\u0301": "\u0325\u1eb9",
    "\u00e9 e": "\u0327\u0301",
    "\u1100\u1161": "\u11a8\uac00",
    "\u304b\u3099": "\u304ca",
    "a\u212b": "\u00e5\u030a",
    "=\ufb01 ": "\u0338f",
}
"""The same for tokenizers with a normal form."""

_FORMS = ("NFC", "NFD", "NFKC", "NFKD")

_FORM = 0.3
"""The share of tokenizers with one."""

_SPLITS = (*bp.SPLIT_PATTERNS, r"ab*c|(?s:.)", r"a+|b(?!\S)|\s+(?!\S)|a?b+c|(?s:.)")
_GAPS = (r"[ab]+", r"\p{N}", r"\p{L}{1,2}", r"ab|b(?!\S)", r"[.c]\p{L}+| ?\p{L}+|\s+(?!\S)|\s+")
"""Patterns that leave text between matches."""

_WALLS = (r"\p{N}{1,3}", r"[a1\u65e5]{1,2}", "b+", r"\s", r"[.\n]|b")
"""Patterns that go before others: each ends its pieces by the next character."""

_ROW = 0.3
"""The share of tokenizers with patterns in a row."""

_MARGIN = 2
"""Characters that decide whether a beginning is one; ``a?b+c`` can need more, and then a longer text is looked for."""

_FURTHER = 5
"""Characters behind a beginning in that search."""

_OTHERS = "abc1. "
"""Characters that patterns tell apart, of which two suffice in that search."""

_MADE = 0.4
"""The share of vocabularies that no training produces: merges out of turn, tokens that are only taken whole."""

_BEGINNINGS = 40
"""Beginnings of which a case looks at the masks."""


def sweep_prompts(random: random.Random) -> None:
    """Masks, covers and healing are what the encodings of all short texts say."""
    form = random.choice(_FORMS) if random.random() < _FORM else None
    alphabets = _LETTERS if form is None else _MARKED
    letters = random.choice(list(alphabets))
    split = random.choice((*_SPLITS, *_GAPS))
    if form is None and random.random() < _MADE:
        letters = "ab"
        model = random_model(random)
        pattern = bp.SPLIT_PATTERNS.get(split, split)
        tok = bp.Tokenizer(bp.TokenizerSpec(model, split=() if split == "none" else (pattern,)))
    else:
        tok = trained(random, letters, split=split, special_tokens=random.choice([[], ["<e>"]]))
        tok = bp.Tokenizer(tok.spec.replace(normalizers=(form,) if form else ()))
        model = tok.spec.byte_pair
    if random.random() < _ROW:
        walls = random.choices(_WALLS, k=random.randint(1, 3))
        tok = bp.Tokenizer(tok.spec.replace(split=(*walls, *tok.spec.split)))
    characters = letters + alphabets.get(letters, _LETTERS["ab"])
    shown = {id: token for token, id in zip(model.tokens, model.ids, strict=True) if len(token) > 1 or token in b"ab"}
    options = {"split": tok.spec.split, "merges": model.merges, "ignore_merges": model.ignore_merges}
    with case(letters=letters, form=form, tokens=shown, **options):
        Continued(tok, characters, 5 if len(characters) < 5 else 4).check(random)


class Continued:
    """A tokenizer, and what the encodings of all texts of some characters are.

    Args:
        tok: The tokenizer.
        characters: The characters.
        longest: The most characters of a text.
    """

    def __init__(self, tok: bp.Tokenizer, characters: str, longest: int) -> None:
        self.tok, self.characters = tok, characters
        self.form = next(iter(tok.spec.normalizers), None)
        all_texts = list(canonical.texts(characters, longest))
        self.texts = list(filter(self._is_formed, all_texts))
        self.others = [text for text in all_texts if not self._is_formed(text)]
        self.found = canonical.beginnings(lambda text: tok.encode(text, special="text", added="text"), self.texts)
        self.shorter = [text.encode() for text in self.texts if len(text) <= longest - _MARGIN]
        self.cut = {text[:end] for text in self.shorter for end in range(len(text) + 1)}
        added = {token.id for token in tok.spec.added_tokens}
        model = tok.spec.byte_pair
        self.tokens = {id: token for token, id in zip(model.tokens, model.ids, strict=True) if id not in added}
        self.added = added

    def check(self, random: random.Random) -> None:
        """Compare masks after some beginnings, and covers and healing of some texts.

        Raises:
            AssertionError: They differ.
        """
        begun = [ids for ids in self.found.next if self._spell(ids) in self.cut]
        for ids in random.sample(begun, min(len(begun), _BEGINNINGS)):
            self._check_mask(ids)
        for text in random.sample(sorted(self.cut), min(len(self.cut), _BEGINNINGS)):
            self._check_cover(text)
        if self.form is not None:
            for other in random.sample(self.others, min(len(self.others), _BEGINNINGS)):
                self._check_form(other)

    def _formed(self, text: str) -> str:
        return text if self.form is None else unicodedata.normalize(cast("NormalForm", self.form), text)

    def _is_formed(self, text: str) -> bool:
        return self._formed(text) == text

    def _spell(self, ids: tuple[int, ...]) -> bytes:
        return b"".join(map(self.tokens.__getitem__, ids))

    def _begins(self, ids: tuple[int, ...]) -> bool:
        """Whether the encoding of some longer text begins with these ids."""
        spelled = self._spell(ids)
        begun = spelled.decode("utf-8", "ignore")
        firsts = [""] if begun.encode() == spelled else _characters(spelled[len(begun.encode()) :])
        more_characters = "".join(dict.fromkeys(self.characters + _OTHERS))
        ends = itertools.chain(canonical.texts(more_characters, 2), canonical.texts(self.characters, _FURTHER))
        texts = (begun + first + end for end in ends for first in firsts)
        encoded = (
            self.tok.encode(text, special="text", added="text")
            for text in texts
            if text.encode().startswith(spelled) and self._is_formed(text)
        )
        return any(tuple(found[: len(ids)]) == ids for found in encoded)

    def _check_mask(self, ids: tuple[int, ...]) -> None:
        spelled = self._spell(ids)
        # Longer texts, and other characters, are not among those that were encoded.
        known = [id for id, token in self.tokens.items() if spelled + token in self.cut]
        got = ids_of(self.tok.next_mask(list(ids)))
        expected = self.found.next.get(ids, set()).intersection(known)
        expected |= {id for id in got.intersection(known) - expected if self._begins((*ids, id))}
        equal(f"mask after {ids}", got.intersection(known), expected)
        may_end = any(ids == encoded for _, encoded in self.found.encodings)
        equal(f"added tokens after {ids}", got & self.added, self.added if may_end else set())

    def _check_cover(self, text: bytes) -> None:
        cover = self.tok.cover(text)
        sequences = [tuple(sequence) for sequence in cover]
        equal("sequences", len(sequences), len(cover))
        equal("twice", len(sequences), len(set(sequences)))
        got = {sequence for sequence in sequences if self._spell(sequence) in self.cut}
        expected = canonical.cover(self.found, self.tokens.__getitem__, text)
        known = {one for one in expected if self._spell(one) in self.cut}
        known |= {one for one in got - known if self._begins(one)}
        equal(f"cover of {text!r}", got, known)
        for ids in list(expected)[:1]:
            self._check_healing(ids)

    def _check_form(self, text: str) -> None:
        """A text that lacks the form has the cover of its form."""
        equal(f"form of {text!r}", list(self.tok.cover(text)), list(self.tok.cover(self._formed(text))))

    def _check_healing(self, ids: tuple[int, ...]) -> None:
        text = self._spell(ids)
        healing = self.tok.heal(ids)
        covers = {tuple(sequence) for sequence in self.tok.cover(text)}
        equal(f"back of {ids}", healing.back, canonical.back(covers, ids))
        kept = ids[: len(ids) - healing.back]
        equal(f"prefix of {ids}", self._spell(kept) + healing.prefix, text)
        possible = {sequence[len(kept)] for sequence in covers if len(sequence) > len(kept)}
        got = ids_of(healing.mask)
        if healing.prefix:
            equal(f"mask for {ids}", got, possible)
        else:
            equal(f"mask for {ids}", got, ids_of(self.tok.next_mask(kept)))


def _characters(start: bytes) -> list[str]:
    """The characters that begin with some bytes, but not all of those with one byte of many."""
    length = 2 if start < b"\xe0" else 3 if start < b"\xf0" else 4
    rest = itertools.product(range(0x80, 0xC0), repeat=length - len(start))
    found = (start + bytes(one) for one in itertools.islice(rest, 0, None, 7 if length - len(start) > 1 else 1))
    return list(filter(None, (one.decode("utf-8", "ignore") for one in found)))


def ids_of(mask: NDArray[np.uint32]) -> set[int]:
    """The ids whose bits are set."""
    return set(np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist())
