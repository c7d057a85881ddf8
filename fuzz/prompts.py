"""Sweep over prompts cut anywhere: masks, covers and healing against the encodings of every short text."""

from __future__ import annotations

import itertools
import unicodedata
from typing import TYPE_CHECKING, cast

import numpy as np

import bytepair as bp
from bytepair.model.models import Characters
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

_CHARACTERS = 0.3
"""The share of models of characters."""

_BEGINNINGS = 40
"""Beginnings of which a case looks at the masks."""


_SPELLED = {"ab ": "c", "a\u00e9 ": "\u00e3", "\u65e5 a": "\u65e9", "a ": "b\u00e9"}
"""The letters of models of characters: some of the first ones are tokens, of the others bytes are."""

_SPACES = '{"type": "Replace", "content": "\u2581", "pattern": {"String": " "}}'
_FRONT = '{"type": "Prepend", "prepend": "\u2581"}'
_AT_SPACES = '{"type": "Split", "behavior": "MergedWithPrevious", "invert": false, "pattern": {"String": " "}}'
_METASPACE = '{"type": "Metaspace", "prepend_scheme": "%s", "replacement": "\u2581", "split": false}'
_STAGES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    ((_FRONT, _SPACES), ()),
    ((_SPACES, _FRONT), ()),
    ((_SPACES,), ()),
    ((_SPACES,), (_AT_SPACES,)),
    *(((), (_METASPACE % scheme,)) for scheme in ("first", "always", "never")),
)
"""Normalizers and pre-tokenizers that put marks in the place of spaces."""


def sweep_prompts(random: random.Random) -> None:
    """Masks, covers and healing are what the encodings of all short texts say."""
    if random.random() < _CHARACTERS:
        letters = random.choice(list(_SPELLED))
        Continued(of_characters(random, letters), letters + _SPELLED[letters], 5).check(random)
        return
    form = random.choice(_FORMS) if random.random() < _FORM else None
    alphabets = _LETTERS if form is None else _MARKED
    letters = random.choice(list(alphabets))
    split = random.choice((*_SPLITS, *_GAPS))
    if form is None and random.random() < _MADE:
        letters = "ab"
        pattern = bp.SPLIT_PATTERNS.get(split, split)
        tok = bp.Tokenizer(bp.TokenizerSpec(random_model(random), split=() if split == "none" else (pattern,)))
    else:
        tok = trained(random, letters, split=split, special_tokens=random.choice([[], ["<e>"]]))
        tok = bp.Tokenizer(tok.spec.replace(normalizers=(form,) if form else ()))
    if random.random() < _ROW:
        walls = random.choices(_WALLS, k=random.randint(1, 3))
        tok = bp.Tokenizer(tok.spec.replace(split=(*walls, *tok.spec.split)))
    characters = letters + alphabets.get(letters, _LETTERS["ab"])
    Continued(tok, characters, 5 if len(characters) < 5 else 4).check(random)


def of_characters(random: random.Random, letters: str) -> bp.Tokenizer:
    """A model of characters with a token for each byte."""
    known = ["\u2581", *(letter for letter in letters if letter != " " and random.random() < 0.8)]
    made: dict[str, tuple[str, str]] = {}
    for _ in range(random.randint(0, 10)):
        left, right = random.choices([*known, *made], k=2)
        if len(left + right) < 6:
            made.setdefault(left + right, (left, right))
    tokens = [*(f"<0x{byte:02X}>" for byte in range(256)), *known, *made]
    place = {token: id for id, token in enumerate(tokens)}
    merges = [(place[left], place[right]) for left, right in made.values()]
    # Other cuts of the tokens, and another order, merge out of turn.
    for token in made:
        for cut in range(1, len(token)):
            pair = (place.get(token[:cut], -1), place.get(token[cut:], -1))
            if min(pair) >= 0 and pair not in merges and random.random() < 0.3:
                merges.append(pair)
    if random.random() < 0.3:
        random.shuffle(merges)
    spelled = tuple(token.encode() for token in tokens)
    model = bp.BytePair(spelled, tuple(range(len(tokens))), tuple(merges), alphabet=Characters(byte_fallback=True))
    added = (bp.AddedToken("<e>", len(tokens)),) if random.random() < 0.5 else ()
    normalizers, pre_tokenizers = random.choice(_STAGES)
    spec = bp.TokenizerSpec(model, added_tokens=added, normalizers=normalizers, pre_tokenizers=pre_tokenizers)
    return bp.Tokenizer(spec)


class Continued:
    """A tokenizer, and what the encodings of all texts of some characters are.

    Args:
        tok: The tokenizer.
        characters: The characters.
        longest: The most characters of a text.
    """

    def __init__(self, tok: bp.Tokenizer, characters: str, longest: int) -> None:
        self.tok, self.characters = tok, characters
        spec = tok.spec
        self.form = next((step for step in spec.normalizers if step in _FORMS), None)
        self.front = "always" if _FRONT in spec.normalizers else ""
        if any("Metaspace" in step and "never" not in step for step in spec.pre_tokenizers):
            self.front = "if none"
        all_texts = list(canonical.texts(characters, longest))
        self.texts = list(filter(self._is_formed, all_texts))
        self.others = [text for text in all_texts if not self._is_formed(text)]
        found = canonical.beginnings(lambda text: tok.encode(text, special="text", added="text"), self.texts)
        spelled = [(self._spelled(text), ids) for text, ids in found.encodings]
        self.found = canonical.Beginnings(found.next, spelled)
        shorter = [text.encode() for text in self.texts if len(text) <= longest - _MARGIN]
        self.begun = {text[:end] for text in shorter for end in range(len(text) + 1)}
        self.cut = {text[:end] for text in map(self._spelled, shorter) for end in range(len(text) + 1)}
        added = {token.id for token in spec.added_tokens}
        if not isinstance(model := spec.model, bp.BytePair):
            raise TypeError
        self.tokens = {id: token for token, id in zip(model.tokens, model.ids, strict=True) if id not in added}
        if model.alphabet is not None:
            self.tokens = {id: _text_of(token) for id, token in self.tokens.items()}
        self.added = added

    def check(self, random: random.Random) -> None:
        """Compare masks after some beginnings, and covers and healing of some texts.

        Raises:
            AssertionError: They differ.
        """
        spec = self.tok.spec
        tokens = {id: token for id, token in self.tokens.items() if len(token) > 1 or token in b"ab"}
        stages = (*spec.normalizers, *spec.pre_tokenizers, *spec.split)
        with case(characters=self.characters, tokens=tokens, model=repr(spec.model)[-300:], stages=stages):
            self._check(random)

    def _check(self, random: random.Random) -> None:
        begun = [ids for ids in self.found.next if self._spell(ids) in self.cut]
        for ids in random.sample(begun, min(len(begun), _BEGINNINGS)):
            self._check_mask(ids)
        for text in random.sample(sorted(self.begun), min(len(self.begun), _BEGINNINGS)):
            self._check_cover(text)
        if self.form is not None:
            for other in random.sample(self.others, min(len(self.others), _BEGINNINGS)):
                self._check_form(other)

    def _formed(self, text: str) -> str:
        return text if self.form is None else unicodedata.normalize(cast("NormalForm", self.form), text)

    def _is_formed(self, text: str) -> bool:
        return self._formed(text) == text

    def _spelled(self, text: bytes) -> bytes:
        """A text with the space that it gets in front."""
        gets_space = self.front == "always" or (self.front == "if none" and not text.startswith(b" "))
        return b" " + text if text and gets_space else text

    def _bare(self, spelled: bytes) -> bytes:
        """A text that is spelled so."""
        return spelled[1:] if self.front == "always" else spelled

    def _spell(self, ids: tuple[int, ...]) -> bytes:
        return b"".join(map(self.tokens.__getitem__, ids))

    def _begins(self, ids: tuple[int, ...]) -> bool:
        """Whether the encoding of some longer text begins with these ids."""
        spelled = self._spell(ids)
        bare = self._bare(spelled)
        begun = bare.decode("utf-8", "ignore")
        firsts = [""] if begun.encode() == bare else _characters(bare[len(begun.encode()) :])
        more_characters = "".join(dict.fromkeys(self.characters + _OTHERS))
        ends = itertools.chain(canonical.texts(more_characters, 2), canonical.texts(self.characters, _FURTHER))
        texts = (begun + first + end for end in ends for first in firsts)
        encoded = (
            self.tok.encode(text, special="text", added="text")
            for text in texts
            if self._spelled(text.encode()).startswith(spelled) and self._is_formed(text)
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
        expected = canonical.cover(self.found, self.tokens.__getitem__, self._spelled(text))
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
        if text and not self._bare(text):
            # The space in front is there if more is.
            return
        covers = {tuple(sequence) for sequence in self.tok.cover(self._bare(text))}
        equal(f"back of {ids}", healing.back, canonical.back(covers, ids))
        kept = ids[: len(ids) - healing.back]
        equal(f"prefix of {ids}", self._spell(kept) + healing.prefix, text)
        possible = {sequence[len(kept)] for sequence in covers if len(sequence) > len(kept)}
        got = ids_of(healing.mask)
        if healing.prefix:
            equal(f"mask for {ids}", got, possible)
        else:
            equal(f"mask for {ids}", got, ids_of(self.tok.next_mask(kept)))


def _text_of(token: bytes) -> bytes:
    """The bytes that a token of characters stands for."""
    if token.startswith(b"<0x"):
        return bytes([int(token[3:5], 16)])
    return token.replace("\u2581".encode(), b" ")


def _characters(start: bytes) -> list[str]:
    """The characters that begin with some bytes, but not all of those with one byte of many."""
    length = 2 if start < b"\xe0" else 3 if start < b"\xf0" else 4
    rest = itertools.product(range(0x80, 0xC0), repeat=length - len(start))
    found = (start + bytes(one) for one in itertools.islice(rest, 0, None, 7 if length - len(start) > 1 else 1))
    return list(filter(None, (one.decode("utf-8", "ignore") for one in found)))


def ids_of(mask: NDArray[np.uint32]) -> set[int]:
    """The ids whose bits are set."""
    return set(np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist())
