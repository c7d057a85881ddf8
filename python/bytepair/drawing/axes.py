"""Axes of charts: positions, ticks and labels."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Axis:
    """An axis: the position of each number, from 0 to 1, and its ticks.

    Args:
        values: The numbers; all lie within the axis.
        log: Whether equal distances are equal factors. All numbers are above 0 then.
        zero: Whether the axis contains 0 and ends at ticks, as an axis upwards does.

    Attributes:
        ticks: Numbers and their labels, ascending.
        least: The number at position 0.
        most: The number at position 1.

    Example:
        >>> axis = Axis([0, 7], log=False, zero=True)
        >>> [label for _, label in axis.ticks], axis.share(4)
        (['0', '2', '4', '6', '8'], 0.5)
    """

    def __init__(self, values: Sequence[float], *, log: bool, zero: bool) -> None:
        self._log = log
        least, most = min(values), max(values)
        if log:
            self.ticks = _log_ticks(least, most)
        else:
            if zero:
                least, most = min(least, 0.0), max(most, 0.0)
            self.ticks = _linear_ticks(least, most)
        # A vertical axis ends at a tick; a horizontal one where the data ends, unless fewer than two ticks lie within.
        inside = [tick for tick in self.ticks if least <= tick[0] <= most]
        if not zero and len(inside) >= 2:
            self.ticks, self.least, self.most = inside, least, most
        else:
            self.least, self.most = min(least, self.ticks[0][0]), max(most, self.ticks[-1][0])

    def share(self, value: float) -> float:
        """The position of a number, from 0 to 1."""
        if self._log:
            return (log10(value) - log10(self.least)) / (log10(self.most) - log10(self.least))
        return (value - self.least) / (self.most - self.least)


def _linear_ticks(least: float, most: float) -> list[tuple[float, str]]:
    """Four to eight round numbers around the data."""
    if least == most:
        least, most = (least - 0.5, most + 0.5) if least else (0.0, 1.0)
    raw = (most - least) / 6
    power = 10.0 ** floor(log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * 0.999)
    first, last = floor(least / step + 1e-9), ceil(most / step - 1e-9)
    return [(number * step, tick_label(number * step)) for number in range(first, last + 1)]


def _log_ticks(least: float, most: float) -> list[tuple[float, str]]:
    """Powers of ten around the data, no more than seven; in a short range also twice and five times these."""
    first, last = floor(log10(least) + 1e-9), ceil(log10(most) - 1e-9)
    last = max(last, first + 1)
    if last - first <= 2:
        ticks = [10.0**power * factor for power in range(first, last + 1) for factor in (1, 2, 5)]
        below = [tick for tick in ticks if tick <= least * (1 + 1e-9)]
        above = [tick for tick in ticks if tick >= most * (1 - 1e-9)]
        low, high = below[-1], above[0]
        high = high if high > low else next(tick for tick in ticks if tick > low)
        return [(tick, tick_label(tick)) for tick in ticks if low <= tick <= high]
    step = ceil((last - first) / 6)
    powers = range(first, last + step, step)
    return [(10.0**power, tick_label(10.0**power)) for power in powers]


def tick_label(value: float) -> str:
    """A round number in a few characters."""
    if value and abs(value) >= 10_000:
        for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
            if abs(value) >= size * (1 - 1e-9):
                return f"{value / size:.6g}{letter}".replace("-", "−")
    return (f"{value:.6g}" if abs(value) < 1000 else f"{value:,.0f}").replace("-", "−")


def exact(value: float) -> str:
    """A number with all digits before the point, and six significant ones at most if it has a fraction."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.6g}"
