"""Which ids can follow others, and covers, by encoding every short text.

T(x) are the ids of a text x. What `Tokenizer.next_mask`, `cover` and `heal` answer is a statement about the beginnings
of T(x) for all texts x. Here the texts are all those of up to some length over a few characters, so that the answers
are right where longer texts, and other characters, would add none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

Encode: TypeAlias = Callable[[str], Sequence[int]]
Ids: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Beginnings:
    """The beginnings of the encodings of some texts.

    Attributes:
        next: The ids that follow each beginning of some encoding.
        encodings: The bytes and the ids of each text.
    """

    next: dict[Ids, set[int]] = field(default_factory=dict)
    encodings: list[tuple[bytes, Ids]] = field(default_factory=list)


def texts(characters: str, longest: int) -> Iterator[str]:
    """All texts of up to `longest` of these characters.

    Example:
        >>> list(texts("ab", 2))
        ['', 'a', 'b', 'aa', 'ab', 'ba', 'bb']
    """
    for length in range(longest + 1):
        yield from map("".join, product(characters, repeat=length))


def beginnings(encode: Encode, some: Iterable[str]) -> Beginnings:
    """The beginnings of the encodings of some texts.

    Example:
        >>> found = beginnings(lambda text: [len(word) for word in text.split()], ["a bc", "a d"])
        >>> found.next[()], found.next[(1,)]
        ({1}, {1, 2})
    """
    found = Beginnings()
    for text in some:
        ids = tuple(encode(text))
        found.encodings.append((text.encode(), ids))
        for end in range(len(ids)):
            found.next.setdefault(ids[:end], set()).add(ids[end])
    return found


def cover(found: Beginnings, token: Callable[[int], bytes], text: bytes) -> set[Ids]:
    """For each text that begins with `text`, the shortest beginning of its encoding that spells `text`.

    Args:
        found: The encodings of all texts.
        token: The bytes of an id.
        text: The beginning, which may end inside of a character.

    Example:
        >>> found = beginnings(lambda text: list(text.encode()), texts("ab", 2))
        >>> cover(found, lambda id: bytes([id]), b"a")
        {(97,)}
    """
    covers = set()
    for spelled, ids in found.encodings:
        if spelled.startswith(text):
            reached = end = 0
            while reached < len(text):
                reached += len(token(ids[end]))
                end += 1
            covers.add(ids[:end])
    return covers


def back(covers: set[Ids], ids: Ids) -> int:
    """The fewest of `ids` to take back, so that all sequences of a cover begin with the rest.

    Example:
        >>> back({(1, 2, 3), (1, 2, 4)}, (1, 2, 3)), back({(1, 2)}, (1, 2))
        (1, 0)
    """
    kept = len(ids)
    while any(sequence[:kept] != ids[:kept] for sequence in covers):
        kept -= 1
    return len(ids) - kept
