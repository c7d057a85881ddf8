"""Training by parity: each merge is for the group whose text takes the most tokens.

The one idea over V1 (``naive.py``): frequency favours the group with the most text, so its words become tokens first.
Here each merge is the most frequent pair of one group alone, and that group is the one which is worst off: the one with
the most tokens for its development text, measured again before each merge.

Complexity: as V1, O(merges x symbols of all pieces). Biggest weakness: as V1.

Source: "Parity-Aware Byte-Pair Encoding: Improving Cross-lingual Fairness in Tokenization" (Foroutan et al., 2025).
"""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bytepair.reference.pairs import count_pairs, merge_pair
from bytepair.reference.training import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Unpack

    from bytepair.reference.training import Counts, Merge, TrainerOptions


def train_parity(
    groups: Sequence[Counts],
    development: Sequence[Counts],
    sizes: Sequence[int],
    merges: int,
    *,
    after: int = 0,
    window: tuple[int, int] | None = None,
    **options: Unpack[TrainerOptions],
) -> list[tuple[Merge, int]]:
    """Learn merges for the group that is worst off, by a full recount at every step.

    Args:
        groups: The pieces of each group and their counts.
        development: The pieces of each group's development text.
        sizes: The units of each development text; equal numbers if all have the same content.
        merges: The number of merges to learn at most.
        after: The first merges are those of all groups together: hybrid parity.
        window: The length of a moving window, and how often it holds the same group at most, unless no other has a pair
            left.
        options: As for `Trainer`, without ``first_seen``.

    Returns:
        The merges, each with its group, or the number of groups for all together.

    Complexity: O(merges x symbols of all pieces).

    Source: "Parity-Aware Byte-Pair Encoding" (Foroutan et al., 2025).

    Example:
        >>> found = train_parity([{"aaaa": 9}, {"xyxyxy": 1}], [{"aaaa": 9}, {"xyxyxy": 1}], [36, 3], 2)
        >>> [(merge.token, group) for merge, group in found]
        [(b'xy', 1), (b'aa', 0)]
    """
    together: dict[Any, int] = {}
    for counts in groups:
        for piece, count in counts.items():
            together[piece] = together.get(piece, 0) + count
    states = [State.start(counts, merges, **options) for counts in (*groups, together)]
    texts = [State.start(counts, merges, **options) for counts in development]
    found: list[tuple[Merge, int]] = []
    recent: deque[int] = deque(maxlen=None if window is None else window[0] - 1)
    while len(found) < merges:
        best = [state.pick(count_pairs(state.pieces, state.counts)) for state in states]
        group = len(groups)
        if len(found) >= after or best[group] is None:
            able = [number for number in range(len(groups)) if best[number] is not None]
            if window is not None:
                able = [number for number in able if recent.count(number) < window[1]] or able
            if not able:
                break
            group = max(able, key=lambda number: (Fraction(_tokens(texts[number]), sizes[number]), -number))
            recent.append(group)
        merge = best[group]
        assert merge is not None
        for state in (*states, *texts):
            state.ids[merge.token] = len(state.ids)
            state.pieces = [merge_pair(symbols, merge.pair) for symbols in state.pieces]
        found.append((merge, group))
    return found


def _tokens(state: State) -> int:
    return sum(len(symbols) * count for symbols, count in zip(state.pieces, state.counts, strict=True))
