"""JSON files that a run keeps: written whole, with the hash of what they say."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from bytepair import files
from bytepair.errors import IntegrityError

if TYPE_CHECKING:
    from pathlib import Path

_HASH = "sha256"
_TAIL = 128


def digest(value: dict[str, Any]) -> str:
    """The SHA-256 of a JSON object, however it is laid out."""
    return hashlib.sha256(_canonical(value)).hexdigest()


def write(path: Path, value: dict[str, Any], text: str | None = None) -> None:
    """Writes an object with its hash, whole or not at all.

    Args:
        path: The file; its folder is there.
        value: The object.
        text: The same object, laid out for people; None for one line.

    Raises:
        ArtifactError: It cannot be written.
    """
    text = text or json.dumps(value, ensure_ascii=False)
    sealed = f'{text.rstrip().removesuffix("}").rstrip()}, "{_HASH}": "{digest(value)}"}}\n'
    files.write_all(path.parent, {path.name: sealed.encode()})


def read(path: Path) -> dict[str, Any]:
    """The object that `write` wrote; errors as `read_with_digest`."""
    return read_with_digest(path)[0]


def read_with_digest(path: Path) -> tuple[dict[str, Any], str]:
    """The object that `write` wrote, and its digest, which has been found true.

    Raises:
        ArtifactError: It cannot be read.
        IntegrityError: It is not what was written.
    """
    data = files.read(path)
    try:
        value = json.loads(data)
        promised = value.pop(_HASH)
        whole = bool(promised == digest(value))
    except (ValueError, RecursionError, LookupError, AttributeError, TypeError):
        whole = False
    if not whole:
        raise IntegrityError(
            "the file is damaged: its content has changed", file=str(path), remedy="write into a new folder"
        )
    return value, promised


def tail(path: Path) -> bytes:
    """The end of a file, which has the hash and so changes when the object does; empty if there is no file.

    Raises:
        OSError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - _TAIL, 0))
            return file.read()
    except FileNotFoundError:
        return b""


def _canonical(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()
