"""Added tokens are added and nothing else changes; ids are valid if they are what their own text is encoded as."""

from __future__ import annotations

import pickle
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

import bytepair as bp
from tests.conftest import HOSTILE


def test_only_the_added_tokens_change(tok: bp.Tokenizer, sources: list[str]) -> None:
    more = tok.with_added_tokens(
        ["<|a|>", bp.AddedToken("<m>", 2005, special=False, lstrip=True), "<|b|>"], special=True
    )
    assert tok.vocab_size == 2000
    assert more.vocab_size == 2008
    assert more.spec == replace(
        tok.spec,
        added_tokens=(
            *tok.spec.added_tokens,
            bp.AddedToken("<m>", 2005, special=False, lstrip=True),
            bp.AddedToken("<|a|>", 2006),
            bp.AddedToken("<|b|>", 2007),
        ),
    )
    for text in (*HOSTILE, *sources[:2]):
        assert more.encode(text) == tok.encode(text)
    assert more.encode("a <m>b<|b|>", special="allow") == [*tok.encode("a"), 2005, *tok.encode("b"), 2007]
    assert pickle.loads(pickle.dumps(more)) == more
    assert more.fingerprint != tok.fingerprint
    assert tok.with_added_tokens([]) == tok
    assert tok.with_added_tokens(["x y"]).special_tokens == tok.special_tokens
    assert tok.with_added_tokens(iter(["x y"])).encode("ax yb")[1:-1] == [2000]


def test_what_is_there_is_kept_or_refused(tok: bp.Tokenizer) -> None:
    end = tok.special_tokens["<|end|>"]
    assert tok.with_added_tokens(["<|end|>", "<|end|>"], special=True) == tok
    assert tok.with_added_tokens([bp.AddedToken("<|end|>", end)]) == tok
    twice = tok.with_added_tokens(["<q>", "<q>"])
    assert twice == tok.with_added_tokens([bp.AddedToken("<q>", 2000, special=False)])
    there: list[tuple[list[Any], str]] = [
        (["<|end|>"], "is there already, with other settings"),
        ([bp.AddedToken("<|end|>", end, rstrip=True)], "is there already"),
        ([bp.AddedToken("<|end|>", 2000)], "is there already"),
        (["self"], r"is a token of the vocabulary, with the id \d+; to have it found .* AddedToken\('self', \d+\)"),
        ([bp.AddedToken("<q>", 97)], "which another token has"),
        ([bp.AddedToken("<q>", end)], "occurs twice"),
        ([bp.AddedToken("<q>", -1)], "out of range"),
        ([bp.AddedToken("<q>", 2**32)], "out of range"),
        ([bp.AddedToken("<q>", 2**32 - 2), "<r>"], "used up"),
        ([""], "is empty"),
        (["x" * 1025], "1025 bytes"),
        (["\ud800"], "half a surrogate pair"),
        ([bp.AddedToken("\ud800", 2000)], "half a surrogate pair"),
    ]
    for tokens, said in there:
        with pytest.raises(bp.FormatError, match=said):
            tok.with_added_tokens(tokens)
    for wrong in ("<q>", [5], [b"<q>"]):
        with pytest.raises(TypeError):
            tok.with_added_tokens(wrong)  # type: ignore[arg-type]


def test_a_token_of_the_vocabulary_becomes_an_added_one(tok: bp.Tokenizer) -> None:
    id = tok.token_id("self")
    found = tok.with_added_tokens([bp.AddedToken("self", id, special=False)])
    assert found.vocab_size == tok.vocab_size
    assert found.encode("himself") == [*tok.encode("him"), id]


def test_embedding_and_head_grow_to_match(tok: bp.Tokenizer) -> None:
    more = tok.with_added_tokens(["<|tool|>", bp.AddedToken("<m>", 2010)], special=True)
    random = np.random.default_rng(5)
    embedding, bias = random.standard_normal((2000, 8)), random.standard_normal(2000)
    head = random.standard_normal((2000, 8)).astype(np.float32)
    for matrix in (embedding, head, bias[:, None]):
        grown = bp.resize_embeddings(matrix, tok, more)
        assert grown.shape == (more.vocab_size, matrix.shape[1]) == (2012, matrix.shape[1])
        np.testing.assert_array_equal(grown[:2000], matrix)
        for token in ("<|tool|>", "<m>"):
            parts = matrix[tok.encode(token, special="text")].mean(axis=0)
            np.testing.assert_allclose(grown[more.token_id(token)], parts, rtol=1e-6)
        assert not grown[2000:2010].any()
    # A model's logits have a column for each id.
    assert (bp.resize_embeddings(head, tok, more) @ np.ones(8)).shape == (more.vocab_size,)


def slowly(tok: bp.Tokenizer, ids: list[int]) -> bool:
    """The definition, for tokens that are bytes: each stretch between special ids is the encoding of its text."""
    spans: list[Any] = [b""]
    specials = {id: token for token, id in tok.special_tokens.items()}
    for id in ids:
        if id in specials:
            spans += [bp.Control(specials[id]), b""]
        else:
            spans[-1] += tok.token_bytes(id)
    try:
        texts = [span.decode() if isinstance(span, bytes) else span for span in spans]
    except UnicodeDecodeError:
        return False
    return tok.encode([text for text in texts if text != ""], special="text") == ids


@pytest.mark.parametrize("kind", ["merges", "ranks", "prefix_space", "NFC", "added"])
def test_random_ids_and_encodings(tok: bp.Tokenizer, sources: list[str], kind: str) -> None:
    spec = tok.spec
    if kind == "ranks":
        from bytepair.semantics import to_ranks

        spec = replace(spec, model=to_ranks(spec.byte_pair))
    elif kind == "prefix_space":
        spec = replace(spec, prefix_space=True)
    elif kind == "NFC":
        spec = replace(spec, normalizers=("NFC",))
    elif kind == "added":
        spec = (
            bp.Tokenizer(spec)
            .with_added_tokens([bp.AddedToken("  ", tok.token_id("  "), special=False), "wörd", "<|e"])
            .spec
        )
    one = bp.Tokenizer(spec)
    random = Random(11)
    found = {True: 0, False: 0}
    for case in range(3000):
        # Of few ids that go together well; and of all.
        most = (300, 2000)[case % 2]
        ids = random.choices(range(most), k=random.choice((0, 1, 1, 2, 3, 5)))
        ids += random.choices(list(tok.special_tokens.values()), k=case % 3 == 0)
        random.shuffle(ids)
        valid = one.is_valid(ids)
        found[valid] += 1
        assert valid == slowly(one, ids)
        assert one.is_valid(np.array(ids, np.uint32)) == valid
    assert min(found.values()) > 300
    words = [*HOSTILE, *sources[0].split(" ")[:300], "<|end|>", "<|user|>", " ", "wörd"]
    for _ in range(300):
        text = " ".join(random.choices(words, k=random.randrange(8)))
        for special in ("text", "allow"):
            ids = one.encode(text, special=special)
            assert one.is_valid(ids)
            if len(ids) > 1:
                # Other ids of the same bytes are not their encoding.
                place = random.randrange(len(ids))
                token = one.token_bytes(ids[place])
                if ids[place] not in tok.special_tokens.values() and len(token) > 1 and kind != "added":
                    apart = [*ids[:place], *(one.token_id(bytes([byte])) for byte in token), *ids[place + 1 :]]
                    assert not one.is_valid(apart)


def test_what_stages_take_is_not_in_the_text(tok: bp.Tokenizer) -> None:
    mask = bp.AddedToken("<m>", 2000, lstrip=True, rstrip=True)
    more = tok.with_added_tokens([mask, bp.AddedToken("<w>", 2001, special=False, lstrip=True, single_word=True)])
    ids = more.encode("a <m> b", special="allow")
    assert ids == [*tok.encode("a"), 2000, *tok.encode("b")]
    assert more.is_valid(ids)
    assert more.is_valid(more.encode(["a ", bp.Control("<m>"), " b"]))
    # Not special, and its space is gone: in the text that comes back it is found all the same, unless it is a word.
    assert more.is_valid(more.encode("- <w>"))
    stripped = more.encode("a <w>")
    assert stripped == [*tok.encode("a"), 2001]
    assert not more.is_valid(stripped)


def test_what_is_no_id(tok: bp.Tokenizer) -> None:
    for ids in ([2000], [97, 5000, 97], [-1], [2**40]):
        with pytest.raises(bp.InvalidIdError):
            tok.is_valid(ids)
    with pytest.raises(TypeError):
        tok.is_valid(["a"])  # type: ignore[list-item]
    assert tok.is_valid([])
    assert tok.is_valid(tok.encode_array("low lower"))
    assert not tok.is_valid(tok.encode("é")[:1] if len(tok.encode("é")) > 1 else [0xE9])
    partial = bp.Tokenizer(bp.TokenizerSpec(bp.BytePair((b"a", b"\xc3"), (0, 1), partial_alphabet=True)))
    assert partial.is_valid([0, 0])
    assert not partial.is_valid([0, 1])
    assert not partial.is_valid([1, 0])
