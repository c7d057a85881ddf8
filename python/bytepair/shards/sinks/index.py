"""The ``index.json`` that some formats want for all shards of a folder: put together of a part that each shard has."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from bytepair import files
from bytepair.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

PART = ".index.json"


def to_bytes(index: dict[str, Any]) -> bytes:
    """An index as JSON, one way for one content."""
    return json.dumps(index, sort_keys=True).encode()


def write_indices(
    folder: Path, names: Sequence[str], merge: Callable[[list[tuple[Path, dict[str, Any]]]], dict[str, Any]]
) -> list[str]:
    """Writes ``index.json`` into each folder in which a shard has a part of one.

    Args:
        folder: Where all files are.
        names: Those files, relative to it.
        merge: Makes an index of parts, which are given with their paths, in the order of the shards.

    Returns:
        The files that were written, relative to the folder.

    Raises:
        ArtifactError: A part cannot be read, or an index cannot be written.
    """
    written = []
    for parent, parts in by_folder(names).items():
        index = merge([(folder / part, json.loads(files.read(folder / part))) for part in parts])
        files.write_all(folder / parent, {"index.json": to_bytes(index)})
        written.append(str(PurePosixPath(parent) / "index.json"))
    return written


def check_all_written(written: int, documents: int, package: str) -> None:
    """Raises ArtifactError if a package's own writer has not written as many documents as it was given."""
    if written != documents:
        raise ArtifactError(
            f"{package} wrote {written} of {documents} documents",
            remedy=f"use a version of {package} that bytepair is tested with, or another format",
        )


def by_folder(names: Sequence[str]) -> dict[str, list[str]]:
    """The parts of an index among some files, by their folders, in the order of their shards.

    Example:
        >>> by_folder(["val/0.index.json", "train/10.index.json", "train/9.index.json", "train/9.00000.mds"])
        {'val': ['val/0.index.json'], 'train': ['train/9.index.json', 'train/10.index.json']}
    """
    found: dict[str, list[str]] = {}
    # By length first, since numbers grow longer than the zeros before them.
    for name in sorted(names, key=lambda name: (len(name), name)):
        if name.endswith(PART):
            found.setdefault(str(PurePosixPath(name).parent), []).append(name)
    return found
