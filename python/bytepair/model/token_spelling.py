"""Special spellings in a vocabulary of characters: byte tokens, parts of words, the unknown token."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bytepair.model.models import BytePair, Unigram, WordPiece

if TYPE_CHECKING:
    from collections.abc import Callable

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


def separator(model: Model) -> str:
    """The suffix of tokens behind which a word goes on, such as ``@@``; empty if there is none."""
    return (model.alphabet.separator or "") if isinstance(model, BytePair) and model.alphabet else ""


def without_marks(model: Model) -> Callable[[bytes], bytes]:
    """A function that removes from a token all that marks where in a word it stands.

    Example:
        >>> from bytepair.model.models import Characters
        >>> bare = without_marks(BytePair((), (), (), alphabet=Characters(separator="@@")))
        >>> bare(b"low@@"), bare(b"low")
        (b'low', b'low')
    """
    prefix, suffix, behind = (find(model).encode() for find in (inner_prefix, final_suffix, separator))
    return lambda token: token.removeprefix(prefix).removesuffix(suffix).removesuffix(behind)


def tokens_of_merges(model: BytePair) -> dict[int, bytes]:
    """The tokens that the merges of a list name by their ids, with texts that are none."""
    unlisted = model.alphabet.unlisted if model.alphabet else ()
    above = 1 + max(model.ids, default=-1)
    return dict(
        zip(
            (*model.ids, *range(above, above + len(unlisted))), (*model.tokens, *map(str.encode, unlisted)), strict=True
        )
    )


def joined(model: BytePair) -> Callable[[bytes, bytes], bytes]:
    """A function that makes one token of two that merge: the right one loses the prefix, the left one the separator.

    Example:
        >>> from bytepair.model.models import Characters
        >>> joined(BytePair((), (), (), alphabet=Characters(separator="@@")))(b"l@@", b"ow@@")
        b'low@@'
    """
    prefix, behind = len(inner_prefix(model).encode()), len(separator(model).encode())
    return lambda left, right: left[: len(left) - behind] + right[prefix:]


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
