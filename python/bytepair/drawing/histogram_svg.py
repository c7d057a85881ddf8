"""A histogram over a scale of powers of two, as an SVG file.

The file is self-contained: it has its own colours, light or dark by the reader's setting, and loads nothing.
"""

from __future__ import annotations

from math import ceil, log2
from typing import TYPE_CHECKING, NamedTuple

from bytepair.drawing.axes import Axis
from bytepair.drawing.characters import escaped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_WIDTH, _HEIGHT, _LINE, _LETTER = 720, 400, 20, 8
_LEFT, _RIGHT = 16, _WIDTH - 40
_TICKS = 9
_LEAST = 0.5
"""The position of 0, which a scale of powers does not have."""

_STYLE = """
text { font: 14px system-ui, sans-serif; font-variant-numeric: tabular-nums; fill: #1b1b1f; }
.title { font-weight: 600; } .axis { fill: #5a5a63; } .paper { fill: #fff; } .bar { fill: #2456c7; }
.grid { stroke: #c9c9d2; } .base { stroke: #5a5a63; } .mark { stroke: #1b1b1f; stroke-dasharray: 5 4; }
@media (prefers-color-scheme: dark) {
  text { fill: #ececf1; } .axis { fill: #cdcdd6; } .paper { fill: #17171b; } .bar { fill: #8db0ff; }
  .grid { stroke: #4a4a55; } .base { stroke: #cdcdd6; } .mark { stroke: #ececf1; } }
"""


class Bin(NamedTuple):
    """A bar of a histogram: the least number in it, the least above it, and how many are in it."""

    start: int
    end: int
    amount: int


def histogram(bins: Sequence[Bin], *, title: str, x: str, y: str, marks: Mapping[str, int]) -> str:
    """Draw bars whose areas are proportional to their counts.

    A bar is as wide as its bin is on the scale, and as high as its count for each doubling. Bins of unequal widths
    would otherwise show teeth that the numbers do not have.

    Args:
        bins: The bars, ascending and without gaps.
        title: The text above: any text.
        x: The unit of the numbers.
        y: The unit of the counts.
        marks: Numbers that a dashed line marks, by name.

    Returns:
        An SVG file. The same arguments give the same text.

    Example:
        >>> drawn = histogram([Bin(1, 2, 5), Bin(2, 4, 5)], title="a < b", x="tokens", y="documents", marks={"mean": 2})
        >>> "a &lt; b" in drawn, drawn.count('class="bar"'), "<title>2 to 3 tokens: 5 documents</title>" in drawn
        (True, 2, True)
    """
    top, bottom = _LINE * (3 + len(marks)), _HEIGHT - 3 * _LINE
    drawn = [f'<text class="title" x="{_LEFT}" y="{_LINE + 4}">{escaped(title)}</text>']
    if not bins:
        return _file(title, [*drawn, f'<text x="{_LEFT}" y="{3 * _LINE}">There is nothing to draw.</text>'])
    first, last = log2(max(bins[0].start, _LEAST)), log2(bins[-1].end)
    heights = [one.amount / (log2(one.end) - log2(max(one.start, _LEAST))) for one in bins]
    up = Axis(heights, log=False, zero=True)
    left = _LEFT + _LETTER * (1 + max(len(label) for _, label in up.ticks))

    def across(value: float) -> float:
        return left + (log2(max(value, _LEAST)) - first) / (last - first) * (_RIGHT - left)

    drawn.append(f'<text class="axis" x="{_LEFT}" y="{top - 10}">{escaped(y)} per doubling of {escaped(x)}</text>')
    for value, label in up.ticks:
        height = bottom - up.share(value) * (bottom - top)
        drawn.append(f'<path class="grid" d="M{left} {height:.2f}H{_RIGHT}"/>')
        drawn.append(f'<text class="axis" x="{left - 6}" y="{height + 5:.2f}" text-anchor="end">{label}</text>')
    for one, height in zip(bins, heights, strict=True):
        start, end, high = across(one.start), across(one.end), up.share(height) * (bottom - top)
        named = f"{one.start:,}" if one.end == one.start + 1 else f"{one.start:,} to {one.end - 1:,}"
        drawn.append(
            f'<rect class="bar" x="{start:.2f}" y="{bottom - high:.2f}" width="{end - start:.2f}" height="{high:.2f}">'
            f"<title>{escaped(f'{named} {x}: {one.amount:,} {y}')}</title></rect>"
        )
    drawn.append(f'<path class="base" d="M{left} {bottom}H{_RIGHT}"/>')
    for power in range(ceil(first), int(last) + 1, ceil((last - first + 1) / _TICKS)):
        label = "0" if power < 0 else f"{2**power:,}"
        drawn.append(
            f'<text class="axis" x="{across(2.0**power):.2f}" y="{bottom + _LINE}" text-anchor="middle">{label}</text>'
        )
    middle = (left + _RIGHT) / 2
    drawn.append(
        f'<text class="axis" x="{middle:.1f}" y="{bottom + 2 * _LINE + 6}" text-anchor="middle">{escaped(x)}</text>'
    )
    for row, (name, value) in enumerate(sorted(marks.items(), key=lambda mark: mark[1])):
        at, high = across(value), _LINE * (2 + row) + 6
        label = f"{name} {value:,}"
        # The first label lies left of its line, others right, so that no line crosses a label; if there is room.
        wide = _LETTER * len(label)
        is_left = at - wide > 0 if row == 0 else at + wide > _WIDTH
        side, gap = ("end", -5) if is_left else ("start", 5)
        drawn.append(f'<path class="mark" d="M{at:.2f} {high - 12}V{bottom}"/>')
        drawn.append(f'<text x="{at + gap:.2f}" y="{high}" text-anchor="{side}">{escaped(label)}</text>')
    return _file(title, drawn)


def _file(title: str, drawn: Sequence[str]) -> str:
    body = "\n".join(drawn)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escaped(title)}">\n<style>{_STYLE}</style>\n<rect class="paper" width="100%" height="100%"/>\n'
        f"{body}\n</svg>\n"
    )
