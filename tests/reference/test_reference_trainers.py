"""All trainers are one function: equal merges, equal counts, equal pair tables, under every policy and option."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bytepair import train_merges
from bytepair.errors import EncodeError, TrainingError
from bytepair.reference import (
    TIES,
    TRAINERS,
    Training,
    encode_merges,
    initial_symbols,
    merge_pair,
    train_heap,
    train_naive,
)

FASTER = {name: train for name, train in TRAINERS.items() if name != "naive"}


def random_counts(random: Random, letters: str) -> dict[str, int]:
    pieces = ("".join(random.choices(letters, k=random.randint(0, 9))) for _ in range(random.randint(1, 6)))
    return {piece: random.randint(1, 4) for piece in pieces}


def random_options(random: Random) -> dict[str, Any]:
    return {
        "min_frequency": random.choice([1, 1, 2, 5]),
        "max_token_length": random.choice([None, None, 2, 3, 5]),
        "alphabet": random.choice(["bytes", "characters"]),
        "end_of_word_suffix": random.choice([None, "</w>"]),
    }


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("letters", ["ab", "abc", "aé"])
def test_trainers_agree(ties: str, letters: str) -> None:
    random = Random(ties + letters)
    for _ in range(500):
        counts, options = random_counts(random, letters), random_options(random)
        expected = train_naive(counts, 12, ties=ties, trace=True, **options)
        for name, train in FASTER.items():
            assert train(counts, 12, ties=ties, trace=True, **options) == expected, (name, counts, options)


RUNS = ["a" * n for n in range(1, 20)] + ["ab" * n for n in range(1, 12)] + ["aaab" * n for n in range(1, 6)]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("piece", [*RUNS, "aab" * 5, "abbb" * 4, "aabb" * 4, "aaabaaaab", "baaaabaaab", "abaabaaab"])
def test_runs_are_merged_once_and_counted_afresh(piece: str, ties: str) -> None:
    # If a pair is adjacent to itself, "Slow Data" counted occurrences that a merge had used up, and merged stale
    # ones.
    for counts in ({piece: 1}, {piece: 3, "aaa": 2, "ba": 1}):
        expected = train_naive(counts, 20, ties=ties, trace=True)
        for name, train in FASTER.items():
            assert train(counts, 20, ties=ties, trace=True) == expected, name
        core: list[Any] = train_merges(counts, 20, ties=cast(Any, ties))
        assert core == expected.merges


def test_a_heap_that_is_never_compacted_gives_the_same() -> None:
    random = Random("compact")
    for _ in range(200):
        counts = random_counts(random, "ab")
        assert train_heap(counts, 12, compact=False) == train_heap(counts, 12)


@settings(max_examples=100)
@given(
    counts=st.dictionaries(st.binary(max_size=8), st.integers(1, 2**63), max_size=4),
    ties=st.sampled_from(TIES),
)
def test_trainers_agree_on_any_bytes(counts: dict[bytes, int], ties: str) -> None:
    expected = train_naive(counts, 20, ties=ties)
    for train in FASTER.values():
        assert train(counts, 20, ties=ties) == expected


@pytest.mark.parametrize("name", TRAINERS)
def test_trace_is_a_recount(name: str) -> None:
    random = Random(name)
    for _ in range(100):
        counts, options = random_counts(random, "ab"), random_options(random)
        training = TRAINERS[name](counts, 12, trace=True, **options)
        cut = {key: options[key] for key in ("alphabet", "end_of_word_suffix")}
        pieces = [initial_symbols(piece, **cut) for piece in counts]
        assert training.trace is not None
        assert len(training.trace) == len(training.merges)
        for merge, table in zip(training.merges, training.trace, strict=True):
            recount: Counter[tuple[bytes, bytes]] = Counter()
            for symbols, count in zip(pieces, counts.values(), strict=True):
                for pair in pairwise(symbols):
                    recount[pair] += count
            assert table == recount
            assert merge.count == table[merge.pair]
            pieces = [merge_pair(symbols, merge.pair) for symbols in pieces]


def test_first_seen_is_most_common_of_a_recount() -> None:
    random = Random("first_seen")
    for _ in range(300):
        counts = random_counts(random, "abc")
        pieces = [initial_symbols(piece) for piece in counts]
        for merge in train_naive(counts, 9, ties="first_seen").merges:
            recount: Counter[tuple[bytes, bytes]] = Counter()
            for symbols, count in zip(pieces, counts.values(), strict=True):
                for pair in pairwise(symbols):
                    recount[pair] += count
            assert recount.most_common(1) == [(merge.pair, merge.count)]
            pieces = [merge_pair(symbols, merge.pair) for symbols in pieces]


def test_encoding_a_piece_ends_where_training_did() -> None:
    random = Random("encode")
    for _ in range(200):
        counts = random_counts(random, "ab")
        training = train_naive(counts, 8)
        for piece in counts:
            symbols = initial_symbols(piece)
            for pair in training.pairs:
                symbols = merge_pair(symbols, pair)
            assert encode_merges(piece.encode(), training.pairs) == symbols


@pytest.mark.parametrize("train", TRAINERS.values(), ids=TRAINERS)
class TestEdges:
    def test_nothing_to_merge(self, train: Any) -> None:
        for counts in ({}, {"": 3}, {"a": 3}, {"a": 1, "b": 1}):
            assert train(counts, 5, trace=True) == Training([], [])
        assert train({"ab": 3}, 0) == Training([], None)

    def test_stops_below_min_frequency(self, train: Any) -> None:
        assert train({"ab": 3, "cd": 2}, 9, min_frequency=3).merges == [(b"a", b"b", 3)]

    def test_long_tokens_are_passed_over_for_rarer_short_ones(self, train: Any) -> None:
        merges = train({"abab": 5, "cd": 1}, 9, max_token_length=3).merges
        assert merges == [(b"a", b"b", 10), (b"c", b"d", 1)]

    def test_text_and_its_bytes_are_two_pieces(self, train: Any) -> None:
        assert train({"ab": 1, b"ab": 2}, 1).merges == [(b"a", b"b", 3)]

    def test_a_suffix_is_a_symbol_also_among_bytes(self, train: Any) -> None:
        merges = train({"ab": 2, "b": 3}, 9, end_of_word_suffix="</w>").merges
        assert merges == [(b"b", b"</w>", 5), (b"a", b"b</w>", 2)]

    def test_bad_arguments(self, train: Any) -> None:
        with pytest.raises(TrainingError, match="piece 'b' has the count 0") as caught:
            train({"a": 1, "b": 0}, 1)
        assert caught.value.row == 1
        with pytest.raises(TrainingError, match="-1 merges"):
            train({}, -1)
        with pytest.raises(TrainingError, match="holds the end-of-word suffix"):
            train({"a</w>b": 1}, 1, end_of_word_suffix="</w>")
        with pytest.raises(ValueError, match="lowest_ids, greatest_bytes, smallest_bytes, first_seen"):
            train({}, 1, ties="hash_order")
        with pytest.raises(ValueError, match="bytes, characters"):
            train({}, 1, alphabet="words")
        with pytest.raises(EncodeError, match="not UTF-8") as spoilt:
            train({b"a\xff": 1}, 1, alphabet="characters")
        assert spoilt.value.byte == 1
        with pytest.raises(EncodeError, match="lone surrogate"):
            train({"a\ud800": 1}, 1)

    def test_texts_are_not_a_counts_table(self, train: Any) -> None:
        for texts in (iter(["ab"]), ["ab"], "ab"):
            with pytest.raises(TypeError, match="not a mapping of pieces to counts; count_pieces makes one from texts"):
                train(texts, 1)

    def test_an_unknown_option_is_refused(self, train: Any) -> None:
        with pytest.raises(TypeError, match="'tie'"):
            train({"ab": 1}, 1, tie="first_seen")
