"""Reading and writing files: whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from bytepair.errors import ArtifactError

try:
    import fcntl
except ImportError:  # not every system has it
    fcntl = None  # type: ignore[assignment]  # looked for where it is used

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from mmap import mmap

    from typing_extensions import Buffer

_PART = 1 << 20

TEMPORARY = ".bytepair-"
"""The prefix of files that are being written. Their writer has them locked: `sweep` removes those without one."""

MOST_BYTES = 1 << 29
"""The most bytes of a file that is read whole, unless a call allows more. Tokenizers have less than a tenth."""

_most_bytes: ContextVar[int] = ContextVar("most_bytes", default=MOST_BYTES)

_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}


@contextmanager
def at_most(size: int | None) -> Iterator[None]:
    """Within it, files of up to `size` bytes are read whole; None changes nothing."""
    token = None if size is None else _most_bytes.set(size)
    try:
        yield
    finally:
        if token is not None:
            _most_bytes.reset(token)


def sha256(data: Buffer) -> bytes:
    """The SHA-256 of bytes.

    Example:
        >>> sha256(b"low").hex()[:16]
        '6c1ff09db3a73dc4'
    """
    import hashlib  # noqa: PLC0415 (with OpenSSL: most loads need no hash)

    return hashlib.sha256(data).digest()


def read(path: Path) -> bytes:
    """The bytes of a regular file; anything else, such as a pipe or a device, could go on for ever.

    Raises:
        ArtifactError: It cannot be read, is no regular file, or is larger than `at_most` and `MOST_BYTES` allow.
    """
    most = _most_bytes.get()
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            parts = [file.read(min(size, most) + 1)]
            # A file can grow while it is read, and those of /proc state no size; one that ends within it is whole.
            is_whole = 0 < len(parts[0]) <= size
            while not is_whole and parts[-1] and (size := sum(map(len, parts))) <= most:
                parts.append(file.read(_PART))
    except ArtifactError:
        raise
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    check_size(path, size)
    return b"".join(parts)


def check_size(path: Path, size: int) -> None:
    """Raises ArtifactError if a file of so many bytes is larger than `at_most` and `MOST_BYTES` allow."""
    most = _most_bytes.get()
    if size > most:
        raise ArtifactError(
            f"the file is larger than {most:,} bytes",
            file=str(path),
            remedy="is it a tokenizer? If so, allow more: bp.load(path, max_bytes=...)",
            cli_remedy="is it a tokenizer? If so, allow more: --max-bytes N",
        )


def open_regular(path: Path, flags: int = os.O_RDONLY) -> BinaryIO:
    """Opens a regular file for reading, or with other flags, without waiting for anything.

    Raises:
        ArtifactError: It is no regular file.
        OSError: It cannot be opened.
    """
    # To open a pipe waits for its writer, and to open a device can do anything: the kind is known first. In between the
    # path can change.
    _check_regular(path, path.stat())
    handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        _check_regular(path, os.fstat(handle))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def _check_regular(path: Path, found: os.stat_result) -> None:
    if stat.S_ISREG(found.st_mode):
        return
    kind = _KINDS.get(stat.S_IFMT(found.st_mode), "no file")
    link = "a link to " if path.is_symlink() else ""
    raise ArtifactError(
        f"the path is {link}{kind}, not a regular file", file=str(path), remedy="name a regular file, or a folder"
    )


def read_parts(path: Path, size: int) -> Iterator[bytes]:
    """The bytes of a file, or of whatever else can be read, in parts of `size`.

    Raises:
        ArtifactError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            while part := file.read(size):
                yield part
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def mapped(path: Path, *magics: bytes) -> mmap | None:
    """A regular file of any size that begins with one of `magics`, mapped into memory; None if it begins otherwise.

    Raises:
        ArtifactError: It cannot be read, or is no regular file.
    """
    try:
        with open_regular(path) as file:
            if not file.read(max(map(len, magics))).startswith(magics):
                return None
            # Only mapped files need this import.
            import mmap  # noqa: PLC0415

            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except ArtifactError:
        raise
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> ArtifactError | MemoryError:
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return MemoryError(f"there is not enough memory to read the file {path}")
    return ArtifactError(
        f"cannot read the file: {_reason(error)}",
        file=str(path) if isinstance(error, OSError) else ascii(str(path)),
        remedy="check the path and its permissions",
    )


def is_file(path: Path) -> bool:
    """Whether the path is a file; False also for an impossible path."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Whether the path is a folder; False also for an impossible path."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def exists(path: Path) -> bool:
    """Whether the path exists; False also for an impossible path."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def check_writable(folder: Path, names: Iterable[str] = ()) -> None:
    """Raises, before there is anything to write, the errors of `write_all` that are certain.

    Raises:
        ArtifactError: The folder cannot be made or written into, or one of the files is a folder.
    """
    try:
        _look(folder, names)
    except (OSError, ValueError) as error:
        raise _unwritable(folder, error) from error


def _look(folder: Path, names: Iterable[str]) -> None:
    """Raises what writing the files would; OSError or ValueError."""
    if "\0" in str(folder):
        raise ValueError("embedded null byte")
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if not os.access(there, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    for name in names:
        if (folder / name).is_dir():
            raise IsADirectoryError(errno.EISDIR, f"{name}: {os.strerror(errno.EISDIR)}")


def _unwritable(folder: Path, error: Exception) -> ArtifactError:
    return ArtifactError(
        f"cannot write into the folder: {_reason(error)}",
        file=str(folder) if isinstance(error, OSError) else ascii(str(folder)),
        remedy="choose a folder that you may write to, with space left",
    )


def write_all(
    folder: Path,
    files: Mapping[str, bytes],
    *,
    retired: str | None = None,
    replaced: Collection[Path] = (),
    is_swept: bool = False,
) -> None:
    """Writes files into a folder, made where it is missing: each appears whole, in this order, or not at all.

    Each is written beside its place, flushed to disk and renamed; no rename happens before all are written. The file
    `retired` is removed before the renames, those that are `replaced` behind the first one, and with `is_swept` what
    killed writers left.

    Raises:
        ArtifactError: The folder or a file cannot be written. Nothing half-written is left behind.
    """
    written: list[tuple[_Begun, Path]] = []
    try:
        folders = {folder, *((folder / name).parent for name in files)}
        for each in folders:
            each.mkdir(parents=True, exist_ok=True)
            if is_swept:
                sweep(each)
        for name, data in files.items():
            # The target of a link is replaced, not the link.
            place = (folder / name).resolve()
            begun = _Begun(place.parent)
            written.append((begun, place))
            with os.fdopen(begun.handle, "wb", closefd=False) as file:
                file.write(data)
            os.fsync(begun.handle)
            begun.path.chmod(_mode(place))
        if retired is not None:
            (folder / retired).unlink(missing_ok=True)
        while written:
            begun, place = written[0]
            begun.replace(place)
            written.pop(0)
            for path in replaced:
                path.unlink(missing_ok=True)
        for each in folders:
            sync_folder(each)
    except (OSError, ValueError) as error:
        raise _unwritable(folder, error) from error
    finally:
        for begun, _ in written:
            begun.discard()


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file beside `path` to write to; without an error, it is flushed to disk and replaces `path`.

    Raises:
        ArtifactError: It cannot be written. Nothing half-written is left behind.
    """
    try:
        # The target of a link is replaced, not the link.
        place = path.resolve()
        sweep(place.parent)
        begun = _Begun(place.parent)
        try:
            yield begun.path
            os.fsync(begun.handle)
            begun.path.chmod(_mode(place))
            begun.replace(place)
        finally:
            begun.discard()
        sync_folder(place.parent)
    except (OSError, ValueError) as error:
        if isinstance(error, ArtifactError):
            raise
        raise ArtifactError(
            f"cannot write the file: {_reason(error)}",
            file=str(path) if isinstance(error, OSError) else ascii(str(path)),
            remedy="choose a place in a folder that you may write to, with space left",
        ) from error


class _Begun:
    """A new file of a folder that this process writes; it has the lock on it for as long as the handle is open."""

    def __init__(self, folder: Path) -> None:
        # Only writers need this import.
        import tempfile  # noqa: PLC0415

        while True:
            self.handle, name = tempfile.mkstemp(prefix=TEMPORARY, dir=folder)
            self.path = Path(name)
            # Before the file was locked, another process could sweep it away.
            if not _lock(self.handle, wait=True) or self._is_there():
                return
            os.close(self.handle)

    def _is_there(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self.handle), self.path.stat())
        except FileNotFoundError:
            return False

    def replace(self, place: Path) -> None:
        """Renames it to its place."""
        if fcntl is None:  # Elsewhere than on POSIX an open file cannot be renamed.
            self._close()
        self.path.replace(place)
        self._close()

    def discard(self) -> None:
        """Removes it, unless it was renamed; never fails."""
        self._close()
        with suppress(OSError):
            self.path.unlink()

    def _close(self) -> None:
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1


def sweep(folder: Path) -> None:
    """Removes what writers left in a folder that were killed: temporary files that no process has locked.

    Nothing is removed where there are no locks on files. Never fails.
    """
    with suppress(OSError):
        names = [entry.name for entry in os.scandir(folder) if entry.name.startswith(TEMPORARY)]
        for name in names:
            _remove_unlocked(folder / name)


def _remove_unlocked(path: Path) -> None:
    with suppress(OSError), open_regular(path, os.O_RDWR) as file:
        if _lock(file.fileno(), wait=False):
            path.unlink()


def _lock(handle: int, *, wait: bool) -> bool:
    """Locks a file until its handle is closed, or its process ends in whatever way; False where that cannot be."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _mode(place: Path) -> int:
    """The permissions of a file, or those of a new one."""
    return place.stat().st_mode & 0o7777 if place.exists() else 0o666 & ~_umask()


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def sync_folder(folder: Path) -> None:
    """Flushes the names of a folder's files to disk; raises OSError."""
    # The rename itself is safe only once the folder is on disk; Windows has no such call.
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
