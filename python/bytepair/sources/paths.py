"""Paths and globs -> files, each of a kind that its name tells."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple, TypeAlias

from bytepair import files
from bytepair.errors import SourceError

PathLike: TypeAlias = "str | os.PathLike[str]"

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_KINDS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".tar": "tar",
}
_REFUSED = {".7z", ".br", ".bz2", ".lz4", ".lzma", ".rar", ".xz", ".z", ".zip", ".zstd"}


class Kind(NamedTuple):
    """What a file holds (``text``, ``jsonl``, ``parquet``, ``arrow``, ``tar``), and how it is compressed, if it is."""

    content: str
    compression: str | None


def check_group(name: object, source: object, allowed: str) -> None:
    """Raises TypeError if a group of a source has no proper name, or is a mapping itself and not what is allowed."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"{name!r} is no name of a group: those are str, and not empty")
    if isinstance(source, Mapping):
        raise TypeError(f"the group {name!r} is a mapping; its source is {allowed}")


def is_paths(source: object) -> bool:
    """Whether a source is a path, or a list of nothing but paths."""
    return isinstance(source, (str, os.PathLike)) or (
        isinstance(source, (list, tuple)) and all(isinstance(item, (str, os.PathLike)) for item in source)
    )


def find(source: PathLike | Sequence[PathLike], *, texts: bool = True) -> list[Path]:
    """The files that paths and globs name: in their order, those of one glob sorted, each file once.

    Folders that a glob matches are left out.

    Args:
        source: A path or glob, or several.
        texts: Whether the caller takes texts as well, which are easily taken for paths.

    Raises:
        SourceError: A path or glob matches no file.
    """
    paths: dict[Path, None] = {}
    for item in [source] if isinstance(source, (str, os.PathLike)) else source:
        name = os.fspath(item)
        found = [name] if files.is_file(Path(name)) else sorted(glob.glob(name, recursive=True))  # noqa: PTH207 (Path.glob takes no absolute pattern)
        matched = [Path(path) for path in found if files.is_file(Path(path))]
        if len(matched) > 1:
            matched = _once(matched)
        if not matched:
            shown = name if len(name) <= 80 else f"{name[:77]}..."
            folder = [path for path in found if Path(path).is_dir()]
            inside = str(Path(folder[0], "**", f"*{_usual(Path(folder[0]))}")) if folder else ""
            raise SourceError(
                f"{shown!r} is a folder" if folder else f"no file matches {shown!r}",
                remedy=f"name the files in it, such as {inside!r}"
                if folder
                else "check the path" + ("; to train on the strings of a list, pass iter(texts)" if texts else ""),
                cli_remedy=None if folder else "check the path",
            )
        paths.update(dict.fromkeys(matched))
    return list(paths)


def _usual(folder: Path) -> str:
    """The ending of a file in the folder that can be read, for a pattern."""
    for _, _, names in os.walk(folder):
        for name in sorted(names):
            suffixes = PurePath(name).suffixes
            if any(suffix.lower() in _KINDS for suffix in suffixes):
                return "".join(suffixes[-2:] if suffixes[-1].lower() in COMPRESSIONS else suffixes[-1:])
    return ".txt"


def _once(found: list[Path]) -> list[Path]:
    """The same files in order; what links between folders give again is there once, by its shortest path."""
    folders = {path.parent for path in found}
    real = {folder: os.path.realpath(folder) for folder in folders}
    if len(set(real.values())) == len(folders):
        return found
    chosen: dict[tuple[str, str], Path] = {}
    for path in sorted(found, key=lambda path: len(path.parts)):
        chosen.setdefault((real[path.parent], path.name), path)
    kept = set(chosen.values())
    return [path for path in found if path in kept]


def kind(path: PurePath, *, archives: bool = False) -> Kind:
    """The kind of a file by the end of its name, in small or capital letters.

    Args:
        path: The file, or the path in its URL.
        archives: Whether tar files can be read by the one who asks.

    Raises:
        SourceError: It is of a kind, or compressed in a way, that is not supported.

    Example:
        >>> kind(Path("news.jsonl.zst"))
        Kind(content='jsonl', compression='zstd')
        >>> kind(Path("README"))
        Kind(content='text', compression=None)
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".tgz":
        suffixes[-1:] = [".tar", ".gz"]
    compression = COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    if compression:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    content = _KINDS.get(last, "text")
    refused = last in _REFUSED or (content == "tar" and not archives)
    if refused or (compression and content in ("parquet", "arrow")):
        ends = path.suffixes[-2:] if compression and path.suffix.lower() != ".tgz" else path.suffixes[-1:]
        raise SourceError(
            f"{''.join(ends)} files cannot be read",
            file=str(path),
            remedy="decompress it, or compress a text as .gz or .zst",
        )
    return Kind(content, compression)
