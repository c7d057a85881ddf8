"""Corpora -> texts that are UTF-8, in batches of bounded size, with what to say of where they are from."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, TypeAlias, cast

from bytepair.errors import BytepairError, CorpusError, EncodeError
from bytepair.sources import inputs, paths, readers, sources
from bytepair.sources.documents import LongDocument
from bytepair.sources.parts import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bytepair.sources.inputs import Input, Reading
    from bytepair.sources.parts import Batch, Text

Source: TypeAlias = "sources.Source"

_BATCH_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document is: the place of a `BytepairError` that is raised for it.

    Attributes:
        file: The file; None for an iterable.
        row: The number of the document in it, from 0; None for a file of plain text.
        byte: Where it begins in a file of plain text.
    """

    file: str | None
    row: int | None
    byte: int = 0

    def blame(self, error: BytepairError) -> None:
        """Says where the text is that an error speaks of."""
        error.file, error.row = self.file, self.row
        if self.byte:
            # Nobody has counted the characters before it.
            error.byte, error.character = None if error.byte is None else error.byte + self.byte, None


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Some whole documents.

    Attributes:
        texts: What they are.
        place: Says where one of them is, by its number.
        passed: How much of the corpus has been read with them, as it is stored; of an iterable, about its bytes.
    """

    texts: list[str]
    place: Callable[[int], Place]
    passed: int


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a document that is too long to be held.

    Attributes:
        text: The part.
        place: Where the document is.
        ended: Whether it is the last one, which can be empty.
        passed: As of `Texts`.
    """

    text: str
    place: Place
    ended: bool
    passed: int


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """What a source is made of; nothing of it has been read.

    Attributes:
        name: What it is called.
        files: Its files, and how to read them.
        rows: Its iterables.
        size: The bytes of all files, as they are stored; None if there is an iterable.
    """

    name: str
    files: tuple[tuple[Input, Reading], ...]
    rows: tuple[Rows, ...]
    size: int | None

    def read(self, errors: str) -> Iterator[Texts | Part]:
        """All its documents, in order.

        Args:
            errors: What becomes of bytes that are not UTF-8, and of lone surrogates: ``strict`` or ``replace``.

        Raises:
            EncodeError: There is such a byte or surrogate.
            ArtifactError: A file is gone, has changed, is cut off or damaged.
            SourceError: There is no such field or column, or a package is missing.
        """
        before = 0
        for file, reading in self.files:
            yield from _read(file, reading, errors, before)
            before += file.size
        for rows in self.rows:
            yield from _iterated(rows, errors)


def find(name: str, source: Source, *, field: str | None, lines: bool) -> Corpus:
    """Says what a corpus is made of. Of files it looks at names and sizes only.

    Args:
        name: What it is called.
        source: What `bytepair.train` takes, but for counts, and what `bytepair.shard` takes: paths, globs and URLs;
            iterables of texts; or a mapping of groups to these, which are one corpus here.
        field: The JSON field, or the column, that holds the text; None for ``text``.
        lines: Whether each line of plain text is a document, not the file.

    Raises:
        SourceError: Nothing matches, or a file is of a kind that cannot be read.
        CorpusError: It is a mapping of pieces to counts, of which nothing but the pieces is known.
        TypeError: It is no source.
    """
    if isinstance(source, Mapping) and source and sources.holds_counts(source):
        raise CorpusError(
            f"the corpus {name!r} is a mapping of pieces to counts, and a report is on documents",
            remedy="name the texts themselves",
        )
    files: list[tuple[Input, Reading]] = []
    rows: list[Rows] = []
    if isinstance(source, Mapping):
        for group, one in source.items():
            paths.check_group(group, one, "paths, or an iterable of texts")
    for one in source.values() if isinstance(source, Mapping) else [source]:
        if not paths.is_paths(one):
            plan = sources.plan(one, field=field, batch_bytes=_BATCH_BYTES)
            rows += [part for part in plan.parts if isinstance(part, Rows)]
            continue
        found = inputs.find(cast("inputs.Source", one))
        delimiter = "\n" if lines and any(file.content == "text" for file in found) else None
        reading = inputs.Reading(field=field, delimiter=delimiter)
        readers.check(found, reading)
        files += [(file, reading) for file in found]
    return Corpus(name, tuple(files), tuple(rows), None if rows else sum(file.size for file, _ in files))


def _read(file: Input, reading: Reading, errors: str, before: int) -> Iterator[Texts | Part]:
    is_text = file.content == "text"
    row = 0
    for documents in readers.read(file, 0, None, reading, _BATCH_BYTES, errors=errors):
        if isinstance(documents, LongDocument):
            yield from _long(documents, Place(file.address, None, documents.position), errors, before)
            row += 1
            continue
        if documents.faults:
            error = documents.faults[0].error
            error.file = error.file or file.address
            raise error

        def place(number: int, positions: NDArray[np.int64] = documents.positions, first: int = row) -> Place:
            return Place(file.address, None, int(positions[number])) if is_text else Place(file.address, first + number)

        texts = _texts(documents.texts.to_list(), place, errors)
        row += len(texts)
        yield Texts(texts, place, before + documents.passed)


def _long(document: LongDocument, place: Place, errors: str, before: int) -> Iterator[Part]:
    decoder = codecs.getincrementaldecoder("utf-8")("strict" if errors == "strict" else "replace")
    done = 0
    for data in document.parts:
        yield Part(_decoded(decoder, data, place, done), place, False, before + document.passed())
        done += len(data)
    yield Part(_decoded(decoder, b"", place, done, final=True), place, True, before + document.passed())


def _decoded(decoder: codecs.IncrementalDecoder, data: bytes, place: Place, before: int, *, final: bool = False) -> str:
    try:
        return decoder.decode(data, final)
    except UnicodeDecodeError as error:
        # What was kept from the part before stands in front of this one.
        _not_utf8(place, before + len(data) - len(error.object) + error.start, error)


def _iterated(rows: Rows, errors: str) -> Iterator[Texts]:
    for batch in rows.batches():

        def place(number: int, batch: Batch = batch) -> Place:
            return Place(batch.file, batch.first_row + number)

        yield Texts(_texts(batch.to_list(), place, errors), place, batch.position)


def _texts(data: Sequence[Text], place: Callable[[int], Place], errors: str) -> list[str]:
    return [_text(one, place, number, errors) for number, one in enumerate(data)]


def _text(data: Text, place: Callable[[int], Place], number: int, errors: str) -> str:
    if isinstance(data, bytes):
        try:
            return data.decode("utf-8", "strict" if errors == "strict" else "replace")
        except UnicodeDecodeError as error:
            _not_utf8(place(number), error.start, error)
    if data.isascii():
        return data
    try:
        data.encode()
    except UnicodeEncodeError as error:
        if errors == "replace":
            return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in data)
        found = EncodeError(
            f"the text holds the lone surrogate U+{ord(data[error.start]):04X}",
            character=error.start,
            remedy='pass errors="replace" to put U+FFFD in its place',
            cli_remedy="--errors replace puts U+FFFD in its place",
        )
        place(number).blame(found)
        raise found from None
    return data


def _not_utf8(place: Place, byte: int, cause: UnicodeDecodeError) -> NoReturn:
    error = EncodeError(
        "the text is not UTF-8",
        byte=byte,
        remedy='decode it first, or pass errors="replace" to put U+FFFD in its place',
        cli_remedy="--errors replace puts U+FFFD in its place",
    )
    place.blame(error)
    raise error from cause
