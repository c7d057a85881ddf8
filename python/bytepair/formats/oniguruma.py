r"""Regular expressions of Oniguruma, the engine of ``tokenizers``, as both engines read them.

The two agree on most of what patterns use and differ in corners: ``$`` is the end of a line to one and of the text to
the other, ``\w`` has other characters, POSIX classes are ASCII to one, ``(?m)`` lets a dot match a line end in one.
``x{2}?`` is optional to it, and ``x{1,3}+`` not possessive. `portable` spells such constructs so that both mean what
Oniguruma means, and refuses the rest: ``ss`` without case, which ``ß`` matches in one.
``tests/formats/test_oniguruma.py`` compares each construct with ``tokenizers`` on all short strings over the
characters that it tells apart, and each class on every character.

Source: ``doc/RE`` of Oniguruma, for the syntax of Ruby.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from bytepair._core import may_match_nothing
from bytepair.errors import FormatError, PatternError

# Outside of a class, Oniguruma counts six digits and fractions of Latin-1 as words.
_WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
_IN_WORD = _WORD + r"\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE}"
_VISIBLE = r"[^\s\p{Cc}\p{Cn}\p{Cs}]"
_HEX = "0-9A-Fa-f"
WORD = f"[{_IN_WORD}]"
r"""The characters of Oniguruma's ``\w``."""

_CLASS_ESCAPES = {"w": _WORD, "W": f"[^{_WORD}]", "h": _HEX, "H": f"[^{_HEX}]"}
_ESCAPES = {
    "w": WORD,
    "W": f"[^{_IN_WORD}]",
    "h": f"[{_HEX}]",
    "H": f"[^{_HEX}]",
    "b": f"(?:(?<={WORD})(?!{WORD})|(?<!{WORD})(?={WORD}))",
    "B": f"(?:(?<={WORD})(?={WORD})|(?<!{WORD})(?!{WORD}))",
    "Z": r"(?=\n?\z)",
    "e": r"\x{1B}",
}
_CASED_BY_NAME = frozenset("wWbB")
"""Escapes that have no case by themselves, and are spelled by properties that could have."""
_LINE_START, _LINE_END = r"(?:\A|(?<=\n)(?!\z))", r"(?=\n|\z)"
_POSIX = {
    "alnum": r"\p{Alphabetic}\p{Nd}",
    "alpha": r"\p{Alphabetic}",
    "ascii": r"\x{0}-\x{7F}",
    "blank": r"\p{Zs}\t",
    "cntrl": r"\p{Cc}",
    "digit": r"\p{Nd}",
    "graph": _VISIBLE,
    "lower": r"\p{Lowercase}",
    "print": rf"{_VISIBLE}\p{{Zs}}",
    "punct": r"\p{P}\p{S}",
    "space": r"\s",
    "upper": r"\p{Uppercase}",
    "word": _WORD,
    "xdigit": _HEX,
}
# Properties by general category or script; those with the names of POSIX classes have other meanings.
_PROPERTY = rf"[pP]{{\^?(?!(?i:{'|'.join(_POSIX)})}})[A-Z][A-Za-z_]*}}"
_SAME_ESCAPE = re.compile(rf"\\(?:[sSdDtnrfvazA]|{_PROPERTY}|x{{[0-9A-Fa-f]+}}|[^\w\s<>])")
_CODE_POINT = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-7][0-9A-Fa-f])(?![0-9A-Fa-f]))")
_CLASS_BEFORE = re.compile(r"(?:\\[wWhHdDsS]|\\[pP]{\^?\w+}|:\])\Z")
_CLASS_BEHIND = re.compile(r"-(?:\\[wWhHdDsSpP]|\[)")
_POSIX_CLASS = re.compile(r"\[:(\^?)([a-z]+):\]")
_GROUP = re.compile(r"\((?:(?!\?)|\?(?:[:=!>]|<[=!]|<[A-Za-z_]\w*>))")
_OPTION = re.compile(r"\(\?(-?)([im])([:)])")
_QUANTIFIER = re.compile(r"(?:[?*+][?+]?|\{\d+\}(?!\?)|\{\d+,\d*\}\??|\{,\d+\}\??)(?![?*+])")
_REPEATED = re.compile(r"(?:(?=\{\d+\}\?)|(?=\{\d*,?\d*\}[*+]))(\{(?:\d+,?\d*|,\d+)\})([?*+])(?![?*+{])")
# Pairs of letters that one character folds to, such as ß and ﬆ.
_FOLD_TO_ONE = {"ss", "st", "ff", "fi", "fl"}
# What no case changes: without case, other classes gain characters in one engine.
_CASELESS = re.compile(r"\\(?:[sSdDtnrfvazAhHZ]|[pP]{(?:N|Nd|P|S|Z|Zs)}|[^\w\s])")


# An escape and a class have no groups; a class ends at the first bracket that no other one in it opened.
_PARENTHESES = re.compile(r"[()]|\\.|\[\^?(?:\\.|\[(?:\\.|[^\]])*\]|[^\]\\\[])*\]", re.DOTALL)
_DEEPEST = 100


class _Options(NamedTuple):
    ignore_case: bool = False
    dot_is_any: bool = False


def portable(pattern: str, pointer: str | None) -> str:
    r"""The pattern in a spelling that both engines read as Oniguruma reads the given one.

    Raises:
        FormatError: It has a construct for which there is none; the error quotes the pattern.
        PatternError: It is nested too deeply.

    Example:
        >>> portable(r"\p{L}+|\s+(?!\S)", None)
        '\\p{L}+|\\s+(?!\\S)'
        >>> portable(r"[[:punct:]]|\u4e00|(?i)abc", None)
        '[\\p{P}\\p{S}]|\\x{4e00}|(?i:abc)'
        >>> portable("a{2}?", None), portable("a{1,3}+", None)
        ('(?:a{2})?', '(?:a{1,3})+')
        >>> portable("(?i:ss)", None)
        Traceback (most recent call last):
        bytepair.errors.FormatError: the split pattern '(?i:ss)' has 's)' at character 5, which `tokenizers` may ...
    """
    stage = "split pattern" if pointer is None else f"pattern of the {pointer.split('/')[1]}"
    _check_depth(pattern, pointer)
    reader = _Reader(pattern)
    try:
        translated = reader.alternatives(_Options())
    except _Unknown:
        translated = None
    if translated is None or reader.at < len(pattern):
        raise FormatError(
            f"the {stage} {pattern!r} has {pattern[reader.at : reader.at + 8]!r} at character {reader.at}, "
            "which `tokenizers` may read otherwise",
            pointer=pointer,
            remedy="spell it with classes, groups and quantifiers that both engines know",
        )
    return translated


def as_pieces(pattern: str) -> str | None:
    r"""A pattern of both engines whose matches have a character, and split a text as Oniguruma splits it by this one.

    Where this one matches nothing, Oniguruma cuts: None, if that is at other places than those of a single
    look-around, or may be.

    Raises:
        PatternError: It does not compile.

    Example:
        >>> as_pieces(r"\p{N}+"), as_pieces(r"(?=(?:\d{3})+(?!\d))"), as_pieces("a*")
        ('\\p{N}+', '[\\s\\S]+?(?=(?=(?:\\d{3})+(?!\\d))|\\z)', None)
    """
    if not may_match_nothing(pattern):
        return pattern
    return rf"[\s\S]+?(?={pattern}|\z)" if _is_look_around(pattern) else None


def _is_look_around(pattern: str) -> bool:
    if not pattern.startswith(("(?=", "(?!", "(?<=", "(?<!")):
        return False
    depth = 0
    for found in _PARENTHESES.finditer(pattern):
        depth += (found[0] == "(") - (found[0] == ")")
        if not depth:
            return found.end() == len(pattern)
    return False


def _check_depth(pattern: str, pointer: str | None) -> None:
    depth = 0
    for character in pattern:
        depth += (character in "([") - (character in ")]")
        if depth > _DEEPEST:
            raise PatternError(
                f"the split pattern does not compile: its groups or classes are more than {_DEEPEST} deep",
                pointer=pointer,
                remedy="spell it with fewer",
            )


def shared(pattern: str) -> str:
    r"""The pattern, if both engines read it alike as it is spelled.

    Raises:
        FormatError: They do not.

    Example:
        >>> shared(r"\p{L}+|\s+(?!\S)")
        '\\p{L}+|\\s+(?!\\S)'
        >>> shared(r"\w+")
        Traceback (most recent call last):
        bytepair.errors.FormatError: the split pattern '\\w+' means something else to `tokenizers`; ...
    """
    translated = portable(pattern, None)
    if may_match_nothing(translated):
        raise FormatError(
            f"the split pattern {pattern!r} can match nothing, and `tokenizers` would cut there",
            remedy="let each alternative match at least one character",
        )
    if translated != pattern:
        raise FormatError(
            f"the split pattern {pattern!r} means something else to `tokenizers`",
            remedy=f"if it is meant as there, spell it {translated}",
        )
    return pattern


def _counts(quantifier: str) -> str:
    return quantifier.replace("{,", "{0,")


def _may_have_case(character: str) -> bool:
    """Whether a character that is not ASCII could fold to others, or be a part of what one folds to."""
    return not character.isascii() and unicodedata.category(character) not in ("Lo", "Nd", "Po", "Ps", "Pe", "Zs")


class _Unknown(Exception):  # noqa: N818 (never leaves this module)
    """A construct at the reader's place is not known to mean the same."""


class _Reader:
    """Reads a pattern from left to right; `at` is where it is."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.letter = ""

    def alternatives(self, options: _Options) -> str:
        """Everything up to the end of the group."""
        out: list[str] = []
        is_atom = False
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            found = _REPEATED.match(self.pattern, self.at) if is_atom else None
            is_atom = self.pattern[self.at] not in "?*+{|"
            if found:
                # The second quantifier is of the first one: neither lazy nor possessive.
                self._take(found[0])
                out[-1] = f"(?:{out[-1]}{_counts(found[1])}){found[2]}"
            else:
                out.append(self._part(options))
        return "".join(out)

    def _take(self, text: str) -> str:
        self.at += len(text)
        return text

    def _part(self, options: _Options) -> str:
        character = self.pattern[self.at]
        if character == "(":
            return self._group(options)
        if character in "?*+{":
            return self._quantifier()
        if character == "|":
            self.letter = ""
            return self._take("|")
        if character in "\\[":
            self.letter = ""
            return self._escape(options) if character == "\\" else self._class(options)
        if character in "^$.]}":
            self._take(character)
            any_character = r"[\s\S]" if options.dot_is_any else "."
            return {"^": _LINE_START, "$": _LINE_END, ".": any_character}.get(character, f"\\{character}")
        if options.ignore_case:
            self._check_fold(character)
        return self._take(character)

    def _check_fold(self, character: str) -> None:
        if (self.letter + character).lower() in _FOLD_TO_ONE or _may_have_case(character):
            raise _Unknown
        self.letter = character

    def _quantifier(self) -> str:
        found = _QUANTIFIER.match(self.pattern, self.at)
        if found is None:
            raise _Unknown
        return _counts(self._take(found[0]))

    def _group(self, options: _Options) -> str:
        if found := _OPTION.match(self.pattern, self.at):
            return self._with_option(found, options)
        found = _GROUP.match(self.pattern, self.at)
        if found is None:
            raise _Unknown
        # A name captures, which changes no match.
        opening = "(?:" if self._take(found[0]).endswith(">") and found[0] != "(?>" else found[0]
        return opening + self._closed(options)

    def _with_option(self, found: re.Match[str], options: _Options) -> str:
        self._take(found[0])
        off, name, end = found.groups()
        # To Ruby, `m` is the option that others call `s`, and an option alone holds for all alternatives that follow.
        options = options._replace(**{{"i": "ignore_case", "m": "dot_is_any"}[name]: not off})
        inner = self._closed(options) if end == ":" else self.alternatives(options) + ")"
        return ("(?:" if name == "m" else f"(?{off}i:") + inner

    def _closed(self, options: _Options) -> str:
        inner = self.alternatives(options)
        if self.pattern[self.at : self.at + 1] != ")":
            # The engine says what is wrong with it.
            return inner
        return inner + self._take(")")

    def _escape(self, options: _Options, names: dict[str, str] = _ESCAPES) -> str:
        name = self.pattern[self.at + 1 : self.at + 2]
        if options.ignore_case and not _CASELESS.match(self.pattern, self.at):
            if name in _CASED_BY_NAME and names is _ESCAPES:
                self.at += 2
                return f"(?-i:{names[name]})"
            raise _Unknown
        if found := _CODE_POINT.match(self.pattern, self.at):
            self._take(found[0])
            return f"\\x{{{found[1] or found[2]}}}"
        if name in names:
            self.at += 2
            return names[name]
        found = _SAME_ESCAPE.match(self.pattern, self.at)
        if found is None:
            raise _Unknown
        return self._take(found[0])

    def _class(self, options: _Options) -> str:
        start = self.at
        out = [self._take("[^" if self.pattern.startswith("[^", start) else "[")]
        first = self.at
        while self.pattern[self.at : self.at + 1] != "]":
            if self.at == len(self.pattern):
                self.at = start
                raise _Unknown
            out.append(self._member(options, is_first=self.at == first))
        if self.at == first:
            raise _Unknown
        return "".join(out) + self._take("]")

    def _member(self, options: _Options, *, is_first: bool) -> str:
        if found := _POSIX_CLASS.match(self.pattern, self.at):
            if found[2] not in _POSIX or options.ignore_case:
                raise _Unknown
            self._take(found[0])
            return f"[^{_POSIX[found[2]]}]" if found[1] else _POSIX[found[2]]
        two = self.pattern[self.at : self.at + 2]
        if two == "&&" and not is_first and self.pattern[self.at + 2 : self.at + 3] == "[":
            return self._take(two) + self._class(options)
        character = two[0]
        if two in ("--", "~~", "&&") or (character == "-" and self._is_beside_class()):
            raise _Unknown
        if character == "[":
            return self._class(options)
        if character == "\\":
            return self._escape(options, _CLASS_ESCAPES)
        if options.ignore_case and _may_have_case(character):
            raise _Unknown
        return self._take(character)

    def _is_beside_class(self) -> bool:
        """Whether the dash here would begin or end a range with a class."""
        is_last = self.pattern.startswith("-]", self.at)
        before = _CLASS_BEFORE.search(self.pattern, max(0, self.at - 40), self.at)
        return bool((before and not is_last) or _CLASS_BEHIND.match(self.pattern, self.at))
