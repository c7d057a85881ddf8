"""Disks that are full or fail: a typed error, a ledger as it was, and the same bytes once they work again."""

from __future__ import annotations

import ctypes
import errno
import io
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import MethodType
from typing import Any

import pytest

import bytepair as bp
from bytepair.shards import ledger, plans
from bytepair.shards.engines.local import Local
from bytepair.sources.compressed import ByteReader
from tests.shards.corpora import Corpus, corpus, digests

OPTIONS: dict[str, Any] = {
    "eos": "<|end|>",
    "bad": "quarantine",
    "shuffle": True,
    "validation": "0.2",
    "join": True,
    "task_size": 6000,
    "engine": Local(1),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return corpus(tmp_path_factory.mktemp("disks"), Random(9), 60)


@pytest.fixture(scope="module")
def clean(files: Corpus, tok: bp.Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("clean") / "out"
    bp.shard(files.source, tok, folder, **OPTIONS, **files.reading())
    return digests(folder)


def check_ledger(folder: Path) -> None:
    """Each entry describes existing files, and nothing is left of failed tasks."""
    assert not list(folder.glob("work/temporary/*"))
    if (folder / plans.NAME).exists():
        plan = plans.read(folder)
        for entry in ledger.entries(folder, plan):
            for row in entry["files"]:
                path = folder / row["name"]
                assert not path.exists() or ledger.hash_of(path) == row["sha256"]


def _error(call: Callable[[], object]) -> bp.ArtifactError | None:
    try:
        call()
    except bp.ArtifactError as error:
        return error
    return None


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB."""
    place = tmp_path / "small"
    place.mkdir()
    if sys.platform != "linux":
        pytest.skip("a small file system is mounted on Linux alone")
    # By the C library: a machine need not have the program `mount`.
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"tmpfs", os.fsencode(place), b"tmpfs", ctypes.c_ulong(0), b"size=2m"):
        pytest.skip(f"no file system can be mounted here: {os.strerror(ctypes.get_errno())}")
    try:
        yield place
    finally:
        assert libc.umount(os.fsencode(place)) == 0, os.strerror(ctypes.get_errno())


def test_a_disk_that_is_full(small: Path, files: Corpus, tok: bp.Tokenizer, clean: dict[str, str]) -> None:
    output, ballast = small / "out", small / "ballast"
    random = Random(10)
    most = os.statvfs(small).f_bavail * os.statvfs(small).f_frsize
    failed = 0
    # The disk is full from the start, in the plan, in the middle of stages, and at last has room.
    for room in (0, 1 << 13, 1 << 16, *sorted(random.randrange(1 << 16, 1 << 20) for _ in range(12)), most):
        ballast.unlink(missing_ok=True)
        used = most - os.statvfs(small).f_bavail * os.statvfs(small).f_frsize
        ballast.write_bytes(bytes(max(most - used - room, 0)))
        error = _error(lambda: bp.shard(files.source, tok, output, resume=True, **OPTIONS, **files.reading()))
        if error is None:
            break
        failed += 1
        assert "No space left" in str(error)
        assert str(small) in str(error.file)
        check_ledger(output)
    assert failed > 3
    assert digests(output) == clean


class Failing:
    """Makes one call of a system function fail: the one after `after` others."""

    def __init__(self, real: Any, wanted: Any, after: int) -> None:
        self.real, self.wanted, self.after, self.has_failed = real, wanted, after, False

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        if self.wanted(*arguments):
            self.after -= 1
            if self.after == 0:
                self.has_failed = True
                raise OSError(errno.EIO, os.strerror(errno.EIO), str(arguments[0]))
        return self.real(*arguments, **options)


class FailingMethod(Failing):
    """The same for a method."""

    def __get__(self, owner: Any, kind: Any) -> Any:
        return MethodType(self, owner)


class FailingFile(io.FileIO):
    """A file on such a disk."""

    failing: Failing

    def write(self, data: Any) -> int:
        self.failing(self.name)
        return super().write(data)


@pytest.mark.parametrize("what", ["fsync", "rename", "entry", "open", "write", "mkdir", "finish"])
def test_a_disk_that_fails(what: str, files: Corpus, tok: bp.Tokenizer, clean: dict[str, str], tmp_path: Path) -> None:
    output = tmp_path / "out"
    run = {**OPTIONS, **files.reading()}
    for after in (1, 2, 7, 30):
        with pytest.MonkeyPatch.context() as patch:
            failing = _failing(what, after, output, patch)
            error = _error(lambda: bp.shard(files.source, tok, output, resume=True, **run))
            # A folder that is there already need not be made.
            assert (error is not None) == failing.has_failed or what == "mkdir"
            assert error is None or "Input/output error" in str(error)
        check_ledger(output)
        bp.shard(files.source, tok, output, resume=True, **run)
        assert digests(output) == clean
        if after == 1:
            bp.verify_shards(output)
        for path in sorted(output.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()


def _failing(what: str, after: int, output: Path, patch: pytest.MonkeyPatch) -> Failing:
    def inside(path: Any, *_: Any) -> bool:
        return isinstance(path, (str, Path)) and str(path).startswith(str(output))

    if what == "fsync":
        failing = Failing(os.fsync, lambda *_: True, after)
        patch.setattr(os, "fsync", failing)
    elif what in {"rename", "entry", "finish"}:
        named = {"rename": "", "entry": "/ledger/", "finish": "/summary."}[what]
        real: Any = Path.replace
        failing = FailingMethod(
            real, lambda path, place: inside(path) and named in str(place), after if named == "" else 1
        )
        patch.setattr(Path, "replace", failing)
    elif what == "mkdir":
        # Other folders may exist already when they are made, and such failures are ignored.
        failing = Failing(os.mkdir, lambda path, *_: inside(path) and Path(path).parent.name == "temporary", after)
        patch.setattr(os, "mkdir", failing)
    else:
        real_open: Any = Path.open
        opened = FailingMethod(real_open, lambda path, mode="r", *_: inside(path) and "w" in mode, after)
        if what == "open":
            patch.setattr(Path, "open", opened)
            return opened
        failing = Failing(lambda *_: None, lambda *_: True, after)
        patch.setattr(FailingFile, "failing", failing, raising=False)

        def open_failing(path: Path, mode: str = "r", *rest: Any, **options: Any) -> Any:
            if not inside(path) or mode != "wb":
                return real_open(path, mode, *rest, **options)
            return io.BufferedWriter(FailingFile(path, mode))

        patch.setattr(Path, "open", open_failing)
    return failing


def test_an_input_that_fails(
    files: Corpus, tok: bp.Tokenizer, clean: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Any = ByteReader.read
    failing = FailingMethod(real, lambda *_: True, 5)
    with monkeypatch.context() as patch:
        patch.setattr(ByteReader, "read", failing)
        with pytest.raises(bp.ArtifactError, match="Input/output error"):
            bp.shard(files.source, tok, tmp_path / "out", **OPTIONS, **files.reading())
    check_ledger(tmp_path / "out")
    bp.shard(files.source, tok, tmp_path / "out", resume=True, **OPTIONS, **files.reading())
    assert digests(tmp_path / "out") == clean
