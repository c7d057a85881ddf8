"""Inputs -> text as `str`, in batches of bounded size and in parts of long documents, with the place of each."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from bytepair.errors import EncodeError
from bytepair.sources import readers
from bytepair.sources.documents import GivenDocuments, LongDocument
from bytepair.sources.inputs import blame

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bytepair.errors import BytepairError
    from bytepair.sources.inputs import AnyInput
    from bytepair.sources.source import Reading, Text

_BATCH_BYTES = 16 << 20
_REMEDIES = {
    "remedy": 'decode it first, or pass errors="replace" to put U+FFFD in its place',
    "cli_remedy": "--errors replace puts U+FFFD in its place",
}


@dataclass(frozen=True, slots=True, eq=False)
class DecodedBatch:
    """Some whole documents of an input, with their positions there; `passed` as in `Documents`."""

    texts: list[str]
    input: AnyInput
    positions: NDArray[np.int64] | range
    passed: int

    def blame(self, error: BytepairError, number: int) -> None:
        """Adds to an error the place of a document of the batch."""
        blame(error, self.input, int(self.positions[number]))


@dataclass(frozen=True, slots=True, eq=False)
class DecodedPart:
    """A part of a document that is too long to be held.

    Attributes:
        text: The part.
        input: The input.
        position: The position of the document there.
        ended: Whether it is the last part, which can be empty.
        passed: As in `DecodedBatch`.
    """

    text: str
    input: AnyInput
    position: int
    ended: bool
    passed: int

    def blame(self, error: BytepairError) -> None:
        """Adds to an error the place of the document."""
        blame(error, self.input, self.position)


def read(input: AnyInput, reading: Reading, errors: str) -> Iterator[DecodedBatch | DecodedPart]:
    """All documents of an input, in order.

    Args:
        input: The input.
        reading: What a document is.
        errors: What becomes of bytes that are not UTF-8, and of lone surrogates: ``strict`` or ``replace``.

    Raises:
        EncodeError: There is such a byte or surrogate.
        ArtifactError: A file is gone, has changed, is cut off or damaged.
        SourceError: There is no such field or column, or a package is missing.
    """
    for found in readers.read(input, 0, None, reading, _BATCH_BYTES, errors=errors):
        if isinstance(found, LongDocument):
            yield from _long(input, found, errors)
            continue
        texts: Sequence[Text]
        if isinstance(found, GivenDocuments):
            texts = found.texts
        else:
            if found.faults:
                raise found.faults[0].error
            texts = found.texts.to_list()
        batch = DecodedBatch([], input, found.positions, found.passed)
        batch.texts.extend(_text(text, batch, number, errors) for number, text in enumerate(texts))
        yield batch


def _long(input: AnyInput, document: LongDocument, errors: str) -> Iterator[DecodedPart]:
    decoder = codecs.getincrementaldecoder("utf-8")("strict" if errors == "strict" else "replace")
    done = 0

    def part(data: bytes, *, ended: bool = False) -> DecodedPart:
        try:
            text = decoder.decode(data, ended)
        except UnicodeDecodeError as cause:
            # The decoder puts the bytes that it kept of the part before in front of this one.
            error = EncodeError(
                "the text is not UTF-8", byte=done + len(data) - len(cause.object) + cause.start, **_REMEDIES
            )
            blame(error, input, document.position)
            raise error from cause
        return DecodedPart(text, input, document.position, ended, document.passed())

    for data in document.parts:
        yield part(data)
        done += len(data)
    yield part(b"", ended=True)


def _text(data: Text, batch: DecodedBatch, number: int, errors: str) -> str:
    if isinstance(data, bytes):
        try:
            return data.decode("utf-8", "strict" if errors == "strict" else "replace")
        except UnicodeDecodeError as cause:
            _raise(EncodeError("the text is not UTF-8", byte=cause.start, **_REMEDIES), batch, number, cause)
    if data.isascii():
        return data
    try:
        data.encode()
    except UnicodeEncodeError as cause:
        if errors == "replace":
            return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in data)
        what = f"the text holds the lone surrogate U+{ord(data[cause.start]):04X}"
        _raise(EncodeError(what, character=cause.start, **_REMEDIES), batch, number, None)
    return data


def _raise(error: EncodeError, batch: DecodedBatch, number: int, cause: Exception | None) -> NoReturn:
    batch.blame(error, number)
    raise error from cause
