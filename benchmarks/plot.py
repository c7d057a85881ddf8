"""Charts of the measurements as an HTML page; the tables and the CSV file hold the same numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.peers import ROOT
from bytepair.drawing.charts import Bars, Series, bars, lines
from bytepair.view.page import page, write_page

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
