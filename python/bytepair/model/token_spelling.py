"""Special spellings in a vocabulary of characters: byte tokens, parts of words, the unknown token."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bytepair.model.models import BytePair, Unigram, WordPiece

if TYPE_CHECKING:
    from bytepair.model.models import Model

_BYTE = re.compile(rb"<0x([0-9A-F]{2})>")


def name_of_byte(byte: int) -> str:
    """The token of a byte in a model with `byte_fallback`.

    Example:
        >>> name_of_byte(10)
        '<0x0A>'
    """
    return f"<0x{byte:02X}>"


def named_byte(token: bytes) -> bytes | None:
    r"""The byte that a token is named after; None for other tokens.

    Example:
        >>> named_byte(b"<0x0A>"), named_byte(b"<0x0a>")
        (b'\n', None)
    """
    found = _BYTE.fullmatch(token)
    return bytes.fromhex(found[1].decode()) if found else None


def falls_back(model: Model) -> bool:
    """Whether unknown characters become byte tokens such as ``<0x0A>``."""
    alphabet = model.alphabet if isinstance(model, BytePair) else model
    return getattr(alphabet, "byte_fallback", False)


def inner_prefix(model: Model) -> str:
    """The prefix of tokens that continue a word, such as ``##``; empty if there is none.

    Example:
        >>> inner_prefix(WordPiece((b"[UNK]",), (0,))), inner_prefix(BytePair((b"a",), (0,)))
        ('##', '')
    """
    if isinstance(model, WordPiece):
        return model.continuing_subword_prefix
    return (model.alphabet.continuing_subword_prefix or "") if isinstance(model, BytePair) and model.alphabet else ""


def final_suffix(model: Model) -> str:
    """The suffix of tokens that end a word, such as ``</w>``; empty if there is none."""
    return (model.alphabet.end_of_word_suffix or "") if isinstance(model, BytePair) and model.alphabet else ""


def unknown_id(model: Model) -> int | None:
    """The id of the unknown token; None if there is none.

    Example:
        >>> unknown_id(WordPiece((b"a", b"[UNK]"), (0, 7))), unknown_id(BytePair((b"a",), (0,)))
        (7, None)
    """
    if isinstance(model, Unigram):
        return model.unk_id
    named = model.alphabet if isinstance(model, BytePair) else model
    if named is None or named.unk_token is None:
        return None
    token = named.unk_token.encode()
    return next((id for id, one in zip(model.ids, model.tokens, strict=True) if one == token), None)
