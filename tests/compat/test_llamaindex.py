"""LlamaIndex's own splitters with bytepair as their tokenizer, and bytepair's own node parser."""

from __future__ import annotations

import copy
import pickle
from functools import partial

import pytest

import bytepair as bp

pytest.importorskip("llama_index.core")

from llama_index.core import Document, Settings
from llama_index.core.callbacks import TokenCountingHandler
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter, TokenTextSplitter
from llama_index.core.schema import MetadataMode, TextNode

from bytepair.compat.llamaindex import BytepairTextSplitter


def test_encode_is_a_tokenizer(tok: bp.Tokenizer, documents: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llama_index.core.global_tokenizer", None)
    encode = partial(tok.encode, special="text")
    Settings.tokenizer = encode
    assert Settings.tokenizer is encode
    assert TokenCountingHandler().tokenizer is encode
    by_name = {"chunk_size": 60, "chunk_overlap": 5, "tokenizer": lambda text: tok.encode(text, special="text")}
    for text in documents:
        for kind in (TokenTextSplitter, SentenceSplitter):
            assert kind(chunk_size=60, chunk_overlap=5).split_text(text) == kind(**by_name).split_text(text)


def test_chunks_are_those_of_the_tokenizer(tok: bp.Tokenizer, documents: list[str]) -> None:
    splitter = BytepairTextSplitter(tok, chunk_size=40, chunk_overlap=6, boundary="line")
    for text in documents:
        chunks = tok.chunks(text, 40, overlap=6, boundary="line", special="text")
        assert splitter.split_text(text) == [text[chunk.start : chunk.end] for chunk in chunks]
    assert splitter.split_text("") == [""]


def test_nodes_have_room_for_metadata_and_know_their_place(tok: bp.Tokenizer, documents: list[str]) -> None:
    splitter = BytepairTextSplitter(tok, chunk_size=80, chunk_overlap=12)
    given = [
        Document(text=text, metadata={"title": f"Report {row}", "path": "a/b/c.txt"})
        for row, text in enumerate(documents)
    ]
    nodes = splitter.get_nodes_from_documents(given)
    for document in given:
        own = [node for node in nodes if node.ref_doc_id == document.id_]
        assert len(own) > 1
        for node in own:
            assert isinstance(node, TextNode)
            assert document.text[node.start_char_idx : node.end_char_idx] == node.text
            assert node.metadata == document.metadata
            for mode in (MetadataMode.EMBED, MetadataMode.LLM):
                assert tok.count(node.get_content(mode), special="text") <= 80
        starts = [node.start_char_idx for node in own]
        assert starts == sorted(set(starts))
        assert (starts[0], own[-1].end_char_idx) == (0, len(document.text))
        assert [node.next_node.node_id for node in own[:-1]] == [node.node_id for node in own[1:]]


def test_a_node_with_its_metadata_is_counted_as_it_is_embedded() -> None:
    """LlamaIndex strips the content of a node, and then ``.\\n`` at its end is another token, or two."""
    text = "One sentence here.\n\nAnother sentence, there.\n" * 40
    tok = bp.train({".\n": 99, ".\n\n": 99, "sentence": 50, "\n\n\n": 9}, 265)
    for overlap in range(8):
        splitter = BytepairTextSplitter(tok, chunk_size=40, chunk_overlap=overlap)
        nodes = splitter.get_nodes_from_documents([Document(text=text, metadata={"source": "a"})])
        assert all(tok.count(node.get_content(metadata_mode=MetadataMode.ALL)) <= 40 for node in nodes)


def test_metadata_that_does_not_count(tok: bp.Tokenizer) -> None:
    text = "one two three four " * 10
    metadata = {"title": "a long title " * 10}
    splitter = BytepairTextSplitter(tok, chunk_size=20, chunk_overlap=2)
    with pytest.raises(ValueError, match="metadata takes"):
        splitter([Document(text=text, metadata=metadata)])
    excluded = {"excluded_embed_metadata_keys": ["title"], "excluded_llm_metadata_keys": ["title"]}
    alone = [node.text for node in splitter([Document(text=text)])]
    assert [node.text for node in splitter([Document(text=text, metadata=metadata, **excluded)])] == alone
    without = BytepairTextSplitter(tok, chunk_size=20, chunk_overlap=2, include_metadata=False)
    assert [node.text for node in without([Document(text=text, metadata=metadata)])] == alone


def test_in_a_pipeline_after_another_parser(tok: bp.Tokenizer, documents: list[str]) -> None:
    coarse = BytepairTextSplitter(tok, chunk_size=200, chunk_overlap=0)
    fine = BytepairTextSplitter(tok, chunk_size=30, chunk_overlap=0)
    pipeline = IngestionPipeline(transformations=[coarse, fine])
    nodes = pipeline.run(documents=[Document(text=documents[0])])
    assert "".join(node.text for node in nodes) == documents[0]
    assert pipeline.run(documents=[Document(text="")])[0].text == ""


def test_a_splitter_is_data_and_says_which_tokenizer_it_has(tok: bp.Tokenizer) -> None:
    splitter = BytepairTextSplitter(tok, chunk_size=20, chunk_overlap=2, special={"<|end|>"})
    assert splitter.to_dict()["fingerprint"] == tok.fingerprint
    assert splitter.to_dict()["class_name"] == "BytepairTextSplitter"
    text = "a<|end|>b <|end|> " * 20
    for again in (pickle.loads(pickle.dumps(splitter)), copy.deepcopy(splitter)):
        assert again.split_text(text) == splitter.split_text(text)
        assert again.to_dict() == splitter.to_dict()


def test_what_the_caller_says_of_special_tokens_holds(tok: bp.Tokenizer) -> None:
    with pytest.raises(bp.SpecialTokenError):
        BytepairTextSplitter(tok, special="raise").split_text("a<|end|>b")
    assert BytepairTextSplitter(tok).split_text("a<|end|>b") == ["a<|end|>b"]


def test_options_that_make_no_sense_are_refused(tok: bp.Tokenizer) -> None:
    for size, overlap in [(0, -1), (5, 5), (5, -1)]:
        with pytest.raises(ValueError, match="chunk_"):
            BytepairTextSplitter(tok, chunk_size=size, chunk_overlap=overlap)
    with pytest.raises(TypeError, match="separator"):
        BytepairTextSplitter(tok, separator=" ")
