"""Word counts (UAX #29), and how much of a text is written without spaces."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bytepair._core import places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

_SLICE = 1 << 20
_MOST_KEPT = 16 << 20

# ASCII characters that join two letters, or two digits, of one word (UAX #29: MidLetter, MidNum and MidNumLet).
_IN_WORDS, _IN_NUMBERS = ":'.", "',.;"

# Han, kana, Thai, Lao, Burmese, Khmer: their blocks, first and last.
_SPACELESS = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x19E0, 0x19FF),
    (0x3005, 0x3007),
    (0x3041, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)


class Words(NamedTuple):
    """The word counts of a text.

    Attributes:
        words: Segments between word boundaries (UAX #29) that hold a letter or a number.
        spaceless: Characters of scripts without spaces between words, which these boundaries cannot segment: each Han
            character, kana or Thai letter is a word of its own there.
    """

    words: int
    spaceless: int

    def __add__(self, other: object) -> Words:
        return (
            Words(self.words + other.words, self.spaceless + other.spaceless)
            if isinstance(other, Words)
            else NotImplemented
        )


def count(text: str) -> Words:
    """Count the words of a text.

    Args:
        text: Any characters except lone surrogates.

    Complexity:
        Linear; about 40 bytes of memory per character. Lines of ASCII take a tenth of the time of others.

    Example:
        >>> count("Don't panic: it's 3.14 (or so)!")
        Words(words=6, spaceless=0)
        >>> count("日本語")
        Words(words=3, spaceless=3)
    """
    if text.isascii():
        return Words(_in_ascii(text), 0)
    # No word crosses a line end.
    lines = text.split("\n")
    plain = "\n".join([line for line in lines if line.isascii()])
    text = "\n".join([line for line in lines if not line.isascii()])
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    starts = np.array([0, *places(text, "word")], np.int64)
    starts = starts[starts < len(codes)]
    kinds = _kinds()[codes]
    # A segment between two boundaries is a word if it holds a letter or a number.
    words = np.logical_or.reduceat((kinds & 1).astype(bool), starts)
    return Words(int(words.sum()) + _in_ascii(plain), int(np.count_nonzero(kinds & 2)))


def _in_ascii(text: str) -> int:
    """The words of an ASCII text, vectorized: a word is a run of letters, digits and single joining characters."""
    # Line ends around the text belong to no word.
    kinds = _ascii_kinds()[np.frombuffer(f"\n{text}\n".encode("ascii"), np.uint8)]
    before, here, after = kinds[:-2], kinds[1:-1], kinds[2:]
    between = before & after & (here >> 3)
    inside = np.zeros(len(kinds), np.bool_)
    inside[1:-1] = ((here & (_LETTER | _DIGIT | _LINK)) | (between & (_LETTER | _DIGIT))) != 0
    runs = int(np.count_nonzero(inside[1:] & ~inside[:-1]))
    # A run of underscores alone is not a word.
    low = kinds == _LINK
    if not low.any():
        return runs
    starts = np.flatnonzero(low[1:] & ~low[:-1])
    ends = np.flatnonzero(low[:-1] & ~low[1:]) + 1
    return runs - int(np.count_nonzero(~inside[starts] & ~inside[ends]))


def slices(text: str) -> Iterator[str]:
    """A text in slices of about a million characters, whose words add up to those of the whole.

    It is cut before a space or a line end, which no word crosses; the text after it does not move a boundary before it.

    Example:
        >>> list(slices("low lower"))
        ['low lower']
    """
    start = 0
    while len(text) - start > _SLICE:
        end = _last_cut(text, start + 1, start + _SLICE)
        if end < 0:
            later = [at for at in (text.find(space, start + _SLICE) for space in " \n") if at >= 0]
            if not later:
                break
            end = min(later)
        yield text[start:end]
        start = end
    yield text[start:]


class Running:
    """Counts the words of a text that comes in parts.

    Example:
        >>> running = Running(lambda texts: map(count, texts))
        >>> running.push("low lo")
        >>> running.push("wer")
        >>> running.finish()
        Words(words=2, spaceless=0)
    """

    def __init__(self, count_all: Callable[[Iterable[str]], Iterable[Words]]) -> None:
        self._count_all = count_all
        self._kept: list[str] = []
        self._size = 0
        self._words = Words(0, 0)

    def push(self, text: str) -> None:
        """Count the next part."""
        cut = _last_cut(text, 0, len(text))
        # A stretch this long without a space is not a word; cutting it adds one word at most.
        if cut < 0 and self._size + len(text) > _MOST_KEPT:
            cut = len(text)
        if cut < 0:
            self._kept.append(text)
            self._size += len(text)
            return
        self._take("".join([*self._kept, text[:cut]]))
        self._kept, self._size = [text[cut:]], len(text) - cut

    def finish(self) -> Words:
        """Return the words of the whole text; further parts belong to a new text."""
        self._take("".join(self._kept))
        words, self._words, self._kept, self._size = self._words, Words(0, 0), [], 0
        return words

    def _take(self, text: str) -> None:
        for words in self._count_all(slices(text)):
            self._words += words


def _last_cut(text: str, start: int, end: int) -> int:
    return max(text.rfind(" ", start, end), text.rfind("\n", start, end))


_LETTER, _DIGIT, _LINK = 1, 2, 4


@cache
def _ascii_kinds() -> NDArray[np.uint8]:
    """The class of each byte; three bits higher, the classes that it joins within a word."""
    kinds = np.zeros(128, np.uint8)
    for code in range(128):
        letter = chr(code)
        kinds[code] = _LETTER * letter.isalpha() | _DIGIT * letter.isdigit() | _LINK * (letter == "_")
        kinds[code] |= (_LETTER * (letter in _IN_WORDS) | _DIGIT * (letter in _IN_NUMBERS)) << 3
    return kinds


@cache
def _kinds() -> NDArray[np.uint8]:
    """For each code point: 1 for a letter or a number, plus 2 in a script without spaces."""
    kinds = np.fromiter((chr(code).isalnum() for code in range(0x110000)), np.uint8, 0x110000)
    for first, last in _SPACELESS:
        kinds[first : last + 1] |= kinds[first : last + 1] << 1
    return kinds
