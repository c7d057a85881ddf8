"""Split patterns and their names."""

from __future__ import annotations

from bytepair._core import split_patterns
from bytepair.errors import PatternError

SPLIT_PATTERNS: dict[str, str] = split_patterns()
"""Split patterns by name: ``gpt2``, ``cl100k``, ``o200k``, ``llama3``, ``qwen2``, ``superwords`` and
``none``."""


def split_pattern(split: str) -> str:
    """The pattern of a name; any other string is returned as a pattern.

    Raises:
        PatternError: It looks like a name but is not a known one.

    Example:
        >>> split_pattern("none"), split_pattern("[0-9]+")
        ('', '[0-9]+')
        >>> split_pattern("GPT2")
        Traceback (most recent call last):
        bytepair.errors.PatternError: there is no split pattern 'GPT2'; did you mean 'gpt2'? As a pattern: (?:GPT2)
    """
    if split in SPLIT_PATTERNS:
        return SPLIT_PATTERNS[split]
    # Only unnamed patterns need this import.
    import re  # noqa: PLC0415

    if re.fullmatch(r"[\w\s-]+", split):
        raise _no_name(split)
    return split


def _no_name(split: str) -> PatternError:
    import difflib  # noqa: PLC0415

    close = difflib.get_close_matches(split.lower(), SPLIT_PATTERNS, 1)
    hint = f"did you mean {close[0]!r}?" if close else f"use one of {', '.join(SPLIT_PATTERNS)}."
    return PatternError(f"there is no split pattern {split!r}", remedy=f"{hint} As a pattern: (?:{split})")


def split_name(pattern: str) -> str | None:
    """The name of a pattern, if it has one.

    Example:
        >>> split_name(split_pattern("gpt2"))
        'gpt2'
    """
    return next((name for name, known in SPLIT_PATTERNS.items() if known == pattern), None)
