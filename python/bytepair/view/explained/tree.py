"""The merges of a short piece as a tree: the symbols on top, their merges below."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from bytepair.view.spelling import spell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bytepair.study.explain.explanation import ExplainedPiece

MOST_LEAVES = 32
"""A piece with more symbols has no tree: it would be too wide."""

_LETTER, _GAP, _BOX, _LEVEL, _EDGE = 8.6, 8, 28, 62, 2


@dataclass(slots=True)
class _Node:
    """A token in the tree: its centre, and its level from the top."""

    id: int
    middle: float
    level: int
    is_root: bool = True


def tree(piece: ExplainedPiece, tokens: Mapping[int, bytes]) -> str:
    """The tree of a merged piece of `MOST_LEAVES` symbols at most as SVG, in pixels; the page needs ``explained.css``.

    Example:
        >>> import bytepair as bp
        >>> found = bp.explain(bp.train({"low": 5}, vocab_size=258), "low")
        >>> tree(found.pieces[0], found.tokens).count("<rect")
        5
    """
    at, nodes = float(_EDGE), dict[int, _Node]()
    for place, id in enumerate(piece.symbols):
        width = _width(tokens[id])
        nodes[place] = _Node(id, at + width / 2, 0)
        at += width + _GAP
    all_nodes = [*nodes.values()]
    drawn: list[str] = []
    for step in piece.merges:
        taken = min(place for place in nodes if place > step.at)
        left, right = nodes[step.at], nodes.pop(taken)
        left.is_root = right.is_root = False
        node = _Node(step.result, (left.middle + right.middle) / 2, max(left.level, right.level) + 1)
        nodes[step.at] = node
        all_nodes.append(node)
        drawn.append(_joint(left, right, node, step.rank))
    drawn += [_box(node, tokens[node.id]) for node in all_nodes]
    width, height = at - _GAP + _EDGE, max(node.level for node in all_nodes) * _LEVEL + _BOX + 2 * _EDGE + 18
    title = f"The merges of {spell(piece.text.encode())} as a tree"
    return (
        f'<svg class="tree" role="img" width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}">'
        f"<title>{escape(title)}</title>{''.join(drawn)}</svg>"
    )


def _top(node: _Node) -> int:
    return _EDGE + node.level * _LEVEL


def _joint(left: _Node, right: _Node, node: _Node, rank: int) -> str:
    bar = _top(node) - 20
    lines = f"M{left.middle:.1f} {_top(left) + _BOX}V{bar}H{right.middle:.1f}V{_top(right) + _BOX}"
    lines += f"M{node.middle:.1f} {bar}V{_top(node)}"
    return f'<path d="{lines}"/><text class="rank" x="{node.middle + 5:.1f}" y="{_top(node) - 6}">{rank}</text>'


def _box(node: _Node, token: bytes) -> str:
    width, top = _width(token), _top(node)
    kind = ' class="root"' if node.is_root else ""
    box = (
        f'<rect{kind} x="{node.middle - width / 2:.1f}" y="{top}" width="{width:.1f}" height="{_BOX}" rx="5"/>'
        f'<text{kind} x="{node.middle:.1f}" y="{top + 19}">{escape(spell(token))}</text>'
    )
    under = f'<text class="id" x="{node.middle:.1f}" y="{top + _BOX + 15}">{node.id}</text>'
    return box + (under if node.is_root else "")


def _width(token: bytes) -> float:
    text = spell(token)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    # An id of six digits has to fit below each.
    return max(34.0, 14 + _LETTER * (len(text) + wide))
