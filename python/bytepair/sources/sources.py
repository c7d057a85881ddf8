"""What a user gives as a source -> a plan: its parts in order, each a file or rows."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

from bytepair.errors import ArtifactError, SourceError
from bytepair.sources import compressed
from bytepair.sources.parts import Batch, File, Part, Rows, Text
from bytepair.sources.paths import PathLike, check_group, find, is_paths, kind

if TYPE_CHECKING:
    from pathlib import Path

Ungrouped: TypeAlias = "PathLike | Sequence[PathLike] | Iterable[Text]"
Source: TypeAlias = "Ungrouped | Mapping[str, Ungrouped]"

BATCH_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts of a source.

    Attributes:
        parts: In the order in which the source names them.
        size: The bytes of all parts together, as they are on disk; None if one is an iterable.
    """

    parts: tuple[Part, ...]
    size: int | None


def plan(source: Source, *, field: str | None = None, batch_bytes: int = BATCH_BYTES) -> Plan:
    """Says what a source is made of. Of files it looks at names and sizes only; parts open theirs when they are read.

    Args:
        source: A path or glob, or a list of these; an iterable of texts; or a mapping of the names of groups to such
            sources. Files are plain UTF-8 text, one text each, also as ``.gz`` and ``.zst``; or hold rows, each a text
            of its own: ``.jsonl`` and ``.ndjson``, also as ``.gz`` and ``.zst``; ``.parquet``; ``.arrow``, ``.arrows``,
            ``.feather`` and ``.ipc``. The name of a file says which it is. A file stands once in a source or group,
            even if several globs match it.
        field: The JSON field, or the column, that holds the text; None for ``text``. Goes with files of rows only.
        batch_bytes: About how many bytes the texts of a batch have in memory, but at least one text.

    Raises:
        SourceError: A path or glob matches no file, a field for what has none, a kind of file that cannot be read, or
            ``pyarrow`` is needed and not installed.
        TypeError: It is none of these.
        ArtifactError: A file is gone.

    Example:
        >>> for part in plan({"en": iter(["low", "lower"])}).parts:
        ...     for batch in part.batches():
        ...         print(part.group, batch.texts, batch.place(1))
        en ['low', 'lower'] {'file': None, 'row': 1}
    """
    if batch_bytes < 1:
        raise ValueError(f"batch_bytes={batch_bytes} would hold nothing; use 1 or more")
    groups: Iterable[tuple[str | None, Ungrouped]] = [(None, source)]
    if isinstance(source, Mapping):
        groups = source.items()
        for name, part in groups:
            _check_group(name, part)
    parts = tuple(part for group, one in groups for part in _parts(group, one, field, batch_bytes))
    sizes = [part.size for part in parts]
    return Plan(parts, None if None in sizes else sum(size or 0 for size in sizes))


def holds_counts(source: Mapping[Any, Any]) -> bool:
    """Whether a mapping is one of pieces to counts, rather than of groups to sources. An empty one is.

    Complexity:
        Linear in its length, without a step of Python for each value.

    Raises:
        TypeError: It is both.

    Example:
        >>> holds_counts({"low": 5, "lower": 2}), holds_counts({"en": "en/*.txt"})
        (True, False)
    """
    kinds = set(map(type, source.values()))
    counts = {kind for kind in kinds if issubclass(kind, Integral)}
    if not counts or counts == kinds:
        return counts == kinds
    key, value = next((key, value) for key, value in source.items() if type(value) not in counts)
    raise TypeError(
        f"a mapping is of pieces to counts, or of groups to sources, not both: {key!r} has {type(value).__name__}"
    )


def _check_group(name: object, source: object) -> None:
    check_group(name, source, "paths, or an iterable of texts")
    if not isinstance(source, (Iterable, os.PathLike)):
        raise TypeError(f"the group {name!r} is {type(source).__name__}; its source is paths, or an iterable of texts")


def _parts(group: str | None, source: Ungrouped, field: str | None, batch_bytes: int) -> Iterator[Part]:
    if is_paths(source):
        for path in find(source):  # type: ignore[arg-type]  # is_paths has looked
            yield _file(group, path, field, batch_bytes)
        return
    _check_texts(source)
    if field is not None:
        raise SourceError(
            f"the field {field!r} is for files of rows, such as .jsonl, and a source is an iterable of texts",
            remedy="yield the texts themselves, and leave field out",
            cli_remedy="leave --field out",
        )
    yield Rows(group, None, None, partial(_batches, source, batch_bytes))  # type: ignore[arg-type]  # as above


def _file(group: str | None, path: Path, field: str | None, batch_bytes: int) -> Part:
    content, compression = kind(path)
    if content == "text" and field is not None:
        raise SourceError(
            f"the field {field!r} is for files of rows, such as .jsonl, and this is plain text",
            file=str(path),
            remedy="leave field out, or use files of one kind at a time",
            cli_remedy="leave --field out, or use files of one kind at a time",
        )
    if compression == "zstd" or content in ("parquet", "arrow"):
        compressed.arrow(path)
    try:
        size = path.stat().st_size
    except OSError as error:
        raise ArtifactError(
            f"cannot read the file: {error.strerror}", file=str(path), remedy="check the path and its permissions"
        ) from error
    if content in ("parquet", "arrow"):
        from bytepair.sources import columns  # numpy is for those who need it

        return Rows(group, str(path), size, partial(columns.batches, path, content, field, batch_bytes))
    line_field = None if content != "jsonl" else "text" if field is None else field
    chunks = partial(compressed.chunks, path, compression, max(batch_bytes // 8, 1)) if compression else None
    return File(group, str(path), size, line_field, chunks)


def _check_texts(source: object) -> None:
    if isinstance(source, Set) or (isinstance(source, (list, tuple)) and any(isinstance(item, str) for item in source)):
        raise TypeError("a source is paths in a list, or texts in an iterator; not both, and not a set")
    if isinstance(source, (bytes, bytearray, memoryview)):
        raise TypeError(f"one {type(source).__name__} object is not a source; pass a list of texts: [text]")
    if hasattr(source, "readline"):
        raise TypeError("a file object is not a source; pass its path, or its lines: (line for line in file)")
    if not isinstance(source, Iterable):
        raise TypeError(f"a source is paths, or an iterable of texts, not {type(source).__name__}")


def _batches(source: Iterable[Text], batch_bytes: int) -> Iterator[Batch]:
    texts: list[Text] = []
    first_row = size = position = 0
    for row, text in enumerate(source):
        if not isinstance(text, (str, bytes)):
            raise TypeError(f"text {row} of the source is {type(text).__name__}, not str or bytes")
        texts.append(text)
        size += sys.getsizeof(text)
        if size >= batch_bytes:
            position += size
            yield Batch(texts, first_row, position)
            texts, first_row, size = [], row + 1, 0
    if texts:
        yield Batch(texts, first_row, position + size)
