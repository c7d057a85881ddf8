"""The GPT-2 byte alphabet: a printable character for each byte, so that JSON and text files can hold any token.

Printable Latin-1 characters map to themselves; the other 68 bytes, in order, map to the characters from U+0100 on.
Source: ``bytes_to_unicode`` in GPT-2's ``encoder.py``, the alphabet of ``vocab.json`` and of ``tokenizer.json``.
"""

from __future__ import annotations

_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]

CHARACTER_OF_BYTE: dict[int, str] = {byte: chr(byte) for byte in _PRINTABLE} | {
    byte: chr(0x100 + place) for place, byte in enumerate(_OTHERS)
}
_TO_BYTES = {ord(character): byte for byte, character in CHARACTER_OF_BYTE.items()}

BYTES_IN_ALPHABET_ORDER = bytes(byte for _, byte in sorted(_TO_BYTES.items()))
"""The 256 bytes by the code points of their characters: the order in which GPT-2 and ``tokenizers`` number them."""


def to_characters(token: bytes) -> str:
    """A token in the alphabet.

    Example:
        >>> to_characters(b" low")
        'Ġlow'
    """
    return token.decode("latin-1").translate(CHARACTER_OF_BYTE)


def to_bytes(token: str) -> bytes | None:
    """The token from its spelling in the alphabet; None if a character is not in it.

    Example:
        >>> to_bytes("Ġlow"), to_bytes("a b")
        (b' low', None)
    """
    try:
        return bytes(_TO_BYTES[ord(character)] for character in token)
    except KeyError:
        return None
