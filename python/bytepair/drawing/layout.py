"""Text for a terminal: its width in columns, aligned tables, and whether a stream takes colours."""

from __future__ import annotations

import os
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

_JOINING = range(0x1160, 0x1200)
"""Vowels and final consonants of Hangul: drawn into the syllable of the consonant before."""


def columns(text: str) -> int:
    """The columns that a terminal takes for a text without control characters.

    Wide and full-width characters take two, combining marks none. Approximations: characters of ambiguous width take
    one; spacing marks take one; emoji sequences (skin tones, flags) are counted character by character, as most
    terminals do. Linear.

    Example:
        >>> columns("ab"), columns("東京"), columns("e\u0301")
        (2, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_column, text))


def padded(text: str, width: int, *, right: bool = False) -> str:
    """A text padded with spaces to a number of columns; the text is left-aligned, or right-aligned with `right`.

    Example:
        >>> padded("東", 4) + "|", padded("7", 3, right=True)
        ('東  |', '  7')
    """
    space = " " * (width - columns(text))
    return space + text if right else text + space


def aligned(table: Sequence[Sequence[str]], *, left: Sequence[int] = (0,)) -> Iterator[str]:
    """The rows of a table, all of equal length, as lines; columns but those of `left` are right-aligned.

    Example:
        >>> list(aligned([["", "tokens"], ["東", "7"], ["en", "1,200"]]))
        ['    tokens', '東       7', 'en   1,200']
    """
    widths = [max(map(columns, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = (padded(cell, widths[at], right=at not in left) for at, cell in enumerate(row))
        yield "  ".join(cells).rstrip()


def is_coloured(stream: TextIO | None, choice: str = "auto") -> bool:
    """Whether to write colours to a stream.

    Args:
        stream: The stream.
        choice: ``"always"``, ``"never"``, or ``"auto"``: if it is a terminal that supports them and the environment has
            no ``NO_COLOR``.

    Raises:
        ValueError: The choice is none of these.

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


@lru_cache(maxsize=1 << 14)
def _column(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"} or ord(character) in _JOINING:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
