"""Reachable tokens and merges, against encoded texts and against merging by hand."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise, product

import pytest

import bytepair as bp
from bytepair.check.lint.merging import merged
from bytepair.check.lint.scores import beaten
from bytepair.check.lint.vocabulary import is_part_of_text, never
from bytepair.check.subject import Subject
from bytepair.model.models import BytePair, Characters, Unigram
from bytepair.model.spec import TokenizerSpec


def random_model(seed: int, letters: str = "abc", merges: int = 12) -> BytePair:
    """Merges in any order, of which many are never used."""
    draw = random.Random(seed)
    tokens = [letter.encode() for letter in letters]
    pairs: list[tuple[int, int]] = []
    while len(pairs) < merges:
        left, right = draw.randrange(len(tokens)), draw.randrange(len(tokens))
        made = tokens[left] + tokens[right]
        if (left, right) in pairs or len(made) > 6:
            continue
        if made not in tokens:
            tokens.append(made)
        pairs.append((left, right))
    draw.shuffle(pairs)
    return BytePair(tuple(tokens), tuple(range(len(tokens))), tuple(pairs), partial_alphabet=True)


def by_hand(model: BytePair, text: bytes) -> tuple[list[int], list[int]]:
    """The ids of a piece, and the merges that happened, by the definition."""
    id_of = dict(zip(model.tokens, model.ids, strict=True))
    rank_of = {pair: rank for rank, pair in enumerate(model.merges or ())}
    symbols = [id_of[bytes([byte])] for byte in text]
    happened = []
    while ranked := [(rank_of[pair], at) for at, pair in enumerate(pairwise(symbols)) if pair in rank_of]:
        rank, at = min(ranked)
        happened.append(rank)
        symbols[at : at + 2] = [id_of[model.tokens[symbols[at]] + model.tokens[symbols[at + 1]]]]
    return symbols, happened


@pytest.mark.parametrize("seed", range(25))
def test_a_token_or_merge_comes_about_in_some_piece_or_never(seed: int) -> None:
    """Tokens and merges reported as unreachable are those that occur in no piece of up to six letters."""
    model = random_model(seed)
    seen_tokens: set[int] = set()
    seen_merges: set[int] = set()
    for length in range(1, 7):
        for letters in product(b"abc", repeat=length):
            ids, happened = by_hand(model, bytes(letters))
            seen_tokens.update(ids)
            seen_merges.update(happened)
    made = merged(model)
    assert {id for id, is_made in zip(model.ids, made.is_made, strict=True) if is_made} == seen_tokens
    assert set(made.last.tolist()) - {-1} == seen_merges


@pytest.mark.parametrize("seed", range(10))
def test_the_core_agrees(seed: int) -> None:
    model = random_model(seed, "abcd", 20)
    tok = bp.Tokenizer(TokenizerSpec(model))
    encoder = tok.encoder("naive")
    alone = {id for token, id in zip(model.tokens, model.ids, strict=True) if encoder.encode_piece(token) == [id]}
    assert {id for id, is_made in zip(model.ids, merged(model).is_made, strict=True) if is_made} == alone
    characters = replace(model, alphabet=Characters(), partial_alphabet=False)
    assert merged(characters).is_made.tolist() == merged(model).is_made.tolist()


@pytest.mark.parametrize("seed", range(10))
def test_of_ranks_whatever_two_tokens_make_merges(seed: int) -> None:
    ranks = replace(random_model(seed), merges=None)
    encoder = bp.Tokenizer(TokenizerSpec(ranks)).encoder("naive")
    # A piece of which one more letter is behind is not taken whole; that letter may be merged with, though.
    seen = {
        id
        for length in range(1, 8)
        for letters in product(b"abc", repeat=length)
        for id in encoder.encode_piece(bytes(letters))
        if length > len(ranks.tokens[id])
    }
    made = {id for id, is_made in zip(ranks.ids, merged(ranks).is_made, strict=True) if is_made}
    assert seen <= made
    assert all(encoder.encode_piece(ranks.tokens[id]) == [id] for id in made)


def test_of_ranks_a_whole_piece_is_a_token() -> None:
    tokens = (b"a", b"b", b"c", b"d", b"ab", b"abc", b"cd", b"bcde", b"e")
    model = BytePair(tokens, tuple(range(9)), partial_alphabet=True)
    subject = Subject(bp.Tokenizer(TokenizerSpec(model)))
    assert merged(model).is_made.tolist() == [True] * 7 + [False, True]
    assert never(subject) == ({}, [])
    assert bp.lint(subject.tokenizer).codes == ("missing-bytes",)


def test_decorated_characters() -> None:
    tokens: tuple[str, ...] = ("l", "o", "w</w>", "w", "lo", "low</w>", "low", "o</w>", "l</w>")
    suffix = Characters(unk_token="l", end_of_word_suffix="</w>")
    model = BytePair(tuple(token.encode() for token in tokens), tuple(range(9)), ((0, 1), (4, 2)), alphabet=suffix)
    made = merged(model)
    # `low` inside a word would need a merge of its own.
    assert [tokens[place] for place, is_made in enumerate(made.is_made) if not is_made] == ["low"]
    assert sorted(made.last.tolist())[-2:] == [0, 1]
    prefix = Characters(unk_token="a", continuing_subword_prefix="##")
    tokens = ("a", "b", "##a", "##b", "ab", "##ab", "aab", "##bb")
    model = BytePair(
        tuple(token.encode() for token in tokens), tuple(range(8)), ((0, 3), (2, 3), (0, 5)), alphabet=prefix
    )
    made = merged(model)
    assert [tokens[place] for place, is_made in enumerate(made.is_made) if not is_made] == ["##bb"]


@pytest.mark.parametrize("seed", range(15))
def test_a_token_that_is_beaten_is_in_no_best_path(seed: int) -> None:
    draw = random.Random(seed)
    words = sorted({"".join(draw.choices("ab", k=draw.randint(2, 4))) for _ in range(8)})
    tokens = tuple(token.encode() for token in ("<unk>", "a", "b", *words))
    scores = tuple(float(-draw.randint(1, 8)) for _ in tokens)
    spec = TokenizerSpec(Unigram(tokens, tuple(range(len(tokens))), scores, unk_id=0))
    tok = bp.Tokenizer(spec)
    seen = {
        id for length in range(1, 9) for letters in product("ab", repeat=length) for id in tok.encode("".join(letters))
    }
    lost = set(beaten(spec))
    assert not lost & seen
    # A token neither beaten nor seen has a rival with an equal score.
    for id in set(range(1, len(tokens))) - lost - seen:
        alone = tok.encode(tokens[id].decode())
        assert sum(scores[other] for other in alone) == pytest.approx(scores[id])


def test_parts_of_utf8() -> None:
    text = "aé€😀 ü日".encode()
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            assert is_part_of_text(text[start:end])
    cut_and_wrong = (b"\xed\xa0", b"\xe0\x80", b"\xf0\x8f")
    for wrong in (
        *cut_and_wrong,
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf5",
        b"\x80\x80\x80\x80",
        b"\xe2a",
        b"a\x80",
        b"\xf4\x90",
    ):
        assert not is_part_of_text(wrong)
