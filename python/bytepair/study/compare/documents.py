"""A source -> the documents of its groups, some at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from bytepair.sources import inputs, readers, utf8

if TYPE_CHECKING:
    from bytepair.sources.source import Reading, Source
    from bytepair.sources.utf8 import Utf8Batch

BATCH_BYTES = 8 << 20
"""About how many bytes of documents are compared together."""


def batches(source: Source, reading: Reading, errors: str) -> Iterator[tuple[str, Iterator[Utf8Batch]]]:
    r"""The groups of a source by name, and the documents of each in batches.

    Args:
        source: See `bytepair.sources.source`. Without groups it is named ``texts``.
        reading: What a document is.
        errors: As for `bytepair.sources.utf8.read`.

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
        group = [one for one in found if one.group == name]
        yield name or "texts", utf8.read(group, reading, BATCH_BYTES, errors)
