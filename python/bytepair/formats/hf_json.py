"""``tokenizer.json`` of the ``tokenizers`` package, for byte-level BPE: read, and written so that it loads there.

What stands in the file and is not supported is refused by its name and its JSON pointer, never passed over.
Source: the serialization of ``tokenizers`` (``tokenizer/serialization.rs`` and the modules that it names).
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from bytepair._core import Columns, read_byte_alphabet
from bytepair.checks import MOST_IDS
from bytepair.errors import FormatError, TokenizerWarning
from bytepair.formats import byte_alphabet, oniguruma
from bytepair.loaded import AddedRow, Loaded, added_row
from bytepair.patterns import split_pattern

if TYPE_CHECKING:
    from bytepair.spec import TokenizerSpec

Json = Any
GPT2 = split_pattern("gpt2")
_FORMS = ("NFC", "NFD", "NFKC", "NFKD")
_STAGES = {"normalizer", "pre_tokenizer", "post_processor", "decoder", "model"}
_STAGE_KEYS = {
    **{form: {"type"} for form in _FORMS},
    "Sequence": {"type", "normalizers", "pretokenizers"},
    "Split": {"type", "pattern", "behavior", "invert"},
    "ByteLevel": {"type", "add_prefix_space", "trim_offsets", "use_regex"},
}
_KEYS = {"version", "truncation", "padding", "added_tokens"} | _STAGES


def looks_like(table: Json) -> bool:
    """Whether a parsed JSON file is a ``tokenizer.json``."""
    return isinstance(table, dict) and isinstance(table.get("model"), dict)


def load(table: Json) -> Loaded:
    """Reads a parsed ``tokenizer.json``.

    Raises:
        FormatError: Something in it is broken or not supported; ``pointer`` says where.
    """
    for key in table.keys() - _KEYS:
        raise _unsupported(key, f"/{key}")
    if table.get("version", "1.0") != "1.0":
        raise _unsupported(f"version {table['version']!r}", "/version")
    for key in ("truncation", "padding"):
        if table.get(key) is not None:
            warnings.warn(
                f"the file's {key} is not applied: it is an option of each call", TokenizerWarning, stacklevel=4
            )
    added = [_read_added(token, f"/added_tokens/{row}") for row, token in enumerate(_list(table, "added_tokens", ""))]
    split, prefix_space = _read_pre_tokenizer(table.get("pre_tokenizer"))
    _check_decoder(table.get("decoder"))
    post_processor = table.get("post_processor")
    return Loaded(
        _read_bpe(table["model"], {token.content: token.id for token in added}),
        ignore_merges=table["model"].get("ignore_merges", False),
        split=split,
        added=tuple(sorted(added, key=lambda token: token.id)),
        normalizers=tuple(_read_normalizers(table.get("normalizer"), "/normalizer")),
        prefix_space=prefix_space,
        post_processor=None if post_processor is None else json.dumps(post_processor, ensure_ascii=False),
    )


def read(table: Json) -> TokenizerSpec:
    """As `load`, into plain data."""
    return load(table).spec()


def read_model(
    vocab: Json,
    merges: Json,
    *,
    added: Mapping[str, int],
    vocab_pointer: str,
    merge_place: Callable[[int], dict[str, Any]],
) -> Columns:
    """A model from a vocabulary and merges in the byte alphabet.

    An added token that stands in the vocabulary as well is a token of the model only if a merge makes it or it is a
    byte: else text could become it although it is not matched.

    Raises:
        FormatError: An id, a token or a merge is broken; the error says where.
    """
    if not isinstance(vocab, dict) or not isinstance(merges, list):
        raise FormatError("the vocabulary is not an object or the merges are not a list", pointer=vocab_pointer or "/")
    columns = read_byte_alphabet(vocab, merges, list(added))
    if columns is not None:
        return columns
    return read_model_carefully(vocab, merges, added, vocab_pointer=vocab_pointer, merge_place=merge_place)


def read_model_carefully(
    vocab: dict[str, Json],
    merges: list[Json],
    added: Mapping[str, int],
    *,
    vocab_pointer: str,
    merge_place: Callable[[int], dict[str, Any]],
) -> Columns:
    """As `read_model`, but slow; it says what is wrong, and where."""
    for token, id in vocab.items():
        if type(id) is not int or not 0 <= id < MOST_IDS:
            raise FormatError(f"the id of {token!r} is {id!r}", pointer=_pointer(vocab_pointer, token))
    pairs = [_read_merge(merge, merge_place(row)) for row, merge in enumerate(merges)]
    made = {left + right for left, right in pairs}
    kept = {token: id for token, id in vocab.items() if token not in added or token in made or _is_byte(token)}
    bytes_of = {token: byte_alphabet.to_bytes(token) for token in kept}
    for token, spelled in bytes_of.items():
        if spelled is None:
            raise FormatError(
                f"the token {token!r} is not written in the byte alphabet",
                pointer=_pointer(vocab_pointer, token),
                remedy="only byte-level BPE is supported",
            )
    by_id = sorted(kept.items(), key=lambda item: item[1])
    for (token, id), (_, following) in pairwise(by_id):
        if id == following:
            raise FormatError(f"two tokens have the id {id}", pointer=_pointer(vocab_pointer, token))
    ids = []
    for row, (left, right) in enumerate(pairs):
        for part in (left, right, left + right):
            if part not in kept:
                raise FormatError(
                    f"the merge of {left!r} and {right!r} needs {part!r}, which is not in the vocabulary",
                    **merge_place(row),
                    remedy="is the file whole? fetch it again",
                )
        ids.append((kept[left], kept[right]))
    return Columns([cast("bytes", bytes_of[token]) for token, _ in by_id], [id for _, id in by_id], ids)


def _is_byte(token: str) -> bool:
    return len(token) == 1 and byte_alphabet.to_bytes(token) is not None


def _read_merge(merge: Json, place: dict[str, Any]) -> tuple[str, str]:
    parts = merge.split(" ") if isinstance(merge, str) else merge
    if isinstance(parts, list) and len(parts) == 2 and all(isinstance(part, str) and part for part in parts):
        return parts[0], parts[1]
    raise FormatError(f"{merge!r} is not a merge of two tokens", **place)


def _read_bpe(model: Mapping[str, Json], added: Mapping[str, int]) -> Columns:
    kind = model.get("type", "BPE")
    if kind != "BPE":
        raise _unsupported(f"the model {kind}", "/model/type")
    known = {"type", "vocab", "merges", "ignore_merges", "unk_token", "fuse_unk"}
    # Without effect at these values. With all 256 bytes in the vocabulary, nothing is ever unknown.
    inert = ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback")
    for key, value in model.items():
        if key in inert and value:
            raise _unsupported(f"{key} = {value!r}", f"/model/{key}")
        if key not in known and key not in inert:
            raise _unsupported(key, f"/model/{key}")
    if not isinstance(model.get("unk_token"), str | None):
        raise FormatError(f"unk_token is {model['unk_token']!r}", pointer="/model/unk_token")
    for flag in ("ignore_merges", "fuse_unk"):
        if type(model.get(flag, False)) is not bool:
            raise FormatError(f"{flag} is {model[flag]!r}, not true or false", pointer=f"/model/{flag}")
    return read_model(
        model.get("vocab"),
        model.get("merges"),
        added=added,
        vocab_pointer="/model/vocab",
        merge_place=lambda row: {"pointer": f"/model/merges/{row}"},
    )


def _read_added(token: Json, pointer: str) -> AddedRow:
    flags = ("special", "single_word", "lstrip", "rstrip", "normalized")
    if not isinstance(token, dict) or not isinstance(token.get("content"), str) or type(token.get("id")) is not int:
        raise FormatError(f"{token!r} is not an added token", pointer=pointer)
    for key in token.keys() - {"id", "content", *flags}:
        raise _unsupported(key, f"{pointer}/{key}")
    for flag in flags:
        if type(token.get(flag, False)) is not bool:
            raise FormatError(f"{flag} is {token[flag]!r}, not true or false", pointer=f"{pointer}/{flag}")
    if not 0 <= token["id"] < MOST_IDS:
        raise FormatError(f"the id is {token['id']}", pointer=f"{pointer}/id")
    return AddedRow(token["content"], token["id"], **{flag: token.get(flag, False) for flag in flags})


def _read_normalizers(normalizer: Json, pointer: str) -> list[str]:
    if normalizer is None:
        return []
    kind = _kind(normalizer, pointer)
    if kind in _FORMS:
        return [kind]
    if kind == "Sequence":
        inner = _list(normalizer, "normalizers", pointer)
        if any(isinstance(item, dict) and item.get("type") == "Sequence" for item in inner):
            raise _unsupported("a Sequence in a Sequence", pointer)
        steps = (_read_normalizers(item, f"{pointer}/normalizers/{row}") for row, item in enumerate(inner))
        return [name for step in steps for name in step]
    raise _unsupported(f"the normalizer {kind}", pointer)


def _read_pre_tokenizer(pre_tokenizer: Json) -> tuple[tuple[str, ...], bool]:
    """The split patterns, and whether a space goes in front."""
    pointer = "/pre_tokenizer"
    if pre_tokenizer is None:
        raise _unsupported("no pre-tokenizer (only ByteLevel is supported)", pointer)
    if _kind(pre_tokenizer, pointer) == "Sequence":
        steps = _list(pre_tokenizer, "pretokenizers", pointer)
        places = [f"{pointer}/pretokenizers/{row}" for row in range(len(steps))]
    else:
        steps, places = [pre_tokenizer], [pointer]
    patterns = []
    for step, place in zip(steps[:-1], places[:-1], strict=True):
        if _kind(step, place) != "Split":
            raise _unsupported(f"the pre-tokenizer {step['type']} before the last one", place)
        patterns.append(_read_split(step, place))
    last, place = (steps[-1], places[-1]) if steps else (None, pointer)
    if last is None or _kind(last, place) != "ByteLevel":
        raise _unsupported("a pre-tokenizer that does not end with ByteLevel", place)
    prefix_space = _flag(last, "add_prefix_space", place, default=True)
    if prefix_space and patterns:
        raise _unsupported("add_prefix_space after a Split", f"{place}/add_prefix_space")
    if _flag(last, "use_regex", place, default=True):
        patterns.append(GPT2)
    return tuple(patterns), prefix_space


def _read_split(step: Mapping[str, Json], place: str) -> str:
    pattern = step.get("pattern")
    # What matches and what lies between are pieces alike, so that inverting them changes nothing.
    _flag(step, "invert", place, default=False)
    if step.get("behavior") != "Isolated":
        raise _unsupported(f"the behavior {step.get('behavior')} of a Split", f"{place}/behavior")
    if isinstance(pattern, dict) and len(pattern) != 1:
        raise FormatError("a pattern is one of String and Regex", pointer=f"{place}/pattern")
    if isinstance(pattern, dict) and isinstance(pattern.get("String"), str):
        return str(re.escape(pattern["String"]))
    if not isinstance(pattern, dict) or not isinstance(pattern.get("Regex"), str):
        raise FormatError("a Split needs a pattern", pointer=f"{place}/pattern")
    return oniguruma.portable(pattern["Regex"], f"{place}/pattern/Regex")


def _check_decoder(decoder: Json) -> None:
    kind = None if decoder is None else _kind(decoder, "/decoder")
    if kind != "ByteLevel":
        raise _unsupported(f"the decoder {kind} (only ByteLevel is supported)", "/decoder")


def _kind(stage: Json, pointer: str) -> str:
    kind = stage.get("type") if isinstance(stage, dict) else None
    if not isinstance(kind, str):
        raise FormatError("a stage needs a type", pointer=pointer)
    # Of a stage that is not known at all, its name is what will be refused.
    for key in stage.keys() - _STAGE_KEYS.get(kind, stage.keys()):
        raise _unsupported(f"{key} in {kind}", f"{pointer}/{key}")
    return kind


def _flag(stage: Mapping[str, Json], name: str, pointer: str, *, default: bool) -> bool:
    value = stage.get(name, default)
    if type(value) is not bool:
        raise FormatError(f"{name} is {value!r}, not true or false", pointer=f"{pointer}/{name}")
    return value


def _list(table: Mapping[str, Json], name: str, pointer: str) -> list[Json]:
    value = table.get(name, [])
    if not isinstance(value, list):
        raise FormatError(f"{name} is not a list", pointer=f"{pointer}/{name}")
    return value


def _unsupported(what: str, pointer: str) -> FormatError:
    return FormatError(f"not supported: {what}", pointer=pointer, remedy="load it with the library it was made for")


def _pointer(parent: str, key: str) -> str:
    return f"{parent}/{key.replace('~', '~0').replace('/', '~1')}"


def write(spec: TokenizerSpec) -> bytes:
    """Writes a tokenizer so that ``tokenizers`` gives the same ids (with its post-processor off).

    Raises:
        FormatError: It holds something that the format cannot hold.
    """
    # What was loaded is seldom saved again.
    from bytepair.semantics import to_merges  # noqa: PLC0415

    model = to_merges(spec.byte_pair)
    spelled = {id: byte_alphabet.to_characters(token) for token, id in zip(model.tokens, model.ids, strict=True)}
    vocab = {token: id for id, token in spelled.items()}
    outside = [token for token in spec.added_tokens if token.id not in spelled]
    for token in outside:
        if token.content in vocab:
            raise FormatError(
                f"the added token {token.content!r} is spelled like the token with id {vocab[token.content]}",
                remedy="save as the native format, which holds both",
            )
    # `tokenizers` numbers added tokens that are not in the vocabulary from its size on, whatever the file says.
    if [token.id for token in outside] != list(range(len(vocab), len(vocab) + len(outside))):
        vocab |= {token.content: token.id for token in outside}
    table = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": row.id, **{name: value for name, value in row._asdict().items() if name != "id"}}
            for row in map(added_row, spec.added_tokens)
        ],
        "normalizer": _write_normalizers(spec.normalizers),
        "pre_tokenizer": _write_pre_tokenizer(spec.split, prefix_space=spec.prefix_space),
        "post_processor": None if spec.post_processor is None else json.loads(spec.post_processor),
        "decoder": _byte_level(),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": model.ignore_merges,
            "vocab": dict(sorted(vocab.items(), key=lambda item: item[1])),
            "merges": [[spelled[left], spelled[right]] for left, right in model.merges or ()],
        },
    }
    return _dumps(table).encode()


def _dumps(table: dict[str, Any]) -> str:
    """What `json.dumps` with ``indent=1`` gives; that takes ten times as long over many tokens."""
    model = table["model"]
    quote = json.encoder.encode_basestring
    vocab = ",".join(f"\n   {quote(token)}: {id}" for token, id in model["vocab"].items())
    merges = ",".join(f"\n   [\n    {quote(left)},\n    {quote(right)}\n   ]" for left, right in model["merges"])
    rest = json.dumps({**table, "model": {**model, "vocab": {}, "merges": []}}, ensure_ascii=False, indent=1)
    # They come last, so that nothing that stands before them can be taken for them.
    before, _, after = rest.rpartition('"vocab": {},\n  "merges": []')
    return "".join(
        (
            before,
            '"vocab": {' + vocab + "\n  }" if vocab else '"vocab": {}',
            ',\n  "merges": [' + merges + "\n  ]" if merges else ',\n  "merges": []',
            after,
        )
    )


def _write_normalizers(names: Sequence[str]) -> Json:
    if len(names) == 1:
        return {"type": names[0]}
    return {"type": "Sequence", "normalizers": [{"type": name} for name in names]} if names else None


def _write_pre_tokenizer(patterns: Sequence[str], *, prefix_space: bool) -> Json:
    if tuple(patterns) in ((), (GPT2,)):
        return _byte_level(add_prefix_space=prefix_space, use_regex=bool(patterns))
    if prefix_space:
        raise FormatError(
            "tokenizer.json cannot hold prefix_space with this split pattern", remedy="save as the native format"
        )
    splits = [
        {
            "type": "Split",
            "pattern": {"Regex": oniguruma.portable(pattern, None)},
            "behavior": "Isolated",
            "invert": False,
        }
        for pattern in patterns
    ]
    return {"type": "Sequence", "pretokenizers": [*splits, _byte_level(add_prefix_space=False, use_regex=False)]}


def _byte_level(*, add_prefix_space: bool = True, use_regex: bool = True) -> dict[str, Json]:
    return {
        "type": "ByteLevel",
        "add_prefix_space": add_prefix_space,
        "trim_offsets": True,
        "use_regex": use_regex,
    }
