"""V1: recount everything at every step.

The one idea: this is the definition of training. Count all pairs, choose the best one, merge it everywhere, begin
again. Nothing is remembered from one step to the next, so nothing can be remembered wrongly: every other trainer here
is tested against this one.

Complexity: O(merges x symbols of all pieces). Biggest weakness: a merge touches a few pieces, but all are recounted.

Source: V1 of "Building a Fast BPE Tokenizer from Scratch"; the same loop as in minbpe and in Sennrich's paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.reference.pairs import count_pairs, merge_pair
from bytepair.reference.training import State

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from bytepair.reference.training import Counts, TrainerOptions, Training


def train_naive(counts: Counts, merges: int, **options: Unpack[TrainerOptions]) -> Training:
    """Learn merges by a full recount at every step.

    Takes, returns and raises the same as `Trainer`.

    Complexity: O(merges x symbols of all pieces).

    Source: V1 of "Building a Fast BPE Tokenizer from Scratch".

    Example:
        >>> training = train_naive({"low": 5, "lower": 2}, 2, trace=True)
        >>> training.merges
        [Merge(left=b'l', right=b'o', count=7), Merge(left=b'lo', right=b'w', count=7)]
    """
    state = State.start(counts, merges, **options)
    for _ in range(merges):
        table = count_pairs(state.pieces, state.counts)
        merge = state.pick(table)
        if merge is None:
            break
        state.record(merge, table)
        state.pieces = [merge_pair(symbols, merge.pair) for symbols in state.pieces]
    return state.training
