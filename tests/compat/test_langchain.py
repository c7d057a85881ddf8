"""LangChain's own splitters with bytepair as their counter, and bytepair's own splitter."""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import pairwise

import pytest

import bytepair as bp

pytest.importorskip("langchain_text_splitters")

from langchain_core.documents import Document
from langchain_text_splitters import RecursiveCharacterTextSplitter

from bytepair.compat.langchain import BytepairTextSplitter


def test_a_count_is_a_length_function(tok: bp.Tokenizer, documents: list[str]) -> None:
    count = partial(tok.count, special="text")
    by_count, by_ids = (
        RecursiveCharacterTextSplitter(chunk_size=50, chunk_overlap=5, length_function=length)
        for length in (count, lambda text: len(tok.encode(text, special="text")))
    )
    for text in documents:
        assert by_count.split_text(text) == by_ids.split_text(text)


def test_chunks_are_those_of_the_tokenizer(tok: bp.Tokenizer, documents: list[str]) -> None:
    for text in documents:
        for boundary in ("paragraph", "word"):
            splitter = BytepairTextSplitter(tok, chunk_size=50, chunk_overlap=7, boundary=boundary)
            chunks = tok.chunks(text, 50, overlap=7, boundary=boundary, special="text")
            assert splitter.split_text(text) == [text[chunk.start : chunk.end] for chunk in chunks]
        splitter = BytepairTextSplitter(tok, chunk_size=50, chunk_overlap=0)
        assert "".join(splitter.split_text(text)) == text
        assert all(tok.count(chunk, special="text") <= 50 for chunk in splitter.split_text(text))
    assert splitter.split_text("") == []


def test_each_document_says_where_it_starts(tok: bp.Tokenizer, documents: list[str]) -> None:
    splitter = BytepairTextSplitter(tok, chunk_size=20, chunk_overlap=10, add_start_index=True)
    metadatas = [{"row": row, "tags": []} for row in range(len(documents))]
    made = splitter.create_documents(documents, metadatas)
    for row, text in enumerate(documents):
        own = [document for document in made if document.metadata["row"] == row]
        places = [(document.metadata["start_index"], len(document.page_content)) for document in own]
        assert [text[start : start + length] for start, length in places] == [document.page_content for document in own]
        assert places[0][0] == 0
        assert sum(places[-1]) == len(text)
        assert all(start < later <= start + length for (start, length), (later, _) in pairwise(places))
    made[0].metadata["tags"].append("changed")
    assert made[1].metadata["tags"] == metadatas[0]["tags"] == []


def test_the_ways_into_the_splitter(tok: bp.Tokenizer) -> None:
    splitter = BytepairTextSplitter(tok, chunk_size=8, chunk_overlap=0)
    given = [Document(page_content="one two three four " * 5, metadata={"source": "a"}), Document(page_content="")]
    made = splitter.split_documents(given)
    assert "".join(document.page_content for document in made) == given[0].page_content
    assert {document.metadata["source"] for document in made} == {"a"}
    assert splitter.transform_documents(given) == asyncio.run(splitter.atransform_documents(given)) == made
    assert "start_index" not in made[0].metadata


def test_what_the_caller_says_of_special_tokens_holds(tok: bp.Tokenizer) -> None:
    text = "a<|end|>b"
    assert BytepairTextSplitter(tok).split_text(text) == [text]
    with pytest.raises(bp.SpecialTokenError):
        BytepairTextSplitter(tok, special="raise").split_text(text)
    lengths = [BytepairTextSplitter(tok, special=special)._length_function(text) for special in ("text", "allow")]
    assert lengths == [tok.count(text, special="text"), 3]


def test_sizes_that_make_no_sense_are_refused(tok: bp.Tokenizer) -> None:
    for size, overlap in [(0, 0), (5, 6), (5, -1)]:
        with pytest.raises(ValueError, match="chunk"):
            BytepairTextSplitter(tok, chunk_size=size, chunk_overlap=overlap)
    with pytest.raises(TypeError):
        BytepairTextSplitter(tok, separators=["\n"])  # type: ignore[call-arg]
