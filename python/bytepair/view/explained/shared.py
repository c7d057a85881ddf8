"""Limits and wording that the text and the page of an explanation share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.drawing.characters import show_line
from bytepair.drawing.wording import plural

if TYPE_CHECKING:
    from bytepair.study.explain.explanation import ExplainedPiece

MOST_PIECES = 200
"""The most pieces that are shown."""

MOST_STEPS = 40
"""The most merges or matches of one piece that are shown."""

MOST_WAY = 40
"""The most tokens of a segmentation that are shown."""

MOST_IDS = 64
"""The most ids of one piece that are shown."""

MOST_CHANGES = 12
"""The most normalized stretches that are shown."""

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
    """Excerpts of two texts around their first difference."""
    pairs = zip(before, after, strict=False)
    first = next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(before), len(after)))
    start = max(0, first - most // 2) if max(len(before), len(after)) > most else 0
    lead = "…" * (start > 0)
    return lead + show_line(before[start:], most), lead + show_line(after[start:], most)


def same(piece: ExplainedPiece) -> tuple[str, str, tuple[int, ...]]:
    """The key of a piece: pieces with equal keys are explained once."""
    return piece.text, piece.kind, piece.ids


def tried(longer: int) -> str:
    """The number of tries until a token was found."""
    return f"after {plural(longer, 'longer try', 'longer tries')}" if longer else "at once"


def minus(number: str) -> str:
    """A number with a minus sign as wide as its digits."""
    return number.replace("-", "−")
