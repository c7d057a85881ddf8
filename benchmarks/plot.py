"""Plots of what was measured, if matplotlib is installed; the tables and the CSV file hold the same."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from benchmarks.peers import OURS, ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.measure import Report


CHARTS = 6
"""The most of them side by side."""


def figure(rows: int, columns: int) -> tuple[Any, Any] | None:
    """A figure and its grid of axes; None, and a line that says so, without matplotlib."""
    if importlib.util.find_spec("matplotlib") is None:
        print("no plot: matplotlib is not installed (make bench installs it)")
        return None
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot

    drawn, axes = pyplot.subplots(rows, columns, figsize=(4.2 * columns, 3 * rows), squeeze=False, layout="constrained")
    return drawn, axes


def _number(value: str) -> float | None:
    try:
        return float(value.removeprefix("~"))
    except ValueError:
        return None


def save(report: Report, drawn: Any, suffix: str = ".svg") -> None:
    """Writes a figure beside the CSV file."""
    path = report.place(suffix)
    drawn.savefig(path)
    print(f"written: {path.relative_to(ROOT)}")


def rates(report: Report, units: Sequence[str] = ("MB/s",), suffix: str = ".svg") -> None:
    """Bars of all that is in MB/s, or in other units: a row of charts for each table, a chart for each measure."""
    tables: dict[str, dict[str, dict[str, float]]] = {}
    for row in report.rows:
        value = _number(row["value"])
        if row["unit"] in units and value is not None:
            measure = f"{row['measure']}, {row['unit']}"
            tables.setdefault(row["title"], {}).setdefault(measure, {})[row["library"]] = value
    grid = figure(len(tables), max(map(len, tables.values()))) if tables else None
    if grid is None:
        return
    drawn, axes = grid
    for line, (title, measured) in zip(axes, tables.items(), strict=True):
        for place in line[len(measured) :]:
            place.set_visible(False)
        for place, (measure, values) in zip(line, measured.items(), strict=False):
            _bars(place, f"{title}: {measure}", values)
    save(report, drawn, suffix)


def growth(report: Report, unit: str = "us", suffix: str = ".svg") -> None:
    """Lines of a unit over the number of tokens, of measures that are such a number; a chart for each table."""
    tables: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for row in report.rows:
        value = _number(row["value"])
        if row["unit"] == unit and row["measure"].endswith(" tokens") and value is not None:
            points = tables.setdefault(row["title"], {}).setdefault(row["library"], [])
            points.append((int(row["measure"].split()[0]), value))
    rows = -(-len(tables) // CHARTS)
    grid = figure(rows, min(len(tables), CHARTS)) if tables else None
    if grid is None:
        return
    drawn, axes = grid
    for place in axes.flat[len(tables) :]:
        place.set_visible(False)
    for place, (title, lines) in zip(axes.flat, tables.items(), strict=False):
        for name, points in lines.items():
            place.loglog(*zip(*points, strict=True), marker="o", label=name)
        place.set_title(title, fontsize=8)
        place.set_xlabel("tokens", fontsize=7)
        place.set_ylabel(unit, fontsize=7)
        place.legend(fontsize=7)
    save(report, drawn, suffix)


def _bars(place: Any, title: str, values: Mapping[str, float]) -> None:
    names = sorted(values, key=values.__getitem__)
    place.barh(names, [values[name] for name in names], color=["#c03" if name == OURS else "#89a" for name in names])
    place.set_title(title, fontsize=8)
    place.tick_params(labelsize=7)
