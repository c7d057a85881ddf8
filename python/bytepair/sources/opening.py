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

REMOTE_BLOCK = 8 << 20  # asked for at once, so that what an answer takes to begin is small beside the rest of it
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=://|::)")
# What the packages call that which changes with a file, the surest first.
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


class State(NamedTuple):
    """The size of a file in bytes, as it is stored, and what changes when the file does (empty if nothing is known)."""

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
    """The path in an address, which ends as its name does.

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
    """Raises what a file that cannot be read is: an `ArtifactError` that names it."""
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    # What the libraries say of damaged files is an OSError too, but without a number.
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
    """Raises what a URL that gives nothing is: an `ArtifactError` that names it."""
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
        ArtifactError: fsspec, or the package that it needs for the protocol, is not installed; or nobody knows the
            protocol.
    """
    try:
        import fsspec
        from fsspec.registry import known_implementations, registry
    except ImportError as error:
        raise ArtifactError(
            "reading URLs needs the package fsspec", file=url, remedy="pip install 'bytepair[shard]'"
        ) from error
    protocols = [part.partition("://")[0] for part in url.split("::")]
    try:
        return cast("tuple[Any, str]", fsspec.core.url_to_fs(url))
    except ImportError as error:
        package = _package(protocols, known_implementations, error)
        raise ArtifactError(
            f"reading {protocols[-1]}:// URLs needs the package {package}", file=url, remedy=f"pip install {package}"
        ) from error
    except Exception as error:  # what the packages raise is of many kinds
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
    # One that fsspec has itself, and that stands on another package.
    cause = error.__cause__
    missing = getattr(cause, "name", None) or error.name
    return str(missing).partition(".")[0] if missing else str(error)


def state(address: str) -> State:
    """The size and the version of a file as they are now.

    The version is the time of the last change, in nanoseconds, of local files; for URLs what their package says, first
    of all an ETag or a checksum, else a time of change.

    Raises:
        ArtifactError: It is gone, or may not be read.
    """
    if not is_url(address):
        try:
            found = Path(address).stat()
        except OSError as error:
            unreadable(address, error)
        return State(found.st_size, str(found.st_mtime_ns))
    system, path = filesystem(address)
    try:
        system.invalidate_cache(path)
        return state_of(address, system.info(path))
    except Exception as error:  # what the packages raise is of many kinds
        unreachable(address, error)


def state_of(url: str, info: Mapping[str, Any]) -> State:
    """What the information of fsspec says of a file.

    Raises:
        ArtifactError: Its size is not known, so that nobody could see that it was cut off.
    """
    if info.get("size") is None:
        raise ArtifactError("the server does not tell the file's size", file=url, remedy="copy it to a disk first")
    version = next((info[key] for key in (*_VERSIONS, *_TIMES) if info.get(key)), "")
    return State(int(info["size"]), version.isoformat() if hasattr(version, "isoformat") else str(version))


def exists(address: str) -> bool:
    """Whether there is a file of this address.

    Raises:
        ArtifactError: There is no asking.
    """
    if not is_url(address):
        return Path(address).is_file()
    system, path = filesystem(address)
    try:
        return bool(system.isfile(path))
    except Exception as error:  # what the packages raise is of many kinds
        unreachable(address, error)


def matches(url: str) -> list[tuple[str, State]]:
    """The files that a URL names, or that match the pattern in it: sorted, each with its size and version.

    In a chain of URLs, such as ``simplecache::s3://bucket/a.txt``, patterns match nothing.

    Raises:
        ArtifactError: The server cannot be asked.
    """
    system, path = filesystem(url)
    try:
        try:
            info = system.info(path)
        except FileNotFoundError as error:
            # So says the one for http also if there was no answer.
            if isinstance(error.__cause__, OSError) and not isinstance(error.__cause__, FileNotFoundError):
                raise error.__cause__ from None
            info = {}
        if info.get("type") == "file":
            return [(url, state_of(url, info))]
        # A pattern in a chain of URLs would give names without the chain.
        if info or "::" in url or not glob.has_magic(path):
            return []
        found = sorted(system.glob(path))
        infos = [(system.unstrip_protocol(name), system.info(name)) for name in found]
        return [(name, state_of(name, info)) for name, info in infos if info.get("type") == "file"]
    except Exception as error:  # what the packages raise is of many kinds
        unreachable(url, error)


def open_raw(address: str) -> BinaryIO:
    """A file for those who say what they read: nothing more is asked of a server.

    Raises:
        OSError: A local file cannot be opened.
        ArtifactError: A URL cannot; so does each read of it that fails.
    """
    return cast("BinaryIO", _Remote(address)) if is_url(address) else Path(address).open("rb")


def open_stream(address: str) -> BinaryIO:
    """A file for those who read it from front to back: a server is asked for some megabytes at a time.

    Raises:
        OSError, ArtifactError: See `open_raw`.
    """
    return io.BufferedReader(_Remote(address), REMOTE_BLOCK) if is_url(address) else Path(address).open("rb")


class _Remote(io.RawIOBase):
    """A file of fsspec, whose errors are ours, and which reads what it is asked for and no more."""

    def __init__(self, url: str) -> None:
        self._url = url
        system, path = filesystem(url)
        try:
            self._file = system.open(path, "rb", cache_type="none")
            if isinstance(self._file, io.BytesIO):
                # All who open a file in memory share one, with one place for reading.
                self._file = io.BytesIO(self._file.getvalue())
            seekable = self._file.seekable()
            self._size = self._file.seek(0, io.SEEK_END) if seekable else 0
        except Exception as error:  # what the packages raise is of many kinds
            unreachable(url, error)
        if not seekable:
            raise ArtifactError(
                "the server gives files whole, not in parts", file=url, remedy="copy it to a disk first"
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
        except Exception as error:  # what the packages raise is of many kinds
            unreachable(self._url, error)
        return wanted

    def _filled(self, view: memoryview) -> Iterator[int]:
        while view:
            data = self._file.read(len(view))
            if not data:
                raise EOFError(f"it ends at byte {self._position} of {self._size}")
            if len(data) > len(view):
                raise ValueError("the server gave more than it was asked for")
            view[: len(data)] = data
            view = view[len(data) :]
            yield len(data)

    def close(self) -> None:
        if not self.closed and hasattr(self, "_file"):
            self._file.close()
        super().close()
