"""Files, compressed or not, as bytes in order."""

from __future__ import annotations

import gzip
import os
import zlib
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from bytepair.errors import ArtifactError, SourceError
from bytepair.sources.opening import name_of, open_stream, state, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from typing_extensions import Self


def arrow(path: str | os.PathLike[str]) -> Any:
    """The package ``pyarrow``.

    Raises:
        SourceError: It is not installed.
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise SourceError(
            f"reading {name_of(os.fspath(path)).suffix} files needs the package pyarrow",
            file=os.fspath(path),
            remedy="pip install 'pyarrow>=18'",
        ) from error
    return pa


class ByteReader:
    """Reads a file, or what a URL names, from front to back, through ``gzip`` or ``zstd`` if it is compressed.

    Files of several gzip members or zstd frames are one text. zstd goes through ``pyarrow``: of the packages tried
    it alone refuses a file that was cut off within a frame (``zstandard`` reads up to the cut), and Python has
    ``compression.zstd`` only from 3.14 on. A file that was cut between two members or frames looks whole.

    Args:
        path: The file, or its URL.
        compression: ``gzip``, ``zstd`` or None.
        start: The byte to begin at, of a file that is not compressed.

    Raises:
        ArtifactError: The file cannot be opened. When reading: it is cut off or damaged; ``byte`` says near which byte
            of the file as it is on disk.
        SourceError: It is compressed with zstd, and ``pyarrow`` is not installed.
    """

    def __init__(self, path: str | os.PathLike[str], compression: str | None, start: int = 0) -> None:
        self._path = os.fspath(path)
        self._exit = ExitStack()
        self._file: Any
        try:
            self._raw = self._file = self._exit.enter_context(open_stream(self._path))
            self._raw.seek(start)
            if compression == "gzip":
                self._file = self._exit.enter_context(gzip.GzipFile(fileobj=self._raw, mode="rb"))
            elif compression == "zstd":
                self._file = self._exit.enter_context(arrow(path).CompressedInputStream(self._raw, "zstd"))
            # An empty file is never valid, but both libraries would read it as an empty text.
            if compression and state(self._path).size == 0:
                unreadable(path, EOFError(f"it is empty, which no {compression} file is"), byte=0)
        except OSError as error:
            self._exit.close()
            if isinstance(error, ArtifactError):
                raise
            unreadable(path, error)

    @property
    def position(self) -> int:
        """The bytes of the file on disk read so far."""
        return int(self._raw.tell())

    def read(self, size: int) -> bytes:
        """The next bytes of the text, at most `size`; none at its end.

        Raises:
            ArtifactError: See the class.
        """
        try:
            return bytes(self._file.read(size))
        except (OSError, EOFError, zlib.error) as error:
            if isinstance(error, ArtifactError):
                raise
            unreadable(self._path, error, byte=self.position)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._exit.close()


def blocks(path: str | os.PathLike[str], compression: str | None, size: int) -> Iterator[bytes]:
    """The text of a file in blocks of at most `size` bytes, cut anywhere.

    Raises:
        ArtifactError, SourceError: See `ByteReader`.
    """
    with ByteReader(path, compression) as reader:
        while data := reader.read(size):
            yield data
