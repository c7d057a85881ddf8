"""The native format: everything of a `TokenizerSpec` that is compared, in one file that loads fast.

Layout, numbers little-endian: "bytepair", the version as a byte (1) and a line feed; the SHA-256 of the rest (32
bytes), which is the tokenizer's fingerprint; a line of JSON (sorted keys, no spaces) with the stages and the number of
tokens and merges; then as uint32 the ids, the lengths of the tokens, and the merges as pairs of ids; the scores as
float64, if the model has them; last the bytes of all tokens. Stages that most tokenizers do not have are in the
head only if they are not empty. Equal tokenizers have equal bytes. A file is refused, before it is parsed, if its hash
or its size differs from its head.

Files of large vocabularies of bytes are of version 2, which also has the compiled tables. Behind the hash there is the
number of bytes that it is of, as uint64, and behind those, at a multiple of 64, the tables with a checksum of their
own (`crates/core/src/stored.rs`). They are mapped into memory and used where they are, so that processes share them. A
core whose tables are others compiles the tokenizer as if there were none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair import files
from bytepair._core import Columns, Tables
from bytepair.errors import FormatError
from bytepair.model.cache import cached
from bytepair.model.packed import PackedModel
from bytepair.model.spec import AddedToken, TokenizerSpec

if TYPE_CHECKING:
    from mmap import mmap

    from bytepair.model.compiled import CompiledTokenizer

MAGIC = b"bytepair\x01\n"
WITH_TABLES = b"bytepair\x02\n"
_HASH_BYTES = 32
_SIZE_BYTES = 8
_ALIGNMENT = 64
_TOKENS_WITH_TABLES = 1 << 14
"""Fewer tokens are compiled as fast as tables are checked, and the tables would be most of the file."""
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
_LATER: dict[str, Any] = {
    "pre_tokenizers": list,
    "decoders": list,
    "model": str,
    "scores": bool,
    "unreachable": list,
}
"""Keys that are in the head only if their value is not empty."""
_OPTIONS = {
    "BPE": {"unk_token", "fuse_unk", "byte_fallback", "continuing_subword_prefix", "end_of_word_suffix"},
    "WordPiece": {"unk_token", "continuing_subword_prefix", "max_input_chars_per_word"},
    "Unigram": {"unk_id", "byte_fallback"},
    "WordLevel": {"unk_token"},
}
"""The keys of the options of each model; the core validates the values."""
_MORE_OPTIONS = {"BPE": {"separator", "unlisted"}, "Unigram": {"unk_score", "unlisted", "from_end"}}
"""Keys that only some models of a type have."""


def looks_like(data: bytes) -> bool:
    """Whether the file starts as this format does, in any version."""
    return data.startswith(MAGIC[:8])


def fingerprint(spec: TokenizerSpec) -> str:
    """The SHA-256 of a tokenizer's content, in hexadecimal: equal for equal tokenizers on every machine."""
    return files.sha256(_payload(spec)).hex()


def fingerprint_of(tokenizer: CompiledTokenizer) -> str:
    """The fingerprint of a compiled tokenizer, computed once."""
    return cached(tokenizer, "fingerprint", lambda tokenizer: fingerprint(tokenizer.spec))


def write(spec: TokenizerSpec) -> bytes:
    """Writes a tokenizer; only its roles, which are not compared, are left to the manifest.

    Example:
        >>> from bytepair.model.models import BytePair
        >>> from bytepair.model.spec import TokenizerSpec
        >>> spec = TokenizerSpec(BytePair((b"a", b"b", b"ab"), (0, 1, 2)))
        >>> read(write(spec)) == spec
        True
    """
    payload = _payload(spec)
    return MAGIC + files.sha256(payload) + payload


def write_compiled(tokenizer: CompiledTokenizer) -> bytes:
    """The same of a compiled tokenizer, with its tables if it is one of many tokens that are bytes."""
    spec = tokenizer.spec
    if not spec.is_byte_level or len(spec.packed.columns) < _TOKENS_WITH_TABLES:
        return write(spec)
    payload = _payload(spec)
    hashed = files.sha256(payload)
    parts = (WITH_TABLES, hashed, len(payload).to_bytes(_SIZE_BYTES, "little"), payload)
    padding = bytes(-sum(map(len, parts)) % _ALIGNMENT)
    return b"".join((*parts, padding, tokenizer._tables(hashed) or b""))


def _payload(spec: TokenizerSpec) -> bytes:
    # Only files of this format wait for this import.
    import json  # noqa: PLC0415

    columns, options, ignore_merges, partial_alphabet = spec.packed
    head: dict[str, Any] = {
        "tokens": len(columns),
        "merges": columns.merge_count,
        "ignore_merges": ignore_merges,
        "partial_alphabet": partial_alphabet,
        "split": spec.split,
        "added_tokens": [row._asdict() for row in spec.added_tokens],
        "normalizers": spec.normalizers,
        "prefix_space": spec.prefix_space,
        "post_processor": spec.post_processor,
    }
    later: dict[str, Any] = {
        "pre_tokenizers": spec.pre_tokenizers,
        "decoders": spec.decoders,
        "model": options,
        "scores": columns.has_scores,
        "unreachable": columns.unreachable(),
    }
    head |= {name: value for name, value in later.items() if value}
    line = json.dumps(head, sort_keys=True, separators=(",", ":")).encode()
    return b"".join((line, b"\n", columns.pack()))


def promised(data: bytes | mmap) -> str:
    """The fingerprint of the tokenizer that a file says it holds."""
    return data[len(MAGIC) : len(MAGIC) + _HASH_BYTES].hex()


def read(data: bytes | mmap) -> TokenizerSpec:
    """Reads a tokenizer. Its compiled tables, if it has them, stay where they are: `data` is kept.

    Raises:
        FormatError: The file is of another version, cut short or damaged.
    """
    start, end = len(MAGIC) + _HASH_BYTES, len(data)
    has_tables = data[: len(MAGIC)] == WITH_TABLES
    if has_tables:
        start += _SIZE_BYTES
        end = start + int.from_bytes(data[start - _SIZE_BYTES : start], "little")
    elif data[: len(MAGIC)] != MAGIC:
        raise FormatError("the file is of another version of the native format", remedy="update bytepair")
    hashed = files.sha256(memoryview(data)[start:end])
    if hashed != data[len(MAGIC) : len(MAGIC) + _HASH_BYTES]:
        raise FormatError("the file is damaged: its hash is not the one it holds", remedy="fetch or save it again")
    tables = Tables.open(data, end + -end % _ALIGNMENT, hashed) if has_tables else None
    try:
        return _parse(data, start, end, tables)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        # The hash matches, so the file was written like this.
        raise FormatError(f"the file was not written by bytepair: {error}", remedy="save it again") from error


def _short(value: object) -> str:
    return repr(value)[:80]


def _check_values(head: dict[str, Any]) -> None:
    """Checks the types in the lists, and that each string is Unicode."""
    import json  # noqa: PLC0415 (as above)

    # An escape can put a lone surrogate into a string.
    json.dumps(head, ensure_ascii=False).encode()
    for name in ("split", "normalizers", "pre_tokenizers", "decoders"):
        for value in head.get(name, ()):
            if not isinstance(value, str):
                raise TypeError(f"{_short(value)} is not valid among the {name}")
    for row in head.get("unreachable", ()):
        if not isinstance(row, list) or [type(value) for value in row] != [str, int]:
            raise TypeError(f"{_short(row)} is not a token and its id")
    for token in head["added_tokens"]:
        content, id, *flags = AddedToken(**token)
        if [type(value) for value in (content, id, *flags)] != [str, int, *[bool] * len(flags)]:
            raise TypeError(f"{_short(token)} is not an added token")


def _check_options(text: str) -> None:
    """Checks that the options of a model are those that `models.model_options` writes."""
    import json  # noqa: PLC0415 (as above)

    options = json.loads(text)
    if not isinstance(options, dict) or json.dumps(options, sort_keys=True, ensure_ascii=False) != text:
        raise ValueError("the model's options are not written as an object with sorted keys")
    kind = options.get("type")
    known = _OPTIONS.get(kind, set()) | {"type"} if isinstance(kind, str) else set()
    if kind not in _OPTIONS or not known <= options.keys() <= known | _MORE_OPTIONS.get(kind, set()):
        raise ValueError(f"the model's options are {_short(text)}")


def _parse(data: bytes | mmap, start: int, end: int, tables: Tables | None) -> TokenizerSpec:
    import json  # noqa: PLC0415 (as above)

    line_end = data.find(b"\n", start, end)
    if line_end < 0:
        raise ValueError("no line ends the head")
    # The columns are most of the file: they are not copied.
    rest = memoryview(data)[line_end + 1 : end]
    head: dict[str, Any] = json.loads(data[start:line_end])
    if not isinstance(head, dict):
        raise TypeError("the head is not an object")
    for name, kinds in _HEAD.items():
        if not isinstance(head[name], kinds):
            raise TypeError(f"{name} is {_short(head[name])}")
    for name in head.keys() - _HEAD.keys():
        if name not in _LATER:
            raise ValueError(f"{_short(name)} is unknown")
        if not isinstance(head[name], _LATER[name]) or not head[name]:
            raise TypeError(f"{name} is {_short(head[name])}")
    _check_values(head)
    if "model" in head:
        _check_options(head["model"])
    tokens, merges, scores = int(head["tokens"]), head["merges"], head.get("scores", False)
    sizes = (tokens, tokens, 2 * int(merges or 0), 2 * tokens * scores)
    if min(sizes) < 0 or 4 * sum(sizes) > len(rest):
        raise ValueError("the columns are longer than the file")
    unreachable = [(token, id) for token, id in head.get("unreachable", ())]
    columns = Columns.unpack(rest, tokens, merges, scores, unreachable, tables)
    return TokenizerSpec(
        PackedModel(columns, head.get("model"), head["ignore_merges"], head["partial_alphabet"]),
        split=tuple(head["split"]),
        added_tokens=tuple(AddedToken(**token) for token in head["added_tokens"]),
        normalizers=tuple(head["normalizers"]),
        prefix_space=head["prefix_space"],
        post_processor=head["post_processor"],
        pre_tokenizers=tuple(head.get("pre_tokenizers", ())),
        decoders=tuple(head.get("decoders", ())),
    )
