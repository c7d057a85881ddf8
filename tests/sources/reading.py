"""Helpers for the tests of inputs and readers: one document a tuple, and all portions of an input at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bytepair.errors import LimitError
from bytepair.sources.documents import Documents, Fault, LongDocument
from bytepair.sources.inputs import Input, find_files
from bytepair.sources.readers import portions, read
from bytepair.sources.source import Reading

Document = tuple[int, bytes, bytes | None]


def only(path: Path | str) -> Input:
    (found,) = find_files(str(path), "shard")
    return found


def documents(
    source: Input,
    reading: Reading,
    cuts: list[tuple[int, int | None]] | None = None,
    batch_bytes: int = 1 << 20,
) -> tuple[list[Document], list[Fault]]:
    """The documents and faults of all portions, in order; long documents are joined."""
    found: list[Document] = []
    faults: list[Fault] = []
    for start, end in [(0, None)] if cuts is None else cuts:
        for given in read(source, start, end, reading, batch_bytes):
            if isinstance(given, Documents):
                found += of(given)
                faults += given.faults
                assert given.passed <= source.size
            else:
                long = whole(given)
                assert given.passed() <= source.size
                if isinstance(long, bytes):
                    assert len(long) > batch_bytes
                    found.append((given.position, long, given.id))
                else:
                    faults.append(Fault(given.position, long))
    places = [place for place, _, _ in found]
    assert places == sorted(set(places))
    return found, faults


def of(given: Documents) -> list[Document]:
    texts = given.texts.to_list()
    ids: list[Any] = [None] * len(texts) if given.ids is None else [*given.ids.to_list()]
    assert len(texts) == len(given.positions) == len(ids)
    return [*zip(given.positions.tolist(), texts, ids, strict=True)]


def whole(document: LongDocument) -> bytes | LimitError:
    try:
        return b"".join(document.parts)
    except LimitError as error:
        return error


def every_cut(source: Input, reading: Reading) -> Iterator[list[tuple[int, int | None]]]:
    """Portions of all sizes from 1 byte on; for larger inputs also some others."""
    for size in [*range(1, min(source.size, 24)), source.size // 2 + 1, source.size + 1]:
        yield portions(source, reading, size)
