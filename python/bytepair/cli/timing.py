"""Times of several calls that are compared: ``bytepair bench`` and the benchmarks of the repository take them alike."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def medians(
    runs: Mapping[str, Callable[[], Any]],
    *,
    repeats: int,
    seconds: float,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, float]:
    """The median time of each run.

    They run in turns, so that what slows the machine down slows all of them.

    Args:
        runs: What to run, by name.
        repeats: How often each runs at most.
        seconds: A run that has taken this long in all sits out the further turns.
        clock: CPU time of the process, unless said otherwise.

    Raises:
        ValueError: `repeats` is less than 1.

    Example:
        >>> ticks = iter(range(100))
        >>> medians({"a": lambda: None}, repeats=3, seconds=60, clock=lambda: next(ticks))
        {'a': 1}
    """
    if repeats < 1:
        raise ValueError(f"repeats is {repeats}; it is at least 1")
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            if sum(times[name]) < seconds or not times[name]:
                start = clock()
                run()
                times[name].append(clock() - start)
    return {name: statistics.median(taken) for name, taken in times.items()}
