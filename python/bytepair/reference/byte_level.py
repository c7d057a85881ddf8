"""The trainer of the page "02 - The BPE Algorithm": ids in place of byte strings, everything by hand.

The one idea over V1 (``naive.py``): a symbol is a number. A piece of text is a list of ids, at first its bytes; a
vocabulary maps each id to its bytes; a merge appends one token to it and writes the new id for two old ones.
This is what a tokenizer stores and what a model sees, and comparing two numbers is cheaper than comparing two strings.

The page breaks ties to the smaller pair of byte strings, so here, and only here, that is the default.

Complexity: as V1, O(merges x symbols of all pieces). Biggest weakness: as V1, everything is recounted at every step.

Source: "02 - The BPE Algorithm". (With the prefixes that the page prints, unsplit, it counts the pair of space and w
as 3; it is 5.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.reference.training import State

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from bytepair.reference.training import Counts, TrainerOptions, Training


def count_id_pairs(pieces: list[list[int]], counts: list[int]) -> dict[tuple[int, int], int]:
    """Count how often each pair of ids is adjacent.

    Args:
        pieces: The ids of each piece.
        counts: How often each piece occurs, in the same order.

    Complexity: O(ids of all pieces).

    Example:
        >>> count_id_pairs([[97, 97, 97], [97, 98]], [1, 2])
        {(97, 97): 2, (97, 98): 2}
    """
    table: dict[tuple[int, int], int] = {}
    for ids, count in zip(pieces, counts, strict=True):
        for i in range(len(ids) - 1):
            pair = ids[i], ids[i + 1]
            table[pair] = table.get(pair, 0) + count
    return table


def replace_pair(ids: list[int], pair: tuple[int, int], new: int) -> list[int]:
    """Write a new id for each occurrence of a pair of ids, from left to right.

    Args:
        ids: The ids of one piece.
        pair: The two ids to replace.
        new: The id of the new token.

    Complexity: O(ids).

    Example:
        >>> replace_pair([97, 97, 97, 98], (97, 97), 256)
        [256, 97, 98]
    """
    replaced = []
    i = 0
    while i < len(ids):
        if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
            replaced.append(new)
            i += 2
        else:
            replaced.append(ids[i])
            i += 1
    return replaced


def train_byte_level(counts: Counts, merges: int, **options: Unpack[TrainerOptions]) -> Training:
    """Learn merges on lists of ids, ties by default to the smaller pair of byte strings.

    Takes, returns and raises the same as `Trainer`.

    Complexity: O(merges x symbols of all pieces).

    Source: "02 - The BPE Algorithm".

    Example:
        >>> train_byte_level({"work": 2, "worked": 2, "works": 1}, 3).pairs
        [(b'o', b'r'), (b'or', b'k'), (b'w', b'ork')]
    """
    options.setdefault("ties", "smallest_bytes")
    state = State.start(counts, merges, **options)
    vocabulary = list(state.ids)
    pieces = [[state.ids[symbol] for symbol in symbols] for symbols in state.pieces]
    for _ in range(merges):
        table = count_id_pairs(pieces, state.counts)
        tokens = {(vocabulary[left], vocabulary[right]): count for (left, right), count in table.items()}
        merge = state.pick(tokens)
        if merge is None:
            break
        pair, new = (state.ids[merge.left], state.ids[merge.right]), len(vocabulary)
        state.record(merge, tokens)
        vocabulary.append(merge.token)
        pieces = [replace_pair(ids, pair, new) for ids in pieces]
        state.pieces = [[vocabulary[number] for number in ids] for ids in pieces]
    return state.training
