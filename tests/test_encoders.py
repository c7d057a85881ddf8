"""Each encoder of the literature against the naive one of `reference/`, which spells the definition."""

from __future__ import annotations

from random import Random

import pytest

import bytepair as bp
from bytepair.reference import encode_merges, encode_ranks
from tests.conftest import HOSTILE

EXACT = ["naive", "heap", "table", "backtrack"]
INEXACT = ["greedy", "minimal"]


def improper() -> bp.Tokenizer:
    """`aab` ranks before its part `aa`, so the ranks are not a list of merges."""
    tokens = (*(bytes([byte]) for byte in range(256)), b"aab", b"aa")
    return bp.Tokenizer(bp.TokenizerSpec(bp.BytePair(tokens, tuple(range(258)))))


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("text", HOSTILE)
def test_exact_encoders_give_the_ids_of_the_tokenizer(tok: bp.Tokenizer, name: str, text: str) -> None:
    encoder = tok.encoder(name)
    assert encoder.exact
    ids = tok.encode(text)
    assert encoder.encode(text) == encoder.encode(text.encode()) == ids
    assert encoder.encode_array(text).tolist() == ids
    assert encoder.count(text) == len(ids)


@pytest.mark.parametrize("name", INEXACT)
@pytest.mark.parametrize("text", HOSTILE)
def test_inexact_encoders_spell_the_text(tok: bp.Tokenizer, name: str, text: str) -> None:
    encoder = tok.encoder(name)
    assert not encoder.exact
    ids = encoder.encode(text)
    assert tok.decode(ids) == text
    assert encoder.count(text) == len(ids)
    if name == "minimal":
        assert len(ids) <= tok.count(text)


@pytest.mark.parametrize("name", EXACT)
def test_a_piece_encodes_as_the_reference_says(tok: bp.Tokenizer, sources: list[str], name: str) -> None:
    encoder = tok.encoder(name)
    model = tok.spec.byte_pair
    token = dict(zip(model.ids, model.tokens, strict=True))
    merges = None if model.merges is None else [(token[left], token[right]) for left, right in model.merges]
    ranks = dict(zip(model.tokens, model.ids, strict=True))
    random = Random(3)
    text = sources[0].encode()
    for length in (0, 1, 7, 62, 63, 200):
        start = random.randrange(len(text) - length)
        for piece in (text[start : start + length], random.randbytes(length), b"ab" * length):
            expected = encode_ranks(piece, ranks) if merges is None else encode_merges(piece, merges)
            assert [tok.token_bytes(id) for id in encoder.encode_piece(piece)] == expected


def test_words_where_the_inexact_ones_differ() -> None:
    tokens = (*(bytes([byte]) for byte in range(256)), b"bc", b"ab", b"bcd", b"abc", b"de")
    tok = bp.Tokenizer(bp.TokenizerSpec(bp.BytePair(tokens, tuple(range(261)))))
    spelled = {name: tok.encoder(name).encode_piece(b"abcde") for name in ("naive", "greedy")}
    assert [tok.token_bytes(id) for id in spelled["naive"]] == [b"a", b"bcd", b"e"]
    assert [tok.token_bytes(id) for id in spelled["greedy"]] == [b"abc", b"de"]


@pytest.mark.parametrize("name", ["table", "backtrack"])
def test_linear_encoders_refuse_an_improper_vocabulary(name: str) -> None:
    with pytest.raises(bp.FormatError, match=rf'"{name}" is exact only if .*use "heap"'):
        improper().encoder(name)


@pytest.mark.parametrize("name", ["naive", "heap", *INEXACT])
def test_the_others_serve_it(name: str) -> None:
    assert improper().encoder(name).encode_piece(b"aab") == [256]


def test_an_unknown_name_is_refused_with_the_nearest_one(tok: bp.Tokenizer) -> None:
    known = r'naive, heap, table, backtrack, greedy, minimal; did you mean "backtrack"\?'
    with pytest.raises(ValueError, match=known):
        tok.encoder("backtrac")
    with pytest.raises(ValueError, match=r"there is no encoder \"\""):
        tok.encoder("")


def test_options_are_those_of_the_tokenizer(tok: bp.Tokenizer) -> None:
    encoder = tok.encoder("heap")
    text = "a<|end|>b"
    assert encoder.encode(text, special="allow") == tok.encode(text, special="allow")
    assert encoder.encode(text, special="text") == tok.encode(text, special="text")
    with pytest.raises(bp.SpecialTokenError):
        encoder.encode(text)
    with pytest.raises(bp.EncodeError, match="lone surrogate"):
        encoder.encode("\ud800")


@pytest.mark.parametrize("name", EXACT + INEXACT)
def test_a_byte_without_a_token_is_placed(name: str) -> None:
    tok = bp.Tokenizer(bp.TokenizerSpec(bp.BytePair((b"a",), (0,), partial_alphabet=True)))
    with pytest.raises(bp.EncodeError, match="byte 0x64 has no token") as caught:
        tok.encoder(name).encode_piece(b"aad")
    assert caught.value.byte == 2


def test_it_says_what_it_is(tok: bp.Tokenizer) -> None:
    assert repr(tok.encoder("table")) == "<Encoder: table, exact>"
    assert tok.encoder("table").name == "table"
