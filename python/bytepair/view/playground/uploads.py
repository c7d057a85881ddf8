"""Uploaded files -> a tokenizer.

The files are stored briefly in a private temporary folder, since loading works by path, and read by a process of their
own with limits of time and memory. No file name leads out of the folder, and nothing in the files is run: a chat
template is not even read.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bytepair.errors import ArtifactError, BytepairError, FormatError
from bytepair.formats import tiktoken
from bytepair.view.playground import reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_FILES = 8

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

# A manifest names further files, which can be anywhere.
_REFUSED = {"manifest.json"}


class Upload(NamedTuple):
    """A file: its name, which for a single file is used in messages only, and its bytes."""

    name: str
    data: bytes


class SplitMissingError(FormatError):
    """A bare rank file came without a split pattern."""


def load(
    files: Sequence[Upload],
    *,
    split: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    limits: reading.Limits = reading.LIMITS,
) -> reading.Read:
    """Load a tokenizer from its files; several are those of one folder, such as vocab.json and merges.txt.

    Args:
        files: The files.
        split: The split pattern, for files that hold none.
        special_tokens: The special tokens, for files that hold none.
        limits: The limits of the process that reads the files.

    Raises:
        ReadingLimitError: Reading them takes more than the limits.
        SplitMissingError: The file has no split pattern, and none was chosen.
        BytepairError: The files are not a tokenizer, or a broken one; ``file`` is the name of the upload.
    """
    _check(files)
    with tempfile.TemporaryDirectory(prefix="bytepair-upload-") as name:
        folder = Path(name)
        # The name of a single file must not decide how it is loaded.
        names = ["upload"] if len(files) == 1 else [file.name for file in files]
        for place, file in zip(names, files, strict=True):
            (folder / place).write_bytes(file.data)
        path = folder / names[0] if len(files) == 1 else folder
        try:
            return reading.read(path, split, special_tokens or None, limits)
        except BytepairError as error:
            if isinstance(error, ArtifactError) and (missing := Path(str(error.file)).name) not in names:
                what = f"{files[0].name} needs {missing}"
                raise FormatError(what, remedy="choose both files together") from error
            error.file = _given(error.file, files, folder)
            if split is None and any(tiktoken.looks_like(file.data) for file in files):
                raise SplitMissingError(
                    "a rank file has no split pattern", file=error.file, remedy="choose the one that it was made with"
                ) from error
            error.what = error.what.replace(name, "the upload")
            raise


def _check(files: Sequence[Upload]) -> None:
    if not 1 <= len(files) <= MOST_FILES:
        raise FormatError(f"an upload has 1 to {MOST_FILES} files, not {len(files)}", remedy="choose fewer files")
    if len(files) == 1:
        return
    names = [file.name for file in files]
    for name in names:
        if not _NAME.fullmatch(name):
            raise FormatError(f"{name[:100]!r} is not the name of a tokenizer's file", remedy="omit or rename it")
        if name.lower() in _REFUSED:
            raise FormatError(f"{name} is not accepted: it refers to other files", file=name, remedy="omit it")
    if len({name.lower() for name in names}) < len(names):
        raise FormatError("two of the files have the same name", remedy="omit one")


def _given(place: object, files: Sequence[Upload], folder: Path) -> str:
    """The user's name for the file of an error."""
    if len(files) == 1:
        return files[0].name
    relative = Path(str(place))
    return relative.name if relative.parent == folder else ", ".join(file.name for file in files)
