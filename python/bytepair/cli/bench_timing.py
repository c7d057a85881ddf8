"""Timing of calls that are compared, and checks of their results: for ``bytepair bench`` and for benchmarks."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

WRONG = "WRONG"
RAISES = "RAISES"
PANIC = "PANIC"


def same(result: Any, expected: Any) -> bool:
    """Whether a result is the expected one; an array counts as a list, also in a list of arrays.

    Example:
        >>> import array
        >>> same(array.array("I", [1, 2]), [1, 2]), same([array.array("I", [1])], [[2]])
        (True, False)
    """
    if isinstance(result, list) and result and hasattr(result[0], "tolist"):
        result = [row.tolist() for row in result]
    return bool(plain(result) == expected)


def plain(result: Any) -> Any:
    """An array as a list, and anything else as it is.

    Example:
        >>> import array
        >>> plain(array.array("I", [1, 2]))
        [1, 2]
    """
    return result.tolist() if hasattr(result, "tolist") else result


def verdict(run: Callable[[], Any], expected: Any) -> str:
    """Runs a call once and returns its fault: ``""``, `WRONG`, `RAISES` or, for a library in Rust, `PANIC`.

    Example:
        >>> verdict(lambda: [1], [1]), verdict(lambda: [1], [2]), verdict(lambda: 1 / 0, [1])
        ('', 'WRONG', 'RAISES')
    """
    try:
        return "" if same(run(), expected) else WRONG
    except Exception:
        return RAISES
    except BaseException as error:
        # Neither a panic nor Ctrl-C is an Exception, and Ctrl-C has to get through.
        if type(error).__name__ != "PanicException":
            raise
        return PANIC


def medians(
    runs: Mapping[str, Callable[[], Any]],
    *,
    repeats: int,
    seconds: float,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, float]:
    """The median time of each run.

    They run in turns: a slow phase of the machine slows all of them.

    Args:
        runs: What to run, by name.
        repeats: The most runs of each.
        seconds: The total time after which a run is not repeated.
        clock: The clock in seconds.

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
