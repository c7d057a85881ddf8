"""A canonical encoding of values as bytes, for the keys of a cache."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


def digest(part: object) -> bytes:
    """Return the SHA-256 of a value's canonical bytes.

    Example:
        >>> digest(["a", "b"]) == digest(["ab"]), digest(1) == digest("1"), digest({1: 2, 3: 4}) == digest({3: 4, 1: 2})
        (False, False, True)
    """
    hashed = hashlib.sha256()
    for data in canonical(part):
        hashed.update(data)
    return hashed.digest()


def canonical(part: object) -> Iterator[bytes]:
    """Yield the bytes of a value: its type, its size and its content, so that different values have different bytes.

    Values are those of `EncodingCache.key`; TypeError for any other.
    """
    if part is None or isinstance(part, bool):
        yield {None: b"N", True: b"T", False: b"F"}[part]
    elif isinstance(part, (int, float)):
        # Hexadecimal floats are exact and keep the sign of zero.
        spelled = float.hex(part) if isinstance(part, float) else f"{int(part):x}"
        yield from _sized(b"f" if isinstance(part, float) else b"i", spelled.encode())
    elif isinstance(part, str):
        yield from _sized(b"s", str.encode(part, "utf-8", "surrogatepass"))
    elif isinstance(part, bytes):
        yield from _sized(b"b", part)
    elif isinstance(part, np.ndarray):
        yield from _array(part)
    elif isinstance(part, Mapping):
        yield from _mapping(part)
    elif isinstance(part, (list, tuple)):
        yield (b"t" if isinstance(part, tuple) else b"l") + struct.pack("<Q", len(part))
        for value in part:
            yield from canonical(value)
    elif is_dataclass(part) and not isinstance(part, type):
        yield from _sized(b"d", type(part).__name__.encode())
        yield from _mapping({field.name: getattr(part, field.name) for field in fields(part)})
    else:
        raise TypeError(f"a {type(part).__name__} has no canonical bytes; use numbers, text, or lists of these")


def _mapping(mapping: Mapping[Any, object]) -> Iterator[bytes]:
    yield b"m" + struct.pack("<Q", len(mapping))
    # The order of insertion does not count.
    for pair in sorted(b"".join((*canonical(key), *canonical(value))) for key, value in mapping.items()):
        yield from _sized(b"p", pair)


def _array(array: NDArray[Any]) -> Iterator[bytes]:
    if array.dtype.kind not in "biuf":
        raise TypeError(f"an array of {array.dtype} has no canonical bytes; use one of numbers")
    yield from _sized(b"a", array.dtype.str.encode())
    yield from canonical(array.shape)
    yield from _sized(b"v", np.ascontiguousarray(array).tobytes())


def _sized(kind: bytes, data: bytes) -> Iterator[bytes]:
    yield kind + struct.pack("<Q", len(data))
    yield data
