"""What a user gives as sources -> batches of documents, as UTF-8."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from bytepair.sources import inputs, readers
from bytepair.sources.documents import LongDocument
from bytepair.sources.paths import is_paths

if TYPE_CHECKING:
    from bytepair.sources.inputs import Reading
    from bytepair.sources.paths import PathLike

    One: TypeAlias = "PathLike | list[PathLike] | Iterable[str | bytes]"
    Sources: TypeAlias = "One | Mapping[str, One]"

BATCH_BYTES = 8 << 20
"""About how many bytes of documents are looked at together."""

_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Batch:
    """Some documents of a source.

    Attributes:
        texts: Their UTF-8.
        first: The number of the first in its source.
        file: The file that they are in; None for texts.
        positions: Where each is in its file, as readers say; of texts their numbers.
    """

    texts: list[bytes]
    first: int
    file: str | None
    positions: list[int]


def batches(sources: Sources, reading: Reading, errors: str) -> Iterator[tuple[str, Iterator[Batch]]]:
    r"""Sources by name, and the documents of each, some at a time.

    A document is held whole; so memory is for the longest, and for about `BATCH_BYTES` of others.

    Args:
        sources: A path, glob or URL, or a list of these, as `bytepair.sources.inputs.find` takes them; an iterable of
            texts; or a mapping of names to these. Without names the source is called ``texts``.
        reading: What is a document in files.
        errors: ``strict``, or ``replace`` to have U+FFFD in place of bytes that are not UTF-8.

    Raises:
        SourceError: No file matches, or it is of a kind that cannot be read.
        ArtifactError: A file cannot be read.
        TypeError: A source is none of these.

    Example:
        >>> from bytepair.sources.inputs import Reading
        >>> for name, found in batches({"en": iter(["low", "lower"])}, Reading(), "strict"):
        ...     print(name, [batch.texts for batch in found])
        en [[b'low', b'lower']]
    """
    named = sources if isinstance(sources, Mapping) else {"texts": sources}
    # What is wrong with a name or an option is said before anything is read.
    found = {name: inputs.find({name: one}) for name, one in named.items() if is_paths(one)}  # type: ignore[dict-item]  # `is_paths` does not narrow
    if found:
        readers.check([one for ones in found.values() for one in ones], reading)
    for name, one in named.items():
        if name not in found and (isinstance(one, (bytes, Mapping)) or not isinstance(one, Iterable)):
            raise TypeError(f"the source {name!r} is {type(one).__name__}, not paths or an iterable of texts")
    for name, one in named.items():
        yield name, _files(found[name], reading, errors) if name in found else _texts(one, errors)  # type: ignore[arg-type]  # as above


def _files(found: tuple[inputs.Input, ...], reading: Reading, errors: str) -> Iterator[Batch]:
    first = 0
    for one in found:
        for documents in readers.read(one, 0, None, reading, BATCH_BYTES, errors=errors):
            if isinstance(documents, LongDocument):
                texts, positions = [b"".join(documents.parts)], [documents.position]
            else:
                if documents.faults:
                    raise documents.faults[0].error
                texts, positions = documents.texts.to_list(), documents.positions.tolist()
            yield Batch(_utf8(texts, errors), first, one.name, positions)
            first += len(texts)


def _texts(source: Iterable[str | bytes], errors: str) -> Iterator[Batch]:
    texts: list[bytes] = []
    first = size = 0
    for number, text in enumerate(source):
        if not isinstance(text, (str, bytes)):
            raise TypeError(f"text {number} of a source is {type(text).__name__}, not str or bytes")
        if isinstance(text, str):
            # Of half a surrogate pair the tokenizer says where it is; or it is one character that is replaced.
            whole = _SURROGATES.sub("\ufffd", text) if errors == "replace" and not text.isascii() else text
            text = whole.encode("utf-8", "surrogatepass")  # noqa: PLW2901 (the same text)
        texts.append(text)
        size += sys.getsizeof(text)
        if size >= BATCH_BYTES:
            yield Batch(_utf8(texts, errors), first, None, [*range(first, number + 1)])
            texts, first, size = [], number + 1, 0
    if texts:
        yield Batch(_utf8(texts, errors), first, None, [*range(first, first + len(texts))])


def _utf8(texts: list[bytes], errors: str) -> list[bytes]:
    if errors != "replace":
        return texts
    return [text if text.isascii() else text.decode("utf-8", "replace").encode() for text in texts]
