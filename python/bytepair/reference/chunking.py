"""Chunks of a text, by the definition.

The one idea: all places are known, and every one is tried. A chunk ends at the best place of the second half of the
longest prefix that fits; the text that it shares with the next one starts at the best place of the first half of the
longest suffix that fits. Each is tested, because counts are not monotone: a longer text may have fewer tokens.

Complexity: O(text) counts for each chunk, each O(text). Biggest weakness: exactly that.

Source: the rule of `bytepair.Tokenizer.chunks`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bytepair.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The line ends of UAX #29; \r\n is one.
_LINE = re.compile("[^\n\r\x85\u2028\u2029]*(?:\r\n|[\n\r\x85\u2028\u2029])?")
# Unicode's white space: `str.strip` also takes four separators that are not.
_BLANK = re.compile("[^\\S\x1c-\x1f]*")


def chunks(
    text: str, limit: int, count: Callable[[str], int], kinds: Sequence[Sequence[int]], overlap: int = 0
) -> list[tuple[int, int, int]]:
    """Cut a text into chunks.

    Args:
        text: The text.
        limit: The most tokens of a chunk.
        count: The number of tokens of a text.
        kinds: The places of each kind, in characters, the strongest kind first.
        overlap: The most tokens of the text that a chunk shares with the one before.

    Returns:
        Start, end and tokens of each, in characters.

    Raises:
        LimitError: A character alone has more tokens than the limit.

    Complexity: O(text) counts for each chunk.

    Source: the rule of `bytepair.Tokenizer.chunks`.

    Example:
        >>> chunks("a bc. def", 5, len, [[6], [1, 4, 5]])
        [(0, 5, 5), (5, 9, 4)]
        >>> chunks("a bc. defg", 7, len, [[6], [1, 4, 5]], overlap=2)
        [(0, 6, 6), (4, 10, 6)]
    """
    byte = [0]
    for character in text:
        byte.append(byte[-1] + len(character.encode()))
    found: list[tuple[int, int, int]] = []
    start = before = 0
    while before < len(text):
        most = _longest(text, start, limit, count)
        if start < before and most <= before:
            start = before
            most = _longest(text, start, limit, count)
        if most == start:
            raise LimitError(f"{text[start]!r} alone has more than {limit} tokens", character=start)
        end = most
        if most < len(text):
            half = byte[start] + (byte[most] - byte[start]) // 2
            ends = [place for place in range(before + 1, most + 1) if byte[place] > half]
            fits = [place for place in ends if count(text[start:place]) <= limit]
            end = next((max(good) for kind in kinds if (good := set(kind) & set(fits))), most)
        found.append((start, end, count(text[start:end])))
        shared = range(start + 1, end) if overlap else ()
        fits = [place for place in shared if count(text[place:end]) <= overlap]
        start, before = _first_shared(fits, end, kinds, byte), end
    return found


def _longest(text: str, start: int, limit: int, count: Callable[[str], int]) -> int:
    """The end of the longest prefix of the rest that fits."""
    return max(end for end in range(start, len(text) + 1) if end == start or count(text[start:end]) <= limit)


def _first_shared(fits: Sequence[int], end: int, kinds: Sequence[Sequence[int]], byte: Sequence[int]) -> int:
    """The first of the best places from which at most the overlap lies before the end."""
    least = min(fits, default=end)
    half = byte[least] + (byte[end] - byte[least]) // 2
    starts = [place for place in fits if byte[place] <= half]
    return next((min(good) for kind in kinds if (good := set(kind) & set(starts))), least)


def line_places(text: str) -> list[int]:
    r"""Return the places after the ends of lines.

    Example:
        >>> line_places("a\r\nb\n\nc")
        [3, 5, 6]
    """
    return [place for line, place in _lines(text) if place < len(text)]


def paragraph_places(text: str) -> list[int]:
    r"""Return the places after blank lines.

    Example:
        >>> paragraph_places("a\r\nb\n \n\nc")
        [7, 8]
    """
    return [place for line, place in _lines(text) if place < len(text) and _is_blank(line)]


def _is_blank(line: str) -> bool:
    return _BLANK.fullmatch(line) is not None


def markdown_places(text: str) -> list[int]:
    r"""Return the places before headings that are not in fenced code.

    Example:
        >>> markdown_places("a\n# b\n```\n# c\n```\n## d")
        [2, 18]
    """
    places, fence, start = [], "", 0
    for line, end in _lines(text):
        mark = re.match(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})", line)
        if fence:
            closed = mark and mark[1].startswith(fence) and _is_blank(line[mark.end() :])
            fence = "" if closed else fence
        elif mark:
            fence = mark[1]
        elif re.match(r" {0,3}#{1,6}(?![^ \t\r\n])", line) and start:
            places.append(start)
        start = end
    return places


def _lines(text: str) -> list[tuple[str, int]]:
    """Each line with its end, and where it ends."""
    return [(line[0], line.end()) for line in _LINE.finditer(text) if line[0]]
