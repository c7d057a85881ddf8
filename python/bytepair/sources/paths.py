"""Paths and globs -> files, and the kind of each by its name."""

from __future__ import annotations

import glob
import os
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

from bytepair import files
from bytepair.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Sequence

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

_LONGEST_PATH = 4096
"""The most characters of a path or pattern: as many bytes as Linux takes."""

_DEEPEST_PATH = 256
"""The most folders in one: glob calls itself for each."""


class Kind(NamedTuple):
    """The content of a file (``text``, ``jsonl``, ``parquet``, ``arrow``, ``tar``), and its compression or None."""

    content: str
    compression: str | None


def find(names: Sequence[str], *, texts: bool = True) -> list[Path]:
    """The files that paths and globs name: in their order, those of one glob sorted, each file once.

    Folders that a glob matches are left out.

    Args:
        names: Paths and globs.
        texts: Whether the call also takes texts, which are easily passed as paths by mistake.

    Raises:
        SourceError: A path or glob matches no file.
    """
    paths: dict[Path, None] = {}
    for name in names:
        found = [name] if files.is_file(Path(name)) else _globbed(name)
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
                else "check the path" + ("; for the strings of a list themselves, pass iter(texts)" if texts else ""),
                cli_remedy=None if folder else "check the path",
            )
        paths.update(dict.fromkeys(matched))
    return list(paths)


def _globbed(pattern: str) -> list[str]:
    """The paths that match, sorted; none for a text passed as a path, which glob would take apart for a long time."""
    if len(pattern) > _LONGEST_PATH or pattern.count("/") > _DEEPEST_PATH:
        return []
    return sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 (Path.glob takes no absolute pattern)


def _usual(folder: Path) -> str:
    """The ending of a file in the folder that can be read, for a pattern."""
    for _, _, names in os.walk(folder):
        for name in sorted(names):
            suffixes = PurePath(name).suffixes
            if any(suffix.lower() in _KINDS for suffix in suffixes):
                return "".join(suffixes[-2:] if suffixes[-1].lower() in COMPRESSIONS else suffixes[-1:])
    return ".txt"


def _once(found: list[Path]) -> list[Path]:
    """The same files in order; a file that links between folders repeat is kept once, by its shortest path."""
    folders = {path.parent for path in found}
    real = {folder: os.path.realpath(folder) for folder in folders}
    if len(set(real.values())) == len(folders):
        return found
    chosen: dict[tuple[str, str], Path] = {}
    for path in sorted(found, key=lambda path: len(path.parts)):
        chosen.setdefault((real[path.parent], path.name), path)
    kept = set(chosen.values())
    return [path for path in found if path in kept]


def kind(path: PurePath) -> Kind:
    """The kind of a file by the end of its name, in small or capital letters.

    Args:
        path: The file, or the path in its URL.

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
    refused = last in _REFUSED
    if refused or (compression and content in ("parquet", "arrow")):
        ends = path.suffixes[-2:] if compression else path.suffixes[-1:]
        raise SourceError(
            f"{''.join(ends)} files cannot be read",
            file=str(path),
            remedy="decompress it, or compress a text as .gz or .zst",
        )
    return Kind(content, compression)
