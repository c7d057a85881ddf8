"""A source -> its inputs: files, files behind URLs, and texts in memory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from bytepair import files
from bytepair.errors import ArtifactError, BytepairError, SourceError
from bytepair.sources import opening, paths
from bytepair.sources.source import Source, Text, Ungrouped, groups, holds_counts, is_data_set, is_paths

_DATA_SET, _DATA_SETS = "state.json", "dataset_dict.json"


@dataclass(frozen=True, slots=True)
class Input:
    """A file of documents, local or behind a URL.

    Attributes:
        name: The path as the caller's path or glob spells it; the same on every machine.
        address: Its path, or its URL.
        content: ``text``, ``jsonl``, ``parquet``, ``arrow`` or ``tar``.
        compression: ``gzip``, ``zstd`` or None.
        size: Its bytes as they are stored.
        version: A value that changes when the file does (`opening.state`); empty if none is known.
        group: The name of the source's group that it belongs to; empty if there are no groups.
    """

    name: str
    address: str
    content: str
    compression: str | None
    size: int
    version: str
    group: str = ""

    @property
    def is_local(self) -> bool:
        """Whether it is a local file rather than one behind a URL."""
        return not opening.is_url(self.address)


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """Texts that the caller holds, which may be read only once: an iterable, or a data set of ``datasets``.

    Attributes:
        texts: The iterable or data set.
        content: ``texts`` or ``dataset``.
        group: As in `Input`.
    """

    texts: Iterable[Text]
    content: str
    group: str = ""
    name: ClassVar[None] = None
    size: ClassVar[None] = None


AnyInput: TypeAlias = "Input | Given"


def find(source: Source, call: str = "this call") -> tuple[AnyInput, ...]:
    """The inputs of a source, in its order; those of one glob are sorted. Only names and sizes of files are read.

    Args:
        source: See `bytepair.sources.source`.
        call: The name of the call, for messages.

    Returns:
        The inputs. Those of one group are together.

    Raises:
        SourceError: A path or pattern matches no file, is a folder, or a file is of a kind that cannot be read; or the
            source is a mapping of pieces to counts.
        TypeError: It is no source.
        ArtifactError: A server does not answer, its protocol needs a package that is not installed, or a data set is
            damaged.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     _ = Path(folder, "a.jsonl.gz").write_bytes(b"...")
        ...     (found,) = find({"web": f"{folder}/*.gz"})
        >>> found.content, found.compression, found.size, found.group
        ('jsonl', 'gzip', 3, 'web')
        >>> [one.content for one in find({"own": iter(["low", "lower"])})]
        ['texts']
    """
    _check_texts(source, call)
    return tuple(found for group, one in groups(source) for found in _inputs(one, group))


def find_files(source: Source, call: str) -> tuple[Input, ...]:
    """The inputs of a source that every worker of a run can read, and read again: files, by their absolute addresses.

    Args:
        source: See `bytepair.sources.source`.
        call: The name of the call, for messages.

    Raises:
        SourceError: As `find`; or the source holds an iterable or a data set in memory, or a name that is not UTF-8.
        TypeError, ArtifactError: As `find`.
    """
    _check_texts(source, call)
    named = groups(source)
    for group, one in named:
        if not is_paths(one):
            where = f" (group {group!r})" if group else ""
            data_set = is_data_set(one)
            raise SourceError(
                f"{call} takes no {'data set in memory' if data_set else 'iterable of texts'}{where}: a run that was "
                "killed reads its source again when it is resumed, and so does each worker",
                remedy="save it with save_to_disk(folder), and pass the folder"
                if data_set
                else 'write the texts to a file, such as one {"text": ...} on a line of a .jsonl, and pass its path',
            )
    return tuple(_portable(found) for group, one in named for found in _files(one, group, texts=False))


def check(input: Input) -> None:  # the word for it
    """Check that a file has not changed since it was found.

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


def total_size(found: Sequence[AnyInput]) -> int | None:
    """The bytes of all inputs as they are stored; None if one is no file."""
    sizes = [input.size for input in found]
    return None if None in sizes else sum(size or 0 for size in sizes)


def blame(error: BytepairError, input: AnyInput, position: int) -> None:
    """Adds to the error of a document the name of its input and where it is there.

    Args:
        error: Its places, if it has any, are those within the document.
        input: The input.
        position: The position of the document, as readers say.
    """
    error.file = input.name
    if input.content == "text":
        error.row = None
        if position:
            # The characters before the document have not been counted.
            error.byte, error.character = position + (error.byte or 0), None
    elif input.content == "jsonl":
        # The text of a line has other bytes than the line.
        within = "" if error.byte is None else f", at byte {error.byte} of the text"
        error.what = f"{error.what}{within}, in the line that starts at byte {position}"
        error.row = error.byte = error.character = None
    else:
        error.row = position


def _check_texts(source: object, call: str) -> None:
    if isinstance(source, Mapping) and source and holds_counts(source):
        raise SourceError(
            f"{call} reads texts, and the source is a mapping of pieces to counts", remedy="name the texts themselves"
        )


def _inputs(source: Ungrouped, group: str) -> Iterator[AnyInput]:
    if is_paths(source):
        yield from _files(source, group)
    else:
        yield Given(source, "dataset" if is_data_set(source) else "texts", group)  # type: ignore[arg-type]  # no paths


def _files(source: Ungrouped, group: str, *, texts: bool = True) -> Iterator[Input]:
    items: Any = [source] if isinstance(source, (str, os.PathLike)) else source
    seen: set[str] = set()
    for item in items:
        name = os.fspath(item)
        if not isinstance(name, str):
            raise TypeError(f"{name!r} is a path in bytes; name it as str")
        for found in _remote(name, group) if opening.is_url(name) else _local(name, group, texts):
            place = found.address if opening.is_url(name) else os.path.abspath(found.address)  # noqa: PTH100  # links stay
            if place not in seen:
                seen.add(place)
                yield found


def _local(name: str, group: str, texts: bool) -> Iterator[Input]:  # as `_files` has it
    # A data set's own files; else whatever matches.
    inside = _data_files(name) if files.is_folder(Path(name)) else None
    for path in paths.find([name] if inside is None else inside, texts=texts):
        yield _input(str(path), str(path), opening.state(str(path)), group)


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


def _input(name: str, address: str, state: opening.FileState, group: str) -> Input:
    content, compression = paths.kind(opening.name_of(address))
    return Input(name, address, content, compression, state.size, state.version, group)


def _portable(input: Input) -> Input:
    """The same input, by an address that holds in every folder."""
    try:
        input.address.encode()
    except UnicodeEncodeError as error:
        shown = input.address.encode("utf-8", "backslashreplace").decode()
        raise SourceError(
            "the name of the file is not UTF-8, as those of plans and tables are", file=shown, remedy="rename it"
        ) from error
    if not input.is_local:
        return input
    return replace(input, address=os.path.abspath(input.address))  # noqa: PTH100  # links stay as the caller has them


def _data_files(folder: str) -> list[str] | None:
    """The files of a data set of ``datasets``, in its order; None if the folder holds none."""
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
