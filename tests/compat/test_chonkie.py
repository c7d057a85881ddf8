"""chonkie's chunkers and refineries with bytepair as their tokenizer, and bytepair's own chunker."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial

import pytest

import bytepair as bp

pytest.importorskip("chonkie")

import chonkie

from bytepair.compat.chonkie import BytepairChunker, BytepairTokenizer


def test_the_tokenizer_says_what_bytepair_says(tok: bp.Tokenizer, documents: list[str]) -> None:
    adapted = BytepairTokenizer(tok)
    assert chonkie.AutoTokenizer(adapted).tokenizer is adapted
    ids = tok.encode_batch(documents, special="text")
    assert [adapted.encode(text) for text in documents] == adapted.encode_batch(documents) == ids
    counts = list(map(len, ids))
    assert [adapted.count_tokens(text) for text in documents] == adapted.count_tokens_batch(documents) == counts
    assert list(map(adapted.decode, ids)) == adapted.decode_batch(ids) == documents
    assert b"".join(tok.tokens(documents[0])).decode() == "".join(adapted.tokenize(documents[0]))
    assert [adapted.get_token2id()[token] for token in adapted.get_vocab()] == list(range(tok.vocab_size))
    assert pickle.loads(pickle.dumps(adapted)).encode(documents[2]) == ids[2]


def test_chunkers_of_chonkie_count_with_it(tok: bp.Tokenizer, documents: list[str]) -> None:
    adapted = BytepairTokenizer(tok)
    count = partial(tok.count, special="text")
    for text in documents:
        chunks = chonkie.SentenceChunker(adapted, chunk_size=60)(text)
        assert "".join(chunk.text for chunk in chunks) == text
        assert [chunk.token_count for chunk in chunks] == [count(chunk.text) for chunk in chunks]
        assert chunks == [
            replace(chunk, id=same.id)
            for chunk, same in zip(chonkie.SentenceChunker(count, chunk_size=60)(text), chunks, strict=True)
        ]
        assert len(chonkie.RecursiveChunker(adapted, chunk_size=60)(text)) > 1
        ids = tok.encode(text, special="text")
        chunks = chonkie.TokenChunker(adapted, chunk_size=40)(text)
        assert [chunk.text for chunk in chunks] == tok.decode_batch(
            [ids[at : at + 40] for at in range(0, len(ids), 40)]
        )
    refined = chonkie.OverlapRefinery(adapted, context_size=4)(
        chonkie.TokenChunker(adapted, chunk_size=40)(documents[0])
    )
    assert refined[0].text.startswith(documents[0][:20])


def test_chunks_are_those_of_the_tokenizer(tok: bp.Tokenizer, documents: list[str]) -> None:
    chunker = BytepairChunker(tok, chunk_size=40, chunk_overlap=5, boundary="word")
    for text in documents:
        expected = tok.chunks(text, 40, overlap=5, boundary="word", special="text")
        chunks = chunker(text)
        assert [(chunk.start_index, chunk.end_index, chunk.token_count) for chunk in chunks] == [
            (chunk.start, chunk.end, chunk.tokens) for chunk in expected
        ]
        for chunk in chunks:
            assert chunk.text == text[chunk.start_index : chunk.end_index]
            assert chunk.token_count == tok.count(chunk.text, special="text") <= 40
    assert chunker("") == []
    batch = chunker(documents, show_progress=False)
    assert [[chunk.text for chunk in chunks] for chunks in batch] == [
        [chunk.text for chunk in chunker(text)] for text in documents
    ]


def test_a_document_keeps_its_metadata(tok: bp.Tokenizer, documents: list[str]) -> None:
    chunker = BytepairChunker(tok, chunk_size=40)
    document = chunker.chunk_document(chonkie.Document(content=documents[0], metadata={"source": "a"}))
    assert "".join(chunk.text for chunk in document.chunks) == documents[0]
    assert {chunk.metadata["source"] for chunk in document.chunks} == {"a"}
    again = BytepairChunker(tok, chunk_size=20).chunk_document(document)
    assert all(documents[0][chunk.start_index : chunk.end_index] == chunk.text for chunk in again.chunks)


def test_what_the_caller_says_of_special_tokens_holds(tok: bp.Tokenizer) -> None:
    assert [BytepairTokenizer(tok, special=special).count_tokens("a<|end|>b") for special in ("text", "allow")] == [
        tok.count("a<|end|>b", special="text"),
        3,
    ]
    with pytest.raises(bp.SpecialTokenError):
        BytepairChunker(tok, special="raise")("a<|end|>b")


def test_sizes_that_make_no_sense_are_refused(tok: bp.Tokenizer) -> None:
    for size, overlap in [(0, 0), (5, 5), (5, -1)]:
        with pytest.raises(ValueError, match="chunk_size"):
            BytepairChunker(tok, chunk_size=size, chunk_overlap=overlap)
