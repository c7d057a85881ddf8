"""What a user gives as a source of shards -> inputs: files and what URLs name, each of a kind that its name tells."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from bytepair.errors import ArtifactError, SourceError
from bytepair.sources import opening, paths
from bytepair.sources.paths import PathLike

Source: TypeAlias = "PathLike | Sequence[PathLike] | Mapping[str, PathLike | Sequence[PathLike]]"

_DATA_SET, _DATA_SETS = "state.json", "dataset_dict.json"


@dataclass(frozen=True, slots=True)
class Input:
    """A file of documents, local or behind a URL.

    Attributes:
        name: What the caller's path or glob calls it; it says the same on every machine.
        address: Its absolute path, or its URL.
        content: ``text``, ``jsonl``, ``parquet``, ``arrow`` or ``tar``.
        compression: ``gzip``, ``zstd`` or None.
        size: Its bytes as they are stored.
        version: What changes when it does (`opening.state`); empty if that cannot be known.
        group: The name of the source that it belongs to, if sources have names.
    """

    name: str
    address: str
    content: str
    compression: str | None
    size: int
    version: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What is a document, and what is its id.

    Attributes:
        field: The column, the JSON field, or the extension of the members of a tar file that hold the text; of members
            of JSON with their field, such as ``json:caption``. None for ``text``, of tar files ``txt``.
        id_field: The column or JSON field that holds the document's own id: strings or integers. The id of a sample in
            a tar file is always its key.
        delimiter: What stands between two documents of plain text, and belongs to neither. None: a file is one
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


def find(source: Source) -> tuple[Input, ...]:
    """The inputs of a source, in its order; those of one glob are sorted. Of files it looks at names and sizes only.

    Args:
        source: A path, a glob or a URL of any protocol that fsspec knows, with a pattern in it or not; the folder of a
            data set of Hugging Face, as ``save_to_disk`` leaves it; a list of these; or a mapping of the names of
            groups to these. Files are plain text, lines of JSON (``.jsonl``, ``.ndjson``), both also compressed;
            Parquet; Arrow (``.arrow``, ``.arrows``, ``.feather``, ``.ipc``); or archives of samples (``.tar``, also as
            ``.gz``, ``.zst`` and ``.tgz``). A file stands once in a source or group, also if it is named twice.

    Returns:
        The inputs. Those of one group are together.

    Raises:
        SourceError: A path or pattern matches no file, is a folder, or a file is of a kind that cannot be read.
        TypeError: The source is none of these.
        ArtifactError: A server cannot be asked, what its protocol needs is not installed, or a data set is damaged.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     _ = Path(folder, "a.jsonl.gz").write_bytes(b"...")
        ...     (found,) = find({"web": f"{folder}/*.gz"})
        >>> found.content, found.compression, found.size, found.group
        ('jsonl', 'gzip', 3, 'web')
    """
    if not isinstance(source, Mapping):
        return tuple(_inputs(source, ""))
    for group, part in source.items():
        paths.check_group(group, part, "paths and URLs")
    return tuple(found for group, part in source.items() for found in _inputs(part, group))


def check(input: Input) -> None:  # the word for it
    """Asks whether a file is still what it was when it was found.

    Raises:
        ArtifactError: It is gone, or its size or version is another.
    """
    now = opening.state(input.address)
    if now == (input.size, input.version):
        return
    if now.size != input.size:
        raise changed(input, now.size)
    raise ArtifactError(
        f"the input {input.name!r} has changed: its version was {input.version}, and is {now.version}",
        file=input.address,
        remedy="put back the file as it was, or make a new run of the new one",
    )


def changed(input: Input, size: int) -> ArtifactError:
    """The error for an input that has another size than it had."""
    return ArtifactError(
        f"the input {input.name!r} has changed: it had {input.size} bytes, and has {size}",
        file=input.address,
        remedy="put back the file as it was, or make a new run of the new one",
    )


def _inputs(source: object, group: str) -> Iterator[Input]:
    if not paths.is_paths(source):
        raise TypeError(f"a source of shards is paths and URLs, or groups of these, not {_shown(source)}")
    items: Any = [source] if isinstance(source, (str, os.PathLike)) else source
    seen: set[str] = set()
    for item in items:
        name = os.fspath(item)
        if not isinstance(name, str):
            raise TypeError(f"{name!r} is a path in bytes; name it as str")
        for found in _remote(name, group) if opening.is_url(name) else _local(name, group):
            if found.address not in seen:
                seen.add(found.address)
                yield found


def _shown(source: object) -> str:
    if isinstance(source, (list, tuple)):
        odd = next(item for item in source if not isinstance(item, (str, os.PathLike)))
        return f"a list with {type(odd).__name__} in it"
    return type(source).__name__


def _local(name: str, group: str) -> Iterator[Input]:
    # A data set's own files; else whatever matches.
    inside = _data_files(name) if Path(name).is_dir() else None
    for path in paths.find([name] if inside is None else inside, texts=False):
        address = os.path.abspath(path)  # noqa: PTH100  # links stay as the caller has them
        yield _input(str(path), address, opening.state(address), group)


def _remote(url: str, group: str) -> Iterator[Input]:
    found = opening.matches(url)
    if not found:
        inside = _data_files(url)
        if inside is None:
            raise SourceError(
                f"no file matches {url!r}",
                remedy="check the URL; files in a folder are named by a pattern, such as '.../*.parquet'",
            )
        found = [(file, opening.state(file)) for file in inside]
    for address, state in found:
        yield _input(address, address, state, group)


def _input(name: str, address: str, state: opening.State, group: str) -> Input:
    try:
        address.encode()
    except UnicodeEncodeError as error:
        shown = address.encode("utf-8", "backslashreplace").decode()
        raise SourceError(
            "the name of the file is not UTF-8, as those of plans and tables are", file=shown, remedy="rename it"
        ) from error
    content, compression = paths.kind(opening.name_of(address), archives=True)
    return Input(name, address, content, compression, state.size, state.version, group)


def _data_files(folder: str) -> list[str] | None:
    """The files of a data set of Hugging Face, in its order; None if the folder holds none."""
    base = folder.rstrip("/")
    if opening.exists(f"{base}/{_DATA_SETS}"):
        splits = _json(f"{base}/{_DATA_SETS}").get("splits")
        known = [f"{base}/{split}" for split in splits] if isinstance(splits, list) else []
        raise SourceError(
            f"{folder!r} holds several splits of a data set",
            remedy=f"name the splits that are wanted: {', '.join(map(repr, known[:20])) or 'its folders'}",
        )
    state = f"{base}/{_DATA_SET}"
    if not (opening.exists(state) and opening.exists(f"{base}/dataset_info.json")):
        return None
    content = _json(state)
    files = content.get("_data_files")
    names = [file.get("filename") if isinstance(file, dict) else None for file in files] if files else []
    plain = [name for name in names if isinstance(name, str) and name and "/" not in name and name not in (".", "..")]
    if not names or plain != names:
        raise ArtifactError("it does not name the files of the data set", file=state, remedy="save the data set again")
    if content.get("_indices_data_files") or content.get("_indices_files"):
        raise ArtifactError(
            "the data set is a selection of rows, by indices beside it, which cannot be read",
            file=state,
            remedy="call flatten_indices() before save_to_disk()",
        )
    return [f"{base}/{name}" for name in plain]


def _json(address: str) -> dict[str, Any]:
    try:
        with opening.open_stream(address) as file:
            value = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, ArtifactError):
            raise
        opening.unreadable(address, error)
    if not isinstance(value, dict):
        raise ArtifactError("it is no JSON object", file=address, remedy="save the data set again")
    return value
