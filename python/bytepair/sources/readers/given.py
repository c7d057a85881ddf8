"""An iterable of texts -> batches of them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from bytepair.sources.documents import GivenDocuments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair.sources.inputs import Given
    from bytepair.sources.source import Text


def read(given: Given, batch_bytes: int) -> Iterator[GivenDocuments]:
    """The documents of an iterable; see `readers.read`. A batch has `batch_bytes` of memory, or a little more.

    Raises:
        TypeError: One is neither str nor bytes.
    """
    texts: list[Text] = []
    first = size = passed = 0
    for row, text in enumerate(given.texts):
        if not isinstance(text, (str, bytes)):
            raise TypeError(f"text {row} of the source is {type(text).__name__}, not str or bytes")
        texts.append(text)
        size += sys.getsizeof(text)
        if size >= batch_bytes:
            passed += size
            yield GivenDocuments(texts, range(first, row + 1), passed)
            texts, first, size = [], row + 1, 0
    if texts:
        yield GivenDocuments(texts, range(first, first + len(texts)), passed + size)
