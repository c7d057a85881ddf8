"""Line and bar charts as SVG, for light and dark, phones and desktops; series differ by more than colour.

A chart is a ``figure`` with its title, the drawing, and the names of its series as text that wraps. It needs
``charts.css``. The drawing has room for letters of 17 units, the size that phones need to stay readable.
"""

from __future__ import annotations

import unicodedata
from html import escape
from math import ceil, hypot, isfinite, isnan
from typing import TYPE_CHECKING, NamedTuple

from bytepair.drawing.axes import Axis, exact
from bytepair.drawing.characters import escaped, show_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WIDTH, _HEIGHT = 560, 340
_LETTER, _LINE = 17, 22
"""The largest letters, and the height of a line of them."""
_COLOURS = 6
_DASHES = ("", "8 4", "2 3", "12 3 2 3", "5 2")
_MARKERS = ("disc", "square", "triangle", "diamond", "drop", "cross", "plus")
_MOST_MARKERS = 12
_NAME = 28
"""Characters of a name that are written beside a bar; the bar's title has all of it."""
_NEAR = 0.75
"""Points that are nearer to one another are drawn as one."""


class Series(NamedTuple):
    """A line: its name, any text, and its points from left to right."""

    name: str
    points: Sequence[tuple[float, float]]


class Bars(NamedTuple):
    """Bars of one kind: their name, any text, and one value for each label; NaN, for none, is drawn as a dash."""

    name: str
    values: Sequence[float]


def lines(series: Sequence[Series], *, title: str, x: str, y: str, log_x: bool = False, log_y: bool = False) -> str:
    """Draw lines, which differ by colour, dashes and markers, as HTML.

    Args:
        series: The lines. Points that would be drawn on top of one another are drawn once.
        title: The title above.
        x: The label of the horizontal axis.
        y: The label of the vertical axis.
        log_x: Whether the horizontal axis is logarithmic.
        log_y: Whether the vertical axis is.

    Raises:
        ValueError: A number is not finite, or not above 0 on a logarithmic axis.

    Complexity:
        Linear in the points; the size of the result is bounded by the size of the drawing.

    Example:
        >>> drawn = lines([Series("a <b>", [(1, 1), (10, 5)])], title="Uses", x="rank", y="uses", log_x=True)
        >>> drawn.count("uses 5</title>"), "a &lt;b&gt;" in drawn
        (1, True)
    """
    for one in series:
        for point in one.points:
            _check(one.name, point[0], log_x)
            _check(one.name, point[1], log_y)
    points = [point for one in series for point in one.points]
    if not points:
        return _figure(title, "", _empty(), _legend([one.name for one in series]))
    across = Axis([point[0] for point in points], log=log_x, zero=False)
    up = Axis([point[1] for point in points], log=log_y, zero=True)
    left = 12 + max(_wide(label) for _, label in up.ticks)
    # Half of the last label lies beyond the end.
    right, top, bottom = _WIDTH - 26, _LINE + 10, _HEIGHT - 2 * _LINE - 8

    def place(point: tuple[float, float]) -> tuple[float, float]:
        return left + across.share(point[0]) * (right - left), bottom - up.share(point[1]) * (bottom - top)

    drawn = [f'<text class="axis" x="0" y="{_LETTER - 3}">{escaped(y)}</text>']
    for value, label in up.ticks:
        height = place((across.least, value))[1]
        drawn.append(f'<path class="grid" d="M{left} {height:.1f}H{right}"/>')
        drawn.append(f'<text class="axis" x="{left - 8}" y="{height + 5:.1f}" text-anchor="end">{label}</text>')
    drawn.append(f'<path class="base" d="M{left} {bottom}H{right}"/>')
    for value, label in across.ticks:
        at = place((value, up.least))[0]
        drawn.append(f'<path class="base" d="M{at:.1f} {bottom}v5"/>')
        drawn.append(f'<text class="axis" x="{at:.1f}" y="{bottom + _LINE + 2}" text-anchor="middle">{label}</text>')
    middle = (left + right) / 2
    drawn.append(f'<text class="axis" x="{middle:.1f}" y="{_HEIGHT - 8}" text-anchor="middle">{escaped(x)}</text>')
    for number, one in enumerate(series):
        kept = _thin([place(point) for point in one.points])
        path = " ".join(f"{kept[at][0]:.1f},{kept[at][1]:.1f}" for at in kept)
        drawn.append(f'<polyline class="l{number % _COLOURS}"{_dash(number)} points="{path}"/>')
    # Marks are above all lines.
    for number, one in enumerate(series):
        kept = _thin([place(point) for point in one.points])
        for at in _marked(kept, number, len(series), left, right):
            hint = f"{one.name}: {x} {exact(one.points[at][0])}, {y} {exact(one.points[at][1])}"
            drawn.append(_mark(number, *kept[at], hint))
    names = [one.name for one in series]
    described = f"{len(series)} lines of {y} over {x}" if len(series) > 1 else f"{y} over {x}"
    return _figure(title, "", _svg(title, described, drawn, _HEIGHT), _legend(names))


def bars(groups: Sequence[Bars], labels: Sequence[str], *, title: str, unit: str = "") -> str:
    """Draw horizontal bars, grouped by label, as HTML. Each has its number and name beside it.

    Args:
        groups: The bars of each kind.
        labels: The labels of the groups; each kind has one value for each.
        title: The title above.
        unit: The unit of the numbers, written after the title.

    Raises:
        ValueError: A kind does not have one value for each label, or a number is infinite.

    Example:
        >>> drawn = bars([Bars("a", [1.5, 3]), Bars("b", [2, float("nan")])], ["en", "zh"], title="Bytes per token")
        >>> drawn.count("<rect"), "1.500" in drawn
        (3, True)
    """
    for group in groups:
        if len(group.values) != len(labels):
            raise ValueError(f"{group.name!r} has {len(group.values)} values for {len(labels)} labels")
        for value in group.values:
            if not isnan(value):
                _check(group.name, value, False)
    numbers = [value for group in groups for value in group.values if not isnan(value)]
    if not (groups and labels):
        return _figure(title, unit, _empty(), "")
    least, most = min([0.0, *numbers]), max([0.0, *numbers])
    written = _writer(numbers)
    named = [show_line(group.name, _NAME) if len(groups) > 1 else "" for group in groups]
    room = max(
        _wide(f"{written(value)}  {name}") for group, name in zip(groups, named, strict=True) for value in group.values
    )
    width = max(_WIDTH - room - 12, 80)
    scale = width / ((most - least) or 1)
    zero = -least * scale
    drawn: list[str] = []
    down = 0
    for at, label in enumerate(labels):
        drawn.append(f'<text x="0" y="{down + _LETTER - 1}">{escaped(label)}</text>')
        down += _LINE + 2
        first = down
        for number, group in enumerate(groups):
            value = group.values[at]
            long = 0.0 if isnan(value) else value * scale
            if not isnan(value):
                hint = f"{group.name}, {label}: {exact(value)} {unit}"
                drawn.append(
                    f'<rect class="f{number % _COLOURS}" x="{min(zero, zero + long):.1f}" y="{down + 2}" rx="2" '
                    f'width="{max(abs(long), 1):.1f}" height="{_LINE - 5}">{_title(hint)}</rect>'
                )
            # Right of the zero there is nothing where a bar goes to the left.
            end = zero + max(long, 0) + 7
            name = f' <tspan class="axis" dx="4">{escape(named[number])}</tspan>' if named[number] else ""
            drawn.append(f'<text x="{end:.1f}" y="{down + _LETTER - 1}">{written(value)}{name}</text>')
            down += _LINE
        if least < 0:
            drawn.append(f'<path class="base" d="M{zero:.1f} {first}V{down}"/>')
        down += 10
    described = f"bars of {', '.join(show_line(group.name) for group in groups)} for {len(labels)} labels"
    return _figure(title, unit, _svg(title, described, drawn, max(down - 4, _LINE)), "")


def _writer(numbers: Sequence[float]) -> Callable[[float], str]:
    """A function that formats all numbers of a chart with equal decimals, chosen by the largest."""
    most = max(map(abs, numbers), default=0.0)
    places = (
        0
        if all(value == int(value) for value in numbers)
        else next((places for least, places in ((1000, 0), (100, 1), (10, 2)) if most >= least), 3)
    )

    def write(value: float) -> str:
        if isnan(value):
            return "–"
        text = f"{value:,.{places}f}"
        # A number above 0 is not written as 0.
        return (f"{value:.2g}" if value and not float(text.replace(",", "")) else text).replace("-", "−")

    return write


def _thin(places: Sequence[tuple[float, float]]) -> dict[int, tuple[float, float]]:
    """The points that are apart from those before them, and the last one, by index."""
    kept: dict[int, tuple[float, float]] = {}
    last = None
    for number, place in enumerate(places):
        if last is None or number == len(places) - 1 or hypot(place[0] - last[0], place[1] - last[1]) >= _NEAR:
            kept[number] = last = place
    return kept


def _marked(kept: dict[int, tuple[float, float]], number: int, many: int, left: float, right: float) -> list[int]:
    """The points with markers: all if they are few; else some, at other places on each line."""
    if len(kept) <= _MOST_MARKERS:
        return list(kept)
    gap = (right - left) / 8
    wanted = [left + gap * (step + (number + 0.5) / many) for step in range(8)]
    order = list(kept)
    near = [min(order, key=lambda at: abs(kept[at][0] - goal)) for goal in wanted]
    return [at for at, goal in zip(near, wanted, strict=True) if abs(kept[at][0] - goal) < gap / 2]


_SHAPES = {
    "square": "M-4-4h8v8h-8z",
    "triangle": "M0-5.5L5 4H-5z",
    "diamond": "M0-6L5 0L0 6L-5 0z",
    "drop": "M0 5.5L5-4H-5z",
    "cross": "M-5-3L-3-5L0-2L3-5L5-3L2 0L5 3L3 5L0 2L-3 5L-5 3L-2 0z",
    "plus": "M-1.6-5.5h3.2v3.9h3.9v3.2h-3.9v3.9h-3.2v-3.9h-3.9v-3.2h3.9z",
    "disc": "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
}


def _mark(number: int, at: float, height: float, hint: str) -> str:
    shape = _SHAPES[_MARKERS[number % len(_MARKERS)]]
    return (
        f'<path class="point f{number % _COLOURS}" transform="translate({at:.1f} {height:.1f})" d="{shape}">'
        f"{_title(hint) if hint else ''}</path>"
    )


def _dash(number: int) -> str:
    dash = _DASHES[number % len(_DASHES)]
    return f' stroke-dasharray="{dash}"' if dash else ""


def _legend(names: Sequence[str]) -> str:
    items = [
        f'<li><svg viewBox="0 0 36 14" aria-hidden="true"><polyline class="l{number % _COLOURS}"{_dash(number)} '
        f'points="0,7 36,7"/>{_mark(number, 18, 7, "")}</svg><span>{escaped(name)}</span></li>'
        for number, name in enumerate(names)
    ]
    return f'<ul class="legend">{"".join(items)}</ul>' if items else ""


def _figure(title: str, unit: str, drawing: str, legend: str) -> str:
    of = f" <span>({escaped(unit)})</span>" if unit else ""
    return f'<figure class="chart"><figcaption>{escaped(title)}{of}</figcaption>{drawing}{legend}</figure>\n'


def _svg(title: str, described: str, drawn: Sequence[str], height: float) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escaped(title)}">'
        f"<desc>{escaped(described, 400)}</desc>{''.join(drawn)}</svg>"
    )


def _empty() -> str:
    return "<p>There is nothing to draw.</p>"


def _title(hint: str) -> str:
    return f"<title>{escaped(hint, 200)}</title>"


def _wide(text: str) -> int:
    """An upper estimate of the width of a text in the largest letters, in units."""
    ems = sum(1.0 if unicodedata.east_asian_width(letter) in "WF" else 0.58 for letter in text)
    return ceil(ems * _LETTER)


def _check(name: str, value: float, log: bool) -> None:
    if not isfinite(value) or (log and value <= 0):
        what = "is not above 0, and the axis is logarithmic" if log and isfinite(value) else "is not a finite number"
        raise ValueError(f"{show_line(name)!r} has {value}, which {what}")
