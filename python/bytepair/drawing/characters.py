"""Visible stand-ins for characters that are invisible or would hide others."""

from __future__ import annotations

import unicodedata
from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMED = {"\n": "↵", "\t": "→"}

# Besides the categories below: letters and marks that are drawn as nothing, and Braille without dots.
_EMPTY = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
_EMPTY |= {*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}

_UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"}

_MOST_MARKS = 4
"""Marks that are drawn on one letter: more than any script has, too few to cover other lines."""


class Shown(NamedTuple):
    """A displayed part of a text.

    Attributes:
        text: Visible characters; the stand-in of a character is a single symbol or ``U+200B``.
        stands_for: The character that `text` replaces; empty for text shown as it is.
    """

    text: str
    stands_for: str


def show(text: str) -> Iterator[Shown]:
    r"""Split a text into visible stretches and stand-ins for other characters.

    A leading space before a letter stays, as in most tokens; other spaces become ``·``. A mark without a letter before
    it gets a circle.

    Args:
        text: Any characters, also lone surrogates.

    Example:
        >>> [part.text for part in show(" a  b\u200b\n")]
        [' a', '·', '·', 'b', 'U+200B', '↵']
    """
    plain: list[str] = []
    marks, has_letter = 0, False
    for place, character in enumerate(text):
        category = "Ll" if "!" <= character <= "~" else unicodedata.category(character)
        shown = _instead(text, place, category)
        if category in {"Mn", "Me", "Mc"} and not shown:
            marks += 1
            if not has_letter:
                shown = "◌" + character
            elif marks > _MOST_MARKS:
                shown = _number(character)
        else:
            marks, has_letter = 0, not shown and character != " "
        if not shown:
            plain.append(character)
            continue
        if plain:
            yield Shown("".join(plain), "")
            plain = []
        yield Shown(shown, character)
    if plain:
        yield Shown("".join(plain), "")


def show_line(text: str, most: int = 80) -> str:
    r"""A text as one line of visible characters and spaces, cut off after `most` of them.

    Example:
        >>> show_line("a\tb\u202e"), show_line("abcdef", most=3)
        ('a→bU+202E', 'abc…')
    """
    if len(text) <= most and text.isascii() and text.isprintable():
        return text
    line = "".join(" " if part.stands_for == " " else part.text for part in show(text[: most + 1]))
    return line if len(text) <= most else line[:most] + "…"


def escaped(text: str, most: int = 80) -> str:
    """`show_line` for HTML.

    Example:
        >>> escaped("a < b")
        'a &lt; b'
    """
    return escape(show_line(text, most))


def marked(text: str) -> str:
    r"""`show` for HTML: stand-ins are in ``<i>``, and a line break follows that of a line end.

    Example:
        >>> marked("a\n")
        'a<i>↵</i><br>'
    """
    return "".join(
        escape(part.text) if not part.stands_for else f"<i>{escape(part.text)}</i>" + "<br>" * (part.stands_for == "\n")
        for part in show(text)
    )


def _instead(text: str, place: int, category: str) -> str:
    """The stand-in of a character; empty for a visible one."""
    character = text[place]
    if character == " ":
        is_before_letter = place == 0 and text[1:2] not in ("", " ") and text[1:2].isprintable()
        return "" if is_before_letter else "·"
    if category in _UNSEEN or ord(character) in _EMPTY:
        return _NAMED.get(character) or _number(character)
    return ""


def _number(character: str) -> str:
    return f"U+{ord(character):04X}"
