"""`NormalizedString` and `PreTokenizedString`: the text that normalizers and pre-tokenizers written in Python edit.

Source: ``tokenizer/normalizer.rs`` and ``tokenizer/pre_tokenizer.rs`` of ``tokenizers`` 0.23, read for their behaviour.
"""

from __future__ import annotations

import json
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair._core import normalize, pre_tokenize
from bytepair.call.encoding import Encoding as Columns
from bytepair.compat.tokenizers.encoding import Encoding
from bytepair.compat.tokenizers.models import Token
from bytepair.compat.tokenizers.values import Regex, as_behavior, as_pattern, text
from bytepair.errors import EncodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Range = tuple[int, int]


class NormalizedString:
    """A text that is edited, and the place in the original of each of its characters.

    Args:
        sequence: The original text.

    Example:
        >>> text = NormalizedString("Élan vital")
        >>> text.nfd()
        >>> text.filter(lambda character: character.isascii())
        >>> text.lowercase()
        >>> text, [str(each) for each in text.split(" ", "isolated")]
        (NormalizedString(original="Élan vital", normalized="elan vital"), ['elan', ' ', 'vital'])
    """

    def __init__(self, sequence: str) -> None:
        self._original = text("sequence", sequence)
        self._text = sequence
        # The characters of the original that each character is from, and where the original begins in a larger one.
        self._places: list[Range] = [(at, at + 1) for at in range(len(sequence))]
        self._start = 0

    @property
    def original(self) -> str:
        """The text before all edits."""
        return self._original

    @property
    def normalized(self) -> str:
        """The text after all edits."""
        return self._text

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f'NormalizedString(original="{self._original}", normalized="{self._text}")'

    # Edits.

    def _run(self, *steps: str) -> None:
        """Edit by steps of the core."""
        self._text, places = normalize(steps, self._text, offsets=True)
        before = self._places
        made: list[Range] = []
        for start, end in places:
            if start < end:
                made.append((before[start][0], before[end - 1][1]))
            else:
                # An inserted character has the place of the one before it.
                made.append(before[start - 1] if start else (0, 0))
        self._places = made

    def nfc(self) -> None:
        """Compose characters: Unicode normalization form C."""
        self._run("NFC")

    def nfd(self) -> None:
        """Decompose characters: form D."""
        self._run("NFD")

    def nfkc(self) -> None:
        """Compose characters, compatible ones too: form KC."""
        self._run("NFKC")

    def nfkd(self) -> None:
        """Decompose characters, compatible ones too: form KD."""
        self._run("NFKD")

    def lowercase(self) -> None:
        """Convert to lowercase."""
        self._run("Lowercase")

    def uppercase(self) -> None:
        """Convert to uppercase."""
        self._rewrite([character.upper() for character in self._text])

    def strip(self) -> None:
        """Remove white space at both ends."""
        self._run(json.dumps({"type": "Strip", "strip_left": True, "strip_right": True}))

    def lstrip(self) -> None:
        """Remove white space at the start."""
        self._run(json.dumps({"type": "Strip", "strip_left": True, "strip_right": False}))

    def rstrip(self) -> None:
        """Remove white space at the end."""
        self._run(json.dumps({"type": "Strip", "strip_left": False, "strip_right": True}))

    def replace(self, pattern: str | Regex, content: str) -> None:
        """Replace the matches of a pattern.

        Raises:
            FormatError: A regular expression is not supported.
        """
        step = {"type": "Replace", "pattern": as_pattern("pattern", pattern), "content": text("content", content)}
        self._run(json.dumps(step))

    def clear(self) -> None:
        """Remove all characters."""
        self._text, self._places = "", []

    def prepend(self, s: str) -> None:
        """Insert at the start of a text that is not empty, at the place of its first character."""
        if self._text:
            self._text, self._places = text("s", s) + self._text, [self._places[0]] * len(s) + self._places

    def append(self, s: str) -> None:
        """Insert at the end, at the place of the last character."""
        last = self._places[-1] if self._places else (0, 0)
        self._text, self._places = self._text + text("s", s), self._places + [last] * len(s)

    def filter(self, func: Callable[[str], bool]) -> None:
        """Keep the characters for which a function is true."""
        self._rewrite([character if func(character) else "" for character in self._text])

    def map(self, func: Callable[[str], str]) -> None:
        """Replace each character by another.

        Raises:
            TypeError: The function returns something else.
        """
        made = [func(character) for character in self._text]
        for each in made:
            if len(text("a character", each)) != 1:
                raise TypeError(f"`map` expects a function from a character to a character, which returned {each!r}")
        self._rewrite(made)

    def for_each(self, func: Callable[[str], Any]) -> None:
        """Call a function with each character."""
        for character in self._text:
            func(character)

    def _rewrite(self, parts: list[str]) -> None:
        """Replace each character by a text."""
        self._places = [place for place, part in zip(self._places, parts, strict=True) for _ in part]
        self._text = "".join(parts)

    # Parts.

    # Without it, Python would ask `__getitem__` for ever.
    __iter__ = None

    def __getitem__(self, range: int | Range | slice) -> NormalizedString | None:  # noqa: A002 (as in tokenizers)
        return self.slice(range)

    def slice(self, range: int | Range | slice) -> NormalizedString | None:  # noqa: A002 (as in tokenizers)
        """A part of the text, by an index, a pair or a slice of characters; None outside of it.

        As in ``tokenizers``, negative numbers count from the end in bytes.

        Raises:
            ValueError: A negative index is before the start.
        """
        size = len(self._text.encode())
        if isinstance(range, slice):
            start, end, _ = range.indices(size)
        elif isinstance(range, int):
            if -range > size:
                raise ValueError(f"{-range} is bigger than max len")
            start = range + size if range < 0 else range
            end = start + 1
        else:
            start, end = range
        if start < 0 or end < start or (end > 0 and start >= len(self._text)):
            return None
        return self._part(start, min(end, len(self._text)))

    def _part(self, start: int, end: int) -> NormalizedString:
        made = NormalizedString.__new__(NormalizedString)
        places = self._places[start:end]
        first, last = (places[0][0], places[-1][1]) if places else (0, 0)
        made._original = self._original[first:last]
        made._text = self._text[start:end]
        made._places = [(one - first, other - first) for one, other in places]
        made._start = self._start + first
        return made

    def split(self, pattern: str | Regex, behavior: Any) -> list[NormalizedString]:
        """Split at the matches of a pattern, as the pre-tokenizer ``Split`` does.

        Raises:
            ValueError: The behavior is unknown.
            FormatError: A regular expression is not supported.
        """
        named = as_behavior("behavior", getattr(behavior, "value", behavior))
        if not self._text:
            return [self._part(0, 0)]
        step = {"type": "Split", "pattern": as_pattern("pattern", pattern), "behavior": named, "invert": False}
        return [self._part(*place) for _, place in pre_tokenize([json.dumps(step)], self._text)]

    def _pieces(self, steps: tuple[str, ...]) -> list[NormalizedString]:
        """The pieces of pre-tokenizers of the core, which may spell them anew."""
        found = []
        for piece, (start, end) in pre_tokenize(steps, self._text):
            part = self._part(start, end)
            if piece != part._text:
                part._places = _spread(part._text, part._places, piece)
                part._text = piece
            found.append(part)
        return found

    def _whole(self) -> Range:
        """The place of the original in the larger one."""
        return self._start, self._start + len(self._original)

    def _place(self, start: int, end: int) -> Range:
        """The place in the larger original of an interval of bytes of the text."""
        ends = [0, *accumulate(len(character.encode()) for character in self._text)]
        covered = [at for at in range(len(self._text)) if ends[at] < end and start < ends[at + 1]]
        if not covered:
            return (0, 0)
        return self._places[covered[0]][0] + self._start, self._places[covered[-1]][1] + self._start


def _spread(before: str, places: list[Range], after: str) -> list[Range]:
    """The places of a piece spelled anew: byte by byte, or character by character, after what was put before it."""
    wide = [place for place, character in zip(places, before, strict=True) for _ in character.encode()]
    base = wide if len(after) >= len(wide) else places
    more = len(after) - len(base)
    first = base[0] if base else (0, 0)
    return [*[first] * more, *base] if more >= 0 else base[-len(after) :]


class _Split(NamedTuple):
    """A part of a text, and its tokens if it has been tokenized."""

    normalized: NormalizedString
    tokens: list[Token] | None


class PreTokenizedString:
    """A text that is split, normalized and tokenized part by part.

    Args:
        s: The text.

    Example:
        >>> text = PreTokenizedString("Low slow")
        >>> text.split(lambda number, part: part.split(" ", "removed"))
        >>> text.normalize(lambda part: part.lowercase())
        >>> text.tokenize(lambda part: [Token(len(part), part, (0, len(part)))])
        >>> text.get_splits()[1][:2], text.to_encoding().ids, text.to_encoding().offsets
        (('slow', (4, 8)), [3, 4], [(0, 3), (4, 8)])
    """

    def __init__(self, s: str) -> None:
        self._splits = [_Split(NormalizedString(s), None)]
        self._original = s

    @classmethod
    def _of(cls, original: str, splits: Iterable[tuple[NormalizedString, list[Token] | None]]) -> PreTokenizedString:
        self = cls.__new__(cls)
        self._original = original
        self._splits = [_Split(*each) for each in splits if each[0].normalized]
        return self

    def split(self, func: Callable[[int, NormalizedString], Iterable[NormalizedString] | NormalizedString]) -> None:
        """Split each part without tokens by a function of its number and itself; empty parts are dropped.

        Raises:
            TypeError: The function returns something else than parts.
        """
        made: list[_Split] = []
        for number, each in enumerate(self._splits):
            if each.tokens is not None:
                made.append(each)
                continue
            found = func(number, each.normalized)
            parts = [found] if isinstance(found, NormalizedString) else list(found)
            for part in parts:
                if not isinstance(part, NormalizedString):
                    raise TypeError(f"`split` expects a function that returns NormalizedStrings, not {part!r}")
            made += [_Split(part, None) for part in parts if part.normalized]
        self._splits = made

    def normalize(self, func: Callable[[NormalizedString], Any]) -> None:
        """Edit each part without tokens by a function."""
        for each in self._splits:
            if each.tokens is None:
                func(each.normalized)

    def tokenize(self, func: Callable[[str], Iterable[Token]]) -> None:
        """Give tokens to each part without them by a function of its text; their offsets are bytes of that text."""
        self._splits = [
            each if each.tokens is not None else _Split(each.normalized, list(func(each.normalized.normalized)))
            for each in self._splits
        ]

    def get_splits(
        self, offset_referential: Any = "original", offset_type: Any = "char"
    ) -> list[tuple[str, Range, list[Token] | None]]:
        """The parts: text, offsets and tokens.

        Args:
            offset_referential: ``original`` or ``normalized``: the text that offsets are of.
            offset_type: ``char`` or ``byte``.

        Raises:
            ValueError: A value is unknown.
        """
        referential = getattr(offset_referential, "value", offset_referential)
        kind = getattr(offset_type, "value", offset_type)
        for name, value, known in (
            ("OffsetReferential", referential, ("original", "normalized")),
            ("OffsetType", kind, ("byte", "char")),
        ):
            if value not in known:
                raise ValueError(f"Wrong value for {name}, expected one of `{', '.join(known)}`")
        whole = self._original if referential == "original" else "".join(each.normalized._text for each in self._splits)
        rows = []
        at = 0
        for normalized, tokens in self._splits:
            place = normalized._whole() if referential == "original" else (at, at + len(normalized._text))
            at += len(normalized._text)
            if kind == "byte":
                place = len(whole[: place[0]].encode()), len(whole[: place[1]].encode())
            rows.append((normalized._text, place, tokens))
        return rows

    def to_encoding(self, type_id: int = 0, word_idx: int | None = None) -> Encoding:
        """The tokens of all parts.

        Args:
            type_id: The type id of each token.
            word_idx: The word of each token; None for the number of its part.

        Raises:
            EncodeError: A part has no tokens.
        """
        return Encoding._of(self._columns(type_id, word_idx))

    def _columns(self, type_id: int, word_idx: int | None) -> Columns:
        made = Columns([], [], [], [], [], [], [])
        for number, (normalized, tokens) in enumerate(self._splits):
            if tokens is None:
                raise EncodeError(f"the part {normalized.normalized!r} has no tokens", remedy="call tokenize first")
            for token in tokens:
                made.ids.append(token.id)
                made.tokens.append(token.value)
                made.offsets.append(normalized._place(*token.offsets))
                made.word_ids.append(number if word_idx is None else word_idx)
        count = len(made.ids)
        made.type_ids, made.special_tokens_mask, made.attention_mask = [type_id] * count, [0] * count, [1] * count
        return made
