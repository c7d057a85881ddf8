"""The worked examples of the papers and articles that the trainers are from."""

from __future__ import annotations

import pytest

from bytepair.reference import TRAINERS, Trainer, encode_merges, encode_ranks, last_tokens, train_naive

every_trainer = pytest.mark.parametrize("train", TRAINERS.values(), ids=TRAINERS)


def pairs(text: str) -> list[tuple[bytes, bytes]]:
    """Read ``l o, lo w``; an open box is a space."""
    halves = (pair.split() for pair in text.split(","))
    return [(left.replace("␠", " ").encode(), right.replace("␠", " ").encode()) for left, right in halves]


@every_trainer
def test_the_bpe_algorithm_on_pieces(train: Trainer) -> None:
    training = train({"work": 2, "worked": 2, "works": 1}, 3, ties="smallest_bytes")
    assert training.pairs == pairs("o r, or k, w ork")


@every_trainer
def test_the_bpe_algorithm_on_unsplit_prefixes(train: Trainer) -> None:
    # The page counts the pair of space and w as 3. It is 5, and so the merges are not those that the page gives.
    counts = {"I work": 2, "I worked": 1, "he works": 1, "he worked": 1}
    training = train(counts, 4, ties="smallest_bytes", trace=True)
    assert training.pairs == pairs("␠ w, ␠w o, ␠wo r, ␠wor k")
    assert training.trace is not None
    assert training.trace[0][b" ", b"w"] == 5


@every_trainer
def test_slow_data_on_one_text(train: Trainer) -> None:
    assert train({"aaabdaaabace": 1}, 3, ties="lowest_ids").pairs == pairs("a a, a b, aa ab")


@every_trainer
def test_slow_data_on_words(train: Trainer) -> None:
    counts = dict.fromkeys(["low", "lower", "hard", "harder"], 1)
    assert train(counts, 6, ties="first_seen").pairs == pairs("l o, lo w, e r, h a, ha r, har d")


@every_trainer
@pytest.mark.parametrize(
    ("piece", "merges", "second_table"),
    [
        ("aaa", "a a, aa a", {(b"aa", b"a"): 1}),
        ("aaaa", "a a, aa aa", {(b"aa", b"aa"): 1}),
        ("aaaaa", "a a, aa aa, aaaa a", {(b"aa", b"aa"): 1, (b"aa", b"a"): 1}),
        ("aaaaaa", "a a, aa aa, aaaa aa", {(b"aa", b"aa"): 2}),
    ],
)
def test_a_pair_next_to_itself(
    train: Trainer, piece: str, merges: str, second_table: dict[tuple[bytes, bytes], int]
) -> None:
    training = train({piece: 1}, 9, ties="greatest_bytes", trace=True)
    assert training.pairs == pairs(merges)
    assert training.trace is not None
    assert training.trace[0] == {(b"a", b"a"): len(piece) - 1}
    assert training.trace[1] == second_table


@every_trainer
def test_sennrich(train: Trainer) -> None:
    counts = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    training = train(counts, 10, ties="first_seen", alphabet="characters", end_of_word_suffix="</w>")
    expected = "e s, es t, est </w>, l o, lo w, n e, ne w, new est</w>, low </w>, w i"
    assert training.pairs == pairs(expected)
    assert [merge.count for merge in training.merges] == [9, 9, 9, 7, 7, 6, 6, 6, 5, 3]


def test_fast_tokenizer_chapter_merge_table() -> None:
    merges = pairs("l o, lo w, e r, low er")
    assert encode_merges(b"lower", merges) == [b"lower"]
    assert encode_merges(b"lowest", merges) == [b"low", b"e", b"s", b"t"]


def test_bpe_crate_readme() -> None:
    tokens = [b"a", b"b", b"c", b"ab", b"cb", b"ac", b"bb", b"cbb", b"acbb"]
    ranks = {token: rank for rank, token in enumerate(tokens)}
    assert encode_ranks(b"abacb", ranks) == [b"ab", b"a", b"cb"]
    assert encode_ranks(b"abacbb", ranks) == [b"ab", b"acbb"]
    last = last_tokens(b"abacbb", lambda piece: encode_ranks(piece, ranks))
    assert last == [b"a", b"ab", b"a", b"ac", b"cb", b"acbb"]


def test_first_seen_depends_on_the_order_of_pieces_and_the_others_do_not() -> None:
    counts = {"ab": 1, "cd": 1}
    turned = dict(reversed(counts.items()))
    assert train_naive(counts, 1, ties="first_seen").pairs == pairs("a b")
    assert train_naive(turned, 1, ties="first_seen").pairs == pairs("c d")
    for ties in ("lowest_ids", "greatest_bytes", "smallest_bytes"):
        assert train_naive(counts, 2, ties=ties) == train_naive(turned, 2, ties=ties)
