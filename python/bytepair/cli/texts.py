"""The documents of the files that encode, count and chunk name: those that training reads in the same files."""

from __future__ import annotations

from contextlib import contextmanager
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair import files
from bytepair.cli.streams import parts, stdin_texts
from bytepair.errors import BytepairError
from bytepair.sources import inputs, readers, utf8
from bytepair.sources.documents import LongDocument
from bytepair.sources.inputs import Input, blame
from bytepair.sources.opening import is_url
from bytepair.sources.source import Reading
from bytepair.sources.utf8 import Utf8Batch

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator

_BATCH_BYTES = 16 << 20


class Texts:
    """The documents of one file or of stdin.

    Attributes:
        name: What the command line calls it; ``-`` is stdin.
    """

    def __init__(self, input: Input, reading: Reading, errors: str) -> None:
        self.name = input.name
        self._input, self._reading, self._errors = input, reading, errors

    def batches(self) -> Iterator[Utf8Batch]:
        """The documents, some at a time."""
        if self.name == "-":
            texts = stdin_texts(self._reading.delimiter)
            yield Utf8Batch(texts, 0, self._input, [0] * len(texts))
        elif self._is_plain:
            yield Utf8Batch([b"".join(parts(self._input.address))], 0, self._input, [0])
        else:
            yield from utf8.read([self._input], self._reading, _BATCH_BYTES, self._errors)

    def documents(self) -> Iterator[tuple[int, Iterable[bytes]]]:
        """Each document: its position, and its text in parts as they are read."""
        if self._is_plain and self._reading.delimiter is None:
            yield 0, parts(self.name if self.name == "-" else self._input.address)
            return
        if self.name == "-":
            yield from ((0, [text]) for text in stdin_texts(self._reading.delimiter))
            return
        for found in readers.read(self._input, 0, None, self._reading, _BATCH_BYTES, errors=self._errors):
            if isinstance(found, LongDocument):
                yield found.position, found.parts
                continue
            for position, text in zip(found.positions.tolist(), found.texts.to_list(), strict=True):
                yield position, [text]
            if found.faults:
                raise found.faults[0].error

    @property
    def is_one(self) -> bool:
        """Whether this is one document, a plain text."""
        return self._input.content == "text" and self._reading.delimiter is None

    @property
    def _is_plain(self) -> bool:
        """Whether the document is what the file holds, byte by byte, so that nothing else has to be imported."""
        return self.is_one and self._input.is_local and not self._input.compression

    @contextmanager
    def blame(self, position: int) -> Iterator[None]:
        """Adds to errors the place of a document."""
        try:
            yield
        except BytepairError as error:
            if not isinstance(error, OSError):
                blame(error, self._input, position)
            raise


@contextmanager
def blamed(batch: Utf8Batch, *, lines: bool = False) -> Iterator[None]:
    """Adds to errors the place of the document that they are in; with `lines`, each document is a line of a file."""
    try:
        yield
    except BytepairError as error:
        row = error.row or 0
        if lines:
            error.file, error.line, error.row = batch.input.name, batch.first + row + 1, None
        else:
            batch.blame(error, row)
        raise


def texts(options: Namespace, *, delimiter: str | None = None) -> list[Texts]:
    """Return the texts that the arguments name, file by file. Options are checked for all files before any is read.

    Args:
        options: The arguments of `add_texts` and ``--field``.
        delimiter: The text between documents.
    """
    reading = Reading(field=options.field, delimiter=delimiter)
    found = [one for name in options.files or ["-"] for one in _inputs(name)]
    readers.check(found, reading)
    return [Texts(one, reading, options.errors) for one in found]


def _inputs(name: str) -> list[Input]:
    # stdin, what is no file (a pipe, a device), and what is not there, which opening it reports.
    if name == "-" or not (is_url(name) or has_magic(name) or files.is_file(Path(name)) or files.is_folder(Path(name))):
        return [Input(name, name, "text", None, 0, "")]
    return [one for one in inputs.find(name) if isinstance(one, Input)]
