"""Inputs -> whole documents as UTF-8, with the place of each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bytepair.sources import readers
from bytepair.sources.documents import GivenDocuments, LongDocument
from bytepair.sources.inputs import blame

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bytepair.errors import BytepairError
    from bytepair.sources.inputs import AnyInput
    from bytepair.sources.source import Reading, Text

_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Utf8Batch:
    """Some whole documents of an input.

    Attributes:
        texts: Their UTF-8. With ``errors="strict"`` it has not been checked.
        first: The number of the first among the documents of all inputs that are read.
        input: The input that they are in.
        positions: The position of each in its input.
    """

    texts: list[bytes]
    first: int
    input: AnyInput
    positions: Sequence[int]

    def blame(self, error: BytepairError, number: int) -> None:
        """Adds to an error the place of a document of the batch."""
        blame(error, self.input, self.positions[number])


def read(found: Iterable[AnyInput], reading: Reading, batch_bytes: int, errors: str) -> Iterator[Utf8Batch]:
    r"""All documents of some inputs, in order. Memory is for the longest one, and for `batch_bytes` of others.

    Args:
        found: The inputs.
        reading: How documents are found.
        batch_bytes: About how many bytes of documents a batch has.
        errors: ``strict``, or ``replace`` to have U+FFFD in place of bytes that are not UTF-8.

    Raises:
        ArtifactError: A file cannot be read, or has changed.
        BytepairError: A document is at fault.

    Example:
        >>> from bytepair.sources.inputs import find
        >>> from bytepair.sources.source import Reading
        >>> [batch.texts for batch in read(find(iter(["low", "löw"])), Reading(), 1 << 20, "strict")]
        [[b'low', b'l\xc3\xb6w']]
    """
    first = 0
    for one in found:
        for documents in readers.read(one, 0, None, reading, batch_bytes, errors=errors):
            texts: list[bytes]
            positions: Sequence[int]
            if isinstance(documents, LongDocument):
                texts, positions = [b"".join(documents.parts)], [documents.position]
            elif isinstance(documents, GivenDocuments):
                texts, positions = [_bytes(text, errors) for text in documents.texts], documents.positions
            else:
                if documents.faults:
                    raise documents.faults[0].error
                texts, positions = documents.texts.to_list(), documents.positions.tolist()
            if errors == "replace":
                texts = [text if text.isascii() else text.decode("utf-8", "replace").encode() for text in texts]
            yield Utf8Batch(texts, first, one, positions)
            first += len(texts)


def _bytes(text: Text, errors: str) -> bytes:
    if isinstance(text, bytes):
        return text
    # The tokenizer reports where half a surrogate pair is; or it is one character that is replaced.
    whole = _SURROGATES.sub("\ufffd", text) if errors == "replace" and not text.isascii() else text
    return whole.encode("utf-8", "surrogatepass")
