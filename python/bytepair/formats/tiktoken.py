"""``.tiktoken``: a line for each token, its bytes in base64 and its rank, which is its id.

It holds neither the split pattern nor special tokens. Source: ``tiktoken/load.py``.
"""

from __future__ import annotations

import binascii

from bytepair.errors import FormatError
from bytepair.semantics import to_ranks
from bytepair.spec import MOST_IDS, BytePair, TokenizerSpec


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
        FormatError: A line is not what it should be; ``line`` names it.

    Example:
        >>> read(b"YQ== 0\nYg== 1\nYWI= 2\n").model.tokens
        (b'a', b'b', b'ab')
    """
    ranks: dict[int, bytes] = {}
    known = {b""}
    for number, line in enumerate(data.splitlines(), 1):
        if not line:
            continue
        token, _, rank = line.partition(b" ")
        try:
            id = int(rank)
            decoded = _decode(token)
        except ValueError as error:
            raise _broken(number, "is not a token in base64, a space and a rank") from error
        if not rank.isdigit() or id >= MOST_IDS:
            raise _broken(number, f"has the rank {id}, which is not an id")
        if id in ranks:
            raise _broken(number, f"has the rank {id}, which an earlier line has")
        if decoded in known:
            raise _broken(number, f"has the token {decoded!r}, which is empty or an earlier line has")
        ranks[id] = decoded
        known.add(decoded)
    ids = sorted(ranks)
    return TokenizerSpec(BytePair(tokens=tuple(ranks[id] for id in ids), ids=tuple(ids)))


def _decode(token: bytes) -> bytes:
    decoded = binascii.a2b_base64(token)
    # What Python passes over in base64 does not come back.
    if binascii.b2a_base64(decoded, newline=False) != token:
        raise ValueError("not base64")
    return decoded


def _broken(line: int, what: str) -> FormatError:
    return FormatError(f"a line {what}", line=line, remedy="is the file whole? fetch it again")


def write(spec: TokenizerSpec) -> bytes:
    """Writes the ranks of a model.

    Raises:
        FormatError: The ids are not ranks that give the same ids.
    """
    model = to_ranks(spec.model)
    lines = (
        b"%b %d\n" % (binascii.b2a_base64(token, newline=False), id)
        for token, id in zip(model.tokens, model.ids, strict=True)
    )
    return b"".join(lines)
