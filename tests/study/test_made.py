"""Merge trees of tokens: alone as in any text, for both semantics, of bytes and of characters."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

import bytepair as bp
from bytepair.errors import InvalidIdError
from bytepair.model.models import BytePair, Characters, WordLevel
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.study.explain import TokenMerge, made_by, taken_whole
from bytepair.study.explain.merging import MergeStep, Merging
from bytepair.study.explain.trees import merging_of


def random_model(draw: random.Random, *, merges: bool, proper: bool) -> BytePair:
    """A model over a few letters, whose tokens training need not produce."""
    tokens = [b"a", b"b", b"c"]
    pairs: list[tuple[int, int]] = []
    for _ in range(draw.randrange(1, 14)):
        if proper or draw.random() < 0.7:
            left, right = draw.randrange(len(tokens)), draw.randrange(len(tokens))
            pairs.append((left, right))
            token = tokens[left] + tokens[right]
        else:
            token = bytes(draw.choices(b"abc", k=draw.randrange(2, 6)))
        if token not in tokens and len(token) < 12:
            tokens.append(token)
    if not proper:
        draw.shuffle(pairs)
    pairs = [(left, right) for left, right in pairs if tokens[left] + tokens[right] in tokens]
    return BytePair(
        tuple(tokens),
        tuple(range(len(tokens))),
        merges=tuple(pairs) if merges else None,
        ignore_merges=merges and draw.random() < 0.3,
        partial_alphabet=True,
    )


def naive(model: BytePair, piece: bytes) -> list[int]:
    """Merging by its definition: repeatedly the lowest-ranked pair; ties go left to right."""
    ids = {token: id for id, token in enumerate(model.tokens)}
    ranks = None if model.merges is None else {pair: rank for rank, pair in enumerate(model.merges)}
    symbols = [ids[bytes([byte])] for byte in piece]
    while True:
        pairs = []
        for at, (left, right) in enumerate(pairwise(symbols)):
            result = ids.get(model.tokens[left] + model.tokens[right])
            rank = result if ranks is None else ranks.get((left, right))
            if rank is not None and result is not None:
                pairs.append((rank, at, result))
        if not pairs:
            return symbols
        _, at, result = min(pairs)
        symbols[at : at + 2] = [result]


@pytest.mark.parametrize("merges", [False, True])
@pytest.mark.parametrize("proper", [False, True])
def test_merging_is_the_definition_and_trees_are_the_same_everywhere(merges: bool, proper: bool) -> None:
    draw = random.Random(f"{merges} {proper}")
    seen = 0
    for _ in range(300):
        model = random_model(draw, merges=merges, proper=proper)
        tok = bp.Tokenizer(TokenizerSpec(model))
        merging = Merging(model)
        trees = made_by(tok, model.ids)
        for _ in range(8):
            piece = "".join(draw.choices("abc", k=draw.randrange(1, 24)))
            steps, left = merging.merge(merging.symbols(piece))
            assert left == naive(model, piece.encode())
            for step in steps:
                assert trees[step.result] == TokenMerge(step.left, step.right, step.rank)
                seen += 1
            assert tok.encode(piece) == (
                [model.tokens.index(piece.encode())] if merging.whole(piece) is not None else left
            )
        for id in model.ids:
            alone = naive(model, model.tokens[id]) == [id]
            assert (trees[id] is not None) == (alone and len(model.tokens[id]) > 1)
            can_be_whole = not merges or model.ignore_merges
            assert (id in taken_whole(tok, [id])) == (can_be_whole and not alone)
            assert not can_be_whole or tok.encode(model.tokens[id].decode()) == [id]
    assert seen > 3000


@pytest.mark.parametrize(
    ("how", "piece"),
    [
        (Characters(), "abcab"),
        (Characters(end_of_word_suffix="</w>"), "abcab"),
        (Characters(continuing_subword_prefix="##"), "abcab"),
        (Characters(continuing_subword_prefix="##", end_of_word_suffix="</w>"), "abcab"),
    ],
)
def test_trees_of_characters(how: Characters, piece: str) -> None:
    prefix, suffix = how.continuing_subword_prefix or "", how.end_of_word_suffix or ""
    draw = random.Random(piece + prefix + suffix)
    singles = {b + c + e for c in "abc" for b in {"", prefix} for e in {"", suffix}}
    for _ in range(60):
        tokens = sorted(singles)
        pairs = []
        for _ in range(12):
            left, right = draw.randrange(len(tokens)), draw.randrange(len(tokens))
            bare = tokens[right][len(prefix) :]
            if not tokens[right].startswith(prefix) or not bare or (suffix and tokens[left].endswith(suffix)):
                continue
            token = tokens[left] + bare
            pairs.append((left, right))
            if token not in tokens:
                tokens.append(token)
        # Merges that make one token by two pairs have the trees of its bytes; a trained list has none of these.
        made_once = {tokens[left] + tokens[right][len(prefix) :]: (left, right) for left, right in reversed(pairs)}
        pairs = [pair for pair in pairs if pair in made_once.values()]
        model = BytePair(tuple(t.encode() for t in tokens), tuple(range(len(tokens))), tuple(pairs), alphabet=how)
        tok = bp.Tokenizer(TokenizerSpec(model))
        merging = merging_of(tok)
        assert merging
        trees = made_by(tok, model.ids)
        for _ in range(20):
            piece = "".join(draw.choices("abc", k=draw.randrange(1, 30)))
            steps, left_ids = merging.merge(merging.symbols(piece))
            assert left_ids == tok.encode(piece)
            for step in steps:
                assert trees[step.result] == TokenMerge(step.left, step.right, step.rank)


def test_descendants_are_there_and_no_others(tok: bp.Tokenizer) -> None:
    trees = made_by(tok, [1999 - 2])
    for made in trees.values():
        assert made is None or {made.left, made.right} <= trees.keys()
    top = trees[1997]
    assert top is not None
    assert tok.token_bytes(1997) == tok.token_bytes(top.left) + tok.token_bytes(top.right)
    assert sum(1 for made in trees.values() if made is None) == len(set(tok.token_bytes(1997)))


def test_what_no_merge_makes() -> None:
    model = BytePair((b"a", b"b", b"ab"), (0, 1, 2), partial_alphabet=True)
    tok = bp.Tokenizer(TokenizerSpec(model, added_tokens=(AddedToken("<x>", 7),)))
    assert made_by(tok, [7, 0]) == {7: None, 0: None}
    words = bp.Tokenizer(TokenizerSpec(WordLevel((b"a", b"<unk>"), (0, 1))))
    assert made_by(words, [0]) == {0: None}
    assert taken_whole(words, [0, 1]) == set()
    with pytest.raises(InvalidIdError):
        made_by(tok, [99])


def test_bytes_that_fell_back_can_merge() -> None:
    tokens = (b"<0xC3>", b"<0xA9>", b"<0xC3><0xA9>", b"a")
    model = BytePair(tokens, (0, 1, 2, 3), ((0, 1),), alphabet=Characters(byte_fallback=True))
    tok = bp.Tokenizer(TokenizerSpec(model))
    assert tok.encode("é") == [2]
    assert made_by(tok, [2]) == {2: TokenMerge(0, 1, 0), 0: None, 1: None}


@pytest.mark.data
@pytest.mark.parametrize("name", ["gpt2", "llama2", "clip", "phi-2", "mistral/tokenizer_v0.3.json"])
def test_real_tokens_stand_for_their_bytes(data: Path, name: str) -> None:
    tok = bp.Tokenizer.from_file(data / "vocabs" / name)
    text = (data / "corpora" / "multi_1mb.txt").read_text("utf-8")[:60_000]
    ids = set(tok.encode(text, special="allow"))
    trees = made_by(tok, ids)
    assert ids <= trees.keys()
    for id, made in trees.items():
        if made is not None:
            assert tok.token_bytes(id) == tok.token_bytes(made.left) + tok.token_bytes(made.right)


def test_threads_that_ask_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller that asks while a tree is being made must not get the answer that nothing makes the token."""
    model = bp.train({"low": 5, "lower": 2}, vocab_size=259).spec.model
    assert isinstance(model, BytePair)
    merging, merge = Merging(model), Merging.merge
    told: list[TokenMerge | None] = []

    def merge_slowly(self: Merging, symbols: list[int]) -> tuple[list[MergeStep], list[int]]:
        monkeypatch.setattr(Merging, "merge", merge)
        with ThreadPoolExecutor(1) as other:
            told.append(other.submit(merging.made, 257).result())
        return merge(self, symbols)

    monkeypatch.setattr(Merging, "merge", merge_slowly)
    assert merging.made(257) == TokenMerge(256, 119, 1)
    assert told == [TokenMerge(256, 119, 1)]
