"""Whether ids are the encoding of the text that they decode to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair._core import Control
from bytepair.errors import EncodeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytepair.encoding import Ids
    from bytepair.tokenizer import Tokenizer


def is_valid(tokenizer: Tokenizer, ids: Ids) -> bool:
    """As `Tokenizer.is_valid`."""
    expected = ids if isinstance(ids, list) else list(map(int, ids))
    specials = {id: token for token, id in tokenizer.special_tokens.items()}
    text: list[str | bytes | Control] = []
    stream = tokenizer.stream()
    for start, end in _stretches(expected, specials):
        if start < end:
            # The stream knows what came before: what a decoder does at the beginning of a text it does there alone.
            part = stream.push(expected[start:end])
            if stream.pending:
                return False
            text.append(part)
        if end < len(expected):
            stream.push(expected[end])
            text.append(Control(specials[expected[end]]))
    try:
        return tokenizer.encode(text, special="text") == expected
    except EncodeError:
        # What stands for bytes that are no text has, in some vocabularies, no tokens.
        return False


def _stretches(ids: Sequence[int], specials: dict[int, str]) -> Iterator[tuple[int, int]]:
    """The stretches of ids between special ones; each ends at a special id or at the end of all."""
    start = 0
    if specials:
        for place, id in enumerate(ids):
            if id in specials:
                yield start, place
                start = place + 1
    yield start, len(ids)
