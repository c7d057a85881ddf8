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
    r"""The groups of a source by name, else ``texts``, and the documents of each in batches; errors as `compare`.

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
