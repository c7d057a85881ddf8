"""Pruning keeps the tokens that merges need; without a text it equals training to the smaller size."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import get_args

import numpy as np
import pytest

import bytepair as bp
from bytepair.model.models import BytePair, Characters, WordLevel
from bytepair.model.semantics import to_merges, to_ranks
from bytepair.reference import encode_merges, encode_ranks
from bytepair.training.learning import Ties
from tests.conftest import HOSTILE
from tests.test_extend import BYTES, merges_of, random_counts, random_tokenizer, spell


def prune_slowly(tok: bp.Tokenizer, size: int, counts: Mapping[str, int]) -> set[bytes]:
    """The removed tokens, found by a search through all of them each time."""
    merges = merges_of(tok)
    tokens = dict(zip(tok.spec.byte_pair.tokens, tok.spec.byte_pair.ids, strict=True))
    added = {token.id for token in tok.spec.added_tokens}
    uses = Counter(
        dict.fromkeys(tokens, 0)
        | Counter(token for piece, count in counts.items() for token in spell(tok, piece.encode()) * count)
    )
    gone: set[bytes] = set()
    first = {left + right: place for place, (left, right) in reversed(list(enumerate(merges)))}
    while len(tok) - len(gone) > size:
        needed = {part for pair in merges if b"".join(pair) not in gone for part in pair}
        leaves = [token for token in tokens.keys() - needed - gone if len(token) > 1 and tokens[token] not in added]
        leaf = min(leaves, key=lambda token: (uses[token], -first.get(token, len(merges) + tokens[token])))
        gone.add(leaf)
        if leaf in first:
            for part in merges[first[leaf]]:
                uses[part] += uses[leaf]
    return gone


def check(tok: bp.Tokenizer, pruned: bp.Pruned, gone: set[bytes]) -> None:
    small, ids = pruned
    model, old = small.spec.byte_pair, tok.spec.byte_pair
    assert ids.dtype == np.int64
    assert ids.shape == (tok.vocab_size,)
    kept = [token for token in old.tokens if token not in gone]
    assert list(model.tokens) == kept
    # Dense, in the old order, and each id the same token.
    assert ids[ids >= 0].tolist() == list(range(len(small))) == list(range(small.vocab_size))
    for id, token in zip(old.ids, old.tokens, strict=True):
        assert (ids[id] < 0) == (token in gone)
        if ids[id] >= 0:
            assert small.token_bytes(int(ids[id])) == token
    for before, after in zip(tok.spec.added_tokens, small.spec.added_tokens, strict=True):
        assert before._replace(id=int(ids[before.id])) == after
    assert (model.semantics, model.ignore_merges) == (old.semantics, old.ignore_merges)
    if model.merges is not None:
        assert merges_of(small) == [pair for pair in merges_of(tok) if b"".join(pair) not in gone]
    # Tokens that merges reached before are still reached.
    was, now = tok.encoder("heap"), small.encoder("heap")
    for token in kept:
        if was.encode_piece(token) == [tok.spec.byte_pair.ids[old.tokens.index(token)]]:
            assert len(now.encode_piece(token)) == 1


@pytest.mark.filterwarnings("ignore:no pair is left:bytepair.TokenizerWarning")
def test_random_vocabularies_are_pruned_as_by_looking_at_all() -> None:
    random = Random(2)
    for _ in range(200):
        tok = random_tokenizer(random)
        counts = random_counts(random) if random.random() < 0.8 else {}
        merges = bp.Tokenizer(tok.spec.replace(model=to_merges(tok.spec.byte_pair)))
        size = random.randint(256 + len(tok.spec.added_tokens), len(tok))
        gone = prune_slowly(merges, size, counts)
        pruned = bp.prune(tok, size, counts or None)
        check(tok, pruned, gone)
        small = pruned.tokenizer
        for piece in (*counts, *random_counts(random)):
            ids = small.encode(piece, special="text", added="text")
            assert [small.token_bytes(id) for id in ids] == spell(small, piece.encode())


@pytest.mark.parametrize("ties", get_args(Ties))
def test_without_a_source_it_is_training_to_the_smaller_size(sources: list[str], ties: Ties) -> None:
    for options in ({"special_ids": "first", "byte_order": "gpt2"}, {}):
        special = ["<|a|>", "<|b|>"]
        large = bp.train(iter(sources), 1000, ties=ties, special_tokens=special, **options)  # type: ignore[arg-type]
        small = bp.train(iter(sources), 600, ties=ties, special_tokens=special, **options)  # type: ignore[arg-type]
        assert bp.prune(large, 600).tokenizer == small
        ranks = bp.Tokenizer(large.spec.replace(model=to_ranks(large.spec.byte_pair)))
        assert bp.prune(ranks, 600).tokenizer.spec == small.spec.replace(model=to_ranks(small.spec.byte_pair))


def test_with_a_source_it_keeps_what_the_source_uses(sources: list[str], tok: bp.Tokenizer) -> None:
    about, none = bp.prune(tok, 900, iter(sources[:1]), threads=1), bp.prune(tok, 900)
    assert about.tokenizer.count(sources[0]) < none.tokenizer.count(sources[0])
    counts = Counter(tok.pieces(sources[0]))
    assert bp.prune(tok, 900, counts).tokenizer == about.tokenizer
    merges = merges_of(about.tokenizer)
    for text in (sources[1][:2000], *HOSTILE):
        pieces = about.tokenizer.pieces(text)
        expected = [token for piece in pieces for token in encode_merges(piece.encode(), merges)]
        assert about.tokenizer.tokens(text) == expected
        assert about.tokenizer.decode(about.tokenizer.encode(text)) == text


def test_several_merges_of_one_token(sources: list[str]) -> None:
    # As Llama 3 has them: each cut of a token into two tokens is a merge, in the order of the tokens.
    model = bp.train(iter(sources), 500).spec.byte_pair
    id_of = dict(zip(model.tokens, model.ids, strict=True))
    cuts = [
        (id_of[token[:at]], id_of[token[at:]])
        for token in model.tokens
        for at in range(1, len(token))
        if token[:at] in id_of and token[at:] in id_of
    ]
    tok = bp.Tokenizer(bp.TokenizerSpec(replace(model, merges=tuple(cuts), ignore_merges=True)))
    counts = Counter(tok.pieces(sources[0][:500]))
    pruned = bp.prune(tok, 400, counts)
    check(tok, pruned, prune_slowly(tok, 400, counts))
    ranks = {token: id for id, token in enumerate(pruned.tokenizer.spec.byte_pair.tokens)}
    for piece in counts:
        assert pruned.tokenizer.tokens(piece) == encode_ranks(piece.encode(), ranks)


def test_an_added_token_that_merges_make_stays_with_what_it_needs() -> None:
    model = bp.BytePair((*BYTES, b"ab", b"abc", b"de"), tuple(range(259)), ((97, 98), (256, 99), (100, 101)))
    tok = bp.Tokenizer(bp.TokenizerSpec(model, added_tokens=(bp.AddedToken("abc", 257),)))
    assert bp.prune(tok, 258).tokenizer.spec.byte_pair.tokens[256:] == (b"ab", b"abc")
    with pytest.raises(bp.TrainingError, match="only 1 tokens can be removed") as raised:
        bp.prune(tok, 256)
    assert "2 higher" in raised.value.remedy


CHARACTERS = bp.TokenizerSpec(
    BytePair(
        (b"[U]", b"l", b"##o", b"##w", b"lo", b"##ow", b"low", b"\xc3\xa9"),
        tuple(range(8)),
        ((1, 2), (2, 3), (4, 3)),
        alphabet=Characters(unk_token="[U]", continuing_subword_prefix="##"),
    )
)


def test_models_of_characters_keep_their_alphabet_and_what_tokens_are_made_of() -> None:
    tok = bp.Tokenizer(CHARACTERS)
    smaller, ids = bp.prune(tok, remove=[1, 4, 5, 7])
    assert ids.tolist() == [0, 1, 2, 3, 4, -1, 5, 6]
    assert smaller.tokens("low") == [b"low"]
    assert smaller.tokens("low\u00e9") == tok.tokens("low\u00e9")
    smaller = bp.prune(tok, remove=[4, 5, 6], keep_ids=True).tokenizer
    assert smaller.encode("low") == [1, 2, 3]
    # Without a source, the last merges go.
    assert bp.prune(tok, 7).tokenizer.tokens("low") == [b"lo", b"##w"]
    with pytest.raises(bp.FormatError, match="needs a model that merges bytes"):
        bp.prune(tok, 7, {"low": 1})
    with pytest.raises(bp.TrainingError, match="only 3 tokens can be removed"):
        bp.prune(tok, 4)


@pytest.mark.filterwarnings("ignore::bytepair.TokenizerWarning")
def test_models_without_merges_lose_the_whole_list() -> None:
    text = ["lower low lowest", "new newer newest"]
    made: list[bp.Tokenizer] = [
        bp.train_unigram(iter(text), vocab_size=18),
        bp.train_wordpiece(iter(text), vocab_size=25),
        bp.Tokenizer(bp.TokenizerSpec(WordLevel((b"low", b"new", b"<unk>"), (0, 1, 2)))),
    ]
    for tok in made:
        found = bp.residues(tok, iter(["low"]))
        smaller, ids = bp.prune(tok, remove=found.ids)
        assert smaller.encode("low") == ids[tok.encode("low")].tolist()
        assert len(smaller) < len(tok)
        gone = [id for id in found.ids if ids[id] < 0]
        assert all(len(tok.token_bytes(id).removeprefix(b"##")) > 1 for id in gone)
        with pytest.raises(bp.FormatError, match="needs a model that merges bytes"):
            bp.prune(tok, len(tok) - 1)


def test_what_a_post_processor_names_stays() -> None:
    processor = {
        "type": "TemplateProcessing",
        "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "low", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {"low": {"id": "low", "ids": [257], "tokens": ["low"]}},
    }
    spec = bp.train({"low": 3, "new": 2}, vocab_size=260).spec
    tok = bp.Tokenizer(spec.replace(post_processor=json.dumps(processor)))
    assert bp.prune(tok, 258).tokenizer.tokens("low new")[0] == b"low"


def test_sizes_that_make_no_sense_are_refused(tok: bp.Tokenizer) -> None:
    pruned = bp.prune(tok, len(tok))
    assert pruned.tokenizer == tok
    assert pruned.ids.tolist() == list(range(len(tok)))
    with pytest.raises(bp.TrainingError, match="2000 tokens cannot be pruned"):
        bp.prune(tok, 2001)
    for size in (257, 0, -5):
        with pytest.raises(bp.TrainingError, match="can be removed"):
            bp.prune(tok, size)
    with pytest.raises(bp.TrainingError, match="no text"):
        bp.prune(tok, 500, iter([]))
    assert len(bp.prune(tok, 258).tokenizer) == 258


def test_holes_are_closed() -> None:
    model = bp.BytePair((*BYTES, b"ab"), (*range(256), 1000), ((97, 98),))
    holes = bp.Tokenizer(bp.TokenizerSpec(model, added_tokens=(bp.AddedToken("<|end|>", 5000),)))
    pruned = bp.prune(holes, 258)
    assert pruned.tokenizer.encode("ab<|end|>", special="allow") == [256, 257]
    assert np.flatnonzero(pruned.ids >= 0)[-2:].tolist() == [1000, 5000]
    huge = bp.Tokenizer(holes.spec.replace(added_tokens=(bp.AddedToken("<|end|>", 2**32 - 2),)))
    with pytest.raises(bp.TrainingError, match="the largest id is 4294967294"):
        bp.prune(huge, 258)


TRIM = {"trim_offsets": False, "add_prefix_space": True}


@pytest.mark.parametrize(
    ("processor", "expected"),
    [
        ({"type": "RobertaProcessing", "sep": ["<|end|>", 1998], "cls": ["<|user|>", 1999], **TRIM}, [498, 499]),
        (
            {
                "type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "<|end|>", "type_id": 0}}],
                "pair": [],
                "special_tokens": {"<|end|>": {"id": "<|end|>", "ids": [1998], "tokens": ["<|end|>"]}},
            },
            [498],
        ),
        ({"type": "ByteLevel", **TRIM}, []),
    ],
)
def test_ids_in_the_post_processor_are_renumbered(
    tok: bp.Tokenizer, tmp_path: Path, processor: dict[str, object], expected: list[int]
) -> None:
    chain = {"type": "Sequence", "processors": [{"type": "ByteLevel", **TRIM}, processor]}
    for whole in (processor, chain):
        spec = tok.spec.replace(post_processor=json.dumps(whole, ensure_ascii=False))
        small = bp.prune(bp.Tokenizer(spec), 500).tokenizer
        text = str(small.spec.post_processor)
        assert [id for id in (498, 499) if str(id) in text] == expected
        assert "199" not in text
        small.save(tmp_path)
        assert bp.Tokenizer.from_file(tmp_path) == small


@pytest.mark.parametrize(
    "text",
    ['{"type": "New", "id": 1998}', '{"type": "BertProcessing", "sep": ["x", 7000], "cls": ["y", 1]}', "[]", "5"],
)
def test_a_post_processor_that_is_not_known_is_refused(tok: bp.Tokenizer, text: str) -> None:
    with pytest.raises(bp.FormatError, match="post-processor"):
        bp.prune(bp.Tokenizer(tok.spec.replace(post_processor=text)), 500)


def test_gpt2_is_pruned(data: Path, sources: list[str]) -> None:
    if not (data / "vocabs/gpt2/vocab.json").exists():
        pytest.skip("no gpt2")
    tok = bp.Tokenizer.from_file(data / "vocabs/gpt2/vocab.json")
    small, ids = bp.prune(tok, 20_000, iter(sources))
    assert small.count(sources[1]) <= bp.prune(tok, 20_000).tokenizer.count(sources[1])
    encoder = small.encoder("naive")
    for id, token in zip(small.spec.byte_pair.ids, small.spec.byte_pair.tokens, strict=True):
        assert encoder.encode_piece(token) == [id]
    assert len(small) == (ids >= 0).sum() == 20_000
