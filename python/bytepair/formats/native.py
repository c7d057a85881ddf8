"""The native format: everything that a `TokenizerSpec` holds, in one file that loads fast.

Layout, numbers little-endian: "bytepair", the version as a byte (1) and a line feed; the SHA-256 of the rest (32
bytes), which is the tokenizer's fingerprint; a line of JSON (sorted keys, no spaces) with the stages and the number of
tokens and merges; then as uint32 the ids, the lengths of the tokens, and the merges as pairs of ids; the scores as
float64, if the model has them; last the bytes of all tokens. Stages that most tokenizers do not have are named in the
head only where they are there. Equal tokenizers give equal bytes. A file is refused if its hash or its size is not what
its head says, before anything is made of it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from bytepair._core import Columns
from bytepair.errors import FormatError
from bytepair.loaded import AddedRow, Loaded, unload

if TYPE_CHECKING:
    from bytepair.spec import TokenizerSpec

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
_LATER: dict[str, Any] = {"pre_tokenizers": list, "decoders": list, "model": str, "scores": bool}
"""What stands in the head only if it is not empty."""


def looks_like(data: bytes) -> bool:
    """Whether the file starts as this format does, in any version."""
    return data.startswith(MAGIC[:8])


def fingerprint(tokenizer: TokenizerSpec | Loaded) -> str:
    """The SHA-256 of a tokenizer's content, in hexadecimal: equal for equal tokenizers on every machine."""
    return hashlib.sha256(_payload(tokenizer)).hexdigest()


def write(tokenizer: TokenizerSpec | Loaded) -> bytes:
    """Writes a tokenizer; nothing is lost.

    Example:
        >>> from bytepair.spec import BytePair, TokenizerSpec
        >>> spec = TokenizerSpec(BytePair((b"a", b"b", b"ab"), (0, 1, 2)))
        >>> read(write(spec)) == spec
        True
    """
    payload = _payload(tokenizer)
    return MAGIC + hashlib.sha256(payload).digest() + payload


def _payload(tokenizer: TokenizerSpec | Loaded) -> bytes:
    # Only files of this format wait for this import.
    import json  # noqa: PLC0415

    loaded = tokenizer if isinstance(tokenizer, Loaded) else unload(tokenizer)
    head = {
        "tokens": len(loaded.columns),
        "merges": loaded.columns.merge_count,
        "ignore_merges": loaded.ignore_merges,
        "partial_alphabet": loaded.partial_alphabet,
        "split": loaded.split,
        "added_tokens": [row._asdict() for row in loaded.added],
        "normalizers": loaded.normalizers,
        "prefix_space": loaded.prefix_space,
        "post_processor": loaded.post_processor,
    }
    later = {
        "pre_tokenizers": loaded.pre_tokenizers,
        "decoders": loaded.decoders,
        "model": loaded.model,
        "scores": loaded.columns.has_scores,
    }
    head |= {name: value for name, value in later.items() if value}
    line = json.dumps(head, sort_keys=True, separators=(",", ":")).encode()
    return b"".join((line, b"\n", loaded.columns.pack()))


def load(data: bytes) -> Loaded:
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


def read(data: bytes) -> TokenizerSpec:
    """As `load`, into plain data."""
    return load(data).spec()


def _parse(payload: bytes) -> Loaded:
    import json  # noqa: PLC0415 (as above)

    line, _, rest = payload.partition(b"\n")
    head: dict[str, Any] = json.loads(line)
    for name, kinds in _HEAD.items():
        if not isinstance(head[name], kinds):
            raise TypeError(f"{name} is {head[name]!r}")
    for name in head.keys() - _HEAD.keys():
        if name not in _LATER:
            raise ValueError(f"{name} is unknown")
        if not isinstance(head[name], _LATER[name]) or not head[name]:
            raise TypeError(f"{name} is {head[name]!r}")
    tokens, merges, scores = int(head["tokens"]), head["merges"], head.get("scores", False)
    sizes = (tokens, tokens, 2 * int(merges or 0), 2 * tokens * scores)
    if min(sizes) < 0 or 4 * sum(sizes) > len(rest):
        raise ValueError("the columns are longer than the file")
    return Loaded(
        Columns.unpack(rest, tokens, merges, scores),
        ignore_merges=head["ignore_merges"],
        partial_alphabet=head["partial_alphabet"],
        split=tuple(head["split"]),
        added=tuple(AddedRow(**token) for token in head["added_tokens"]),
        normalizers=tuple(head["normalizers"]),
        prefix_space=head["prefix_space"],
        post_processor=head["post_processor"],
        pre_tokenizers=tuple(head.get("pre_tokenizers", ())),
        decoders=tuple(head.get("decoders", ())),
        model=head.get("model"),
    )
