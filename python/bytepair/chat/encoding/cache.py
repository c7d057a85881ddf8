"""A cache of encodings, in memory and in a folder.

The key of an encoding is a hash of all that decides it, so that nothing in the cache is ever wrong, only unused. In a
folder each encoding is an ``.npz`` file of its own, which numpy can read: written whole or not at all, and read without
pickle. A file that is damaged counts as one that is not there, and is written anew; `EncodingCache.damaged` counts
these.
"""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bytepair import files
from bytepair._core import __version__
from bytepair.chat.encoding.canonical import digest
from bytepair.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

Arrays: TypeAlias = "Mapping[str, NDArray[Any]]"
"""The arrays of an encoding by name."""

_LAYOUT = 1
"""Raised when canonical bytes or files change."""

# Its functions have no types.
_FORMAT: Any = np.lib.format

_SEAL = "-sha256"
"""The member of a file that holds the hash of its key and arrays; no name of an array can be this."""


class EncodingCache:
    """Encodings that were made before, by the hash of what they were made of.

    It can be used by several threads, and a folder by several processes. Its memory is bounded, its folder is not.
    Pickled, it takes its folder along and leaves its memory behind.

    Args:
        folder: Where encodings are kept as files; None for in memory alone.
        examples: How many are kept in memory; those used longest ago go first.

    Attributes:
        hits: How often `get` found something.
        misses: How often it did not.
        damaged: How many of the misses were files that could not be used.

    Example:
        >>> import numpy as np
        >>> cache = EncodingCache()
        >>> key = cache.key(
        ...     tokenizer="2f06", template="91ab", policy="reject", add_special_tokens=False, training="assistant",
        ...     truncation=("right", 4096), text="Hello", spans=(),
        ... )
        >>> encoding = cache.get_or_make(key, lambda: {"input_ids": np.array([7, 8])})
        >>> cache.get(key)["input_ids"].tolist(), cache.hits, cache.misses
        ([7, 8], 1, 1)
    """

    def __init__(self, folder: str | Path | None = None, *, examples: int = 10_000) -> None:
        _check_count(examples)
        self.folder = None if folder is None else Path(folder)
        self.examples = examples
        self.hits = self.misses = self.damaged = 0
        self._kept: OrderedDict[str, Arrays] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """How many encodings are in memory."""
        return len(self._kept)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(EncodingCache, examples=self.examples), (self.folder,)

    @staticmethod
    def key(
        *,
        tokenizer: object,
        template: object,
        policy: object,
        add_special_tokens: object,
        training: object,
        truncation: object,
        text: object,
        spans: object,
    ) -> str:
        """The SHA-256 of all that decides an encoding, as 64 hexadecimal digits.

        Parts are None, bool, int, float, str, bytes, arrays, dataclasses, and lists, tuples and mappings of these.
        Two parts give one hash only if they are equal and of one type: ``1``, ``True``, ``1.0`` and ``"1"`` are four.
        The version of bytepair is a part as well.

        Args:
            tokenizer: ``tok.fingerprint``.
            template: The template's hash.
            policy: What becomes of reserved literals in content.
            add_special_tokens: Whether the post-processor adds its tokens.
            training: What is trained: roles, ends of turns, or intervals of the text.
            truncation: The side and the length, or None.
            text: The rendered text.
            spans: Its spans.

        Raises:
            TypeError: A part is missing, unknown, or of a type that has no canonical bytes.
        """
        parts = {
            "tokenizer": tokenizer,
            "template": template,
            "policy": policy,
            "add_special_tokens": add_special_tokens,
            "training": training,
            "truncation": truncation,
            "text": text,
            "spans": spans,
        }
        hashes = [_hash(name, part) for name, part in parts.items()]
        return digest((_LAYOUT, __version__, hashes)).hex()

    def get(self, key: str) -> Arrays | None:
        """The arrays of a key, which cannot be written to; None if there are none.

        Args:
            key: What `key` gave.

        Raises:
            ArtifactError: The file of the key is there and cannot be read.
        """
        _check_key(key)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                self.hits += 1
                return found
        found, is_damaged = self._read(key)
        with self._lock:
            self.damaged += is_damaged
            if found is None:
                self.misses += 1
                return None
            self.hits += 1
            return self._keep(key, found)

    def put(self, key: str, arrays: Arrays) -> Arrays:
        """Keeps copies of arrays under a key, in place of what was there.

        Args:
            key: What `key` gave.
            arrays: Arrays of numbers by name; names are identifiers.

        Returns:
            The copies, which cannot be written to.

        Raises:
            TypeError: An array is not of numbers, or a name is no identifier.
            ArtifactError: The file cannot be written.
        """
        _check_key(key)
        copies = MappingProxyType({name: _copy(name, array) for name, array in arrays.items()})
        if self.folder is not None:
            place = self._place(key)
            files.write_all(place.parent, {place.name: _write(key, copies)})
        with self._lock:
            self._kept.pop(key, None)
            return self._keep(key, copies)

    def get_or_make(self, key: str, make: Callable[[], Arrays]) -> Arrays:
        """The arrays of a key, made if there are none.

        Threads that ask for one key at the same time may each make them: they are the same.

        Args:
            key: What `key` gave.
            make: Makes the arrays.

        Raises:
            ArtifactError: The file cannot be read or written. What `make` raises is raised, and nothing is kept.
        """
        found = self.get(key)
        return self.put(key, make()) if found is None else found

    def _keep(self, key: str, arrays: Arrays) -> Arrays:
        """Remembers arrays, and hands out those that another thread has put there meanwhile."""
        arrays = self._kept.setdefault(key, arrays)
        self._kept.move_to_end(key)
        while len(self._kept) > self.examples:
            self._kept.popitem(last=False)
        return arrays

    def _place(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / key[:2] / f"{key}.npz"

    def _read(self, key: str) -> tuple[Arrays | None, bool]:
        """The arrays of a file, and whether there is one that cannot be used."""
        if self.folder is None:
            return None, False
        place = self._place(key)
        try:
            data = files.read(place)
        except ArtifactError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return None, False
            raise
        arrays = _parse(key, data)
        return arrays, arrays is None


def _hash(name: str, part: object) -> bytes:
    try:
        return digest(part)
    except TypeError as error:
        raise TypeError(f"{name} cannot be a part of a key: {error}") from None


def _check_count(examples: object) -> None:
    if not isinstance(examples, int) or isinstance(examples, bool) or examples < 0:
        raise ValueError(f"examples={examples!r} is not a number of examples; use a whole number from 0")


def _check_key(key: object) -> None:
    if not isinstance(key, str) or len(key) != 64 or not set(key) <= set("0123456789abcdef"):
        raise ValueError(f"{key!r:.80} is not a key; EncodingCache.key(...) makes one")


def _copy(name: object, array: object) -> NDArray[Any]:
    # Only C order has one spelling as bytes.
    copy = np.array(array, order="C")
    if not isinstance(name, str) or not name.isidentifier():
        raise TypeError(f"an array is named {name!r}; names are identifiers, such as input_ids")
    if copy.dtype.kind not in "biuf":
        raise TypeError(f"{name} is of type {copy.dtype}; arrays of numbers are kept")
    copy.flags.writeable = False
    return copy


def _seal(key: str, arrays: Arrays) -> NDArray[np.uint8]:
    return np.frombuffer(digest((key, arrays)), np.uint8)


def _write(key: str, arrays: Arrays) -> bytes:
    import zipfile  # noqa: PLC0415 (only a cache in a folder waits for it)

    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        for name, array in {**arrays, _SEAL: _seal(key, arrays)}.items():
            member = io.BytesIO()
            _FORMAT.write_array(member, array, allow_pickle=False)
            # A ZipInfo of its own has no time in it: the same arrays are the same bytes.
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue())
    return data.getvalue()


def _parse(key: str, data: bytes) -> Arrays | None:
    """The arrays of a file; None if it is not what was written for this key."""
    import zipfile  # noqa: PLC0415 (as above)

    arrays = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                # Nothing was compressed, so that no file takes more memory than it is long.
                if member.compress_type != zipfile.ZIP_STORED or member.file_size > len(data):
                    return None
                arrays[member.filename.removesuffix(".npy")] = _parse_array(archive.read(member))
    # A damaged zip file can raise whatever its parts raise.
    except Exception:
        return None
    seal = arrays.pop(_SEAL, None)
    if seal is None or not np.array_equal(seal, _seal(key, arrays)):
        return None
    return MappingProxyType(arrays)


def _parse_array(data: bytes) -> NDArray[Any]:
    stream = io.BytesIO(data)
    version = _FORMAT.read_magic(stream)
    if version != (1, 0):
        raise ValueError("a version of the format that is not written here")
    shape, is_fortran, dtype = _FORMAT.read_array_header_1_0(stream)
    if is_fortran or dtype.kind not in "biuf":
        raise ValueError("an array of a kind that is not written here")
    # An array over bytes cannot be written to.
    return np.frombuffer(data, dtype, offset=stream.tell()).reshape(shape)
