"""The native format: everything of a `TokenizerSpec` that is compared, in one file that loads fast.

Layout, numbers little-endian: "bytepair", the version as a byte (1) and a line feed; the SHA-256 of the rest (32
bytes), which is the tokenizer's fingerprint; a line of JSON (sorted keys, no spaces) with the stages and the number of
tokens and merges; then as uint32 the ids, the lengths of the tokens, and the merges as pairs of ids; the scores as
float64, if the model has them; last the bytes of all tokens. Stages that most tokenizers do not have are in the
head only if they are not empty. Equal tokenizers have equal bytes. A file is refused, before it is parsed, if its hash
or its size differs from its head.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from bytepair._core import Columns
from bytepair.errors import FormatError
from bytepair.model.cache import cached
from bytepair.model.packed import PackedModel
from bytepair.model.spec import AddedToken, TokenizerSpec

if TYPE_CHECKING:
    from bytepair.model.compiled import CompiledTokenizer

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
_MORE_OPTIONS = {"Unigram": {"unk_score"}}
"""Keys that only some models of a type have."""


def looks_like(data: bytes) -> bool:
    """Whether the file starts as this format does, in any version."""
    return data.startswith(MAGIC[:8])


def fingerprint(spec: TokenizerSpec) -> str:
    """The SHA-256 of a tokenizer's content, in hexadecimal: equal for equal tokenizers on every machine."""
    return hashlib.sha256(_payload(spec)).hexdigest()


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
    return MAGIC + hashlib.sha256(payload).digest() + payload


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


def read(data: bytes) -> TokenizerSpec:
    """Reads a tokenizer.

    Raises:
        FormatError: The file is of another version, cut short or damaged.
    """
    if not data.startswith(MAGIC):
        raise FormatError("the file is of another version of the native format", remedy="update bytepair")
    start = len(MAGIC) + _HASH_BYTES
    if hashlib.sha256(memoryview(data)[start:]).digest() != data[len(MAGIC) : start]:
        raise FormatError("the file is damaged: its hash is not the one it holds", remedy="fetch or save it again")
    try:
        return _parse(data, start)
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


def _parse(data: bytes, start: int) -> TokenizerSpec:
    import json  # noqa: PLC0415 (as above)

    # The columns are most of the file, which is copied no more than once.
    end = data.find(b"\n", start)
    if end < 0:
        raise ValueError("no line ends the head")
    rest = data[end + 1 :]
    head: dict[str, Any] = json.loads(data[start:end])
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
    columns = Columns.unpack(rest, tokens, merges, scores, unreachable)
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
