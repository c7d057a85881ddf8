"""Reading and writing files: whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bytepair.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Mapping


def read(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        ArtifactError: It cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise ArtifactError(
            f"cannot read the file: {error.strerror}", file=str(path), remedy="check the path and its permissions"
        ) from error


def write_all(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes files into a folder, made if need be: each one appears whole, in the order given, or not at all.

    Each is written beside its place, flushed to disk and renamed; no rename happens before all are written.

    Raises:
        ArtifactError: The folder or a file cannot be written. Nothing half-written is left behind.
    """
    written: list[tuple[str, Path]] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
            written.append((temporary, folder / name))
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o666 & ~_umask())
        while written:
            temporary, place = written[0]
            Path(temporary).replace(place)
            written.pop(0)
        _sync(folder)
    except OSError as error:
        raise ArtifactError(
            f"cannot write into the folder: {error.strerror}",
            file=str(folder),
            remedy="choose a folder that you may write to, with space left",
        ) from error
    finally:
        for temporary, _ in written:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _sync(folder: Path) -> None:
    # The rename itself is safe only once the folder is on disk; Windows has no such call.
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
