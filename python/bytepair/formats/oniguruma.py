r"""Split patterns that Oniguruma, the engine of ``tokenizers``, reads as bytepair does.

The two agree on most of what patterns use and differ in corners: ``$`` is the end of a line to one and of the text to
the other, ``\w`` has eight characters more, POSIX classes are ASCII to one, ``x{2}?`` is optional to one, ``ß`` matches
``(?i:ss)`` in one, and a match of nothing cuts the text in one. Only constructs known to mean the same are accepted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bytepair._core import matches_nothing
from bytepair.errors import FormatError

if TYPE_CHECKING:
    from re import Match

# Properties by general category or script; similar POSIX names have other meanings.
_POSIX = "Alnum|Alpha|Blank|Cntrl|Digit|Graph|Lower|Print|Punct|Space|Upper|Word|XDigit"
_ESCAPE = rf"\\(?:[sSdDtnrzA]|[pP]{{\^?(?!(?:{_POSIX})}})[A-Z][A-Za-z_]*}}|x{{[0-9A-Fa-f]+}}|[^\w\s<>])"
_CLASS = rf"\[\^?(?:{_ESCAPE}|&&\[\^?(?:{_ESCAPE}|[^\[\]\\])+\]|(?!--|~~|&&)[^\[\]\\])+\]"
_FOLDED = r"\(\?i:(?:[A-Za-z'’|]|\[[A-Za-z]+\])*\)"
_GROUP = r"\((?!\?)|\(\?(?::|=|!|<=|<!)|\)"
_QUANTIFIER = r"[?*+][?+]?|\{\d+\}(?![?+])|\{\d+,\d*\}\??(?!\+)"
_LITERAL = r"[^\\\[\](){}?*+^$]"
_PART = re.compile("|".join((_ESCAPE, _CLASS, f"(?P<folded>{_FOLDED})", _GROUP, _QUANTIFIER, _LITERAL)), re.DOTALL)
# Pairs of letters that one character folds to, such as ß and ﬆ.
_FOLD_TO_ONE = re.compile("ss|st|ff|fi|fl", re.IGNORECASE)


def portable(pattern: str, pointer: str | None, *, may_match_nothing: bool = False) -> str:
    r"""The pattern, if both engines are known to split alike by it.

    Raises:
        FormatError: It has a construct that they read differently; the error names it.

    Example:
        >>> portable(r"\p{L}+|\s+(?!\S)", None)
        '\\p{L}+|\\s+(?!\\S)'
        >>> portable(r"\w+|\W+", None)
        Traceback (most recent call last):
        bytepair.errors.FormatError: the split pattern has '\\w+|\\W', which `tokenizers` may read otherwise; ...
    """
    at = 0
    while at < len(pattern):
        part: Match[str] | None = _PART.match(pattern, at)
        if part is None or (part["folded"] and _FOLD_TO_ONE.search(part["folded"])):
            raise FormatError(
                f"the split pattern has {pattern[at : at + 6]!r}, which `tokenizers` may read otherwise",
                pointer=pointer,
                remedy=r"spell it without: [\p{L}\p{M}\p{Nd}\p{Pc}] for \w, \z for the end of the text",
            )
        at = part.end()
    if not may_match_nothing and matches_nothing(pattern):
        raise FormatError(
            "the split pattern can match nothing, and `tokenizers` would cut there",
            pointer=pointer,
            remedy="let each alternative match at least one character",
        )
    return pattern
