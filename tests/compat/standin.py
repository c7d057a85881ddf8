"""Stands in for `Tokenizer.chunks` until it is there; then this file goes, with what imports it."""

from __future__ import annotations

from typing import Any, NamedTuple

import bytepair as bp


class Chunk(NamedTuple):
    start: int
    end: int
    tokens: int


def chunks(
    self: bp.Tokenizer, text: str, limit: int, *, overlap: int = 0, boundary: str = "sentence", **policy: Any
) -> list[Chunk]:
    assert boundary in {"markdown", "paragraph", "line", "sentence", "word", "character"}
    if not 0 <= overlap < limit:
        raise ValueError("overlap must be smaller than limit")
    found, start, end = [], 0, 0
    while end < len(text):
        before, end = end, min(len(text), start + 4 * limit)
        while self.count(text[start:end], **policy) > limit:
            end -= 1
        if end <= before:
            start += 1
            end = before
            assert start <= before, "a character has more tokens than the limit"
            continue
        found.append(Chunk(start, end, self.count(text[start:end], **policy)))
        start = end
        while start - 1 > found[-1].start and self.count(text[start - 1 : end], **policy) <= overlap:
            start -= 1
    return found


if not hasattr(bp.Tokenizer, "chunks"):
    bp.Tokenizer.chunks = chunks
