"""A shard under way: what every format of shards does, and what it is given."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair.errors import ArtifactError, FormatError
from bytepair.sources.flat_rows import FlatTexts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Some documents as ids.

    Attributes:
        ids: The ids of all of them, flat, as they are to be written: each document with its frame.
        offsets: One more than there are documents, from 0, never falling: document i is ``ids[offsets[i]:offsets[i +
            1]]``.
        inputs: The number of each one's input in the plan.
        positions: Where in its input each one is.
        names: Their own ids as UTF-8; an empty one is none. None if no document has one.

    Example:
        >>> import numpy as np
        >>> ids, offsets = np.array([5, 6, 7], np.uint32), np.array([0, 2, 3])
        >>> documents = Encoded(ids, offsets, inputs=np.zeros(2, np.int32), positions=np.array([0, 9]))
        >>> len(documents), documents.lengths.tolist()
        (2, [2, 1])
    """

    ids: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    inputs: NDArray[np.int32]
    positions: NDArray[np.int64]
    names: FlatTexts | None = None

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The tokens of each document."""
        return np.diff(self.offsets)


class Shard(ABC):
    """One shard under way, for one thread: files whose names begin with a stem, in a folder that is the caller's.

    Documents come in order, in batches by `write`, or one that is too long to be held in parts: `begin`, then
    `extend` for each part, then `end`, or `drop` if it cannot be used after all. The bytes of the files depend on the
    documents alone, not on the batches in which they came. Files are whole after `close`. A write error of the disk
    raises OSError from any of these; then the caller calls `abort` and removes the folder.

    Args:
        folder: Where the files go. It is there; folders that a stem names are made.
        stem: The prefix of the files' names, such as ``train-00017``, or ``train/00017`` for files in a folder.
        dtype: The dtype of ids: `Format.dtype` of the largest id.
        inputs: The names of the plan's inputs, by number.

    Attributes:
        tokens: How many have been written, each whole document counted when it has ended.
        documents: How many have been written.
    """

    def __init__(self, folder: Path, stem: str, dtype: np.dtype[Any], inputs: Sequence[str]) -> None:
        self.folder = folder
        self.stem = stem
        self.dtype = dtype
        self.inputs = inputs
        self.tokens = 0
        self.documents = 0
        self.path("").parent.mkdir(parents=True, exist_ok=True)

    def path(self, suffix: str) -> Path:
        """The file of this shard that ends in `suffix`."""
        return self.folder / (self.stem + suffix)

    @abstractmethod
    def write(self, documents: Encoded) -> None:
        """Writes whole documents.

        Raises:
            FormatError: An id, a document or a name does not fit the format.
            OSError: The disk is full or fails.
        """

    @abstractmethod
    def begin(self) -> None:
        """Begins one long document."""

    @abstractmethod
    def extend(self, ids: NDArray[np.uint32]) -> None:
        """Adds ids to the long document; errors as `write`."""

    @abstractmethod
    def end(self, input: int, position: int, name: bytes) -> None:
        """Ends the long document: it is one like the others now; errors as `write`.

        Args:
            input: The number of its input.
            position: Where it is there.
            name: Its own id as UTF-8; empty if it has none.
        """

    @abstractmethod
    def drop(self) -> None:
        """Takes the long document back, as if it had never begun."""

    @abstractmethod
    def close(self) -> None:
        """Completes the files: headers, footers, indices; errors as `write`."""

    @abstractmethod
    def abort(self) -> None:
        """Closes what is open, in whatever state; the files are of no use then. Nothing is raised."""


class GatheringShard(Shard):
    """A shard whose format needs documents whole: ids of a long one are gathered, 4 bytes a token, until it ends."""

    _parts: list[NDArray[np.uint32]] | None = None

    def begin(self) -> None:
        """Begins one long document."""
        self._parts = []

    def extend(self, ids: NDArray[np.uint32]) -> None:
        """Keeps ids of the long document."""
        assert self._parts is not None
        self._parts.append(ids)

    def end(self, input: int, position: int, name: bytes) -> None:
        """Writes the long document; see `Shard.end`."""
        assert self._parts is not None
        ids = np.concatenate([np.empty(0, np.uint32), *self._parts])
        self._parts = None
        self.write(one(ids, input, position, name))

    def drop(self) -> None:
        """Forgets the long document."""
        self._parts = None


def one(ids: NDArray[np.uint32], input: int, position: int, name: bytes) -> Encoded:
    """One document as `Encoded`; see `Shard.end`."""
    names = FlatTexts(np.frombuffer(name, np.uint8), np.array([0, len(name)], np.int64)) if name else None
    offsets = np.array([0, len(ids)], np.int64)
    return Encoded(ids, offsets, np.array([input], np.int32), np.array([position], np.int64), names)


def narrowed(ids: NDArray[np.uint32], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Ids as `dtype`, looked at once; the same array where nothing changes.

    Raises:
        FormatError: One is too large.

    Example:
        >>> narrowed(np.array([1, 65535], np.uint32), np.dtype("<u2")).tolist()
        [1, 65535]
        >>> narrowed(np.array([1, 65536], np.uint32), np.dtype("<u2"))
        Traceback (most recent call last):
            ...
        bytepair.errors.FormatError: id 65536 does not fit uint16; the shard was opened for smaller ids: ...
    """
    most = np.iinfo(dtype).max
    if most < np.iinfo(ids.dtype).max and ids.size and (largest := int(ids.max())) > most:
        raise FormatError(
            f"id {largest} does not fit {dtype.name}",
            remedy="the shard was opened for smaller ids: choose its dtype from the largest id of the tokenizer",
        )
    return ids.astype(dtype, copy=False)


def check_lengths(documents: Encoded, most: int, holder: str, *, least: int = 0) -> None:
    """Raises FormatError if a document is longer than `check_length` lets it be, or shorter than `least`."""
    if not len(documents):
        return
    check_length(int(documents.lengths.max()), most, holder)
    if int(documents.lengths.min()) < least:
        raise FormatError(
            f"a document has no tokens, and {holder} cannot hold that", remedy="leave it out, or frame it by bos or eos"
        )


def check_length(tokens: int, most: int, holder: str) -> None:
    """Raises FormatError for a document of more than `most` tokens, as being more than `holder` can hold.

    Example:
        >>> check_length(9, 8, "a list")
        Traceback (most recent call last):
            ...
        bytepair.errors.FormatError: a document has 9 tokens, and a list holds at most 8; cut ...
    """
    if tokens > most:
        raise FormatError(
            f"a document has {tokens} tokens, and {holder} holds at most {most}",
            remedy="cut documents by a delimiter, or choose the format bin or npy",
        )


def smallest_unsigned(largest: int) -> np.dtype[Any]:
    """The dtype of ids up to `largest`: little-endian uint16, or uint32.

    Example:
        >>> smallest_unsigned(50_256).name, smallest_unsigned(65_536).name
        ('uint16', 'uint32')
    """
    return np.dtype("<u2" if largest <= 0xFFFF else "<u4")


def needed(module: str, format: str, install: str) -> Any:
    """A module of a package that not everybody has.

    Args:
        module: Its dotted name.
        format: The format that needs it.
        install: The pip requirement.

    Raises:
        ArtifactError: The package is not installed, or cannot be imported.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ArtifactError(
            f"writing {format} needs the package {package}: {error}", remedy=f"pip install {install!r}"
        ) from error
