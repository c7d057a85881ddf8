"""The wire format of Protocol Buffers: fields with a number and a value, one after another.

Only the types in files of tokenizers: varints, 4 and 8 bytes, and bytes. Nothing is parsed before its length is
known to fit, and nothing recurses. Groups, which proto2 dropped long ago, are refused.
Source: the encoding guide of Protocol Buffers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TypeAlias

from bytepair.errors import FormatError

Value: TypeAlias = "int | bytes"
"""A number, or bytes: of four bytes for a float, and of any length."""

_MOST_FIELD = (1 << 29) - 1


def fields(data: bytes, start: int = 0, end: int | None = None) -> Iterator[tuple[int, Value, int]]:
    r"""The fields of a message, in order: number, value, and the position of the field in `data`.

    Args:
        data: The file.
        start: The start of the message in it.
        end: The end of the message; None for the end of the file.

    Raises:
        FormatError: It is cut short or damaged; ``byte`` locates the fault.

    Example:
        >>> list(fields(b"\x0a\x02hi\x10\x96\x01"))
        [(1, b'hi', 0), (2, 150, 4)]
    """
    end = len(data) if end is None else end
    at = start
    while at < end:
        place = at
        tag, at = _varint(data, at, end)
        number, wire = tag >> 3, tag & 7
        if not 1 <= number <= _MOST_FIELD:
            raise damaged(f"there is no field {number}", place)
        if wire == 0:
            value, at = _varint(data, at, end)
            yield number, value, place
            continue
        if wire == 2:
            size, at = _varint(data, at, end)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise damaged(f"field {number} has the wire type {wire}, which is not supported", place)
        if size > end - at:
            raise damaged(f"field {number} is longer than the message that it is in", place)
        yield number, data[at : at + size], place
        at += size


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """A number of seven bits a byte, the lowest first, and its end position."""
    value = shift = 0
    for place in range(at, min(end, at + 10)):
        byte = data[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 64:
                raise damaged("a number has more than 64 bits", at)
            return value, place + 1
        shift += 7
    raise damaged("a number does not end", at)


def damaged(what: str, place: int) -> FormatError:
    """The error of a broken file, with its place."""
    return FormatError(what, byte=place, remedy="is the file whole? fetch it again")


def text(value: Value, place: int) -> str:
    """A string; FormatError if the field is none."""
    if not isinstance(value, bytes):
        raise damaged("a field is a number and should be a string", place)
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise damaged(f"a string is not UTF-8: {error.reason}", place) from error


def raw(value: Value, place: int) -> bytes:
    """Bytes, which may be a message; FormatError if the field is a number."""
    if not isinstance(value, bytes):
        raise damaged("a field is a number and should be bytes", place)
    return value


def number(value: Value, place: int) -> int:
    """A number that is not negative; FormatError if the field is none."""
    if not isinstance(value, int):
        raise damaged("a field is bytes and should be a number", place)
    return value


def flag(value: Value, place: int) -> bool:
    """A truth value; FormatError if the field is no number."""
    return number(value, place) != 0


def single(value: Value, place: int) -> float:
    """A float of four bytes; FormatError if the field is none."""
    if not isinstance(value, bytes) or len(value) != 4:
        raise damaged("a field should be a float", place)
    return float(struct.unpack("<f", value)[0])


def write(*message: tuple[int, bool | int | float | str | bytes | None]) -> bytes:
    r"""A message of fields (number, value); floats have four bytes, and fields that are None are left out.

    Example:
        >>> write((1, "hi"), (2, 150), (3, None))
        b'\n\x02hi\x10\x96\x01'
    """
    parts = []
    for field, value in message:
        match value:
            case None:
                continue
            case float():
                parts.append(_number(field << 3 | 5) + struct.pack("<f", value))
            case int():
                parts.append(_number(field << 3) + _number(value))
            case str() | bytes():
                payload = value.encode() if isinstance(value, str) else value
                parts.append(_number(field << 3 | 2) + _number(len(payload)) + payload)
    return b"".join(parts)


def _number(value: int) -> bytes:
    # A negative int32 is written as the 64 bits of its complement.
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
