"""The symbols of a piece as its merges happen, row after row, a window of them around each merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bytepair.study.explain.merging import MergeStep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair.study.explain.explanation import ExplainedPiece


class LadderRow(NamedTuple):
    """The symbols after a merge.

    Attributes:
        step: The merge; None for the first row, the initial symbols.
        symbols: The ids around the merge, in order.
        fresh: The index of the merged token in `symbols`; -1 in the first row.
        before: The number of symbols left out before them.
        behind: The number of symbols left out after them.
    """

    step: MergeStep | None
    symbols: list[int]
    fresh: int
    before: int
    behind: int


def rows(piece: ExplainedPiece, most: int, window: int) -> Iterator[LadderRow]:
    """The rows of the first merges of a piece.

    Args:
        piece: A piece that was merged.
        most: The most merges.
        window: The most symbols in a row, at least 1.

    Time is linear in the symbols, plus the symbols of each row.

    Example:
        >>> import bytepair as bp
        >>> found = bp.explain(bp.train({"low": 5}, vocab_size=258), "low")
        >>> [row.symbols for row in rows(found.pieces[0], 9, 9)]
        [[108, 111, 119], [256, 119], [257]]
    """
    ids = list(piece.symbols)
    end = len(ids)
    before, after = list(range(-1, end - 1)), list(range(1, end + 1))
    yield LadderRow(None, ids[:window], -1, 0, max(0, end - window))
    # The symbols left of the window are counted from the merged places, in a Fenwick tree.
    gone = _Sums(end)
    for number, step in enumerate(piece.merges[:most]):
        at, taken = step.at, after[step.at]
        ids[at] = step.result
        after[at] = after[taken]
        if after[at] < end:
            before[after[at]] = at
        gone.add(taken)
        first = at
        for _ in range(window // 2):
            if before[first] < 0:
                break
            first = before[first]
        places: list[int] = []
        place = first
        while place < end and len(places) < window:
            places.append(place)
            place = after[place]
        left_out = first - gone.until(first)
        behind = end - (number + 1) - left_out - len(places)
        yield LadderRow(step, [ids[place] for place in places], places.index(at), left_out, behind)


class _Sums:
    """The number of marked places before a place: a Fenwick tree."""

    def __init__(self, size: int) -> None:
        self._sums = [0] * (size + 1)

    def add(self, place: int) -> None:
        place += 1
        while place < len(self._sums):
            self._sums[place] += 1
            place += place & -place

    def until(self, place: int) -> int:
        total = 0
        while place:
            total += self._sums[place]
            place -= place & -place
        return total
