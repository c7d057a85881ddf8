"""Tokens as rows of a terminal: cells that fit, with the id and a mark below each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from bytepair.drawing.layout import columns
from bytepair.view.looks import parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytepair.view.looks import TokenLook
    from bytepair.view.pictures import Picture, PictureTokens

_BACKGROUNDS = (153, 193, 223, 183, 158, 217)
"""Light colours of the 256, of which neighbours differ; text on them is nearly black on any terminal."""

_INK, _FAINT = "38;5;16", "38;5;238"
_STYLES = {"special": "1;7", "added": "1;4"}
_BRACKETS = {"special": "⟦⟧", "added": "⟨⟩", "gap": "×"}

TOKEN, PIECE = "│", "║"

LEAST = 30
"""Columns: half of them for a name, and the rest for any id or symbol."""


@dataclass(frozen=True, slots=True)
class TerminalOptions:
    """Options of a drawing for a terminal.

    Attributes:
        width: The columns of a line, at least 30.
        colour: Whether tokens have backgrounds in turn, by escape sequences.
        ids: Whether to write the id below each token.
        boundaries: Whether ``│`` ends each token; None: only without colour.
        pieces: Whether ``║`` ends each token that is the last of its piece. Then ``│`` ends the others.
        by_line: With several tokenizers, whether to show each line of the text for all of them before the next line,
            instead of the whole text for each.
    """

    width: int = 100
    colour: bool = False
    ids: bool = False
    boundaries: bool | None = None
    pieces: bool = False
    by_line: bool = False

    @property
    def has_boundaries(self) -> bool:
        """Whether a mark ends each token."""
        return self.pieces or (not self.colour if self.boundaries is None else self.boundaries)


class _Atom(NamedTuple):
    """An indivisible unit: a character with its combining marks, or its stand-in."""

    text: str
    width: int
    is_faint: bool


class _Stretch(NamedTuple):
    """The part of a token that lies in one line."""

    atoms: tuple[_Atom, ...]
    width: int
    ends_line: bool


class _TerminalLine:
    """A line that is being filled, with the ids and marks below it."""

    def __init__(self) -> None:
        self.used = 0
        self._cells: list[tuple[str, str, str]] = []

    def add(self, drawn: str, width: int, id: str, mark: str) -> None:
        """Add a cell of a width, with its id and mark below."""
        self._cells.append((drawn, id.ljust(width), mark.ljust(width)))
        self.used += width

    def flush(self) -> Iterator[str]:
        """Yield the lines, and empty the row."""
        tokens, *below = ("".join(cells) for cells in zip(*self._cells, strict=True)) if self._cells else ("",)
        if tokens:
            yield tokens
        yield from filter(None, (line.rstrip() for line in below))
        self._cells, self.used = [], 0


class TokenRows:
    """The rows of a text's parts in one tokenizer."""

    def __init__(self, picture: Picture, source: PictureTokens, settings: TerminalOptions) -> None:
        self.parts, self.source, self._settings = list(parts(picture, source)), source, settings
        self._differs = _are_in(source, source.differs or ())
        # Most tokens occur often.
        self._painted = lru_cache(maxsize=1 << 16)(self._paint)
        self._cut = lru_cache(maxsize=1 << 14)(_cut)

    def rows(self, first: int, last: int, width: int) -> Iterator[str]:
        """The lines of the parts from `first` up to, not including, `last`."""
        row = _TerminalLine()
        for number in range(first, last):
            token, _, look = self.parts[number]
            id = str(self.source.ids[token]) if self._settings.ids and token is not None else ""
            end = self._end(token)
            mark = "^" if token is not None and self._differs[token] else ""
            stretches = self._cut(look, width - len(end))
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
        """The mark after a part: one column wide, or empty."""
        if not self._settings.has_boundaries:
            # Two ids without a space between would read as one number.
            return " " if self._settings.ids else ""
        if not self._settings.pieces or token is None:
            return TOKEN
        pieces = self.source.pieces
        return TOKEN if token + 1 < len(pieces) and pieces[token + 1] == pieces[token] else PIECE

    def _paint(self, look: TokenLook, width: int, place: int, colour: int) -> str:
        atoms = self._cut(look, width)[place].atoms
        plain = "".join(atom.text for atom in atoms)
        if not self._settings.colour or look.mark == "gap":
            return plain
        if look.mark:
            return f"\x1b[{_STYLES[look.mark]}m{plain}\x1b[0m"
        runs = (
            (faint, "".join(atom.text for atom in run)) for faint, run in groupby(atoms, lambda atom: atom.is_faint)
        )
        inked = "".join(f"\x1b[{_FAINT if faint else _INK}m{run}" for faint, run in runs)
        return f"\x1b[48;5;{_BACKGROUNDS[colour]}m{inked}\x1b[0m"


def _cut(look: TokenLook, width: int) -> tuple[_Stretch, ...]:
    """Split a part into lines: after line ends, and where it is too wide."""
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


def _atoms(look: TokenLook) -> Iterator[tuple[_Atom, bool]]:
    """The atoms of a part, and whether a line ends after each; in brackets only after the closing one."""
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
            # Combining marks stay on their letter.
            if drawn and columns(character):
                yield _Atom(drawn, columns(drawn), not shown.is_plain), False
                drawn = ""
            drawn += character
        yield _Atom(drawn, columns(drawn), not shown.is_plain), False
    if closing:
        yield _Atom(closing, 1, is_faint=False), look.text.endswith("\n")


def _are_in(source: PictureTokens, intervals: Sequence[tuple[int, int]]) -> list[bool]:
    """Whether each token has a character of these intervals."""
    found, place = [], 0
    for start, end in zip(source.starts, source.ends, strict=True):
        while place < len(intervals) and intervals[place][1] <= start:
            place += 1
        found.append(place < len(intervals) and intervals[place][0] < end)
    return found
