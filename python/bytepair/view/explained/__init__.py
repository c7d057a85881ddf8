"""An explanation as text for a terminal, and as a page."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from bytepair.drawing.characters import show_line
from bytepair.drawing.layout import columns, is_coloured, padded
from bytepair.drawing.wording import plural
from bytepair.view.explained.ladder import LadderRow, rows
from bytepair.view.explained.page import html
from bytepair.view.explained.shared import (
    KINDS,
    MOST_CHANGES,
    MOST_IDS,
    MOST_PIECES,
    MOST_STEPS,
    MOST_WAY,
    around,
    same,
    tried,
)
from bytepair.view.page import write_page
from bytepair.view.spelling import spell, step_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import TextIO

    from bytepair.study.explain.explanation import ExplainedPiece, Explanation, LongestMatch, Segmentation

__all__ = ["LEAST", "html", "save", "text"]

LEAST = 40
"""The least width of a text, in columns."""

_LEAST_ROOM = 20
"""Symbols with fewer columns beside their merge go below it."""


def text(explanation: Explanation, *, stream: TextIO | None = None, width: int = 100) -> str:
    """An explanation for a terminal: each piece with its symbols, line after line as merges happen.

    There are colours only if the stream is a terminal and the environment has no ``NO_COLOR``. Long texts, pieces and
    segmentations are cut off, with the number of omitted parts.

    Args:
        explanation: The result of `explain`.
        stream: The stream that it will be written to; None for ``sys.stdout``.
        width: The columns of a line, at least `LEAST`.

    Example:
        >>> import bytepair as bp, io
        >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
        >>> print(text(bp.explain(tok, "low"), stream=io.StringIO()).rstrip())
        “low”: 3 characters, 1 piece, 1 token; ids 257
        <BLANKLINE>
        1  “low”  0–3  merged
                                  l o w
           rank 0  l + o → lo     [lo] w
           rank 1  lo + w → low   [low]
           ids     257 low
    """
    target = sys.stdout if stream is None else stream
    paint = _Paint(is_coloured(target))
    lines = [paint.strong(_headline(explanation)), *_normalized_lines(explanation, width), ""]
    shown: dict[tuple[str, str, tuple[int, ...]], int] = {}
    for number, piece in enumerate(explanation.pieces[:MOST_PIECES], 1):
        head = (
            f"{number}  “{show_line(piece.text, max(12, width - 42))}”  {piece.start}–{piece.end}  {KINDS[piece.kind]}"
        )
        first = shown.setdefault(same(piece), number)
        lines.append(paint.strong(head) + (f", as {first}" if first != number and piece.kind != "added" else ""))
        if first == number or piece.kind == "added":
            lines += ["   " + line if line else "" for line in _piece_lines(explanation, piece, width - 3, paint)]
        lines.append("")
    left = len(explanation.pieces) - MOST_PIECES
    if left > 0:
        lines.append(f"{left:,} more pieces are left out here; --format json has all")
    return "\n".join(lines).rstrip() + "\n"


def save(explanation: Explanation, path: str | Path, *, title: str = "") -> None:
    """Write the page of an explanation as `write_page` does; the other arguments are those of `html`."""
    write_page(html(explanation, title=title), path)


class _Paint:
    """Colours, if they are enabled."""

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted

    def strong(self, text: str) -> str:
        return f"\x1b[1m{text}\x1b[0m" if self._wanted else text

    def faint(self, text: str) -> str:
        return f"\x1b[2m{text}\x1b[0m" if self._wanted else text

    def fresh(self, text: str) -> str:
        return f"\x1b[1;32m{text}\x1b[0m" if self._wanted else text


def _headline(explanation: Explanation) -> str:
    ids = explanation.ids
    shown = " ".join(map(str, ids[:MOST_IDS])) + (f" … ({len(ids) - MOST_IDS:,} more)" if len(ids) > MOST_IDS else "")
    return (
        f"“{show_line(explanation.text, 60)}”: {plural(len(explanation.text), 'character')}, "
        f"{plural(len(explanation.pieces), 'piece')}, {plural(len(ids), 'token')}"
    ) + (f"; ids {shown}" if ids else "")


def _normalized_lines(explanation: Explanation, width: int) -> Iterator[str]:
    if not explanation.normalizers:
        return
    if not explanation.normalized:
        yield f"normalizers: {', '.join(map(step_name, explanation.normalizers))}; no change in this text"
        return
    each = max(12, (width - 20) // 2)
    for stretch in explanation.normalized[:MOST_CHANGES]:
        for change in stretch.changes:
            was, now = around(change.before, change.after, each)
            yield f"{step_name(change.step)} at {stretch.start}–{stretch.end}:"
            yield f"   “{was}” → “{now}”"
    if len(explanation.normalized) > MOST_CHANGES:
        yield f"{len(explanation.normalized) - MOST_CHANGES:,} more stretches are changed"


def _piece_lines(explanation: Explanation, piece: ExplainedPiece, width: int, paint: _Paint) -> Iterator[str]:
    if piece.kind == "merged" and (piece.steps or len(piece.symbols) > 1):
        yield from _merge_lines(explanation, piece, width, paint)
    for match in piece.matches[:MOST_STEPS]:
        yield _match_line(explanation, piece, match)
    if len(piece.steps) > MOST_STEPS:
        what = "merges" if piece.kind == "merged" else "matches"
        yield f"{len(piece.steps) - MOST_STEPS:,} more {what} are left out here; --format json has all"
    for name, way in zip(("best", "runner-up"), piece.segmentations, strict=False):
        yield f"{name:<10}{way.score:>10.4f}  {_way(explanation, way)}"
    if piece.note:
        yield piece.note
    ids = "  ".join(f"{id} {paint.fresh(spell(explanation.tokens[id]))}" for id in piece.ids[:MOST_IDS])
    more = f"  … {len(piece.ids) - MOST_IDS:,} more" if len(piece.ids) > MOST_IDS else ""
    yield "ids     " + (ids + more if piece.ids else "none")


def _merge_lines(explanation: Explanation, piece: ExplainedPiece, width: int, paint: _Paint) -> Iterator[str]:
    tokens = explanation.tokens
    steps = list(rows(piece, MOST_STEPS, max(4, width // 4)))
    ranks = [f"rank {row.step.rank}" if row.step else "" for row in steps]
    merges = [_merge(explanation, row) for row in steps]
    rank_width, merge_width = max(map(len, ranks)), max(map(columns, merges))
    for row, rank, merge in zip(steps, ranks, merges, strict=True):
        symbols = [spell(tokens[id]) for id in row.symbols]
        beside = width - rank_width - merge_width - 5
        room = (beside if beside >= _LEAST_ROOM else width - 4) - 4
        shown, before, behind = _fitting(symbols, row.fresh, room)
        words = [f"[{word}]" if place == row.fresh - before else word for place, word in enumerate(shown)]
        if row.fresh >= 0:
            words[row.fresh - before] = paint.fresh(words[row.fresh - before])
        line = ("… " if row.before + before else "") + " ".join(words) + (" …" if row.behind + behind else "")
        lead = f"{paint.faint(rank)}{' ' * (rank_width - len(rank))}  "
        if beside >= _LEAST_ROOM:
            yield f"{lead}{padded(merge, merge_width)}   {line}".rstrip()
        else:
            yield from (part for part in (f"{lead}{merge}".rstrip(), f"    {line}") if part)


def _merge(explanation: Explanation, row: LadderRow) -> str:
    if row.step is None:
        return ""
    left, right, result = (spell(explanation.tokens[id]) for id in (row.step.left, row.step.right, row.step.result))
    return f"{left} + {right} → {result}"


def _fitting(words: list[str], fresh: int, room: int) -> tuple[list[str], int, int]:
    """The words around the fresh one that fit, and the numbers left out before and after."""
    first = last = max(fresh, 0)
    size = columns(words[first]) + 2 if words else 0
    while words:
        grown = False
        if last + 1 < len(words) and size + 1 + columns(words[last + 1]) <= room:
            last += 1
            size += 1 + columns(words[last])
            grown = True
        if first > 0 and size + 1 + columns(words[first - 1]) <= room:
            first -= 1
            size += 1 + columns(words[first])
            grown = True
        if not grown:
            break
    return words[first : last + 1], first, len(words) - last - 1


def _match_line(explanation: Explanation, piece: ExplainedPiece, match: LongestMatch) -> str:
    rest = spell(piece.text[match.at :].encode())
    if match.result is None:
        return f"{rest}: no token, after {plural(match.tried, 'try', 'tries')}"
    return f"{rest} → {spell(explanation.tokens[match.result])} {match.result}, {tried(match.tried)}"


def _way(explanation: Explanation, way: Segmentation) -> str:
    parts = [
        ("?" if token.is_unknown else "") + f"{spell(explanation.tokens[token.id])} {token.score:.2f}"
        for token in way.tokens[:MOST_WAY]
    ]
    more = len(way.tokens) - MOST_WAY
    return " │ ".join(parts) + (f" │ … {more:,} more" if more > 0 else "")
