"""A cache of encoded examples, in memory and in a folder.

The key of an example is a hash of everything that determines it, so an entry can become unused but never wrong. In a
folder each example is an ``.npz`` file that numpy can read; it is written atomically and read without pickle. A damaged
file counts as missing and is written again; `EncodingCache.damaged` counts such files.
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
"""The version of the layout: increase it when canonical bytes or files change."""

# numpy.lib.format has no type hints.
_FORMAT: Any = np.lib.format

_SEAL = "-sha256"
"""The member of a file with the hash of its key and arrays; it is not a valid name of an array."""


class EncodingCache:
    """A cache of encoded examples, keyed by a hash of their inputs.

    Threads can share a cache, and processes can share a folder. The memory is bounded; the folder is not. A pickled
    cache keeps its folder and drops its memory.

    Args:
        folder: The folder for the files; None to cache in memory only.
        examples: The maximum number of examples in memory; the least recently used are evicted first.

    Attributes:
        hits: The number of calls of `get` that found an entry.
        misses: The number of calls that did not.
        damaged: The number of misses caused by an unusable file.

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
        """The number of examples in memory."""
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
        """Return the SHA-256 of everything that determines an encoding, as 64 hexadecimal digits.

        Arguments are None, bool, int, float, str, bytes, arrays, dataclasses, and lists, tuples and mappings of these.
        Equal values of different types have different hashes: ``1``, ``True``, ``1.0`` and ``"1"`` are four values.
        The version of bytepair is hashed as well.

        Args:
            tokenizer: ``tok.fingerprint``.
            template: The template's hash.
            policy: The policy for reserved literals in content.
            add_special_tokens: Whether the post-processor adds its tokens.
            training: The selection of labels: roles, ends of turns, or spans of the text.
            truncation: The side and the length, or None.
            text: The rendered text.
            spans: Its spans.

        Raises:
            TypeError: An argument is missing, unknown, or has no canonical bytes.
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
        """Look up the read-only arrays of a key; None if there is no entry.

        Args:
            key: A key from `EncodingCache.key`.

        Raises:
            ArtifactError: The file of the key exists and cannot be read.
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
        """Store copies of arrays under a key, replacing any entry.

        Args:
            key: A key from `EncodingCache.key`.
            arrays: Numeric arrays by name; names are identifiers.

        Returns:
            The copies, which are read-only.

        Raises:
            TypeError: An array is not numeric, or a name is not an identifier.
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
        """Look up the arrays of a key, or make and store them.

        Threads that request one key at the same time may each make the arrays; the results are equal.

        Args:
            key: A key from `EncodingCache.key`.
            make: A function that makes the arrays. Its errors are raised, and nothing is stored.

        Raises:
            ArtifactError: The file cannot be read or written.
        """
        found = self.get(key)
        return self.put(key, make()) if found is None else found

    def _keep(self, key: str, arrays: Arrays) -> Arrays:
        """Store arrays in memory; if another thread has stored them first, return its arrays."""
        arrays = self._kept.setdefault(key, arrays)
        self._kept.move_to_end(key)
        while len(self._kept) > self.examples:
            self._kept.popitem(last=False)
        return arrays

    def _place(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / key[:2] / f"{key}.npz"

    def _read(self, key: str) -> tuple[Arrays | None, bool]:
        """The arrays of a file, and whether the file is damaged."""
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
        raise TypeError(f"{name} cannot be hashed for a key: {error}") from None


def _check_count(examples: object) -> None:
    if not isinstance(examples, int) or isinstance(examples, bool) or examples < 0:
        raise ValueError(f"examples={examples!r} is not a number of examples; use an int of at least 0")


def _check_key(key: object) -> None:
    if not isinstance(key, str) or len(key) != 64 or not set(key) <= set("0123456789abcdef"):
        raise ValueError(f"{key!r:.80} is not a key; use EncodingCache.key(...)")


def _copy(name: object, array: object) -> NDArray[Any]:
    # C order, so that equal arrays have equal bytes.
    copy = np.array(array, order="C")
    if not isinstance(name, str) or not name.isidentifier():
        raise TypeError(f"{name!r} is not a name for an array; use an identifier, such as input_ids")
    if copy.dtype.kind not in "biuf":
        raise TypeError(f"{name} has the type {copy.dtype}; only numeric arrays are cached")
    copy.flags.writeable = False
    return copy


def _seal(key: str, arrays: Arrays) -> NDArray[np.uint8]:
    return np.frombuffer(digest((key, arrays)), np.uint8)


def _write(key: str, arrays: Arrays) -> bytes:
    import zipfile  # noqa: PLC0415 (only a cache in a folder needs it)

    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        for name, array in {**arrays, _SEAL: _seal(key, arrays)}.items():
            member = io.BytesIO()
            _FORMAT.write_array(member, array, allow_pickle=False)
            # An explicit ZipInfo has a fixed time, so that equal arrays have equal bytes.
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue())
    return data.getvalue()


def _parse(key: str, data: bytes) -> Arrays | None:
    """The arrays of a file; None if the file was not written for this key."""
    import zipfile  # noqa: PLC0415 (as above)

    arrays = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                # Files are not compressed, so the arrays never take more memory than the file.
                if member.compress_type != zipfile.ZIP_STORED or member.file_size > len(data):
                    return None
                arrays[member.filename.removesuffix(".npy")] = _parse_array(archive.read(member))
    # zipfile and numpy raise many kinds of errors for a damaged file.
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
        raise ValueError("this version of the format is never written")
    shape, is_fortran, dtype = _FORMAT.read_array_header_1_0(stream)
    if is_fortran or dtype.kind not in "biuf":
        raise ValueError("this kind of array is never written")
    # frombuffer over bytes makes a read-only array.
    return np.frombuffer(data, dtype, offset=stream.tell()).reshape(shape)
