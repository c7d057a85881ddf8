"""Addresses, which are local paths or URLs -> binary streams, sizes, versions; local paths never go through fsspec."""

from __future__ import annotations

import glob
import io
import os
import re
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, NoReturn, cast
from urllib.parse import urlsplit

from bytepair.errors import ArtifactError, BytepairError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from typing_extensions import Buffer

REMOTE_BLOCK = 8 << 20  # requested at once, so that latency is small beside the transfer
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=://|::)")
# Keys of values that change with a file, the most reliable first.
_VERSIONS = (
    "ETag",
    "etag",
    "checksum",
    "md5Hash",
    "blob_id",
    "content_settings",
    "Content-MD5",
    "Digest",
    "version_id",
)
_TIMES = ("mtime", "LastModified", "last_modified", "Last-Modified", "updated", "modified", "created")


class FileState(NamedTuple):
    """The stored size of a file in bytes, and a value that changes when the file does (empty if none is known)."""

    size: int
    version: str


def is_url(name: str) -> bool:
    """Whether a name is a URL, such as ``s3://bucket/a.jsonl``, rather than a path.

    Example:
        >>> is_url("s3://bucket/*.parquet"), is_url("data/a.txt"), is_url("C:/a.txt")
        (True, False, False)
    """
    return _SCHEME.match(name) is not None


def name_of(address: str) -> PurePath:
    """The path in an address, with its file name last.

    Example:
        >>> name_of("https://example.org/a.jsonl.gz?download=true").name
        'a.jsonl.gz'
    """
    if not is_url(address):
        return PurePath(address)
    if address.startswith(("http://", "https://")):
        return PurePosixPath(urlsplit(address).path)
    return PurePosixPath(address)


def unreadable(path: str | os.PathLike[str], error: BaseException, *, byte: int | None = None) -> NoReturn:
    """Raise ArtifactError for an unreadable file."""
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    # For damaged files the libraries raise OSError too, but without a number.
    refused = isinstance(error, OSError) and error.errno is not None
    raise ArtifactError(
        f"cannot read the file: {reason.splitlines()[0]}",
        file=os.fspath(path),
        byte=byte,
        remedy="check the path and its permissions"
        if refused
        else "it is cut off or damaged, or its name says the wrong kind: make it again",
    ) from error


def unreachable(url: str, error: BaseException) -> NoReturn:
    """Raise ArtifactError for an unreadable URL."""
    if isinstance(error, BytepairError):
        raise error
    reason = (str(error) or type(error).__name__).splitlines()[0]
    raise ArtifactError(
        f"cannot read the URL: {type(error).__name__}: {reason}",
        file=url,
        remedy="check the URL, the network, and the rights that the package for it is given by its own settings",
    ) from error


def filesystem(url: str) -> tuple[Any, str]:
    """The file system of a URL, as fsspec has it, and the path there.

    Raises:
        ArtifactError: fsspec, or the package that it needs for the protocol, is not installed; or the
            protocol is unknown.
    """
    try:
        import fsspec
        from fsspec.registry import known_implementations, registry
    except ImportError as error:
        raise ArtifactError(
            "reading URLs needs the package fsspec", file=url, remedy="pip install 'fsspec>=2024.2'"
        ) from error
    protocols = [part.partition("://")[0] for part in url.split("::")]
    try:
        return cast("tuple[Any, str]", fsspec.core.url_to_fs(url))
    except ImportError as error:
        package = _package(protocols, known_implementations, error)
        raise ArtifactError(
            f"reading {protocols[-1]}:// URLs needs the package {package}", file=url, remedy=f"pip install {package}"
        ) from error
    except Exception as error:  # packages raise errors of many types
        if "://" in url and protocols[-1] not in {*known_implementations, *registry}:
            raise ArtifactError(
                f"no package for the protocol {url.partition(':')[0]!r} is known to fsspec",
                file=url,
                remedy="check the URL; local files are named by their paths alone",
            ) from error
        unreachable(url, error)


def _package(protocols: list[str], known: Mapping[str, Mapping[str, str]], error: ImportError) -> str:
    for protocol in protocols:
        package = known.get(protocol, {}).get("class", "").partition(".")[0]
        try:
            __import__(package or "fsspec")
        except ImportError:
            return package
    # A protocol of fsspec itself, which needs another package.
    cause = error.__cause__
    missing = getattr(cause, "name", None) or error.name
    return str(missing).partition(".")[0] if missing else str(error)


def state(address: str) -> FileState:
    """The size and the version of a file as they are now.

    The version is the time of the last change, in nanoseconds, of local files; for URLs it is from
    their package: an ETag or a checksum if there is one, else a time of change.

    Raises:
        ArtifactError: It is gone, or may not be read.
    """
    if not is_url(address):
        try:
            found = Path(address).stat()
        except OSError as error:
            unreadable(address, error)
        return FileState(found.st_size, str(found.st_mtime_ns))
    system, path = filesystem(address)
    try:
        system.invalidate_cache(path)
        return state_of(address, system.info(path))
    except Exception as error:  # packages raise errors of many types
        unreachable(address, error)


def state_of(url: str, info: Mapping[str, Any]) -> FileState:
    """The state of a file from the information of fsspec.

    Raises:
        ArtifactError: Its size is not known, so that a file that was cut off could not be recognized.
    """
    if info.get("size") is None:
        raise ArtifactError("the server does not report the file's size", file=url, remedy="copy it to a disk first")
    version = next((info[key] for key in (*_VERSIONS, *_TIMES) if info.get(key)), "")
    return FileState(int(info["size"]), version.isoformat() if hasattr(version, "isoformat") else str(version))


def exists(address: str) -> bool:
    """Whether there is a file of this address.

    Raises:
        ArtifactError: The server does not answer.
    """
    if not is_url(address):
        return Path(address).is_file()
    system, path = filesystem(address)
    try:
        return bool(system.isfile(path))
    except Exception as error:  # packages raise errors of many types
        unreachable(address, error)


def matches(url: str) -> list[tuple[str, FileState]]:
    """The files that a URL names, or that match the pattern in it: sorted, each with its size and version.

    In a chain of URLs, such as ``simplecache::s3://bucket/a.txt``, patterns match nothing.

    Raises:
        ArtifactError: The server does not answer.
    """
    system, path = filesystem(url)
    try:
        try:
            info = system.info(path)
        except FileNotFoundError as error:
            # The http package raises this also if there was no answer.
            if isinstance(error.__cause__, OSError) and not isinstance(error.__cause__, FileNotFoundError):
                raise error.__cause__ from None
            info = {}
        if info.get("type") == "file":
            return [(url, state_of(url, info))]
        # A pattern in a chain of URLs would match names without the chain.
        if info or "::" in url or not glob.has_magic(path):
            return []
        found = sorted(system.glob(path))
        infos = [(system.unstrip_protocol(name), system.info(name)) for name in found]
        return [(name, state_of(name, info)) for name, info in infos if info.get("type") == "file"]
    except Exception as error:  # packages raise errors of many types
        unreachable(url, error)


def open_raw(address: str) -> BinaryIO:
    """Open a file for random access: a server gets requests for no more than each read.

    Raises:
        OSError: A local file cannot be opened.
        ArtifactError: A URL cannot; so does each read of it that fails.
    """
    return cast("BinaryIO", _Remote(address)) if is_url(address) else Path(address).open("rb")


def open_stream(address: str) -> BinaryIO:
    """Open a file to read from front to back: a server gets requests of some megabytes.

    Raises:
        OSError, ArtifactError: See `open_raw`.
    """
    return io.BufferedReader(_Remote(address), REMOTE_BLOCK) if is_url(address) else Path(address).open("rb")


class _Remote(io.RawIOBase):
    """A file of fsspec that raises our errors, and requests only the bytes of each read."""

    def __init__(self, url: str) -> None:
        self._url = url
        system, path = filesystem(url)
        try:
            self._file = system.open(path, "rb", cache_type="none")
            if isinstance(self._file, io.BytesIO):
                # fsspec opens a file in memory once, with one position for all readers.
                self._file = io.BytesIO(self._file.getvalue())
            seekable = self._file.seekable()
            self._size = self._file.seek(0, io.SEEK_END) if seekable else 0
        except Exception as error:  # packages raise errors of many types
            unreachable(url, error)
        if not seekable:
            raise ArtifactError(
                "the server sends files whole, not in parts", file=url, remedy="copy it to a disk first"
            )
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(base + offset, 0)
        return self._position

    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer).cast("B")
        wanted = min(len(view), max(self._size - self._position, 0))
        try:
            self._file.seek(self._position)
            for done in self._filled(view[:wanted]):
                self._position += done
        except Exception as error:  # packages raise errors of many types
            unreachable(self._url, error)
        return wanted

    def _filled(self, view: memoryview) -> Iterator[int]:
        while view:
            data = self._file.read(len(view))
            if not data:
                raise EOFError(f"it ends at byte {self._position} of {self._size}")
            if len(data) > len(view):
                raise ValueError("the server sent more than was requested")
            view[: len(data)] = data
            view = view[len(data) :]
            yield len(data)

    def close(self) -> None:
        if not self.closed and hasattr(self, "_file"):
            self._file.close()
        super().close()
