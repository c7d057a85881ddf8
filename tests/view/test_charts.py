"""Charts: every part is drawn where it should be, and any text stays text."""

from __future__ import annotations

import random
import re
from html.parser import HTMLParser
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest

from bytepair.drawing.charts import Bars, Series, bars, lines
from tests.conftest import HOSTILE


def drawing(figure: str) -> ElementTree.Element:
    found = re.search(r'<svg viewBox="[^"]*" role="img".*?</svg>', figure, re.DOTALL)
    assert found
    return ElementTree.fromstring(found[0])


def points(figure: str) -> list[list[tuple[float, float]]]:
    return [
        [(float(x), float(y)) for x, y in (point.split(",") for point in line.get("points", "").split())]
        for line in drawing(figure).iter("polyline")
    ]


def bar_widths(figure: str) -> list[float]:
    return [float(bar.get("width", "")) for bar in drawing(figure).iter("rect")]


def written(figure: str) -> list[str]:
    return ["".join(text.itertext()) for text in drawing(figure).iter("text")]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.names: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.names |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def read(figure: str) -> _Reader:
    reader = _Reader()
    reader.feed(figure)
    return reader


def test_a_line_goes_through_its_points() -> None:
    (line,) = points(lines([Series("a", [(0, 0), (5, 10), (10, 20)])], title="t", x="x", y="y"))
    (x0, y0), (x1, y1), (x2, y2) = line
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.2)
    assert y0 > y1 > y2


def test_equal_factors_are_equal_steps() -> None:
    (line,) = points(
        lines([Series("a", [(1, 1), (10, 100), (100, 10_000)])], title="t", x="x", y="y", log_x=True, log_y=True)
    )
    (x0, y0), (x1, y1), (x2, y2) = line
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.2)


@pytest.mark.parametrize("log", [False, True])
def test_all_is_inside_the_drawing_whatever_the_numbers(log: bool) -> None:
    draw = random.Random(5)
    for _ in range(200):
        scale = 10.0 ** draw.randint(-9, 12)
        start = 0.0 if log else draw.choice([0, 0, -scale, 7 * scale])
        some = [
            Series(
                str(number),
                sorted(
                    (start + scale * (draw.random() + 1e-6), scale * (draw.random() + 1e-6))
                    for _ in range(draw.randint(1, 9))
                ),
            )
            for number in range(draw.randint(1, 4))
        ]
        figure = lines(some, title="t", x="x", y="y", log_x=log, log_y=log)
        root = drawing(figure)
        _, _, width, height = map(float, root.get("viewBox", "").split())
        for line in points(figure):
            assert all(0 <= x <= width and 0 <= y <= height for x, y in line)
        ticks = [text for text in root.iter("text") if text.get("text-anchor")]
        assert 4 <= len(ticks) <= 20
        # Numbers from below stand apart, and are not written alike.
        ups = [text for text in ticks if text.get("text-anchor") == "end"]
        assert len({text.text for text in ups}) == len(ups) >= 2
        heights = sorted(float(text.get("y", "")) for text in ups)
        assert all(after - before >= 17 for before, after in pairwise(heights))


def test_one_point_and_none_are_drawn() -> None:
    assert len(points(lines([Series("a", [(3, 3)])], title="t", x="x", y="y", log_x=True, log_y=True))) == 1
    assert "There is nothing to draw." in lines([Series("a", [])], title="t", x="x", y="y")
    assert "There is nothing to draw." in lines([], title="t", x="x", y="y")
    assert "There is nothing to draw." in bars([], ["en"], title="t")


def test_many_points_become_few() -> None:
    many = [(rank, 1e6 / rank) for rank in range(1, 100_001)]
    figure = lines([Series("a", many)], title="t", x="x", y="y", log_x=True, log_y=True)
    (line,) = points(figure)
    assert len(figure) < 20_000
    # Its ends are there.
    whole = points(lines([Series("a", [many[0], many[-1]])], title="t", x="x", y="y", log_x=True, log_y=True))[0]
    assert (line[0], line[-1]) == (whole[0], whole[-1])


def test_lines_differ_by_dashes_and_marks_as_well() -> None:
    some = [Series(str(number), [(1, number), (2, number)]) for number in range(35)]
    root = drawing(lines(some, title="t", x="x", y="y"))
    dashes = [line.get("stroke-dasharray") for line in root.iter("polyline")]
    shapes = [mark.get("d") for mark in root.iter("path") if "point" in mark.get("class", "")][::2]
    assert len(set(zip(dashes, shapes, strict=True))) == 35


def test_lines_that_coincide_have_marks_of_each() -> None:
    same = [(number, number) for number in range(1, 200)]
    root = drawing(lines([Series("a", same), Series("b", same)], title="t", x="x", y="y"))
    places = [mark.get("transform") for mark in root.iter("path") if "point" in mark.get("class", "")]
    assert len(set(places)) == len(places) >= 12


def test_bars_are_as_long_as_their_numbers() -> None:
    figure = bars([Bars("a", [1, 2]), Bars("b", [4, float("nan")])], ["en", "zh"], title="t")
    one, four, two = bar_widths(figure)
    assert [four, two] == pytest.approx([4 * one, 2 * one], abs=0.4)
    assert written(figure) == ["en", "1 a", "4 b", "zh", "2 a", "– b"]


def test_bars_below_zero_go_the_other_way() -> None:
    root = drawing(bars([Bars("a", [3, -1])], ["en", "zh"], title="t"))
    above, below = root.iter("rect")
    end = float(below.get("x", "")) + float(below.get("width", ""))
    assert end == pytest.approx(float(above.get("x", "")), abs=0.2)
    assert "−1" in written(bars([Bars("a", [3, -1])], ["en", "zh"], title="t"))


def test_no_number_is_lost() -> None:
    draw = random.Random(7)
    for _ in range(100):
        scale = 10.0 ** draw.randint(-6, 9)
        values = [draw.choice([1, -1]) * draw.random() * scale for _ in range(6)]
        figure = bars([Bars("a", values[:3]), Bars("b", values[3:])], ["x", "y", "z"], title="t")
        root = drawing(figure)
        _, _, width, height = map(float, root.get("viewBox", "").split())
        texts = [
            (float(text.get("x", "")), float(text.get("y", "")), "".join(text.itertext())) for text in root.iter("text")
        ]
        # Each is on a line of its own, and its end is within the drawing.
        assert all(abs(one[1] - other[1]) >= 17 for one, other in combinations(texts, 2))
        assert all(x + 0.58 * 17 * len(told) <= width and y <= height for x, y, told in texts)
        for value in values:
            assert any(told.split()[0].replace(",", "").replace("−", "-") != "0" for _, _, told in texts), value


@pytest.mark.parametrize(
    "text", [*HOSTILE, '"><script>alert(1)</script>', "</svg><img src=x onerror=alert(1)>", "\u202eabc"]
)
def test_text_stays_text(text: str) -> None:
    figure = lines([Series(text, [(1, 1), (2, 2)]), Series(text, [])], title=text, x=text, y=text)
    figure += bars([Bars(text, [1.0]), Bars(text, [2.0])], [text], title=text, unit=text)
    reader = read(figure)
    known = {
        "figure",
        "figcaption",
        "span",
        "svg",
        "desc",
        "text",
        "tspan",
        "path",
        "polyline",
        "rect",
        "title",
        "ul",
        "li",
    }
    assert set(reader.tags) <= known
    assert not {name for name in reader.names if name.startswith("on") or name in ("style", "href", "src")}
    assert not set(reader.text) & set("\u202e\x00\u200b\u2028")


@pytest.mark.parametrize(
    ("series", "log"),
    [([(1, float("nan"))], False), ([(float("inf"), 1)], False), ([(1, 0)], True), ([(1, -1)], True)],
)
def test_numbers_without_a_place_are_refused(series: list[tuple[float, float]], log: bool) -> None:
    with pytest.raises(ValueError, match="'a' has"):
        lines([Series("a", series)], title="t", x="x", y="y", log_y=log)


def test_bars_without_a_value_for_each_label_are_refused() -> None:
    with pytest.raises(ValueError, match="1 values for 2 labels"):
        bars([Bars("a", [1])], ["en", "zh"], title="t")
    with pytest.raises(ValueError, match="not a finite number"):
        bars([Bars("a", [float("inf")])], ["en"], title="t")
