"""Text -> chunks within a token budget, which end at the best places. `Tokenizer.chunks` documents the exact rule."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from bytepair import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bytepair._core import CoreTokenizer
    from bytepair.call.options import Added, Errors, Special

Kind: TypeAlias = Literal["markdown", "paragraph", "line", "sentence", "word", "character"]
"""A kind of boundary."""

Boundary: TypeAlias = "Kind | Callable[[Any], Iterable[int]]"
"""A kind of boundary, or a callable that returns places in a text."""

KINDS: tuple[Kind, ...] = get_args(Kind)
"""The kinds of boundaries, the strongest first."""

# The kind after the places of a callable.
_AFTER_CALLABLE: Kind = "line"


class Chunk(NamedTuple):
    """A part of a text, ``text[start:end]``, and its number of tokens.

    Attributes:
        start: Its start, in characters of ``str`` or bytes of ``bytes``.
        end: Its end.
        tokens: ``tok.count(text[start:end])``.

    Example:
        >>> Chunk(0, 12, 3)
        Chunk(start=0, end=12, tokens=3)
    """

    start: int
    end: int
    tokens: int


def chunks(
    tokenizer: CoreTokenizer,
    text: str | bytes,
    limit: int,
    *,
    overlap: int,
    boundary: Boundary,
    special: Special,
    added: Added,
    errors: Errors,
) -> list[Chunk]:
    """See `Tokenizer.chunks`."""
    kind, places = (_AFTER_CALLABLE, _given(boundary, text)) if callable(boundary) else (boundary, [])
    return _core.chunks(
        tokenizer,
        text,
        limit,
        row=Chunk,
        overlap=overlap,
        boundary=kind,
        places=places,
        special=special,
        added=added,
        errors=errors,
    )


def chunks_batch(
    tokenizer: CoreTokenizer,
    texts: Iterable[str | bytes],
    limit: int,
    *,
    overlap: int,
    boundary: Boundary,
    special: Special,
    added: Added,
    errors: Errors,
    threads: int | None,
) -> list[list[Chunk]]:
    """See `Tokenizer.chunks_batch`."""
    if isinstance(texts, (str, bytes)):
        raise TypeError("a batch is a sequence of texts, not one text; call chunks")
    texts = list(texts)
    given = [_given(boundary, text) for text in texts] if callable(boundary) else []
    kind = _AFTER_CALLABLE if callable(boundary) else boundary
    return _core.chunks_batch(
        tokenizer,
        texts,
        limit,
        row=Chunk,
        overlap=overlap,
        boundary=kind,
        places=given,
        special=special,
        added=added,
        errors=errors,
        threads=threads,
    )


def chunk_parts(
    tokenizer: CoreTokenizer,
    parts: Iterable[str] | Iterable[bytes],
    limit: int,
    *,
    overlap: int,
    boundary: Kind,
    special: Special,
    added: Added,
    errors: Errors,
) -> Iterator[tuple[Chunk, str]]:
    """See `Tokenizer.chunk_parts`."""
    if callable(boundary):
        raise ValueError("a callable boundary needs the whole text; join the parts and call chunks")  # noqa: TRY004
    if isinstance(parts, (str, bytes)):
        raise TypeError("the parts of a text are an iterable of str or bytes, not one text; call chunks")
    stream = _core.ChunkStream(
        tokenizer, limit, overlap=overlap, boundary=boundary, special=special, added=added, errors=errors
    )
    return _streamed(stream, parts)


def _streamed(stream: _core.ChunkStream, parts: Iterable[str] | Iterable[bytes]) -> Iterator[tuple[Chunk, str]]:
    for part in parts:
        for row, text in stream.push(part):
            yield Chunk._make(row), text
    for row, text in stream.finish():
        yield Chunk._make(row), text


def _given(boundary: Callable[[Any], Iterable[int]], text: str | bytes) -> list[int]:
    """The places that a callable returns for a text, in order."""
    places = sorted({index(place) for place in boundary(text)})
    # A subclass can override its length.
    length = str.__len__(text) if isinstance(text, str) else bytes.__len__(text)
    if places and not 0 <= places[0] <= places[-1] <= length:
        wrong = places[0] if places[0] < 0 else places[-1]
        raise ValueError(f"the boundary {wrong} is not in the text, which has places from 0 to {length}")
    return places
