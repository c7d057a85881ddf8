"""Counts in words."""

from __future__ import annotations


def plural(count: int, one: str, many: str = "") -> str:
    """A count and its noun.

    Example:
        >>> plural(1, "token"), plural(1200, "token"), plural(2, "entry", "entries")
        ('1 token', '1,200 tokens', '2 entries')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def agree(count: int, one: str, many: str) -> str:
    """The singular or plural form of a word for a count.

    Example:
        >>> agree(1, "is", "are"), agree(0, "is", "are")
        ('is', 'are')
    """
    return one if count == 1 else many


def counted(count: int, noun: str, one: str, many: str) -> str:
    """A count, its noun and its verb.

    Example:
        >>> counted(1, "token", "is", "are"), counted(3, "token", "holds", "hold")
        ('1 token is', '3 tokens hold')
    """
    return f"{plural(count, noun)} {agree(count, one, many)}"
