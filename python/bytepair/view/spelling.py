"""The display of tokens, bytes and steps: without control characters, and with visible stand-ins."""

from __future__ import annotations

from typing import Any

from bytepair.drawing.characters import show, show_line
from bytepair.model.steps import parse_step

_LONGEST = 24
_LONGEST_OPTION = 80


def spell(token: bytes, most: int = _LONGEST) -> str:
    r"""A token by itself, on one line and without spaces: its characters, or its bytes if they are not UTF-8.

    Args:
        token: Its bytes.
        most: The most characters, or bytes, that are shown, followed by ``…`` for more.

    Example:
        >>> spell(b" low"), spell(b"\xe2\x82"), spell("日本".encode())
        ('·low', '‹e2 82›', '日本')
    """
    try:
        text = token.decode()
    except UnicodeDecodeError:
        shown = token[:most].hex(" ")
        return f"‹{shown}{'…' * (len(token) > most)}›"
    shown = "".join("·" * len(part.text) if part.stands_for == " " else part.text for part in show(text[:most]))
    shown = shown.replace(" ", "·")
    return shown + "…" * (len(text) > most) or "‹›"


def quote(token: bytes) -> str:
    r"""A token within a sentence: its text in quotation marks, or its bytes if they are not UTF-8.

    Example:
        >>> quote(b" low"), quote(b"\xe2\x82")
        ('“ low”', 'bytes e2 82')
    """
    try:
        return f"“{show_line(token.decode(), 40)}”"
    except UnicodeDecodeError:
        return "bytes " + token[:40].hex(" ")


def cut_off(token: bytes) -> tuple[bytes, bytes]:
    r"""The bytes at the start and end of a token that are parts of characters shared with its neighbours.

    All bytes are at the start if the rest is not UTF-8 either.

    Example:
        >>> cut_off("low".encode()), cut_off(b"\x82\xac low \xe2")
        ((b'', b''), (b'\x82\xac', b'\xe2'))
    """
    try:
        token.decode()
    except UnicodeDecodeError:
        pass
    else:
        return b"", b""
    first = 0
    while first < min(3, len(token)) and 0x80 <= token[first] < 0xC0:
        first += 1
    try:
        token[first:].decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return token, b""
        return token[:first], token[first + error.start :]
    return token[:first], b""


def note(data: bytes) -> str:
    r"""Bytes in hexadecimal, for display.

    Example:
        >>> note(b"\xe2\x82")
        '‹e2 82›'
    """
    return f"‹{data.hex(' ')}›"


def step_name(step: str, most: int = 60) -> str:
    """A step of a spec with its options, in Python's notation, cut off after `most` characters.

    Example:
        >>> step_name("NFC"), step_name('{"type": "Split", "pattern": {"String": " "}, "invert": false}', 40)
        ('NFC', "Split(pattern=String ' ', invert=False)")
    """
    parsed = parse_step(step)
    options = ", ".join(f"{name}={_option(value)}" for name, value in parsed.items() if name != "type")
    return show_line(f"{parsed['type']}({options})" if options else str(parsed["type"]), most)


def _option(value: Any) -> str:
    if isinstance(value, dict) and len(value) == 1:
        # A pattern is tagged: String or Regex.
        kind, text = next(iter(value.items()))
        return f"{kind} {text!r}"
    text = repr(value)
    return text if len(text) <= _LONGEST_OPTION else f"{text[:_LONGEST_OPTION]}…"
