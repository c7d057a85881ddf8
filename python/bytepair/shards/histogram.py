"""The histogram of document lengths in tokens: quantiles, text, and an SVG file."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from bytepair import files
from bytepair.drawing.histogram_svg import Bin, histogram
from bytepair.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_BAR = 40
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_STEPS = 4


def bins(lengths: Mapping[int, int], steps: int) -> list[Bin]:
    """The steps from the shortest to the longest document, empty ones included.

    Args:
        lengths: How many documents are in each step of `Tally`, by its least length.
        steps: The number of steps in each power of two: 1, 2 or 4; lengths below are steps of their own. Also 8, if no
            document has 16 tokens.

    Example:
        >>> bins({3: 5, 16: 1, 20: 2}, 1)
        [Bin(start=2, end=4, amount=5), Bin(start=4, end=8, amount=0), Bin(start=8, end=16, amount=0), \
Bin(start=16, end=32, amount=3)]
    """
    if not lengths:
        return []
    edges = [_least(min(lengths), steps)]
    while edges[-1] <= max(lengths):
        edges.append(edges[-1] + _width(edges[-1], steps))
    many = dict.fromkeys(edges, 0)
    for length, documents in lengths.items():
        many[_least(length, steps)] += documents
    return [Bin(start, end, many[start]) for start, end in pairwise(edges)]


def quantile(lengths: Mapping[int, int], share: float, longest: int) -> int:
    """The approximate length, in tokens, that a share of the documents does not exceed.

    Exact below 16 tokens; above, it lies in the right step, at most a quarter of the length wide.

    Args:
        lengths: How many documents are in each step of `Tally`.
        share: From 0 to 1; 0.5 is the median.
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
    """The histogram as lines of text, one for each length if no document has 16 tokens, else for each power of two.

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
    shown = bins(lengths, 8 if max(lengths, default=0) < 16 else 1)
    names = [f"{one.start:,}" + (f" - {one.end - 1:,}" if one.end > one.start + 1 else "") for one in shown]
    numbers = [f"{one.amount:,}" for one in shown]
    tallest = max((one.amount for one in shown), default=0)
    name, number = max(map(len, names), default=0), max(map(len, numbers), default=0)
    lines = [
        f"{names[at]:>{name}}  {numbers[at]:>{number}}  {_drawn(one.amount, tallest)}".rstrip()
        for at, one in enumerate(shown)
    ]
    return "\n".join(lines)


def check_plot(path: Path) -> None:
    """Refuse a file name that `plot` would refuse.

    Raises:
        ArtifactError: The name does not end with ``.svg``.
    """
    if path.suffix.lower() != ".svg":
        raise ArtifactError("the histogram is an SVG file", file=str(path), remedy="name it NAME.svg")


def plot(path: Path, lengths: Mapping[int, int], title: str, marks: Mapping[str, int]) -> None:
    """Write the histogram as an SVG file, over a scale of powers of two. Equal numbers give equal bytes.

    Steps are not equally wide on that scale, so the area of a bar is proportional to its documents.

    Args:
        path: The file.
        lengths: How many documents are in each step of `Tally`.
        title: The text above the bars.
        marks: Lengths that a line marks, by name.

    Raises:
        ArtifactError: The name does not end with ``.svg``, or the file cannot be written.
    """
    check_plot(path)
    drawn = histogram(bins(lengths, _STEPS), title=title, x="tokens", y="documents", marks=marks)
    files.write_all(path.parent, {path.name: drawn.encode()})


def _drawn(many: int, tallest: int) -> str:
    # One document is visible beside a billion.
    eighths = max(many * _BAR * 8 // max(tallest, 1), 1 if many else 0)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _width(length: int, steps: int) -> int:
    return 1 << max(length.bit_length() - steps.bit_length(), 0)


def _least(length: int, steps: int) -> int:
    shift = max(length.bit_length() - steps.bit_length(), 0)
    return length >> shift << shift
