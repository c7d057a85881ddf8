"""Slow, readable byte-pair encoding: the oracle for the fast core, and a way into the subject.

Read it in this order; each file adds one idea; its head states its cost and its biggest weakness:

1. ``pairs.py``, ``alphabet.py``, ``ties.py``, ``training.py``: symbols, pairs, and the shared part of all trainers.
2. ``naive.py`` (V1), ``incremental.py`` (V2), ``parallel.py`` (V3), ``inverted.py`` (V4), ``heap.py`` (V5): the five
   versions of "Building a Fast BPE Tokenizer from Scratch".
3. ``byte_level.py`` ("02 - The BPE Algorithm"): another way to the same merges; ``linked.py``, ``positions.py`` and
   ``linked_list.py``: the stages of "Slow Data" after V1, in which the text is a linked list.
4. ``staged.py``: merges within words, then across them; ``parity.py``: merges for the group that is worst off.
5. ``encode.py``: the definition of encoding.
6. ``chunking.py``: the definition of chunks; ``aligning.py``: that of the alignment of two tokenizations.

`TRAINERS` has the eight trainers by name, slowest first; equal arguments have equal results. `train_parallel` (V3)
counts texts in several processes and then trains like V2. The product does not import this package.

Example:
    >>> counts = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    >>> {tuple(train(counts, 10, ties="first_seen").pairs[:3]) for train in TRAINERS.values()}
    {((b'e', b's'), (b'es', b't'), (b'l', b'o'))}
"""

from __future__ import annotations

from bytepair.reference.alphabet import ALPHABETS, alphabet_ids, initial_symbols
from bytepair.reference.byte_level import train_byte_level
from bytepair.reference.encode import encode_merges, encode_ranks, last_tokens
from bytepair.reference.heap import train_heap
from bytepair.reference.incremental import train_incremental
from bytepair.reference.inverted import train_inverted
from bytepair.reference.linked import train_linked
from bytepair.reference.linked_list import train_linked_list
from bytepair.reference.naive import train_naive
from bytepair.reference.pairs import Pair, add_pairs, count_pairs, merge_pair
from bytepair.reference.parallel import count_pieces, split_text, train_parallel
from bytepair.reference.parity import train_parity
from bytepair.reference.positions import train_positions
from bytepair.reference.staged import train_staged
from bytepair.reference.ties import TIES, winner
from bytepair.reference.training import Merge, Trainer, TrainerOptions, Training

TRAINERS: dict[str, Trainer] = {
    "naive": train_naive,
    "byte_level": train_byte_level,
    "linked": train_linked,
    "incremental": train_incremental,
    "inverted": train_inverted,
    "positions": train_positions,
    "linked_list": train_linked_list,
    "heap": train_heap,
}

__all__ = [
    "ALPHABETS",
    "TIES",
    "TRAINERS",
    "Merge",
    "Pair",
    "Trainer",
    "TrainerOptions",
    "Training",
    "add_pairs",
    "alphabet_ids",
    "count_pairs",
    "count_pieces",
    "encode_merges",
    "encode_ranks",
    "initial_symbols",
    "last_tokens",
    "merge_pair",
    "split_text",
    "train_byte_level",
    "train_heap",
    "train_incremental",
    "train_inverted",
    "train_linked",
    "train_linked_list",
    "train_naive",
    "train_parallel",
    "train_parity",
    "train_positions",
    "train_staged",
    "winner",
]
