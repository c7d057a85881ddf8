r"""``rwkv_vocab_*.txt`` of RWKV: the id of each token, its text or bytes as Python writes them, and their number.

A text becomes the longest token that begins it, then the longest that begins the rest. So does a WordPiece of one word
and without a prefix, over the byte alphabet: the format is read as that, and written as ``tokenizer.json`` or native.
Each byte is a token, so no text is unknown. The file has no id 0: it is the end of a text.

Source: ``rwkv_tokenizer.py`` of ChatRWKV; for GGUF, which escapes bytes otherwise, ``src/llama-vocab.cpp`` of
llama.cpp.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from bytepair._core import Columns
from bytepair.errors import FormatError
from bytepair.formats.text_files import lines
from bytepair.model.byte_alphabet import to_characters
from bytepair.model.checks import MOST_IDS
from bytepair.model.models import WordPiece, model_options
from bytepair.model.packed import PackedModel
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.steps import spell_step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_END_OF_TEXT = "<|rwkv_tokenizer_end_of_text|>"
_ESCAPED = r"\\(?:[\\'\"tnr]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
_LINE = re.compile(rf"([0-9]{{1,10}}) (b?(?:'(?:[^'\\]|{_ESCAPED})*'|\"(?:[^\"\\]|{_ESCAPED})*\")) ([0-9]{{1,10}})\r?")
_ESCAPED_IN_GGUF = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|([^x]))", re.DOTALL)
_MEANT = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}
_BYTES = spell_step({"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False})

# The first line is shorter, in bytes.
_FIRST_LINE = 4096

# A longer word would be unknown, and no longer one is encoded.
_LONGEST_WORD = (1 << 32) - 1


def looks_like(data: bytes) -> bool:
    """Whether the first line is a number, a literal of Python and how many bytes that has."""
    first = data[:_FIRST_LINE].partition(b"\n")[0]
    found = _LINE.fullmatch(first.decode("utf-8", "replace"))
    return found is not None and len(_token(found[2]) or b"") == int(found[3])


def read(data: bytes) -> TokenizerSpec:
    r"""Reads a vocabulary.

    Raises:
        FormatError: A line is broken, or its id occurs twice or is too large; ``line`` names it. Or a byte has no
            token, or a token two ids.

    Example:
        >>> lines = [f"{byte + 1} {bytes([byte])!r} 1\n" for byte in range(256)]
        >>> spec = read("".join([*lines, "257 ' low' 4\n"]).encode())
        >>> spec.model.tokens[-1].decode(), spec.added_tokens[0].id
        ('Ġlow', 0)
    """
    rows: dict[int, bytes] = {}
    for number, id, token in _rows(data):
        if id >= MOST_IDS:
            raise FormatError(f"the id {id} is out of range", line=number, remedy=f"ids are from 0 to {MOST_IDS - 1}")
        if id in rows:
            raise FormatError(f"the id {id} occurs twice", line=number)
        rows[id] = token
    added = () if 0 in rows else (AddedToken(_END_OF_TEXT, 0),)
    roles = tuple((role, _END_OF_TEXT) for role in ("bos", "eos", "pad") if added)
    return build(rows, added).replace(roles=roles)


def build(rows: dict[int, bytes], added: Sequence[AddedToken]) -> TokenizerSpec:
    """The tokenizer of these tokens, by id, and of its added ones.

    Raises:
        FormatError: A byte has no token, or a token has two ids.
    """
    ids: dict[bytes, int] = {}
    for id, token in sorted(rows.items()):
        if ids.setdefault(token, id) != id:
            raise FormatError(f"the token {token!r} has the ids {ids[token]} and {id}")
    missing = next((byte for byte in range(256) if bytes([byte]) not in ids), None)
    if missing is not None:
        raise FormatError(f"no token is the byte 0x{missing:02X}", remedy="is the file whole? fetch it again")
    columns = Columns([to_characters(token).encode() for token in ids], list(ids.values()), None)
    # No word is unknown; the model has to name a token for one all the same.
    model = WordPiece((), (), to_characters(b"\0"), "", _LONGEST_WORD)
    return TokenizerSpec(
        PackedModel(columns, model_options(model)),
        added_tokens=tuple(added),
        pre_tokenizers=(_BYTES,),
        decoders=(_BYTES,),
    )


def _rows(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """The number of each line, its id and its token."""
    rows = lines(data, "the vocabulary")
    if not rows[-1]:
        rows.pop()
    for number, line in enumerate(rows, 1):
        found = _LINE.fullmatch(line)
        token = _token(found[2]) if found else None
        if found is None or not token:
            raise FormatError(f"{line[:80]!r} is not an id, a literal and its bytes", line=number)
        if len(token) != int(found[3]):
            raise FormatError(f"{found[2]} has {len(token)} bytes, not {found[3]}", line=number)
        yield number, int(found[1]), token


def _token(literal: str) -> bytes | None:
    """The bytes that a literal means; None if it means none."""
    if "\\" not in literal and literal[0] != "b":
        return literal[1:-1].encode()
    try:
        meant = ast.literal_eval(literal)
        return meant.encode() if isinstance(meant, str) else meant
    except (SyntaxError, ValueError):
        return None


def unescaped(token: str) -> bytes | None:
    r"""The bytes of a token in a GGUF file; None if a backslash is followed by nothing, or by ``x`` and no two digits.

    Example:
        >>> unescaped(r"\xe4\n\\a")
        b'\xe4\n\\a'
    """
    spelled = token.encode()
    if b"\\" in _ESCAPED_IN_GGUF.sub(b"", spelled):
        return None
    return _ESCAPED_IN_GGUF.sub(_meant, spelled)


def _meant(found: re.Match[bytes]) -> bytes:
    return bytes.fromhex(found[1].decode()) if found[1] else _MEANT.get(found[2], found[2])
