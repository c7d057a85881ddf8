"""Files that often stand where a tokenizer was meant to be: a web page, a pointer of Git LFS, a compressed file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.errors import FormatError

if TYPE_CHECKING:
    from pathlib import Path

_PACKED = {
    b"\x1f\x8b": ("compressed by gzip", "unpack it first: gunzip FILE"),
    b"BZh": ("compressed by bzip2", "unpack it first: bunzip2 FILE"),
    b"\xfd7zXZ\0": ("compressed by xz", "unpack it first: unxz FILE"),
    b"\x28\xb5\x2f\xfd": ("compressed by zstd", "unpack it first: unzstd FILE"),
    b"PK\x03\x04": ("a zip archive", "unpack it first: unzip FILE"),
}
_POINTER = b"version https://git-lfs.github.com/spec/"
_PAGES = (b"<!doctype html", b"<html", b"<head", b"<?xml", b"<!--")
_TAR = slice(257, 262)


def check(path: Path, data: bytes) -> None:
    """Raises FormatError if a file is of one of these kinds, or empty: what it is, and how to get the tokenizer.

    Example:
        >>> from pathlib import Path
        >>> check(Path("tokenizer.json"), b"<!DOCTYPE html><title>Sign in</title>")
        Traceback (most recent call last):
            ...
        bytepair.errors.FormatError: the file is a web page (HTML), not a tokenizer (file tokenizer.json); ...
    """
    found = _kind(data)
    if found:
        raise FormatError(f"the file is {found[0]}, not a tokenizer", file=str(path), remedy=found[1])


def _kind(data: bytes) -> tuple[str, str] | None:
    if not data:
        return "empty", "fetch it again"
    if data.startswith(_POINTER):
        return "a pointer of Git LFS", "fetch what it points to: git lfs pull"
    for magic, kind in _PACKED.items():
        if data.startswith(magic):
            return kind
    if data[_TAR] == b"ustar":
        return "a tar archive", "unpack it first: tar -xf FILE"
    if data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")[:16].lower().startswith(_PAGES):
        return (
            "a web page (HTML)",
            "fetch the file itself: on a hub, its address has /resolve/ or /raw/ instead of /blob/",
        )
    return None
