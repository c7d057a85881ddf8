"""How many documents have how many tokens, as text and as a picture."""

from __future__ import annotations

from itertools import pairwise
from math import log2
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair import files
from bytepair.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_BAR = 40
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_STEPS = 4
_INK, _FAINT, _FILL = "#222222", "#d9d9d9", "#4878a8"


class Row(NamedTuple):
    """One step of lengths.

    Attributes:
        least: The least tokens of a document in it.
        most: The most.
        documents: How many there are.
    """

    least: int
    most: int
    documents: int


def rows(lengths: Mapping[int, int], steps: int) -> list[Row]:
    """All steps from the shortest to the longest document, also those that nothing is in.

    Args:
        lengths: How many documents are in each step of `Tally`, by its least length.
        steps: Into how many steps each power of two is cut: 1, 2 or 4; lengths below are steps of their own. Also 8, if
            no document has 16 tokens.

    Example:
        >>> rows({3: 5, 16: 1, 20: 2}, 1)
        [Row(least=2, most=3, documents=5), Row(least=4, most=7, documents=0), \
Row(least=8, most=15, documents=0), Row(least=16, most=31, documents=3)]
    """
    if not lengths:
        return []
    edges = [_least(min(lengths), steps)]
    while edges[-1] <= max(lengths):
        edges.append(edges[-1] + _width(edges[-1], steps))
    many = dict.fromkeys(edges, 0)
    for length, documents in lengths.items():
        many[_least(length, steps)] += documents
    return [Row(least, after - 1, many[least]) for least, after in pairwise(edges)]


def quantile(lengths: Mapping[int, int], share: float, longest: int) -> int:
    """About how many tokens the document has that so many others are not longer than.

    Exact below 16 tokens; above, it is in the right step, which is at most a quarter of it wide.

    Args:
        lengths: How many documents are in each step of `Tally`.
        share: From 0 to 1; 0.5 gives the median.
        longest: The most tokens of a document.

    Returns:
        Tokens; 0 if there are no documents.

    Example:
        >>> quantile({3: 5, 16: 4, 1024: 1}, 0.5, 1100), quantile({3: 5, 16: 4, 1024: 1}, 0.9, 1100)
        (3, 19)
    """
    total = sum(lengths.values())
    wanted = max(-(-total * round(share * 1_000_000) // 1_000_000), 1)
    before = 0
    for least in sorted(lengths):
        many = lengths[least]
        if before + many >= wanted:
            # As if the documents were spread evenly over their step.
            width = min(_width(least, _STEPS) if least >= 16 else 1, longest - least + 1)
            return least + (2 * (wanted - before) - 1) * width // (2 * many)
        before += many
    return 0


def text(lengths: Mapping[int, int]) -> str:
    """The histogram as lines of text: a line for each length if no document has 16 tokens, else for each power of two.

    Args:
        lengths: How many documents are in each step of `Tally`.

    Example:
        >>> print(text({3: 50, 4: 100, 5: 25, 7: 1}))
        3   50  ████████████████████
        4  100  ████████████████████████████████████████
        5   25  ██████████
        6    0
        7    1  ▍
    """
    shown = rows(lengths, 8 if max(lengths, default=0) < 16 else 1)
    names = [f"{row.least:,}" if row.least == row.most else f"{row.least:,} - {row.most:,}" for row in shown]
    numbers = [f"{row.documents:,}" for row in shown]
    tallest = max((row.documents for row in shown), default=0)
    name, number = max(map(len, names), default=0), max(map(len, numbers), default=0)
    lines = [
        f"{names[at]:>{name}}  {numbers[at]:>{number}}  {_drawn(row.documents, tallest)}".rstrip()
        for at, row in enumerate(shown)
    ]
    return "\n".join(lines)


def check_plot(path: Path) -> None:
    """Raises what `plot` would raise before it has anything to draw.

    Raises:
        ArtifactError: The name is not one of a PNG, or matplotlib is not there.
    """
    if path.suffix.lower() != ".png":
        raise ArtifactError("the picture is a PNG", file=str(path), remedy="name it NAME.png")
    _matplotlib(path)


def plot(path: Path, lengths: Mapping[int, int], title: str, marks: Mapping[str, int]) -> None:
    """Draws the histogram into a PNG, over a scale of powers of two. The same numbers give the same bytes.

    Steps are not equally wide on that scale, so that it is the area of a bar that stands for its documents.

    Args:
        path: The file.
        lengths: How many documents are in each step of `Tally`.
        title: What is written above.
        marks: One or two lengths that a line shows, by their names.

    Raises:
        ArtifactError: As `check_plot`; or it cannot be written.
    """
    check_plot(path)
    import io

    matplotlib = _matplotlib(path)
    drawn = io.BytesIO()
    # What the user has set up for plots of their own has no say in this one.
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        _figure(rows(lengths, _STEPS), title, marks).savefig(drawn, format="png", metadata={"Software": None})
    files.write_all(path.parent, {path.name: drawn.getvalue()})


def _figure(shown: list[Row], title: str, marks: Mapping[str, int]) -> Any:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    figure = Figure(figsize=(8, 4.5), dpi=150, layout="constrained", facecolor="white")
    figure.get_layout_engine().set(w_pad=0.15, h_pad=0.12)
    axes = figure.add_subplot()
    # A document of no tokens has no place on the scale: it stands left of those of one.
    starts = [max(row.least, 0.5) for row in shown]
    ends = [row.most + 1 for row in shown]
    widths = [end - start for start, end in zip(starts, ends, strict=True)]
    heights = [row.documents / log2(end / start) for row, start, end in zip(shown, starts, ends, strict=True)]
    axes.bar(starts, heights, widths, align="edge", color=_FILL, edgecolor="white", linewidth=0.6, zorder=2)
    axes.set_xscale("log", base=2)
    axes.set_title(title, loc="left", color=_INK, fontsize=11, pad=22)
    axes.set_xlabel("tokens of a document", color=_INK)
    axes.set_ylabel("documents per doubling of the length", color=_INK)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.xaxis.minorticks_off()
    axes.grid(axis="y", color=_FAINT, linewidth=0.6, zorder=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(_FAINT)
    axes.tick_params(colors=_INK, length=0)
    if shown:
        axes.set_xlim(starts[0], ends[-1])
    # Names of two marks stand apart, however near these are.
    for side, (name, length) in zip(("right", "left"), sorted(marks.items(), key=lambda mark: mark[1]), strict=False):
        place = max(length, 0.5)
        axes.axvline(place, color=_INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=3)
        axes.annotate(
            f"{name} {length:,}",
            (place, 1),
            (-3 if side == "right" else 3, 4),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha=side,
            va="bottom",
            fontsize=9,
            color=_INK,
        )
    return figure


def _tick(value: float) -> str:
    return "0" if value < 1 else f"{value:,.0f}"


def _drawn(many: int, tallest: int) -> str:
    # What is there is seen, however little it is.
    eighths = max(many * _BAR * 8 // max(tallest, 1), 1 if many else 0)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _width(length: int, steps: int) -> int:
    return 1 << max(length.bit_length() - steps.bit_length(), 0)


def _least(length: int, steps: int) -> int:
    shift = max(length.bit_length() - steps.bit_length(), 0)
    return length >> shift << shift


def _matplotlib(path: Path) -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise ArtifactError(
            "the picture needs matplotlib", file=str(path), remedy="pip install 'bytepair[plot]', or leave it out"
        ) from error
    return matplotlib
