"""Locks on the folder of a run, where the file system has locks on files.

A lock goes with the process that has it, however that ends. Where there are none (some file systems of clusters, other
systems than POSIX), no process is kept out.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from bytepair.errors import ArtifactError

try:
    import fcntl
except ImportError:  # not every system has it
    fcntl = None  # type: ignore[assignment]  # looked for where it is used

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = ".lock"

_PATIENCE = 60.0
_PAUSE = 0.01


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Lock a folder, made if need be, for this process alone, which plans and has tasks done.

    Raises:
        ArtifactError: It cannot be written to, or another process has it.
    """
    place = folder / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        while True:
            handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
            if not _lock(handle, shared=False, patience=0):
                os.close(handle)
                raise ArtifactError(
                    "another run is at work in this folder",
                    file=str(folder),
                    remedy="wait for it, or choose another folder",
                )
            # Its owner may have removed it in between; then it keeps no process out.
            if _is_there(handle, place):
                break
            os.close(handle)
    except OSError as error:
        if isinstance(error, ArtifactError):
            raise
        raise ArtifactError(
            f"cannot write into the folder: {error.strerror}",
            file=str(folder),
            remedy="choose a folder that you may write to, with space left",
        ) from error
    try:
        yield
    finally:
        with suppress(OSError):
            place.unlink(missing_ok=True)
        os.close(handle)


@contextmanager
def committing(work: Path) -> Iterator[None]:
    """Hold the right to rename files, which many processes can hold at a time.

    Args:
        work: The folder of what is under way; it is there.

    Raises:
        OSError: The folder is gone.
    """
    with _locked(work, shared=True):
        yield


@contextmanager
def alone(work: Path) -> Iterator[None]:
    """Hold the same right alone, once all other holders are ready; return at once if the folder is not there.

    Raises:
        ArtifactError: They are not ready for a minute.
    """
    if not work.exists():
        yield
        return
    with _locked(work, shared=False):
        yield


@contextmanager
def _locked(work: Path, *, shared: bool) -> Iterator[None]:
    handle = os.open(work / NAME, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if not _lock(handle, shared=shared, patience=_PATIENCE):
            raise ArtifactError(
                "workers of an earlier run are still at work in this folder",
                file=str(work.parent),
                remedy="end them, or wait for them",
            )
        yield
    finally:
        os.close(handle)


def _lock(handle: int, *, shared: bool, patience: float) -> bool:
    if fcntl is None:
        return True
    until = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:  # noqa: PERF203 (it waits)
            if time.monotonic() >= until:
                return False
            time.sleep(_PAUSE)
        except OSError:
            # Some file systems of clusters have no locks.
            return True
        else:
            return True


def _is_there(handle: int, place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), place.stat())
    except OSError:
        return False
