"""The digest of a corpus: a sum over its parts."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from bytepair.sources.compressed import blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_MODULUS = 1 << 256
_BLOCK = 1 << 20


class SourceDigest:
    """The sum, modulo 2^256, of the SHA-256 of each part of a source.

    The order of the parts does not matter, and the digests of two sources add up to that of both together. A part is a
    file as it is on disk, compressed or not, or an iterable: its texts, each after its length in bytes (eight bytes,
    the lowest first). Names and groups do not count. Sums of hashes find accidents; two
    corpora with one digest can be made on purpose.

    Example:
        >>> one, other, both = SourceDigest(), SourceDigest(), SourceDigest()
        >>> one.add_texts(["low"])
        >>> other.add_texts(["lower"])
        >>> both.add_texts(["lower"])
        >>> both.add_texts(["low"])
        >>> (one + other).hex() == both.hex()
        True
    """

    def __init__(self, value: int = 0) -> None:
        self._value = value % _MODULUS

    def add(self, sha256: bytes) -> None:
        """Adds a part by its SHA-256, 32 bytes."""
        if len(sha256) != 32:
            raise ValueError(f"a SHA-256 has 32 bytes, not {len(sha256)}")
        self._value = (self._value + int.from_bytes(sha256, "big")) % _MODULUS

    def add_file(self, address: str | Path) -> None:
        """Adds a file, local or behind a URL, as it is stored; it is read once from front to back.

        Raises:
            ArtifactError: It cannot be read.
        """
        self.add(FileHash(address).digest())

    def add_texts(self, texts: Iterable[str | bytes]) -> None:
        """Adds an iterable of texts, one part."""
        whole = TextsHash()
        whole.update(texts)
        self.add(whole.digest())

    def hex(self) -> str:
        """The digest as 64 digits."""
        return f"{self._value:064x}"

    @classmethod
    def from_hex(cls, digits: str) -> SourceDigest:
        """The digest from the digits of `hex`.

        Raises:
            ValueError: It is not 64 hexadecimal digits.
        """
        value = bytes.fromhex(digits)
        if len(value) != 32 or len(digits) != 64:
            raise ValueError(f"{digits[:80]!r} is not a digest of 64 hexadecimal digits")
        return cls(int.from_bytes(value, "big"))

    def __add__(self, other: SourceDigest) -> SourceDigest:
        return SourceDigest(self._value + other._value)

    def __eq__(self, other: object) -> bool:
        return self._value == other._value if isinstance(other, SourceDigest) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return f"SourceDigest({self.hex()})"


class FileHash:
    """The SHA-256 of a file as it is stored, local or behind a URL, for whoever reads it anyway."""

    def __init__(self, address: str | Path) -> None:
        self._address = address
        self._whole: bytes | None = None

    def blocks(self) -> Iterator[bytes]:
        """The bytes of the file, which are hashed on the way.

        Raises:
            ArtifactError: It cannot be read.
        """
        whole = hashlib.sha256()
        for data in blocks(self._address, None, _BLOCK):
            whole.update(data)
            yield data
        self._whole = whole.digest()

    def digest(self) -> bytes:
        """The hash, for which the file is read if its blocks were not."""
        if self._whole is None:
            for _ in self.blocks():
                pass
        assert self._whole is not None
        return self._whole


class TextsHash:
    """The SHA-256 of an iterable of texts, batch after batch; `SourceDigest.add` takes its `digest`."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def update(self, texts: Iterable[str | bytes]) -> None:
        """Goes on with these texts. Lone surrogates count as the three bytes that UTF-8 would give them."""
        for text in texts:
            data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
            self._hash.update(len(data).to_bytes(8, "little"))
            self._hash.update(data)

    def digest(self) -> bytes:
        """The hash of all of them."""
        return self._hash.digest()
