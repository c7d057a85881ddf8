"""`is_valid`: whether ids are the encoding of the text that they decode to.

Some stages add a space before a text or before each stretch between special tokens, and decoders remove it. So there
are a few candidates for the text; each is proved by encoding it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from operator import index
from typing import TYPE_CHECKING, TypeAlias

from bytepair._core import Control
from bytepair.errors import EncodeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytepair._core import DecodeStream
    from bytepair.call.options import Ids
    from bytepair.model.compiled import CompiledTokenizer

    Spans: TypeAlias = list[str | bytes | Control]


def is_valid(tokenizer: CompiledTokenizer, ids: Ids) -> bool:
    """As `Tokenizer.is_valid`."""
    expected = _as_ints(ids)
    tried: list[Spans] = []
    for spans in _texts(tokenizer, expected):
        if spans in tried:
            continue
        tried.append(spans)
        try:
            if tokenizer.encode(spans, special="text") == expected:
                return True
        except EncodeError:
            # Some vocabularies have no tokens for U+FFFD, to which bytes that are not UTF-8 decode.
            continue
    return False


def _as_ints(ids: Ids) -> list[int]:
    """Ids as a list of ints; TypeError for text, floats, bools and other types."""
    if isinstance(ids, (str, bytes, bytearray)):
        raise TypeError(f"ids are a list or an array of ints, not {type(ids).__name__}")
    if type(ids) is list and set(map(type, ids)) <= {int}:
        return ids
    if isinstance(ids, (Mapping, Set)) or not isinstance(ids, Iterable):
        raise TypeError(f"ids are a list or an array of ints, not {type(ids).__name__}")
    numbers = []
    for place, id in enumerate(ids):
        if isinstance(id, bool):
            raise TypeError(f"id {place} is {id!r}, not an int")
        try:
            numbers.append(index(id))
        except TypeError:
            raise TypeError(f"id {place} is {str(id)[:80]!r}, not an int") from None
    return numbers


def _texts(tokenizer: CompiledTokenizer, ids: list[int]) -> Iterator[Spans]:
    """The candidates for the text, with special tokens as `Control`."""
    spec = tokenizer.spec
    in_context = _decoded(tokenizer, ids, tokenizer.decode_stream())
    if in_context is None:
        return
    yield in_context
    if spec.is_byte_level:
        return
    # A decoder that removes the space before a text may have to remove it after each special token,
    alone = _decoded(tokenizer, ids, None)
    if alone is not None:
        yield alone
    # or nowhere, because the space is part of the text: no new text begins after a special token.
    if spec.special_tokens:
        stream = tokenizer.decode_stream()
        stream.push([next(iter(spec.special_tokens.values()))])
        primed = _decoded(tokenizer, ids, stream)
        if primed is not None:
            yield primed
    # A decoder without the end-of-word suffix leaves it in the text; it was a space, or a change of script.
    suffix = _end_of_word_suffix(tokenizer)
    if suffix:
        yield [span.replace(suffix, " ") if isinstance(span, str) else span for span in in_context]


def _decoded(tokenizer: CompiledTokenizer, ids: list[int], stream: DecodeStream | None) -> Spans | None:
    """The text of ids as a stream continues it, or of each stretch by itself; None if a stretch is not UTF-8."""
    specials = {id: token for token, id in tokenizer.special_tokens.items()}
    spans: Spans = []
    for start, end in _stretches(ids, specials):
        if start < end:
            if stream is None:
                spans.append(tokenizer.decode(ids[start:end]))
            else:
                spans.append(stream.push(ids[start:end]))
                if stream.pending:
                    return None
        if end < len(ids):
            if stream is not None:
                stream.push(ids[end : end + 1])
            spans.append(Control(specials[ids[end]]))
    return spans


def _stretches(ids: Sequence[int], specials: dict[int, str]) -> Iterator[tuple[int, int]]:
    """The stretches between special ids; each ends at a special id or at the end."""
    start = 0
    if specials:
        for place, id in enumerate(ids):
            if id in specials:
                yield start, place
                start = place + 1
    yield start, len(ids)


def _end_of_word_suffix(tokenizer: CompiledTokenizer) -> str | None:
    from bytepair.model.models import BytePair  # noqa: PLC0415 (few models have an alphabet)

    model = tokenizer.spec.vocabulary
    return model.alphabet.end_of_word_suffix if isinstance(model, BytePair) and model.alphabet is not None else None
