"""Charts of the measurements as an HTML page; the tables and the CSV file hold the same numbers."""

from __future__ import annotations

import re
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.peers import ROOT
from bytepair.drawing.charts import Bars, Series, bars, lines
from bytepair.view.page import asset, page, write_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.measure import Report


def _number(value: str) -> float | None:
    try:
        return float(value.removeprefix("~"))
    except ValueError:
        return None


def save(report: Report, charts: Sequence[str], suffix: str = ".html") -> None:
    """Write charts beside the CSV file; nothing if there are none."""
    if not charts:
        return
    path = report.place(suffix)
    body = f'<h1>{path.stem}</h1>\n<div class="charts">{"".join(charts)}</div>\n'
    write_page(page(path.stem, body, styles=["charts.css", "reported.css"]), path)
    print(f"written: {path.relative_to(ROOT)}")


def rates(report: Report, units: Sequence[str] = ("MB/s",), suffix: str = ".html") -> None:
    """Draw bars of everything in MB/s, or in other units: a chart for each measure of each table."""
    measures: dict[tuple[str, str], dict[str, float]] = {}
    for row in report.rows:
        value = _number(row["value"])
        if row["unit"] in units and value is not None:
            measures.setdefault((f"{row['title']}: {row['measure']}", row["unit"]), {})[row["library"]] = value
    charts = []
    for (title, unit), values in measures.items():
        names = sorted(values, key=values.__getitem__, reverse=True)
        charts.append(bars([Bars(unit, [values[name] for name in names])], names, title=title, unit=unit))
    save(report, charts, suffix)


def growth(report: Report, unit: str = "us", suffix: str = ".html") -> None:
    """Draw lines of a unit over the number of tokens, for measures named by one; a chart for each table."""
    tables: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for row in report.rows:
        value = _number(row["value"])
        if row["unit"] == unit and row["measure"].endswith(" tokens") and value is not None and value > 0:
            points = tables.setdefault(row["title"], {}).setdefault(row["library"], [])
            points.append((int(row["measure"].split()[0]), value))
    charts = [
        lines(
            [Series(name, points) for name, points in table.items()],
            title=title,
            x="tokens",
            y=unit,
            log_x=True,
            log_y=True,
        )
        for title, table in tables.items()
    ]
    save(report, charts, suffix)


SHOWN = ("bytepair", "gigatoken", "toktok", "fastokens", "tiktoken", "tokenizers")
"""The libraries of the chart in the README: the fastest peers, and those that most people use."""

TABLES = {
    ("en", "fresh"): "English, text never seen before",
    ("multi", "fresh"): "50 languages, text never seen before",
}
"""The rows of `benchmarks.encode` in the chart, the hardest for caches: the text, and a part of the measure's name."""


def speed(report: Report, folder: Path) -> list[Path]:
    """Draw the chart of the README from measured rows, for light and dark: ``speed-light.svg`` and ``speed-dark.svg``.

    Raises:
        ValueError: A row is missing.
    """
    labels: list[str] = []
    values: dict[str, list[float]] = {name: [] for name in SHOWN}
    for (text, measure), label in TABLES.items():
        rows = [row for row in report.rows if row["title"].endswith(f", {text}") and measure in row["measure"]]
        found = {row["library"]: _number(row["value"]) for row in rows}
        if found.get("bytepair") is None:
            raise ValueError(f"the chart needs the rows {measure!r} of the text {text!r}")
        labels.append(label)
        for name in SHOWN:
            value = found.get(name)
            values[name].append(nan if value is None else value)
    drawn = bars([Bars(name, values[name]) for name in SHOWN], labels, title="Text to ids", unit="MB/s")
    paths = []
    for theme in ("light", "dark"):
        path = folder / f"speed-{theme}.svg"
        path.write_text(_standalone(drawn, dark=theme == "dark"), "utf-8")
        paths.append(path)
    return paths


def _standalone(figure: str, *, dark: bool) -> str:
    """The drawing of a figure as a file of its own, with the colours of the pages for one theme."""
    colours = re.findall(r"--(\w+): light-dark\((#\w+), (#\w+)\)", asset("base.css"))
    chosen = {name: pair[dark] for name, *pair in colours}
    style = f"text {{ font: 15px system-ui, sans-serif; fill: {chosen['ink']}; }} .axis {{ fill: {chosen['faint']}; }}"
    style += "".join(f" .f{number} {{ fill: {chosen[f's{number}']}; }}" for number in range(len(SHOWN)))
    drawing = figure[figure.index("<svg ") : figure.rindex("</svg>") + len("</svg>")]
    box = re.search(r'viewBox="0 0 (\d+) (\d+)"', drawing)
    assert box
    size = f'<svg xmlns="http://www.w3.org/2000/svg" width="{box[1]}" height="{box[2]}" '
    return drawing.replace("<svg ", size, 1).replace("<desc>", f"<style>{style}</style><desc>", 1) + "\n"
