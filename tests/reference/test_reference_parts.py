"""Unit tests of the parts: tie keys, alphabets, encoders, counting in parallel."""

from __future__ import annotations

import sys
from functools import partial
from itertools import product
from random import Random
from typing import Any

import pytest

from bytepair.errors import EncodeError, PatternError
from bytepair.reference import (
    alphabet_ids,
    count_pieces,
    encode_merges,
    encode_ranks,
    initial_symbols,
    last_tokens,
    parallel,
    split_text,
    train_naive,
    train_parallel,
    winner,
)
from bytepair.reference.ties import inverted

WORDS = r" ?\p{L}+| ?\S|\s+"


def test_inverted_strings_sort_the_other_way_round() -> None:
    tokens = [bytes(token) for length in range(4) for token in product([0, 1, 254, 255], repeat=length)]
    assert sorted(tokens, key=inverted) == sorted(tokens, reverse=True)


def test_greatest_bytes_prefers_the_longer_of_two_that_begin_alike() -> None:
    table = {(b"a", b"z"): 1, (b"ab", b"a"): 1, (b"ab", b"ac"): 1, (b"ab", b"a\x00"): 1}
    assert winner(table, "greatest_bytes", ids={}, pieces=[]) == (b"ab", b"ac")
    assert winner(table, "smallest_bytes", ids={}, pieces=[]) == (b"a", b"z")


def test_characters_are_numbered_by_code_point() -> None:
    pieces = [initial_symbols(piece, alphabet="characters") for piece in ("zé", "a𝄞", "語")]
    assert [token.decode() for token in alphabet_ids(pieces, alphabet="characters")] == ["a", "z", "é", "語", "𝄞"]


def test_lowest_ids_reads_ids_not_bytes() -> None:
    # Once "zz" is a token it has the id 256, above every byte, although its bytes sort below b"\xff".
    counts = {b"zz": 9, b"zza": 1, b"\xffb": 1}
    assert train_naive(counts, 2, ties="lowest_ids").pairs[1] == (b"\xff", b"b")
    assert train_naive(counts, 2, ties="smallest_bytes").pairs[1] == (b"zz", b"a")


def test_ranks_and_merges_differ_where_a_token_has_two_makings() -> None:
    ranks = {token: rank for rank, token in enumerate([b"a", b"b", b"c", b"bc", b"ab", b"abc"])}
    merges = [(b"b", b"c"), (b"a", b"b"), (b"ab", b"c")]
    assert encode_ranks(b"abcabc", ranks) == [b"abc", b"abc"]
    assert encode_merges(b"abc", merges) == [b"a", b"bc"]
    assert encode_merges(b"abc", merges, whole={b"abc"}) == [b"abc"]
    assert encode_merges([b"ab", b"c"], merges) == [b"abc"]


def test_a_merge_listed_twice_has_its_last_rank() -> None:
    assert encode_merges(b"abc", [(b"a", b"b"), (b"b", b"c"), (b"a", b"b")]) == [b"a", b"bc"]


def test_encoders_of_nothing() -> None:
    assert encode_ranks(b"", {}) == encode_merges(b"", []) == []
    assert last_tokens(b"", lambda piece: [piece]) == []


def test_a_byte_without_a_token_is_named_by_its_position() -> None:
    with pytest.raises(EncodeError, match=r"b'x' is not a token") as caught:
        encode_ranks(b"ababx", {b"a": 0, b"b": 1, b"ab": 2})
    assert caught.value.byte == 4


def test_last_tokens_hold_every_encoding() -> None:
    random = Random("last tokens")
    for _ in range(100):
        pieces = ["".join(random.choices("ab", k=8)) for _ in range(3)]
        merges = train_naive(dict.fromkeys(pieces, 1), 6).pairs
        piece = pieces[0].encode()
        last = last_tokens(piece, partial(encode_merges, merges=merges))
        for end in range(1, len(piece) + 1):
            tokens: list[bytes] = []
            at = end
            while at:
                tokens.insert(0, last[at - 1])
                at -= len(last[at - 1])
            assert tokens == encode_merges(piece[:end], merges)


def test_splitting_loses_nothing() -> None:
    assert split_text("a1b--c", "[a-z]") == ["a", "1", "b", "--", "c"]
    assert split_text("abc", "") == ["a", "b", "c"]
    assert split_text("", WORDS) == []


def test_processes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "BATCH", 2)
    random = Random("parallel")
    texts = [" ".join(random.choices(["low", "lower", "né", "x1", "語"], k=5)) for _ in range(9)]
    expected: dict[bytes, int] = {}
    for text in texts:
        for piece in split_text(text, WORDS):
            expected[piece.encode()] = expected.get(piece.encode(), 0) + 1
    for processes in (1, 2):
        counts = count_pieces(iter(texts), WORDS, processes=processes)
        assert list(counts.items()) == list(expected.items())
    training = train_parallel(texts, 9, pattern=WORDS, ties="first_seen", trace=True)
    assert training == train_naive(expected, 9, ties="first_seen", trace=True)


def test_counting_names_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PatternError, match="does not compile"):
        count_pieces([], "(")
    with pytest.raises(EncodeError, match="lone surrogate"):
        count_pieces(["\ud800"], WORDS)
    monkeypatch.setitem(sys.modules, "regex", None)
    with pytest.raises(ImportError, match="pip install regex"):
        count_pieces([], WORDS)


@pytest.mark.parametrize("texts", ["low", b"low", {"low": 1}])
def test_one_text_or_a_table_is_not_an_iterable_of_texts(texts: Any) -> None:
    with pytest.raises(TypeError, match="not an iterable of str"):
        train_parallel(texts, 1, pattern=WORDS)
