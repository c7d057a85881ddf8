"""How many columns of a terminal text takes."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_JOINING = range(0x1160, 0x1200)
"""Vowels and final consonants of Hangul: drawn into the syllable of the consonant before."""


def columns(text: str) -> int:
    """The columns that a terminal takes for a text without control characters.

    Wide and full-width characters take two, marks that are drawn over others none. What is approximated: characters of
    ambiguous width take one; marks that take room of their own take one; emoji that a terminal draws as one (with skin
    tones, as flags) are counted one by one, as most terminals do. Linear.

    Example:
        >>> columns("ab"), columns("東京"), columns("e\u0301")
        (2, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_column, text))


@lru_cache(maxsize=1 << 14)
def _column(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"} or ord(character) in _JOINING:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
