"""`Source`: the text argument of every call and command that reads text.

A source is one of:

- a path or a glob, such as ``"docs/**/*.md"``, or a URL of any protocol that fsspec knows, with a pattern or without;
- the folder of a data set of ``datasets``, as ``save_to_disk`` leaves it (any other folder is refused);
- a list of paths, globs, URLs and such folders;
- an iterable of texts, ``str`` or UTF-8 ``bytes``: an iterator, or a list of ``bytes``. A list of ``str`` is a list of
  paths: pass ``iter(texts)`` for the strings themselves;
- a data set of the package ``datasets``;
- a mapping of the names of groups to such sources.

The name of a file says what it holds. ``.jsonl`` and ``.ndjson``: a JSON object on each line, with the text in a field.
``.parquet``, ``.arrow``, ``.arrows``, ``.feather`` and ``.ipc``: a table, with the text in a column. ``.tar`` and
``.tgz``: samples as WebDataset writes them, with the text in a member. Anything else is UTF-8 text: one document, or
several between delimiters. Text, JSON lines and tar are also read as ``.gz`` and ``.zst``. A glob's files are sorted;
a file counts once in a source or group, even if several patterns match it.

`Reading` holds the options that say where the text is: ``field``, ``id_field``, ``delimiter`` and ``longest``. They
mean the same in every call that has them; one that would have no effect on a source raises SourceError.

A run that can be killed and resumed (``shard``, ``count_corpus``) reads its source again, so it refuses iterables and
data sets in memory. Training takes two more things in place of a source: `Counts`, and a mapping of pieces to counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeAlias

Text: TypeAlias = str | bytes

PathLike: TypeAlias = "str | os.PathLike[str]"

Ungrouped: TypeAlias = "PathLike | Sequence[PathLike] | Iterable[Text]"
"""A source without groups; a data set of ``datasets`` is typed as an iterable."""

Source: TypeAlias = "Ungrouped | Mapping[str, Ungrouped]"
"""Text as a caller names it; see the head of this module."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The reading options: they locate documents and their ids in an input.

    Attributes:
        field: The column, the JSON field, or the extension of the members of a tar file that hold the text; of members
            of JSON with their field, such as ``json:caption``. None for ``text``, of tar files ``txt``.
        id_field: The column or JSON field that holds the document's own id: strings or integers. The id of a sample in
            a tar file is always its key.
        delimiter: The text between two documents of plain text, which belongs to neither. None: a file is one
            document.
        longest: How many bytes a document may have, of JSON its line; a longer one is a fault. None: no limit.

    Example:
        >>> Reading(field="content", id_field="url").delimiter is None
        True
    """

    field: str | None = None
    id_field: str | None = None
    delimiter: str | None = None
    longest: int | None = None


def is_paths(source: object) -> bool:
    """Whether a source is a path, or a list of nothing but paths."""
    return isinstance(source, (str, os.PathLike)) or (
        isinstance(source, (list, tuple)) and all(isinstance(item, (str, os.PathLike)) for item in source)
    )


def is_data_set(source: object) -> bool:
    """Whether a source is a data set of the package ``datasets``, in memory or streamed."""
    kind = type(source)
    return kind.__module__.partition(".")[0] == "datasets" and hasattr(source, "with_format")


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


def groups(source: Source) -> list[tuple[str, Ungrouped]]:
    """The groups of a source by name, in order; one with an empty name where there are none.

    Raises:
        TypeError: A name is not a str or empty, or it or a group is no source.

    Example:
        >>> groups({"en": "en/*.txt", "de": "de/*.txt"}), groups("a.txt")
        ([('en', 'en/*.txt'), ('de', 'de/*.txt')], [('', 'a.txt')])
    """
    if not isinstance(source, Mapping):
        check_one(source)
        return [("", source)]
    for name, one in source.items():
        if not isinstance(name, str) or not name:
            raise TypeError(f"{name!r} is no name of a group: those are str, and not empty")
        check_one(one, f"the group {name!r}")
    return list(source.items())


def check_one(source: object, name: str = "a source") -> None:
    """Raises TypeError if an object is not a source without groups.

    Args:
        source: The object.
        name: Its name in the message.
    """
    allowed = "paths, URLs, or an iterable of texts"
    if isinstance(source, Mapping):
        raise TypeError(f"{name} is a mapping, not {allowed}; groups cannot hold groups")
    if isinstance(source, Set):
        raise TypeError(f"{name} is a set, which has no order, not {allowed}")
    if isinstance(source, (bytes, bytearray, memoryview)):
        raise TypeError(f"{name} is one {type(source).__name__} object, not {allowed}; pass a list of texts: [text]")
    if hasattr(source, "readline"):
        raise TypeError(f"{name} is a file object, not {allowed}; pass its path, or its lines: (line for line in file)")
    if isinstance(source, (list, tuple)) and not is_paths(source) and any(isinstance(item, str) for item in source):
        raise TypeError(f"{name} is a list of str and others: it is paths in a list, or texts in an iterator, not both")
    if not isinstance(source, (Iterable, os.PathLike)):
        raise TypeError(f"{name} is {type(source).__name__}, not {allowed}")
