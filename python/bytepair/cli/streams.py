"""Reading files and stdin, and writing files and stdout."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from bytepair import files
from bytepair.errors import BytepairError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# Bytes of a file that are read at once.
_PART = 1 << 20


def read(name: str) -> bytes:
    """The bytes of a file or a pipe; ``-`` is stdin."""
    return _binary(sys.stdin).read() if name == "-" else b"".join(parts(name))


def parts(name: str) -> Iterator[bytes]:
    """The same, in parts as they come."""
    if name == "-":
        stream = _binary(sys.stdin)
        while part := stream.read(_PART):
            yield part
    else:
        yield from files.read_parts(Path(name), _PART)


def _binary(stream: TextIO | None) -> BinaryIO:
    if stream is None:  # The shell has closed it (`<&-`, `>&-`).
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return stream.buffer


def separated(data: bytes, delimiter: bytes) -> list[bytes]:
    """The parts between delimiters, of which a last one need not follow."""
    found = data.split(delimiter)
    return found if found[-1] else found[:-1]


def stdin_texts(delimiter: str | None) -> list[bytes]:
    """The texts of stdin: one, or those between delimiters."""
    data = read("-")
    return [data] if delimiter is None else separated(data, delimiter.encode())


def write(chunks: Iterable[bytes], output: str = "-") -> None:
    """Writes to stdout as the chunks come, or a file whole or not at all."""
    if output == "-":
        stdout = _binary(sys.stdout)
        for chunk in chunks:
            left = memoryview(chunk)
            while left:  # Without a buffer (python -u), one write need not take everything.
                left = left[stdout.write(left) :]
    else:
        place = Path(output)
        if place.exists() and not place.is_file():  # A device or a pipe takes what comes; a folder is an error.
            with place.open("wb") as stream:
                stream.writelines(chunks)
            return
        files.write_all(place.parent, {place.name: b"".join(chunks)})


def npy(array: Any) -> bytes:
    """An array as the bytes of a .npy file."""
    import numpy as np  # noqa: PLC0415 (slow to import)

    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def write_line(line: str = "") -> None:
    """Writes a line to stdout, in UTF-8 whatever the locale; names of files come out as the bytes that they are."""
    write([line.encode("utf-8", "surrogateescape") + b"\n"])


def write_table(rows: Mapping[str, str]) -> None:
    """Writes names and values in two columns."""
    width = max(map(len, rows))
    for name, value in rows.items():
        write_line(f"{name:<{width}}  {value}")


@contextmanager
def blame(name: str, *, line: int | None = None, rows_are_lines: bool = False) -> Iterator[None]:
    """Names the file, and the place in it, in errors."""
    try:
        yield
    except BytepairError as error:
        if rows_are_lines and error.row is not None:
            line, error.row = error.row + 1, None
        error.file = error.file or name
        error.line = error.line or line
        raise
