"""``.tiktoken``: a line for each token, its bytes in base64 and its rank, which is its id.

It holds neither the split pattern nor special tokens. ``=`` is the empty token, which no text becomes.
Source: ``tiktoken/load.py``.
"""

from __future__ import annotations

import binascii

from bytepair._core import read_rank_file
from bytepair.errors import FormatError
from bytepair.model.packed import PackedModel
from bytepair.model.spec import TokenizerSpec


def looks_like(data: bytes) -> bool:
    """Whether the first line is base64, a space and a number."""
    token, _, rank = data[: data.find(b"\n") if b"\n" in data else None].partition(b" ")
    try:
        return bool(_decode(token)) and rank.strip().isdigit()
    except ValueError:
        return False


def read(data: bytes) -> TokenizerSpec:
    r"""Reads the ranks.

    Raises:
        FormatError: A line is broken; ``line`` names it.

    Example:
        >>> read(b"YQ== 0\nYg== 1\nYWI= 2\n").model.tokens
        (b'a', b'b', b'ab')
    """
    return TokenizerSpec(PackedModel(read_rank_file(data)))


def _decode(token: bytes) -> bytes:
    decoded = binascii.a2b_base64(token)
    # Characters that Python ignores in base64 are lost when encoded again.
    if binascii.b2a_base64(decoded, newline=False) != token:
        raise ValueError("not base64")
    return decoded


def write(spec: TokenizerSpec) -> bytes:
    """Writes the ranks of a model.

    Raises:
        FormatError: The ids are not ranks that give the same ids.
    """
    # Most loaded tokenizers are never saved.
    from bytepair.model.semantics import to_ranks  # noqa: PLC0415

    model = to_ranks(spec.byte_pair)
    if any(token for token, _ in model.unreachable):
        raise FormatError(
            f"a rank file cannot hold {model.unreachable[0][0]!r}, which no text becomes",
            remedy="save as tokenizer.json or as the native format",
        )
    rows = [(id, binascii.b2a_base64(token, newline=False)) for token, id in zip(model.tokens, model.ids, strict=True)]
    rows += [(id, b"=") for _, id in model.unreachable]
    return b"".join(b"%b %d\n" % (token, id) for id, token in sorted(rows))
