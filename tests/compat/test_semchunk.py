"""semchunk takes a function that counts tokens; there is no adapter."""

from __future__ import annotations

from functools import partial

import pytest

import bytepair as bp

semchunk = pytest.importorskip("semchunk")


def test_a_count_is_a_token_counter(tok: bp.Tokenizer, documents: list[str]) -> None:
    chunker = semchunk.chunkerify(partial(tok.count, special="text"), 50)
    chunks, offsets = chunker(documents, offsets=True)
    by_ids = semchunk.chunkerify(lambda text: len(tok.encode(text, special="text")), 50)
    assert chunks == by_ids(documents)
    for text, own, places in zip(documents, chunks, offsets, strict=True):
        assert [text[start:end] for start, end in places] == own
        assert all(tok.count(chunk, special="text") <= 50 for chunk in own)
    assert chunker(documents, processes=2) == chunks
    assert all(tok.count(chunk, special="text") <= 50 for chunk in chunker(documents[0], overlap=10))


def test_a_tokenizer_is_taken_as_it_is_too(tok: bp.Tokenizer, documents: list[str]) -> None:
    by_count = semchunk.chunkerify(partial(tok.count, special="text"), 50)
    assert semchunk.chunkerify(tok, 50, tokenizer_kwargs={"special": "text"})(documents) == by_count(documents)
    with pytest.raises(bp.SpecialTokenError):
        semchunk.chunkerify(tok, 50)(documents[-1])
