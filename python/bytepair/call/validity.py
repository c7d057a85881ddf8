"""Whether ids are the encoding of the text that they decode to.

Stages may put a space in front of a text or of each stretch between special tokens, and decoders take it away where
they take it to be. So the text is looked for in a few ways; each is proved by encoding it, so that no way is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from bytepair._core import Control
from bytepair.errors import EncodeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytepair._core import StreamDecoder
    from bytepair.call.ragged import Ids
    from bytepair.model.compiled import CompiledTokenizer

    Spans: TypeAlias = list[str | bytes | Control]


def is_valid(tokenizer: CompiledTokenizer, ids: Ids) -> bool:
    """As `Tokenizer.is_valid`."""
    expected = ids if isinstance(ids, list) else list(map(int, ids))
    tried: list[Spans] = []
    for spans in _texts(tokenizer, expected):
        if spans in tried:
            continue
        tried.append(spans)
        try:
            if tokenizer.encode(spans, special="text") == expected:
                return True
        except EncodeError:
            # What stands for bytes that are no text has, in some vocabularies, no tokens.
            continue
    return False


def _texts(tokenizer: CompiledTokenizer, ids: list[int]) -> Iterator[Spans]:
    """What the text can be, special tokens apart."""
    spec = tokenizer.spec
    in_context = _decoded(tokenizer, ids, tokenizer.stream())
    if in_context is None:
        return
    yield in_context
    if spec.is_byte_level:
        return
    # A decoder that takes the space in front of a text may have to take it behind each special token,
    alone = _decoded(tokenizer, ids, None)
    if alone is not None:
        yield alone
    # or nowhere, because the space was the text's own. No text begins behind a special token.
    if spec.special_tokens:
        stream = tokenizer.stream()
        stream.push([next(iter(spec.special_tokens.values()))])
        primed = _decoded(tokenizer, ids, stream)
        if primed is not None:
            yield primed
    # What ends a word is spelled by decoders that do not know of it; it stood for a space, or for a change of kind.
    suffix = _end_of_word_suffix(tokenizer)
    if suffix:
        yield [span.replace(suffix, " ") if isinstance(span, str) else span for span in in_context]


def _decoded(tokenizer: CompiledTokenizer, ids: list[int], stream: StreamDecoder | None) -> Spans | None:
    """The text of ids as a stream goes on with it, or of each stretch by itself; None if a stretch is no text."""
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
    """The stretches of ids between special ones; each ends at a special id or at the end of all."""
    start = 0
    if specials:
        for place, id in enumerate(ids):
            if id in specials:
                yield start, place
                start = place + 1
    yield start, len(ids)


def _end_of_word_suffix(tokenizer: CompiledTokenizer) -> str | None:
    from bytepair.model.models import BytePair  # noqa: PLC0415 (few models have an alphabet)

    model = tokenizer.spec.model
    return model.alphabet.end_of_word_suffix if isinstance(model, BytePair) and model.alphabet is not None else None
