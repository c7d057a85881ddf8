"""What the text and the page of an explanation share: how much is shown, and how some of it is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.drawing.characters import show_line
from bytepair.drawing.wording import plural

if TYPE_CHECKING:
    from bytepair.study.explain.explanation import ExplainedPiece

MOST_PIECES = 200
"""Pieces that are shown."""

MOST_STEPS = 40
"""Merges or matches that are shown of one piece."""

MOST_WAY = 40
"""Tokens that are shown of a way through a piece."""

MOST_IDS = 64
"""Ids that are shown of one piece."""

MOST_CHANGES = 12
"""Stretches that are shown of those that normalizers changed."""

KINDS = {
    "added": "added token",
    "merged": "merged",
    "whole": "taken whole",
    "longest match": "longest match",
    "best path": "best path",
    "word": "a token",
    "unknown": "unknown",
}


def around(before: str, after: str, most: int) -> tuple[str, str]:
    """Two texts around the first place at which they differ."""
    pairs = zip(before, after, strict=False)
    first = next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(before), len(after)))
    start = max(0, first - most // 2) if max(len(before), len(after)) > most else 0
    lead = "…" * (start > 0)
    return lead + show_line(before[start:], most), lead + show_line(after[start:], most)


def same(piece: ExplainedPiece) -> tuple[str, str, tuple[int, ...]]:
    """What two pieces have in common that are explained once."""
    return piece.text, piece.kind, piece.ids


def tried(longer: int) -> str:
    """After how many tries a token was found, or none."""
    return f"after {plural(longer, 'longer try', 'longer tries')}" if longer else "at once"


def minus(number: str) -> str:
    """A number with the sign that is as wide as its digits."""
    return number.replace("-", "−")
