"""Training in stages: merges within words first, then merges across them.

The one idea over V1 (``naive.py``): text can be split twice. The first stage learns from narrow pieces, such as words.
The next one takes the same text in wider pieces, applies the merges so far in order, and goes on counting and merging
from there. A token of the later stage can be several words.

Complexity: as V1 for each stage. Biggest weakness: as V1; and a wide piece seldom occurs twice, so that there is nearly
as much to count as there is text.

Source: "SuperBPE: Space Travel for Language Models" (Liu et al., 2025), where a token has four words at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.reference.pairs import count_pairs, merge_pair
from bytepair.reference.training import State, Training

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Unpack

    from bytepair.reference.training import Counts, TrainerOptions


def train_staged(stages: Sequence[tuple[Counts, int]], **options: Unpack[TrainerOptions]) -> Training:
    """Learn merges stage by stage, each by a full recount at every step.

    Args:
        stages: For each stage the pieces and their counts, and the number of merges to learn at most.
        options: As for `Trainer`. A pair whose token is there already is not merged.

    Returns:
        The merges of all stages.

    Raises:
        TypeError, TrainingError, EncodeError, ValueError: As `Trainer`.

    Complexity: O(merges x symbols of all pieces).

    Source: "SuperBPE: Space Travel for Language Models" (Liu et al., 2025).

    Example:
        >>> words, lines = {"by": 4, " the": 4}, {"by the": 3, "by the by": 1}
        >>> train_staged([(words, 4), (lines, 1)]).pairs
        [(b' ', b't'), (b'b', b'y'), (b'h', b'e'), (b' t', b'he'), (b'by', b' the')]
    """
    training = Training([], [] if options.get("trace") else None)
    for counts, merges in stages:
        state = State.start(counts, merges, **options)
        state.training = training
        for known in training.merges:
            state.ids[known.token] = len(state.ids)
            state.pieces = [merge_pair(symbols, known.pair) for symbols in state.pieces]
        for _ in range(merges):
            table = count_pairs(state.pieces, state.counts)
            merge = state.pick({pair: count for pair, count in table.items() if b"".join(pair) not in state.ids})
            if merge is None:
                break
            state.record(merge, table)
            state.pieces = [merge_pair(symbols, merge.pair) for symbols in state.pieces]
    return training
