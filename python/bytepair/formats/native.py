"""The native format: everything that a `TokenizerSpec` holds, in one file that loads fast.

Layout, numbers little-endian: "bytepair", the version as a byte (1) and a line feed; the SHA-256 of the rest (32
bytes), which is the tokenizer's fingerprint; a line of JSON (sorted keys, no spaces) with the stages and the number of
tokens and merges; then as uint32 the ids, the lengths of the tokens, and the merges as pairs of ids; last the bytes of
all tokens. Equal tokenizers give equal bytes. A file is refused if its hash or its size is not what its head says,
before anything is made of it.
"""

from __future__ import annotations

import hashlib
import json
import sys
from array import array
from dataclasses import asdict
from itertools import accumulate, pairwise
from typing import Any

from bytepair.errors import FormatError
from bytepair.spec import AddedToken, BytePair, TokenizerSpec

MAGIC = b"bytepair\x01\n"
_HASH_BYTES = 32
_HEAD: dict[str, Any] = {
    "tokens": int,
    "merges": int | None,
    "ignore_merges": bool,
    "partial_alphabet": bool,
    "split": list,
    "added_tokens": list,
    "normalizers": list,
    "prefix_space": bool,
    "post_processor": str | None,
}


def looks_like(data: bytes) -> bool:
    """Whether the file starts as this format does, in any version."""
    return data.startswith(MAGIC[:8])


def fingerprint(spec: TokenizerSpec) -> str:
    """The SHA-256 of a tokenizer's content, in hexadecimal: equal for equal tokenizers on every machine."""
    return hashlib.sha256(_payload(spec)).hexdigest()


def write(spec: TokenizerSpec) -> bytes:
    """Writes a tokenizer; nothing is lost.

    Example:
        >>> spec = TokenizerSpec(BytePair((b"a", b"b", b"ab"), (0, 1, 2)))
        >>> read(write(spec)) == spec
        True
    """
    payload = _payload(spec)
    return MAGIC + hashlib.sha256(payload).digest() + payload


def _payload(spec: TokenizerSpec) -> bytes:
    model = spec.model
    head = {
        "tokens": len(model.tokens),
        "merges": None if model.merges is None else len(model.merges),
        "ignore_merges": model.ignore_merges,
        "partial_alphabet": model.partial_alphabet,
        "split": spec.split,
        "added_tokens": [asdict(token) for token in spec.added_tokens],
        "normalizers": spec.normalizers,
        "prefix_space": spec.prefix_space,
        "post_processor": spec.post_processor,
    }
    columns = (model.ids, map(len, model.tokens), (id for pair in model.merges or () for id in pair))
    return b"".join(
        [
            json.dumps(head, sort_keys=True, separators=(",", ":")).encode(),
            b"\n",
            *(_little(array("I", column)).tobytes() for column in columns),
            *model.tokens,
        ]
    )


def _little(numbers: array[int]) -> array[int]:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def read(data: bytes) -> TokenizerSpec:
    """Reads a tokenizer.

    Raises:
        FormatError: The file is of another version, cut short or damaged.
    """
    if not data.startswith(MAGIC):
        raise FormatError("the file is of another version of the native format", remedy="update bytepair")
    start = len(MAGIC) + _HASH_BYTES
    payload = data[start:]
    if hashlib.sha256(payload).digest() != data[len(MAGIC) : start]:
        raise FormatError("the file is damaged: its hash is not the one it holds", remedy="fetch or save it again")
    try:
        return _parse(payload)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        # The hash is right, so that somebody wrote it so.
        raise FormatError(f"the file was not written by bytepair: {error}", remedy="save it again") from error


def _parse(payload: bytes) -> TokenizerSpec:
    line, _, rest = payload.partition(b"\n")
    head: dict[str, Any] = json.loads(line)
    for name, kinds in _HEAD.items():
        if not isinstance(head[name], kinds):
            raise TypeError(f"{name} is {head[name]!r}")
    if unknown := head.keys() - _HEAD.keys():
        raise ValueError(f"{min(unknown)} is unknown")
    tokens, merges = int(head["tokens"]), head["merges"]
    sizes = (tokens, tokens, 2 * int(merges or 0))
    if min(sizes) < 0 or 4 * sum(sizes) > len(rest):
        raise ValueError("the columns are longer than the file")
    columns = []
    start = 0
    for size in sizes:
        column = array("I", rest[start : start + 4 * size])
        columns.append(_little(column))
        start += 4 * size
    ids, lengths, pairs = columns
    ends = list(accumulate(lengths, initial=start))
    if ends[-1] != len(rest):
        raise ValueError("the tokens are not as long as the file")
    model = BytePair(
        tokens=tuple(rest[begin:end] for begin, end in pairwise(ends)),
        ids=tuple(ids),
        merges=None if merges is None else tuple(zip(pairs[::2], pairs[1::2], strict=True)),
        ignore_merges=head["ignore_merges"],
        partial_alphabet=head["partial_alphabet"],
    )
    return TokenizerSpec(
        model,
        split=tuple(head["split"]),
        added_tokens=tuple(AddedToken(**token) for token in head["added_tokens"]),
        normalizers=tuple(head["normalizers"]),
        prefix_space=head["prefix_space"],
        post_processor=head["post_processor"],
    )
