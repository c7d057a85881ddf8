"""The page of an explanation: its pieces in a row, then each step by step."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from bytepair.drawing.characters import escaped, show_line
from bytepair.drawing.wording import plural
from bytepair.view.explained.ladder import rows
from bytepair.view.explained.shared import (
    KINDS,
    MOST_CHANGES,
    MOST_IDS,
    MOST_PIECES,
    MOST_STEPS,
    MOST_WAY,
    around,
    minus,
    same,
    tried,
)
from bytepair.view.explained.tree import MOST_LEAVES, tree
from bytepair.view.page import page
from bytepair.view.spelling import spell, step_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair.study.explain.explanation import ExplainedPiece, Explanation

_MOST_CHIPS = 24
"""Symbols in one row of a page."""

_OPEN = 24
"""Pieces that are expanded at first."""

_MODELS = {
    "ranks": "Adjacent tokens merge if their concatenation is a token, lowest id first; ties go left to right.",
    "merges": "Adjacent tokens merge if the pair is in the list, in the order of the list; ties go left to right.",
    "WordPiece": "The longest token that matches the start of a piece is taken, then the longest for the rest.",
    "Unigram": "The segmentation with the highest sum of scores is chosen.",
    "WordLevel": "Each piece is a token, or unknown.",
}

_KEY = "<code>·</code> is a space, <code>‹c3›</code> a byte that is not a character by itself."

_KEY_OF_TREES = "In a tree, the number at a joint is the rank of the merge, and the number below a token is its id. "


def html(explanation: Explanation, *, title: str = "") -> str:
    """A self-contained page of an explanation: no script, nothing loaded, light or dark by the reader's setting.

    Args:
        explanation: The result of `explain`.
        title: The title; empty for the beginning of the text.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"low": 5}, vocab_size=258)
        >>> "3 characters, 1 piece, 1 token" in html(bp.explain(tok, "low"))
        True
    """
    name = title or f"“{show_line(explanation.text, 60)}”, step by step"
    summary = (
        f"{plural(len(explanation.text), 'character')}, {plural(len(explanation.pieces), 'piece')}, "
        f"{plural(len(explanation.ids), 'token')}. {_MODELS[explanation.semantics]}"
    )
    body = [f"<h1>{escaped(name, 200)}</h1>\n<p>{summary}</p>\n"]
    body += _overview(explanation)
    body += _normalized_html(explanation)
    if explanation.pieces:
        body.append(
            f"<h2>Step by step</h2>\n<p>{_KEY_OF_TREES if any(map(_has_tree, explanation.pieces)) else ''}{_KEY}</p>\n"
        )
    shown: dict[tuple[str, str, tuple[int, ...]], int] = {}
    for number, piece in enumerate(explanation.pieces[:MOST_PIECES], 1):
        if shown.setdefault(same(piece), number) == number:
            body += _piece_html(explanation, piece, number, is_open=len(shown) <= _OPEN)
    return page(name, "".join(body), styles=["explained.css"])


def _has_tree(piece: ExplainedPiece) -> bool:
    return piece.kind == "merged" and bool(piece.steps) and len(piece.symbols) <= MOST_LEAVES


def _overview(explanation: Explanation) -> Iterator[str]:
    """The pieces in a row; each links to its explanation."""
    if not explanation.pieces:
        return
    yield '<h2 id="pieces">Pieces</h2>\n<ol class="pieces" aria-labelledby="pieces">'
    first: dict[tuple[str, str, tuple[int, ...]], int] = {}
    for number, piece in enumerate(explanation.pieces[:MOST_PIECES], 1):
        target = first.setdefault(same(piece), number)
        kind, mark = (" wall", " <small>added</small>") if piece.kind == "added" else ("", "")
        shown = escape(spell(piece.text.encode()))
        yield f'<li><a class="chip{kind}" href="#p{target}">{shown}{mark}</a></li>\n'
    yield "</ol>\n"
    if any(piece.kind == "added" for piece in explanation.pieces[:MOST_PIECES]):
        yield "<p>Added tokens, in dashed frames, are matched first: no piece crosses them.</p>\n"
    left = len(explanation.pieces) - MOST_PIECES
    if left > 0:
        yield f'<p class="more">{left:,} more pieces are left out of this page.</p>\n'


def _normalized_html(explanation: Explanation) -> Iterator[str]:
    if not explanation.normalizers:
        return
    yield "<h2>Normalizers</h2>\n"
    if not explanation.normalized:
        names = ", ".join(f"<code>{escape(step_name(name))}</code>" for name in explanation.normalizers)
        yield f"<p>{names}: no change in this text.</p>\n"
        return
    yield '<table class="changes"><thead><tr><th scope="col">Step</th><th scope="col">Before</th>'
    yield '<th scope="col">After</th></tr></thead>\n<tbody>'
    for stretch in explanation.normalized[:MOST_CHANGES]:
        for change in stretch.changes:
            was, now = (f"<td><code>{escape(part)}</code></td>" for part in around(change.before, change.after, 60))
            yield f"<tr><td>{escape(step_name(change.step))}</td>{was}{now}</tr>\n"
    yield "</tbody></table>\n"
    left = len(explanation.normalized) - MOST_CHANGES
    if left > 0:
        yield f'<p class="more">{left:,} more stretches are changed.</p>\n'


def _piece_html(explanation: Explanation, piece: ExplainedPiece, number: int, *, is_open: bool) -> Iterator[str]:
    what = KINDS[piece.kind]
    if piece.kind == "merged":
        what = plural(len(piece.steps), "merge") if piece.steps else "no merges"
    state = " open" if is_open else ""
    yield f'<details id="p{number}"{state}><summary><span class="n">{number}</span>'
    yield f"<h3><code>{escape(spell(piece.text.encode()))}</code></h3>"
    yield f'<span class="n">characters {piece.start:,}–{piece.end:,}, {what}</span></summary>\n'
    if piece.kind == "merged" and piece.steps:
        if _has_tree(piece):
            label = f"The merges of piece {number} as a tree"
            yield f'<div class="scroll" tabindex="0" role="group" aria-label="{label}">'
            yield f"{tree(piece, explanation.tokens)}</div>\n"
        yield from _ladder_html(explanation, piece)
    elif piece.steps:
        yield from _matches_html(explanation, piece)
    if len(piece.steps) > MOST_STEPS:
        kind = "merges" if piece.kind == "merged" else "matches"
        yield f'<p class="more">{len(piece.steps) - MOST_STEPS:,} more {kind} are left out of this page.</p>\n'
    if piece.segmentations:
        yield from _ways_html(explanation, piece)
    if piece.note:
        yield f"<p>{escape(piece.note[0].upper() + piece.note[1:])}.</p>\n"
    chips = "".join(_chip(explanation, id, " end", str(id)) for id in piece.ids[:MOST_IDS])
    left = len(piece.ids) - MOST_IDS
    more = f'<span class="more">and {left:,} more</span>' if left > 0 else ""
    tokens = f"{plural(len(piece.ids), 'token')}: " if piece.ids else "No token."
    yield f'<div class="row">{tokens}{chips}{more}</div></details>\n'


def _ladder_html(explanation: Explanation, piece: ExplainedPiece) -> Iterator[str]:
    yield '<ol class="ladder">'
    for row in rows(piece, MOST_STEPS, _MOST_CHIPS):
        chips = "".join(
            _chip(explanation, id, " new" if place == row.fresh else "") for place, id in enumerate(row.symbols)
        )
        before = f'<span class="more">… {row.before:,}</span> ' if row.before else ""
        behind = f'<span class="more">{row.behind:,} …</span>' if row.behind else ""
        if row.step is None:
            lead = '<span class="n">start</span><span></span>'
        else:
            left, right, result = (
                escape(spell(explanation.tokens[id])) for id in (row.step.left, row.step.right, row.step.result)
            )
            lead = f'<span class="n">rank {row.step.rank}</span>'
            lead += f"<span><code>{left} + {right} → <b>{result}</b></code></span>"
        yield f'<li>{lead}<span class="row">{before}{chips}{behind}</span></li>\n'
    yield "</ol>\n"


def _matches_html(explanation: Explanation, piece: ExplainedPiece) -> Iterator[str]:
    yield '<table class="matches"><thead><tr><th scope="col">Rest of the piece</th><th scope="col">Longest token</th>'
    yield '<th scope="col">Found</th></tr></thead>\n<tbody>'
    for match in piece.matches[:MOST_STEPS]:
        rest = escape(spell(piece.text[match.at :].encode()))
        found = "none" if match.result is None else _chip(explanation, match.result, " new", str(match.result))
        yield f"<tr><td><code>{rest}</code></td><td>{found}</td><td>{tried(match.tried)}</td></tr>\n"
    yield "</tbody></table>\n"


def _ways_html(explanation: Explanation, piece: ExplainedPiece) -> Iterator[str]:
    yield '<table class="ways"><thead><tr><th scope="col">Segmentation</th><th scope="col" class="num">Score</th>'
    yield '<th scope="col">Tokens and their scores</th></tr></thead>\n<tbody>'
    for name, way in zip(("best", "runner-up"), piece.segmentations, strict=False):
        chips = "".join(
            _chip(explanation, token.id, " wall" if token.is_unknown else "", minus(f"{token.score:.3f}"))
            for token in way.tokens[:MOST_WAY]
        )
        left = len(way.tokens) - MOST_WAY
        more = f'<span class="more">and {left:,} more</span>' if left > 0 else ""
        yield f'<tr><th scope="row">{name}</th><td class="num">{minus(f"{way.score:.4f}")}</td>'
        yield f'<td><span class="row">{chips}{more}</span></td></tr>\n'
    yield "</tbody></table>\n"


def _chip(explanation: Explanation, id: int, kind: str = "", beside: str = "") -> str:
    small = f" <small>{beside}</small>" if beside else ""
    return f'<span class="chip{kind}">{escape(spell(explanation.tokens[id]))}{small}</span> '
