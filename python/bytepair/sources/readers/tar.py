"""WebDataset archives of samples -> the text of each.

Consecutive members with the same key form a sample. The key is the path up to the first dot in its last part; the rest
of the name, in lower case, is the extension. Folders, links, and names without a key or an extension belong to no
sample. ``tarfile`` is not used, since it treats a damaged header or a truncated file as the end of the archive.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bytepair.errors import ArtifactError, EncodeError
from bytepair.sources.compressed import ByteReader
from bytepair.sources.documents import Documents, Fault
from bytepair.sources.flat_rows import FlatTexts
from bytepair.sources.opening import unreadable
from bytepair.sources.readers.common import block_bytes, too_long

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair.errors import BytepairError
    from bytepair.sources.inputs import Input
    from bytepair.sources.source import Reading

_BLOCK = 512
_NAMES = 1 << 20  # the most bytes of a long name or of extended headers
_FILES = (b"0", b"\0", b"7")
_NO_CONTENT = tuple(b"%d" % kind for kind in range(1, 7))  # links, devices, folders, pipes
_LONG_NAME, _LONG_LINK, _SPARSE = b"L", b"K", b"S"  # GNU
_EXTENDED, _EXTENDED_ALL = (b"x", b"X"), b"g"  # pax
_KEY = re.compile(r"((?:.*/)?[^./][^./]*)\.([^/]+)", re.DOTALL)

_HALF = re.compile("[\ud800-\udfff]")  # lone surrogates; pairs are one character by then


class _Member(NamedTuple):
    name: str
    size: int
    is_file: bool


def read(input: Input, reading: Reading, batch_bytes: int, errors: str) -> Iterator[Documents]:
    """The documents of an archive; see `readers.read`. Their positions are the numbers of their samples."""
    extension, _, field = ("txt" if reading.field is None else reading.field).partition(":")
    archive = _Archive(input, block_bytes(batch_bytes))
    batch = _Samples(archive, errors)
    key, number, found = None, -1, True
    with archive.reader:
        while (member := archive.next()) is not None:
            named = _KEY.fullmatch(member.name) if member.is_file else None
            if named is None:
                continue
            if named[1] != key:
                if not found:
                    batch.fault(number, _missing(extension, key, input.address, number))
                key, number, found = named[1], number + 1, False
            if named[2].lower() != extension.lower():
                continue
            if found:
                raise ArtifactError(
                    f"the sample {key!r} has two members .{extension}",
                    file=input.address,
                    row=number,
                    remedy="give each sample its own key",
                )
            found = True
            if reading.longest is not None and member.size > reading.longest:
                batch.fault(number, too_long(reading.longest, file=input.address, row=number))
            else:
                batch.add(number, named[1], archive.content(), field)
            if batch.size >= batch_bytes:
                yield batch.documents()
        if not found:
            batch.fault(number, _missing(extension, key, input.address, number))
        if batch.positions or batch.faults:
            yield batch.documents()


def _missing(extension: str, key: str | None, file: str, row: int) -> EncodeError:
    return EncodeError(
        f"the sample {key!r} has no member .{extension}",
        file=file,
        row=row,
        remedy='pass field="EXTENSION" with the extension of the texts',
        cli_remedy="--field EXTENSION names the extension of the texts",
    )


class _Samples:
    """Samples, collected until their texts fill a batch."""

    def __init__(self, archive: _Archive, errors: str) -> None:
        self._archive = archive
        self._errors = errors
        self._clear()

    def _clear(self) -> None:
        self.texts: list[bytes] = []
        self.keys: list[bytes] = []
        self.positions: list[int] = []
        self.faults: list[Fault] = []
        self.size = 0

    def add(self, number: int, key: str, data: bytes, field: str) -> None:
        text = data
        if field:
            try:
                value = json.loads(data.decode("utf-8-sig", self._errors))[field]
                if not isinstance(value, str):
                    raise TypeError(f"the field holds {type(value).__name__}, not a string")  # noqa: TRY301 (one way for all faults)
                text = (value if self._errors == "strict" else _HALF.sub("\N{REPLACEMENT CHARACTER}", value)).encode()
            except (ValueError, LookupError, TypeError, RecursionError) as error:
                reason = f"there is no field {field!r}" if isinstance(error, LookupError) else str(error)
                file = self._archive.input.address
                what = f"cannot read the field {field!r} of the JSON: {reason}"
                self.fault(number, EncodeError(f"the sample {key!r}: {what}", file=file, row=number), data)
                return
        self.texts.append(text)
        self.keys.append(key.encode("utf-8", "surrogateescape"))
        self.positions.append(number)
        self.size += len(text) + _BLOCK

    def fault(self, number: int, error: BytepairError, data: bytes | None = None) -> None:
        self.faults.append(Fault(number, error, data))
        self.size += _BLOCK

    def documents(self) -> Documents:
        positions = np.array(self.positions, np.int64)
        given = Documents(
            FlatTexts.of(self.texts),
            positions,
            FlatTexts.of(self.keys),
            tuple(self.faults),
            self._archive.reader.position,
        )
        self._clear()
        return given


class _Archive:
    """Reads an archive member by member; memory is bounded except for the content of a member."""

    def __init__(self, input: Input, block: int) -> None:
        self.input = input
        self.reader = ByteReader(input.address, input.compression)
        self._block = max(block, _BLOCK)
        self._at = 0  # in the decompressed archive
        self._left = self._padding = 0  # of the member: unread content, and the padding of its last block
        self._pax: dict[bytes, bytes] = {}

    def next(self) -> _Member | None:
        """The next member of any kind; None at the end of the archive."""
        self._pass(self._left + self._padding)
        long_name, records = b"", {}
        while True:
            block = self._read(_BLOCK)
            if not any(block):
                self._end()
                return None
            try:
                name, size, kind = _header(block)
            except ValueError as error:
                unreadable(self.input.address, error, byte=self._at - _BLOCK)
            if kind == _LONG_NAME:
                long_name = self._names(size).split(b"\0")[0]
            elif kind == _LONG_LINK:
                self._names(size)
            elif kind in _EXTENDED:
                records = self._records(self._names(size))
            elif kind == _EXTENDED_ALL:
                self._pax.update(self._records(self._names(size)))
            else:
                return self._member(long_name or name, size, kind, {**self._pax, **records})

    def _member(self, name: bytes, size: int, kind: bytes, records: dict[bytes, bytes]) -> _Member:
        if kind == _SPARSE or any(key.startswith(b"GNU.sparse.") for key in records):
            self._damaged("it has sparse files, which are not supported", remedy="make it again without --sparse")
        if b"size" in records:
            if not records[b"size"].isdigit():
                self._damaged("an extended header is damaged")
            size = int(records[b"size"])
        if kind in _NO_CONTENT:
            size = 0
        self._left, self._padding = size, -size % _BLOCK
        shown = records.get(b"path", name)
        # In old archives a folder is a file whose name ends in a slash.
        is_file = kind in _FILES and not shown.endswith(b"/")
        return _Member(shown.decode("utf-8", "surrogateescape"), size, is_file)

    def content(self) -> bytes:
        """The content of the member."""
        size, whole = self._left, self._left + self._padding
        self._left = self._padding = 0
        return self._read(whole)[:size]

    def _read(self, size: int) -> bytes:
        parts = []
        while size:
            # A wrong size takes no more memory than the file has bytes.
            data = self.reader.read(min(size, self._block))
            if not data:
                self._damaged("it is cut off")
            parts.append(data)
            size -= len(data)
            self._at += len(data)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _pass(self, size: int) -> None:
        while size:
            size -= len(self._read(min(size, self._block)))

    def _names(self, size: int) -> bytes:
        if size > _NAMES:
            self._damaged(f"a name of {size} bytes")
        data = self._read(size)
        self._pass(-size % _BLOCK)
        return data

    def _records(self, data: bytes) -> dict[bytes, bytes]:
        records = {}
        while data.rstrip(b"\0"):
            length, _, rest = data.partition(b" ")
            size = int(length) if length.isdigit() and len(length) < 9 else 0
            key, equals, value = rest[: max(size - len(length) - 1, 0)].partition(b"=")
            if not (equals and value.endswith(b"\n") and size <= len(data)):
                self._damaged("an extended header is damaged")
            records[key] = value[:-1]
            data = data[size:]
        return records

    def _end(self) -> None:
        """Reads the zeros after the end of the archive, which also checks compressed data."""
        while data := self.reader.read(self._block):
            if any(data):
                self._damaged("there is data after its end", remedy="join archives with tar --concatenate")
            self._at += len(data)

    def _damaged(self, what: str, remedy: str = "make the archive again") -> None:
        raise ArtifactError(f"cannot read the archive: {what}", file=self.input.address, byte=self._at, remedy=remedy)


def _header(block: bytes) -> tuple[bytes, int, bytes]:
    """The name, the size and the kind in a header.

    Raises:
        ValueError: It is not a valid header.
    """
    others = block[:148] + block[156:]
    unsigned = 256 + sum(others)
    found = _number(block[148:156])
    # Old programs added up signed bytes.
    if found != unsigned and found != unsigned - 256 * sum(byte > 127 for byte in others):
        raise ValueError("the checksum of a header is wrong")
    name = block[:100].partition(b"\0")[0]
    if block[257:263] == b"ustar\0" and block[345]:
        name = block[345:500].partition(b"\0")[0] + b"/" + name
    return name, _number(block[124:136]), block[156:157]


def _number(field: bytes) -> int:
    """An octal number, or the bytes of a larger one."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.partition(b"\0")[0].strip()
    if not digits:
        return 0
    if not digits.isdigit():
        raise ValueError("a number in a header is malformed")
    return int(digits, 8)
