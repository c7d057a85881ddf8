"""A picture for a terminal: lines of tokens, with their ids, boundaries and pieces if these are wanted.

Nothing is told by colour alone, and no control character of a text gets into a line.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from bytepair.view.characters import show_line
from bytepair.view.parts import parts
from bytepair.view.widths import columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from bytepair.view.parts import Look
    from bytepair.view.pictures import Picture, Tokens

_BACKGROUNDS = (153, 193, 223, 183, 158, 217)
"""Light colours of the 256, of which neighbours differ; what is written on them is nearly black on any terminal."""

_INK, _FAINT = "38;5;16", "38;5;240"
_STYLES = {"special": "1;7", "added": "1;4", "gap": "9"}
_BRACKETS = {"special": "⟦⟧", "added": "⟨⟩", "gap": "×"}

_TOKEN, _PIECE = "│", "║"

_MOST_OF_NAME = 28

_LEAST = 30
"""Columns: half of them for a name, and the rest for any id or symbol."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a picture is drawn.

    Attributes:
        width: The columns of a line, at least 30.
        colour: Whether tokens have backgrounds in turn, by escape sequences.
        ids: Whether the id stands below each token.
        boundaries: Whether ``│`` ends each token; None for where there is no colour.
        pieces: Whether ``║`` ends each token that is the last of its piece. Then the others have boundaries as well.
        by_line: Of several tokenizers, whether each line of the text is shown for all of them before the next one; else
            the whole text is shown for each.
    """

    width: int = 100
    colour: bool = False
    ids: bool = False
    boundaries: bool | None = None
    pieces: bool = False
    by_line: bool = False

    @property
    def has_boundaries(self) -> bool:
        """Whether something ends each token."""
        return self.pieces or (not self.colour if self.boundaries is None else self.boundaries)


def is_coloured(stream: TextIO | None, choice: str = "auto") -> bool:
    """Whether a stream is given colours.

    Args:
        stream: Where it is going to be written.
        choice: ``"always"``, ``"never"``, or ``"auto"``: if it is a terminal that knows them and the environment has no
            ``NO_COLOR``.

    Raises:
        ValueError: The choice is another one.

    Example:
        >>> import io
        >>> is_coloured(io.StringIO()), is_coloured(None, "always")
        (False, True)
    """
    if choice not in {"always", "never", "auto"}:
        raise ValueError(f"colours are 'always', 'never' or 'auto', not {choice!r}")
    if choice != "auto":
        return choice == "always"
    is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return stream is not None and stream.isatty() and not is_plain


def text(picture: Picture, settings: Settings | None = None) -> str:
    """A picture as lines; as `lines`.

    Example:
        >>> import bytepair as bp
        >>> from bytepair.view.pictures import picture
        >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
        >>> print(text(picture({"mine": tok}, "lower low"), Settings(ids=True)))
        mine: 4 tokens, 9 characters, 9 bytes, 2.25 bytes a token, 3 different ids
        <BLANKLINE>
        low│er │· │low│
        257 258 32 257
        <BLANKLINE>
        │ ends a token; · is a space
    """
    return "\n".join(lines(picture, settings))


def lines(picture: Picture, settings: Settings | None = None) -> Iterator[str]:
    """A picture as lines of at most so many columns: a summary of each tokenizer, its tokens, and what marks mean.

    A space is shown as ``·`` but before a letter, other characters that cannot be seen by symbols, a line ends behind
    the ``↵`` of the text. Tokens wider than a line go on in the next one. Where a tokenizer cuts otherwise than the
    first one (of the first: than any other), ``^`` stands below its tokens.

    Args:
        picture: What is shown.
        settings: How.

    Yields:
        Lines without their newlines; none holds a control character but the escape sequences of colours.

    Raises:
        ValueError: The width is less than 30.

    Time is linear in the tokens.
    """
    settings = settings or Settings()
    if settings.width < _LEAST:
        raise ValueError(f"a line has at least {_LEAST} columns, not {settings.width}")
    drawn = [_Drawn(picture, source, settings) for source in picture.sources]
    if settings.by_line and len(drawn) > 1:
        names = [_name(source, settings.width // 2 - 1) for source in picture.sources]
        margin = max(map(columns, names)) + 1
        for source in picture.sources:
            yield from _wrapped(summary(picture, source), settings.width)
        bounds = _common_lines(picture, drawn)
        for number in range(len(bounds[0]) - 1):
            yield ""
            for name, tokens, places in zip(names, drawn, bounds, strict=True):
                head = name + " " * (margin - columns(name))
                for row in tokens.rows(places[number], places[number + 1], settings.width - margin):
                    yield head + row
                    head = " " * margin
    else:
        for number, tokens in enumerate(drawn):
            if number:
                yield ""
            yield from _wrapped(summary(picture, tokens.source), settings.width)
            if tokens.parts:
                yield ""
                yield from tokens.rows(0, len(tokens.parts), settings.width)
    if key := _key(drawn, settings):
        yield ""
        yield from _wrapped(key, settings.width)


def summary(picture: Picture, source: Tokens) -> str:
    """How many tokens a text has, and of what.

    Example:
        >>> import bytepair as bp
        >>> from bytepair.view.pictures import picture
        >>> seen = picture({"mine": bp.train({"low": 5}, vocab_size=258)}, "low low")
        >>> summary(seen, seen.sources[0])
        'mine: 3 tokens, 7 characters, 7 bytes, 2.33 bytes a token, 2 different ids'
    """
    size, count = picture.size, len(source)
    facts = [_count(count, "token"), _count(len(picture.text), "character"), _count(size, "byte")]
    if count:
        facts += [f"{size / count:.2f} bytes a token", _count(len(set(source.ids)), "different id")]
    return f"{_name(source)}: {', '.join(facts)}"


def _wrapped(line: str, width: int) -> Iterator[str]:
    used, words = -1, list[str]()
    for word in line.split(" "):
        size = columns(word)
        if words and used + 1 + size > width:
            yield " ".join(words)
            used, words = -1, []
        words.append(word)
        used += 1 + size
    yield " ".join(words)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + "s" * (number != 1)


def _name(source: Tokens, most: int = _MOST_OF_NAME) -> str:
    """A name in at most so many columns."""
    name = show_line(source.name, min(most, _MOST_OF_NAME) - 1)
    while columns(name) > most:
        name = name[:-2] + "…"
    return name


class _Atom(NamedTuple):
    """What is never divided: a character with the marks on it, or the symbol in its place."""

    text: str
    width: int
    is_faint: bool


class _Stretch(NamedTuple):
    """What of a token stands in one line."""

    atoms: tuple[_Atom, ...]
    width: int
    ends_line: bool


class _Row:
    """A line that is being filled, with what stands below it."""

    def __init__(self) -> None:
        self.used = 0
        self._cells: list[tuple[str, str, str]] = []

    def add(self, drawn: str, width: int, id: str, mark: str) -> None:
        """A cell: what is drawn, in so many columns, and what stands below it."""
        self._cells.append((drawn, id.ljust(width), mark.ljust(width)))
        self.used += width

    def flush(self) -> Iterator[str]:
        """The lines; empties the row."""
        tokens, *below = ("".join(cells) for cells in zip(*self._cells, strict=True)) if self._cells else ("",)
        if tokens:
            yield tokens
        yield from filter(None, (line.rstrip() for line in below))
        self._cells, self.used = [], 0


class _Drawn:
    """The parts of a text, as one tokenizer has them, and how they look."""

    def __init__(self, picture: Picture, source: Tokens, settings: Settings) -> None:
        self.parts, self.source, self._settings = list(parts(picture, source)), source, settings
        self._differs = _is_in(source, source.differs or ())
        # Most tokens occur often.
        self._painted = lru_cache(maxsize=1 << 16)(self._paint)

    def rows(self, first: int, last: int, width: int) -> Iterator[str]:
        """The lines of the parts from `first` to before `last`."""
        row = _Row()
        for number in range(first, last):
            token, _, look = self.parts[number]
            id = str(self.source.ids[token]) if self._settings.ids and token is not None else ""
            end = self._end(token)
            mark = "^" if token is not None and self._differs[token] else ""
            stretches = _cut(look, width - len(end))
            for place, stretch in enumerate(stretches):
                is_last = place == len(stretches) - 1
                cell = max(stretch.width, len(id))
                if row.used + cell + len(end) * is_last > width:
                    yield from row.flush()
                drawn = self._painted(look, width - len(end), place, number % len(_BACKGROUNDS))
                drawn += " " * (cell - stretch.width) + end * is_last
                row.add(drawn, cell + len(end) * is_last, id, mark * stretch.width)
                id = ""
                if stretch.ends_line or not is_last:
                    yield from row.flush()
        yield from row.flush()

    def _end(self, token: int | None) -> str:
        """What stands behind a part; it is one column wide, or nothing."""
        if not self._settings.has_boundaries:
            # Else two ids would be one number.
            return " " if self._settings.ids else ""
        if not self._settings.pieces or token is None:
            return _TOKEN
        pieces = self.source.pieces
        return _TOKEN if token + 1 < len(pieces) and pieces[token + 1] == pieces[token] else _PIECE

    def _paint(self, look: Look, width: int, place: int, colour: int) -> str:
        atoms = _cut(look, width)[place].atoms
        plain = "".join(atom.text for atom in atoms)
        if not self._settings.colour:
            return plain
        if look.mark:
            return f"\x1b[{_STYLES[look.mark]}m{plain}\x1b[0m"
        runs = (
            (faint, "".join(atom.text for atom in run)) for faint, run in groupby(atoms, lambda atom: atom.is_faint)
        )
        inked = "".join(f"\x1b[{_FAINT if faint else _INK}m{run}" for faint, run in runs)
        return f"\x1b[48;5;{_BACKGROUNDS[colour]}m{inked}\x1b[0m"


@lru_cache(maxsize=1 << 14)
def _cut(look: Look, width: int) -> tuple[_Stretch, ...]:
    """What of a part stands in one line each: it is cut behind the ends of lines, and where it is too wide."""
    stretches: list[_Stretch] = []
    atoms: list[_Atom] = []
    used = 0
    for atom, ends_line in _atoms(look):
        if used + atom.width > width:
            stretches.append(_Stretch(tuple(atoms), used, ends_line=False))
            atoms, used = [], 0
        atoms.append(atom)
        used += atom.width
        if ends_line:
            stretches.append(_Stretch(tuple(atoms), used, ends_line=True))
            atoms, used = [], 0
    if atoms:
        stretches.append(_Stretch(tuple(atoms), used, ends_line=False))
    return tuple(stretches)


def _atoms(look: Look) -> Iterator[tuple[_Atom, bool]]:
    """What is drawn, and whether the line ends behind it; of what is in brackets not before the bracket."""
    brackets = _BRACKETS.get(look.mark, "")
    opening, closing = brackets[:1], brackets[1:]
    if opening:
        yield _Atom(opening, 1, is_faint=False), False
    for shown in look.shown():
        if not shown.is_plain and shown.characters:
            ends_line = shown.characters == "\n" and not closing
            yield _Atom(shown.text, columns(shown.text), is_faint=True), ends_line
            continue
        drawn = ""
        for character in shown.text:
            # Marks stay on their letter.
            if drawn and columns(character):
                yield _Atom(drawn, columns(drawn), not shown.is_plain), False
                drawn = ""
            drawn += character
        yield _Atom(drawn, columns(drawn), not shown.is_plain), False
    if closing:
        yield _Atom(closing, 1, is_faint=False), look.text.endswith("\n")


def _is_in(source: Tokens, intervals: Sequence[tuple[int, int]]) -> list[bool]:
    """For each token whether it has a character of these intervals."""
    found, place = [], 0
    for start, end in zip(source.starts, source.ends, strict=True):
        while place < len(intervals) and intervals[place][1] <= start:
            place += 1
        found.append(place < len(intervals) and intervals[place][0] < end)
    return found


def _common_lines(picture: Picture, drawn: Sequence[_Drawn]) -> list[list[int]]:
    """For each tokenizer where its parts are cut so that all have the same whole lines of the text."""
    begins: list[dict[int, int]] = []
    for tokens in drawn:
        begins.append({})
        for number, part in enumerate(tokens.parts):
            if part.start and picture.text[part.start - 1] == "\n":
                begins[-1].setdefault(part.start, number)
    common = sorted(set(begins[0]).intersection(*begins[1:]))
    return [
        [0, *(begin[place] for place in common), len(tokens.parts)] for begin, tokens in zip(begins, drawn, strict=True)
    ]


def _key(drawn: Sequence[_Drawn], settings: Settings) -> str:
    """What the marks mean that occur."""
    looks = {part.look for tokens in drawn for part in tokens.parts}
    marks = {look.mark for look in looks}
    characters = {character for look in looks for character in look.text}
    meanings = {
        f"{_TOKEN} ends a token": settings.has_boundaries and bool(looks),
        f"{_PIECE} ends the last one of a piece": settings.pieces and bool(looks),
        "· is a space": " " in characters,
        "↵ the end of a line": "\n" in characters,
        "→ a tab": "\t" in characters,
        "⟦⟧ is a special token": "special" in marks,
        "⟨⟩ an added token": "added" in marks,
        "× is before what is from no token": "gap" in marks,
        "‹e2› is a byte of a character that several tokens share": any(look.before or look.after for look in looks),
        "‹“a”› a token without a character of its own": any(look.instead for look in looks),
        "�‹ff› a byte that is not UTF-8": any(look.replaced for look in looks),
        "^ is where tokens differ": any(tokens.source.differs for tokens in drawn),
    }
    return "; ".join(meaning for meaning, holds in meanings.items() if holds)
