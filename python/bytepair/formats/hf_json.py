"""Reads and writes ``tokenizer.json`` of the ``tokenizers`` package.

Unsupported features raise an error with their name and JSON pointer; none is ignored.
Source: the serialization of ``tokenizers`` (``tokenizer/serialization.rs`` and the modules that it names).
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, cast

from bytepair._core import Columns, FileVocab, JsonMerges, read_byte_alphabet, write_decimal
from bytepair.errors import FormatError, TokenizerWarning
from bytepair.formats import hf_models, hf_stages
from bytepair.formats.hf_common import Json, PassedOverWarning, list_of, pointer_to, shown, unsupported
from bytepair.model import byte_alphabet
from bytepair.model.checks import BYTES_IN_TEXT, MOST_IDS
from bytepair.model.packed import PackedModel
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.steps import parse_step

_STAGES = {"normalizer", "pre_tokenizer", "post_processor", "decoder", "model"}
_KEYS = {"version", "truncation", "padding", "added_tokens"} | _STAGES
_FLAGS = AddedToken._fields[2:]
_KEYS_OF_ADDED = frozenset(AddedToken._fields)


def looks_like(table: Json) -> bool:
    """Whether a parsed JSON file is a ``tokenizer.json``."""
    return isinstance(table, dict) and isinstance(table.get("model"), dict)


def read(table: Json, *, special_apart: bool = True) -> TokenizerSpec:
    """Reads a parsed ``tokenizer.json``.

    Args:
        table: The parsed file; its vocabulary and merges may be in the core.
        special_apart: Whether a model that is spelled in characters leaves special tokens to the added tokens, so that
            text never becomes one; ``tokenizers`` does not.

    Raises:
        FormatError: Something in it is broken or not supported; ``pointer`` locates it.
    """
    for key in table.keys() - _KEYS:
        raise unsupported(key, f"/{key}")
    if table.get("version", "1.0") != "1.0":
        raise unsupported(f"version {shown(table['version'])}", "/version")
    for key in ("truncation", "padding"):
        if table.get(key) is not None:
            warnings.warn(
                f"the file's {key} is not applied: it is an option of each call", TokenizerWarning, stacklevel=4
            )
    added = [_read_added(token, f"/added_tokens/{row}") for row, token in enumerate(list_of(table, "added_tokens", ""))]
    if special_apart:
        # The face of `tokenizers`, which keeps them with the model, numbers them itself.
        added = _numbered(added, table["model"].get("vocab"))
    post_processor, padding = table.get("post_processor"), table.get("padding")
    pad = padding.get("pad_token") if isinstance(padding, dict) else None
    stages: dict[str, Any] = {
        "added_tokens": tuple(sorted(added, key=lambda token: token.id)),
        "normalizers": hf_stages.read_steps("normalizer", table.get("normalizer")),
        "post_processor": None if post_processor is None else json.dumps(post_processor, ensure_ascii=False),
        "roles": (("pad", pad),) if isinstance(pad, str) and pad else (),
    }
    model = table["model"]
    pieces = _byte_pieces(table)
    if pieces is not None:
        columns = _read_bpe(model, {token.content: token.id for token in added})
        packed = PackedModel(columns, ignore_merges=model.get("ignore_merges", False))
        return TokenizerSpec(packed, **stages, **pieces._asdict())
    from bytepair.formats import hf_spelled  # noqa: PLC0415 (models of bytes are read without its dataclasses)

    special = {token.content for token in added if special_apart and token.special and not token.single_word}
    return TokenizerSpec(
        hf_spelled.read(model, special),
        **stages,
        pre_tokenizers=hf_stages.read_steps("pre_tokenizer", table.get("pre_tokenizer")),
        decoders=hf_stages.read_steps("decoder", table.get("decoder")),
    )


def _numbered(added: list[AddedToken], vocab: Json) -> list[AddedToken]:
    """The added tokens, numbered as `tokenizers` does if the vocabulary gives one of their ids to another token.

    A token of the vocabulary keeps its id there; others are numbered from its size, in the order of the file.
    """
    ids: dict[str, Json] | FileVocab
    if isinstance(vocab, list):
        ids = {row[0]: id for id, row in enumerate(vocab) if _is_row(row)}
    else:
        ids = vocab if isinstance(vocab, dict | FileVocab) else {}
    outside = {token.id for token in added if ids.get(token.content) != token.id}
    if isinstance(ids, FileVocab):
        is_free = ids.lacks_ids(outside)
    else:
        is_free = outside.isdisjoint(id for id in ids.values() if type(id) is int)
    if is_free:
        return added
    numbered: list[AddedToken] = []
    last = -1
    for token in added:
        known = ids.get(token.content)
        id = known if type(known) is int else max(last + 1, len(ids))
        last = max(last, id)
        numbered.append(token._replace(id=id))
    changed = [(one, other) for one, other in zip(added, numbered, strict=True) if one != other]
    if not changed:
        # The vocabulary has holes, and the next number is in it: what two tokens share is refused with the tokens.
        return added
    (one, other), more = changed[0], len(changed) - 1
    warnings.warn(
        f"the vocabulary gives the id {one.id} of the added token {one.content!r} to another token: as in `tokenizers` "
        f"its id is {other.id}" + (f", and {more} more have other ids than in the file" if more else ""),
        PassedOverWarning,
        stacklevel=4,
    )
    return numbered


def _is_row(row: Json) -> bool:
    return isinstance(row, list) and len(row) == 2 and isinstance(row[0], str)


def _byte_pieces(table: Json) -> hf_stages.BytePieces | None:
    """The split patterns, if the tokens of this tokenizer are bytes."""
    model, decoder = table["model"], table.get("decoder")
    spelled = ("byte_fallback", "continuing_subword_prefix", "end_of_word_suffix")
    if hf_models.kind_of_model(model) != "BPE" or any(model.get(key) for key in spelled):
        return None
    steps = hf_stages.read_steps("decoder", decoder)
    if [parse_step(step)["type"] for step in steps] != ["ByteLevel"]:
        return None
    pieces = hf_stages.read_byte_pieces(table.get("pre_tokenizer"))
    # With an unknown token a vocabulary may lack bytes; then it is one of characters.
    may_lack = model.get("unk_token") is not None and isinstance(model.get("vocab"), dict | FileVocab)
    return None if may_lack and not _is_of_bytes(model["vocab"], list_of(table, "added_tokens", "")) else pieces


def _is_of_bytes(vocab: dict[str, Json] | FileVocab, added: list[Json]) -> bool:
    """Whether all bytes that text can hold are tokens, and all tokens are spelled in the byte alphabet."""
    if isinstance(vocab, FileVocab):
        return vocab.is_of_bytes([token["content"] for token in added])
    if any(byte_alphabet.to_characters(bytes([byte])) not in vocab for byte in BYTES_IN_TEXT):
        return False
    contents = {token.get("content") for token in added if isinstance(token, dict)}
    return all(token in contents or byte_alphabet.to_bytes(token) is not None for token in vocab)


def read_model(
    vocab: Json,
    merges: Json,
    *,
    added: Mapping[str, int],
    vocab_pointer: str,
    merge_place: Callable[[int], dict[str, Any]],
) -> Columns:
    """A model from a vocabulary and merges in the byte alphabet.

    An added token that is also in the vocabulary is a token of the model only if a merge produces it or it is a
    byte: otherwise text could become it without a match. Tokens that are empty or not written in the byte alphabet are
    unreachable: no merge makes them.

    Raises:
        FormatError: An id, a token or a merge is broken; the error locates it.
    """
    if not hf_models.is_object(vocab) or not isinstance(merges, list | JsonMerges):
        raise FormatError("the vocabulary is not an object or the merges are not a list", pointer=vocab_pointer or "/")
    columns = read_byte_alphabet(vocab, merges, list(added))
    if columns is not None:
        return columns
    vocab, merges = hf_models.in_python(vocab), hf_models.in_python(merges)
    return read_model_carefully(vocab, merges, added, vocab_pointer=vocab_pointer, merge_place=merge_place)


def read_model_carefully(
    vocab: dict[str, Json],
    merges: list[Json],
    added: Mapping[str, int],
    *,
    vocab_pointer: str,
    merge_place: Callable[[int], dict[str, Any]],
) -> Columns:
    """As `read_model`, but slow, with an error that locates the fault."""
    for token, id in vocab.items():
        if type(id) is not int or not 0 <= id < MOST_IDS:
            raise FormatError(f"the id of {shown(token)} is {shown(id)}", pointer=pointer_to(vocab_pointer, token))
    pairs = [_read_merge(merge, merge_place(row)) for row, merge in enumerate(merges)]
    made = {left + right for left, right in pairs}
    kept = {token: id for token, id in vocab.items() if token not in added or token in made or _is_byte(token)}
    by_id = sorted(kept.items(), key=lambda item: item[1])
    for (token, id), (_, following) in pairwise(by_id):
        if id == following:
            raise FormatError(f"two tokens have the id {id}", pointer=pointer_to(vocab_pointer, token))
    bytes_of = {token: byte_alphabet.to_bytes(token) for token in vocab}
    strange = {token for token, spelled in bytes_of.items() if not spelled}
    used = made.union(*pairs)
    if used & strange:
        token = min(used & strange)
        raise FormatError(
            f"the token {shown(token)} of a merge is not written in the byte alphabet",
            pointer=pointer_to(vocab_pointer, token),
            remedy="is the file whole? fetch it again",
        )
    ids = []
    for row, (left, right) in enumerate(pairs):
        for part in (left, right, left + right):
            if part not in kept:
                why = "an added token that no merge makes" if part in vocab else "not in the vocabulary"
                raise FormatError(
                    f"the merge of {shown(left)} and {shown(right)} needs {shown(part)}, which is {why}",
                    **merge_place(row),
                    remedy="is the file whole? fetch it again",
                )
        ids.append((kept[left], kept[right]))
    reachable = [(cast("bytes", bytes_of[token]), id) for token, id in by_id if token not in strange]
    unreachable = [(token, id) for token, id in by_id if token in strange]
    return Columns([token for token, _ in reachable], [id for _, id in reachable], ids, None, unreachable)


def _is_byte(token: str) -> bool:
    return len(token) == 1 and byte_alphabet.to_bytes(token) is not None


def _read_merge(merge: Json, place: dict[str, Any]) -> tuple[str, str]:
    parts = merge.split(" ") if isinstance(merge, str) else merge
    if isinstance(parts, list) and len(parts) == 2 and all(isinstance(part, str) and part for part in parts):
        return parts[0], parts[1]
    raise FormatError(f"{shown(merge)} is not a merge of two tokens", **place)


def _read_bpe(model: Mapping[str, Json], added: Mapping[str, int]) -> Columns:
    hf_models.warn_of_dropout(model)
    # With all 256 bytes in the vocabulary, nothing is ever unknown.
    if not isinstance(model.get("unk_token"), str | None):
        raise FormatError(f"unk_token is {shown(model['unk_token'])}", pointer="/model/unk_token")
    for flag in ("ignore_merges", "fuse_unk"):
        if type(model.get(flag, False)) is not bool:
            raise FormatError(f"{flag} is {shown(model[flag])}, not true or false", pointer=f"/model/{flag}")
    return read_model(
        model.get("vocab"),
        model.get("merges"),
        added=added,
        vocab_pointer="/model/vocab",
        merge_place=lambda row: {"pointer": f"/model/merges/{row}"},
    )


def _read_added(token: Json, pointer: str) -> AddedToken:
    if not isinstance(token, dict) or not isinstance(token.get("content"), str) or type(token.get("id")) is not int:
        raise FormatError(f"{shown(token)} is not an added token", pointer=pointer)
    if not token.keys() <= _KEYS_OF_ADDED:
        key = min(token.keys() - _KEYS_OF_ADDED)
        raise unsupported(key, f"{pointer}/{key}")
    flags = [token.get(flag, False) for flag in _FLAGS]
    for flag, value in zip(_FLAGS, flags, strict=True):
        if type(value) is not bool:
            raise FormatError(f"{flag} is {shown(value)}, not true or false", pointer=f"{pointer}/{flag}")
    if not 0 <= token["id"] < MOST_IDS:
        raise FormatError(f"the id is {shown(token['id'])}", pointer=f"{pointer}/id")
    return AddedToken(token["content"], token["id"], *flags)


def write(spec: TokenizerSpec) -> bytes:
    """Writes a tokenizer for which ``tokenizers`` returns the same ids (with its post-processor off).

    Raises:
        FormatError: It holds something that the format cannot hold.
    """
    table = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": row.id, **{name: value for name, value in row._asdict().items() if name != "id"}}
            for row in spec.added_tokens
        ],
        "normalizer": hf_stages.write_steps("normalizer", spec.normalizers),
        "pre_tokenizer": None,
        "post_processor": None if spec.post_processor is None else json.loads(spec.post_processor),
        "decoder": None,
        "model": None,
    }
    if not spec.is_byte_level:
        if spec.split or spec.prefix_space:
            raise FormatError(
                "tokenizer.json cannot hold split patterns with a model of characters",
                remedy="express them as pre_tokenizers, or save as the native format",
            )
        table["pre_tokenizer"] = hf_stages.write_steps("pre_tokenizer", spec.pre_tokenizers)
        table["decoder"] = hf_stages.write_steps("decoder", spec.decoders)
        from bytepair.formats import hf_spelled  # noqa: PLC0415 (as in `read`)

        table["model"] = hf_spelled.write(spec.model, spec.added_tokens)
    else:
        table["pre_tokenizer"] = hf_stages.write_byte_pieces(spec.split, prefix_space=spec.prefix_space)
        table["decoder"] = hf_stages.byte_level()
        table["model"] = _write_bpe(spec)
    return _dumps(table).encode()


def _write_bpe(spec: TokenizerSpec) -> dict[str, Json]:
    # Most loaded tokenizers are never saved.
    from bytepair.model.semantics import to_merges  # noqa: PLC0415

    model = to_merges(spec.byte_pair)
    spelled = {id: byte_alphabet.to_characters(token) for token, id in zip(model.tokens, model.ids, strict=True)}
    vocab = {token: id for id, token in spelled.items()} | dict(model.unreachable)
    outside = [token for token in spec.added_tokens if token.id not in spelled]
    for token in outside:
        if token.content in vocab:
            raise FormatError(
                f"the added token {token.content!r} is spelled like the token with id {vocab[token.content]}",
                remedy="save as the native format, which holds both",
            )
    # `tokenizers` numbers added tokens outside the vocabulary from its size on, and ignores the ids in the file.
    if [token.id for token in outside] != list(range(len(vocab), len(vocab) + len(outside))):
        vocab |= {token.content: token.id for token in outside}
    return {
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
    }


def _dumps(table: dict[str, Any]) -> str:
    """The output of `json.dumps` with ``indent=1``, ten times as fast for large vocabularies and many added tokens.

    Scores are spelled so that `tokenizers` reads them as they are.
    """
    rows = ",".join(
        "\n  {" + ",".join(f'\n   "{name}": {_scalar(value)}' for name, value in row.items()) + "\n  }"
        for row in table["added_tokens"]
    )
    # Whatever comes before the key is the same in all files, so that no text can be mistaken for it.
    before, key, after = _dumps_model({**table, "added_tokens": []}).partition('"added_tokens": [')
    return before + key + (rows + "\n " if rows else "") + after


def _scalar(value: str | int) -> str:
    return json.encoder.encode_basestring(value) if isinstance(value, str) else str(value).lower()


def _dumps_model(table: dict[str, Any]) -> str:
    model = table["model"]
    quote = json.encoder.encode_basestring
    if isinstance(model["vocab"], list):
        rows = ",".join(
            f"\n   [\n    {quote(token)},\n    {write_decimal(score)}\n   ]" for token, score in model["vocab"]
        )
        before, _, after = json.dumps(
            {**table, "model": {**model, "vocab": []}}, ensure_ascii=False, indent=1
        ).rpartition('"vocab": []')
        return before + ('"vocab": [' + rows + "\n  ]" if rows else '"vocab": []') + after
    if "merges" not in model:
        return json.dumps(table, ensure_ascii=False, indent=1)
    vocab = ",".join(f"\n   {quote(token)}: {id}" for token, id in model["vocab"].items())
    merges = ",".join(f"\n   [\n    {quote(left)},\n    {quote(right)}\n   ]" for left, right in model["merges"])
    rest = json.dumps({**table, "model": {**model, "vocab": {}, "merges": []}}, ensure_ascii=False, indent=1)
    # The two keys come last, so that no earlier text can be mistaken for them.
    before, _, after = rest.rpartition('"vocab": {},\n  "merges": []')
    return "".join(
        (
            before,
            '"vocab": {' + vocab + "\n  }" if vocab else '"vocab": {}',
            ',\n  "merges": [' + merges + "\n  ]" if merges else ',\n  "merges": []',
            after,
        )
    )
