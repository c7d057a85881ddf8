"""Chunks of whole texts within a token limit, compared with chunking libraries; each counts with bytepair."""

from __future__ import annotations

import functools
import importlib.util
from typing import TYPE_CHECKING, TypeAlias

from benchmarks.measure import timed
from benchmarks.peers import OURS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import bytepair as bp
    from benchmarks.measure import Pace, Report

MB = 1_000_000
LIMITS = (128, 1_024)


def _semchunk(tok: bp.Tokenizer, text: str, limit: int) -> list[str]:
    import semchunk

    # Without its memory, which would answer the second run.
    chunks: list[str] = semchunk.chunk(text, limit, functools.partial(tok.count, special="text"), memoize=False)
    return chunks


def _langchain(tok: bp.Tokenizer, text: str, limit: int) -> list[str]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    count = functools.partial(tok.count, special="text")
    splitter = RecursiveCharacterTextSplitter(chunk_size=limit, chunk_overlap=0, length_function=count)
    chunks: list[str] = splitter.split_text(text)
    return chunks


def _ours(tok: bp.Tokenizer, text: str, limit: int) -> list[str]:
    return [text[chunk.start : chunk.end] for chunk in tok.chunks(text, limit, special="text")]


Chunker: TypeAlias = "Callable[[bp.Tokenizer, str, int], list[str]]"

CHUNKERS: dict[str, tuple[str, Chunker]] = {
    "semchunk": ("semchunk", _semchunk),
    "langchain-text-splitters": ("langchain_text_splitters", _langchain),
}
"""Library -> its module and its behaviour."""


def are_chunks(tok: bp.Tokenizer, text: str, chunks: Sequence[str], limit: int, *, whole: bool) -> bool:
    """Check that no chunk has too many tokens, and that they are the text (else: in its order, except white space).

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"low": 5}, vocab_size=258)
        >>> are_chunks(tok, "low low", ["low", "low"], 1, whole=False)
        True
        >>> are_chunks(tok, "low", ["l", "o"], 1, whole=True)
        False
    """
    if any(tok.count(chunk, special="text") > limit for chunk in chunks):
        return False
    joined = "".join(chunks)
    return joined == text if whole else "".join(joined.split()) == "".join(text.split())


def table(report: Report, title: str, tok: bp.Tokenizer, text: str, pace: Pace) -> None:
    """MB/s and the number of chunks for each limit."""
    calls: dict[str, Chunker] = {OURS: _ours}
    for name, (module, call) in CHUNKERS.items():
        if importlib.util.find_spec(module):
            calls[name] = call
        else:
            print(f"{name} takes no part in chunks: it is not installed")
    report.head(title, [*calls])
    for limit in LIMITS:
        given: dict[str, list[str]] = {}

        def run(name: str, limit: int = limit, given: dict[str, list[str]] = given) -> bool:
            given[name] = calls[name](tok, text, limit)
            return True

        def check(name: str, limit: int = limit) -> bool:
            chunks = calls[name](tok, text, limit)
            return are_chunks(tok, text, chunks, limit, whole=name == OURS)

        right = {name: functools.partial(run, name) for name in calls if check(name)}
        wrong = {name: functools.partial(bool, 0) for name in calls if name not in right}
        timed(report, f"{limit} tokens", {**right, **wrong}, True, pace, megabytes=len(text.encode()) / MB)
        report.row(f"{limit} tokens", {name: len(chunks) for name, chunks in given.items()}, "chunks")
