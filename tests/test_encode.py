"""Encoding equals its definition, and only the text decides the ids."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import threading
from concurrent.futures import ProcessPoolExecutor
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bytepair as bp
from bytepair.reference import encode_merges, encode_ranks
from tests.conftest import HOSTILE


def naive(tok: bp.Tokenizer, piece: bytes) -> list[bytes]:
    """The definition of encoding, for one piece."""
    model = tok.spec.byte_pair
    if model.merges is None:
        return encode_ranks(piece, dict(zip(model.tokens, model.ids, strict=True)))
    token = dict(zip(model.ids, model.tokens, strict=True))
    whole = set(model.tokens) if model.ignore_merges else None
    return encode_merges(piece, [(token[left], token[right]) for left, right in model.merges], whole)


@given(st.text())
@settings(max_examples=300)
def test_any_text_encodes_as_defined_and_decodes_to_itself(tok: bp.Tokenizer, text: str) -> None:
    ids = tok.encode(text)
    assert tok.decode(ids) == text
    assert tok.tokens(text) == [token for piece in tok.pieces(text) for token in naive(tok, piece.encode())]
    assert "".join(tok.pieces(text)) == text


@pytest.mark.parametrize("text", HOSTILE)
def test_every_way_to_encode_gives_the_same_ids(tok: bp.Tokenizer, text: str) -> None:
    ids = tok.encode(text)
    assert tok.decode(ids) == text
    assert tok.decode_bytes(ids) == text.encode()
    assert tok.encode(text.encode()) == ids
    assert tok.encode([text[:7], text[7:].encode()]) == ids
    array = tok.encode_array(text)
    assert array.dtype == np.uint32
    assert array.tolist() == ids
    assert array.flags.owndata or array.base is not None
    assert tok.decode(array) == tok.decode(np.array(ids, dtype=np.int64)) == text
    assert tok.count(text) == len(ids)


@pytest.mark.parametrize("threads", [1, 2, 7, None])
def test_batches_do_not_depend_on_threads(tok: bp.Tokenizer, sources: list[str], threads: int | None) -> None:
    texts = [*HOSTILE, *sources, *sources[0].splitlines()]
    expected = [tok.encode(text) for text in texts]
    assert tok.encode_batch(texts, threads=threads) == expected
    assert tok.count_batch(texts, threads=threads) == [len(ids) for ids in expected]
    rows = tok.encode_batch_array(texts, threads=threads)
    assert [row.tolist() for row in rows] == expected
    assert rows.ids.dtype == np.uint32
    assert rows.offsets.dtype == np.int64
    assert len(rows) == len(texts)
    assert rows[-1].tolist() == expected[-1]
    assert tok.decode_batch(expected) == texts
    with pytest.raises(IndexError):
        rows[len(texts)]


def test_an_empty_batch(tok: bp.Tokenizer) -> None:
    assert (tok.encode_batch([]), tok.count_batch(iter([])), len(tok.encode_batch_array([]))) == ([], [], 0)


@pytest.mark.parametrize("split", ["none", "gpt2", "o200k"])
@pytest.mark.parametrize("kind", ["one letter", "random letters", "spaces", "newlines", "CJK", "digits", "punctuation"])
def test_a_piece_without_end_is_encoded(sources: list[str], split: str, kind: str) -> None:
    random = Random(7)
    tok = bp.train(iter(sources[:2]), 600, split=split)
    text = {
        "one letter": "a" * 100_000,
        "random letters": "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=100_000)),
        "spaces": " " * 100_000 + "x",
        "newlines": "\n" * 100_000,
        "CJK": "".join(random.choices("中文字符測試日本語", k=50_000)),
        "digits": "1234567890" * 10_000,
        "punctuation": "".join(random.choices("!?.,;-", k=100_000)),
    }[kind]
    ids = tok.encode(text)
    assert tok.decode(ids) == text
    assert tok.count(text) == len(ids)


@pytest.mark.parametrize("semantics", ["ranks", "merges", "ignore_merges"])
def test_long_pieces_encode_as_defined(semantics: str) -> None:
    """Pieces long enough for the heap, over two letters, where merges collide most, with an improper vocabulary."""
    random = Random(11)
    for _ in range(40):
        words = {bytes(random.choices(b"ab", k=random.randint(2, 6))) for _ in range(12)}
        tokens = [bytes([byte]) for byte in range(256)] + random.sample(sorted(words), len(words))
        id_of = {token: id for id, token in enumerate(tokens)}
        merges = None
        if semantics != "ranks":
            cuts = [(word[:cut], word[cut:]) for word in words for cut in range(1, len(word))]
            merges = tuple((id_of[left], id_of[right]) for left, right in cuts if left in id_of and right in id_of)
            merges = tuple(random.sample(merges, len(merges)))
        model = bp.BytePair(tuple(tokens), tuple(range(len(tokens))), merges, semantics == "ignore_merges")
        tok = bp.Tokenizer(bp.TokenizerSpec(model))
        for length in (3, 20, 63, 64, 65, 250):
            piece = bytes(random.choices(b"ab", k=length))
            assert tok.tokens(piece) == naive(tok, piece)


def test_the_books_example() -> None:
    """A merge table of four: `lower` is one token, `lowest` is not."""
    merges = [("l", "o"), ("lo", "w"), ("e", "r"), ("low", "er")]
    tokens = [bytes([byte]) for byte in range(256)] + [b"lo", b"low", b"er", b"lower"]
    id_of = {token.decode("latin-1"): id for id, token in enumerate(tokens)}
    pairs = tuple((id_of[left], id_of[right]) for left, right in merges)
    tok = bp.Tokenizer(bp.TokenizerSpec(bp.BytePair(tuple(tokens), tuple(range(260)), pairs)))
    assert tok.tokens("lower") == [b"lower"]
    assert tok.tokens("lowest") == [b"low", b"e", b"s", b"t"]


def test_the_example_of_the_bpe_crate() -> None:
    tokens = tuple(b"a b c ab cb ac bb cbb acbb".split())
    tok = bp.Tokenizer(bp.TokenizerSpec(bp.BytePair(tokens, tuple(range(9)), partial_alphabet=True)))
    assert tok.tokens("abacb") == [b"ab", b"a", b"cb"]
    assert tok.tokens("abacbb") == [b"ab", b"acbb"]
    assert [tok.tokens("abacbb"[:end])[-1] for end in range(1, 7)] == [b"a", b"ab", b"a", b"ac", b"cb", b"acbb"]
    with pytest.raises(bp.EncodeError, match=r"byte 0x64 has no token .*character 2, byte 2"):
        tok.encode("abd")


def test_normalization_and_prefix_space_come_before_the_split() -> None:
    tok = bp.train({"é": 9, " é": 8}, 258)
    base = tok.spec
    nfc = bp.Tokenizer(bp.TokenizerSpec(base.model, split=base.split, normalizers=("NFC",)))
    assert nfc.encode("e\u0301") == tok.encode("é")
    spaced = bp.Tokenizer(bp.TokenizerSpec(base.model, split=base.split, prefix_space=True))
    assert spaced.encode("é") == tok.encode(" é") == spaced.encode(" é")
    assert spaced.encode("") == []


def test_several_patterns_apply_one_after_another() -> None:
    model = bp.train({"a": 1}, 256).spec.byte_pair
    tok = bp.Tokenizer(bp.TokenizerSpec(model, split=(r"\p{N}{1,3}", "[一-龥]+", r"\s+|\w+")))
    assert tok.pieces("ab12345 中文x!") == ["ab", "123", "45", " ", "中文", "x", "!"]


def test_a_tokenizer_is_frozen_shared_copied_and_pickled(tok: bp.Tokenizer, sources: list[str]) -> None:
    with pytest.raises(AttributeError, match="immutable"):
        tok.vocab_size = 3  # type: ignore[misc]
    again = pickle.loads(pickle.dumps(tok))
    assert again == tok == copy.deepcopy(tok)
    assert (hash(again), again.fingerprint) == (hash(tok), tok.fingerprint)
    expected = tok.encode(sources[0])
    results: list[list[int]] = []
    threads = [threading.Thread(target=lambda: results.append(tok.encode(sources[0]))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # fork with threads about: what is tested
def test_children_encode_as_well(tok: bp.Tokenizer, sources: list[str], method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this system")
    texts = [sources[0]] * 4
    expected = tok.encode_batch(texts, threads=2)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        assert pool.submit(tok.encode_batch, texts).result(timeout=60) == expected


def test_sizes(tok: bp.Tokenizer) -> None:
    assert (len(tok), tok.vocab_size) == (2000, 2000)
    holes = bp.Tokenizer(bp.TokenizerSpec(tok.spec.byte_pair, added_tokens=(bp.AddedToken("<x>", 5000),)))
    assert (len(holes), holes.vocab_size) == (1999, 5001)
    assert holes.token_bytes(5000) == b"<x>"
    assert holes.token_id("<x>") == 5000


def test_dropout_of_nothing_is_no_dropout() -> None:
    model = bp.BytePair((b"a", b"b", b"c", b"abc"), (0, 1, 2, 3), partial_alphabet=True)
    tok = bp.Tokenizer(bp.TokenizerSpec(model))
    assert tok.encode("abc") == tok.encode("abc", dropout=0.0, seed=1) == [3]
    assert tok.vocab_size == len(tok) == 4


@pytest.mark.parametrize("normalizers", [(), ("NFC",), ("Lowercase",)])
def test_errors_of_locating_are_placed_in_the_text(normalizers: tuple[str, ...]) -> None:
    model = bp.BytePair((b"a", b"b", b" "), (0, 1, 2), partial_alphabet=True)
    tok = bp.Tokenizer(bp.TokenizerSpec(model, normalizers=normalizers))
    token = bp.AddedToken("<e>", 3, special=True, normalized=True)
    tok = tok.with_added_tokens([token])
    for before in ("", "a<e>", "ab " * 30_000, "ab " * 30_000 + "<E>" if normalizers == ("Lowercase",) else "<e>b"):
        with pytest.raises(bp.EncodeError) as caught:
            bp.lowlevel.locate(tok, before + "aXb", special="allow")
        assert caught.value.byte == caught.value.character == len(before) + 1
        if "<" in before:
            with pytest.raises(bp.SpecialTokenError) as refused:
                bp.lowlevel.locate(tok, before + "a")
            assert refused.value.byte == before.lower().index("<e>")
