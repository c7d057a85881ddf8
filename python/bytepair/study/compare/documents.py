"""Sources -> batches of documents, as UTF-8."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bytepair.sources import inputs, readers
from bytepair.sources.documents import GivenDocuments, LongDocument
from bytepair.sources.inputs import blame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair.errors import BytepairError
    from bytepair.sources.inputs import AnyInput
    from bytepair.sources.source import Reading, Source, Text

BATCH_BYTES = 8 << 20
"""About how many bytes of documents are compared together."""

_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class EncodedBatch:
    """Some documents of a source.

    Attributes:
        texts: Their UTF-8.
        first: The number of the first in its source.
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


def batches(source: Source, reading: Reading, errors: str) -> Iterator[tuple[str, Iterator[EncodedBatch]]]:
    r"""The groups of a source by name, and the documents of each, some at a time.

    A document is held whole; so memory is for the longest, and for about `BATCH_BYTES` of others.

    Args:
        source: See `bytepair.sources.source`. Without groups it is named ``texts``.
        reading: What a document is.
        errors: ``strict``, or ``replace`` to have U+FFFD in place of bytes that are not UTF-8.

    Raises:
        SourceError: No file matches, or it is of a kind that cannot be read; an option has no effect.
        ArtifactError: A file cannot be read.
        TypeError: It is no source.

    Example:
        >>> from bytepair.sources.source import Reading
        >>> for name, found in batches({"en": iter(["low", "lower"])}, Reading(), "strict"):
        ...     print(name, [batch.texts for batch in found])
        en [[b'low', b'lower']]
    """
    # Wrong names and options are reported before anything is read.
    found = inputs.find(source)
    readers.check(found, reading)
    for name in source if isinstance(source, Mapping) else [""]:
        yield name or "texts", _read([one for one in found if one.group == name], reading, errors)


def _read(found: Sequence[AnyInput], reading: Reading, errors: str) -> Iterator[EncodedBatch]:
    first = 0
    for one in found:
        for documents in readers.read(one, 0, None, reading, BATCH_BYTES, errors=errors):
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
            yield EncodedBatch(texts, first, one, positions)
            first += len(texts)


def _bytes(text: Text, errors: str) -> bytes:
    if isinstance(text, bytes):
        return text
    # The tokenizer reports where half a surrogate pair is; or it is one character that is replaced.
    whole = _SURROGATES.sub("\ufffd", text) if errors == "replace" and not text.isascii() else text
    return whole.encode("utf-8", "surrogatepass")
