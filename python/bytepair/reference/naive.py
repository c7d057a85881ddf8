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
from bytepair.reference.training import Settings, State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bytepair.reference.training import Training


def train_naive(
    counts: Mapping[bytes, int] | Mapping[str, int],
    merges: int,
    *,
    ties: str = "lowest_ids",
    min_frequency: int = 1,
    max_token_length: int | None = None,
    alphabet: str = "bytes",
    end_of_word_suffix: str | None = None,
    trace: bool = False,
) -> Training:
    """Learn merges by a full recount at every step.

    Takes, returns and raises what `Trainer` says.

    Complexity: O(merges x symbols of all pieces).

    Source: V1 of "Building a Fast BPE Tokenizer from Scratch".

    Example:
        >>> training = train_naive({"low": 5, "lower": 2}, 2, trace=True)
        >>> training.merges
        [Merge(left=b'l', right=b'o', count=7), Merge(left=b'lo', right=b'w', count=7)]
    """
    settings = Settings(merges, ties, min_frequency, max_token_length, alphabet, end_of_word_suffix, trace)
    state = State.start(counts, settings)
    for _ in range(merges):
        table = count_pairs(state.pieces, state.counts)
        merge = state.pick(table)
        if merge is None:
            break
        state.record(merge, table)
        state.pieces = [merge_pair(symbols, merge.pair) for symbols in state.pieces]
    return state.training
