"""``vocab.txt`` of BERT: a token a line, whose number is its id; and ``tokenizer_config.json`` beside it.

The model is WordPiece. The other stages are those of BERT: ``BertNormalizer`` and ``BertPreTokenizer``, a
template with ``[CLS]`` and ``[SEP]``, and special tokens by their names. ``do_lower_case``, ``strip_accents`` and
``tokenize_chinese_chars`` come from the configuration; without one, text is lowercased unless a token has a capital
letter, which lowercased text never has.

Source: BERT's ``tokenization.py``, and its conversion to ``tokenizers`` in ``transformers``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bytepair._core import Columns
from bytepair.errors import FormatError
from bytepair.formats.text_files import lines
from bytepair.model.models import WordPiece, model_options
from bytepair.model.packed import PackedModel
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.steps import spell_step

if TYPE_CHECKING:
    from collections.abc import Mapping

_SPECIAL = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
_PRE_TOKENIZERS = ("BertPreTokenizer",)
_DECODERS = (spell_step({"type": "WordPiece", "prefix": "##", "cleanup": True}),)
_OPTIONS = {"do_lower_case": "lowercase", "strip_accents": "strip_accents"}
_OPTIONS |= {"tokenize_chinese_chars": "handle_chinese_chars"}


def looks_like(data: bytes) -> bool:
    """Whether it is text with ``[UNK]`` as a line."""
    return b"\n[UNK]" in data[: 1 << 20] or data.startswith(b"[UNK]")


def read(data: bytes, config: Mapping[str, Any] | None = None) -> TokenizerSpec:
    r"""Reads a vocabulary.

    Args:
        data: ``vocab.txt``.
        config: ``tokenizer_config.json``, parsed.

    Raises:
        FormatError: A line is not UTF-8, is empty or occurs twice; ``line`` names it. Or a special token is missing.

    Example:
        >>> read(b"[UNK]\nlow\n##er\n").model.tokens
        (b'[UNK]', b'low', b'##er')
    """
    config = config or {}
    tokens = _tokens(data)
    names = {key: _name(config, f"{key}_token", standard) for key, standard in _SPECIAL.items()}
    ids = {token: id for id, token in enumerate(tokens)}
    if names["unk"] not in ids:
        raise FormatError(f"the vocabulary has no {names['unk']}", remedy="is the file whole? fetch it again")
    capital = any(token != token.lower() and token not in names.values() for token in tokens if token.isascii())
    options = {
        "clean_text": True,
        "handle_chinese_chars": _flag(config, "tokenize_chinese_chars", default=True),
        "strip_accents": _flag(config, "strip_accents", default=None),
        "lowercase": _flag(config, "do_lower_case", default=not capital),
    }
    present = {key: ids[name] for key, name in names.items() if name in ids}
    added = sorted({id: names[key] for key, id in present.items()}.items())
    # The model gets no special tokens, so text never becomes one.
    kept = [(token, id) for token, id in ids.items() if token not in names.values() or token == names["unk"]]
    columns = Columns([token.encode() for token, _ in kept], [id for _, id in kept], None)
    return TokenizerSpec(
        PackedModel(columns, model_options(WordPiece((), (), unk_token=names["unk"]))),
        added_tokens=tuple(AddedToken(name, id) for id, name in added),
        normalizers=(spell_step({"type": "BertNormalizer", **options}),),
        pre_tokenizers=_PRE_TOKENIZERS,
        decoders=_DECODERS,
        post_processor=template(names["cls"], names["sep"], ids) if {"cls", "sep"} <= present.keys() else None,
        roles=tuple((role, names[role]) for role in present),
    )


def _tokens(data: bytes) -> list[str]:
    tokens = [line.removesuffix("\r") for line in lines(data, "vocab.txt")]
    if not tokens[-1]:
        tokens.pop()
    seen: dict[str, int] = {}
    for number, token in enumerate(tokens, 1):
        if not token:
            raise FormatError("the line is empty", line=number, remedy="each line is a token")
        if seen.setdefault(token, number) != number:
            raise FormatError(f"the token {token!r} is also in line {seen[token]}", line=number)
    return tokens


def _name(config: Mapping[str, Any], key: str, standard: str) -> str:
    value = config.get(key)
    value = value.get("content") if isinstance(value, dict) else value
    if value is None:
        return standard
    if not isinstance(value, str) or not value:
        raise FormatError(f"{key} is {value!r}", pointer=f"/{key}")
    return value


def _flag(config: Mapping[str, Any], key: str, *, default: bool | None) -> bool | None:
    value = config.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise FormatError(f"{key} is {value!r}, not true or false", pointer=f"/{key}")
    return value


def template(cls: str, sep: str, ids: Mapping[str, int]) -> str:
    """The post-processor that puts `cls` in front and `sep` behind each of one or two texts."""
    first, second = ({"Sequence": {"id": name, "type_id": row}} for row, name in enumerate("AB"))
    begin, end, last = ({"SpecialToken": {"id": name, "type_id": row}} for name, row in ((cls, 0), (sep, 0), (sep, 1)))
    tokens = {name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in (cls, sep)}
    step = {"type": "TemplateProcessing", "single": [begin, first, end], "pair": [begin, first, end, second, last]}
    return json.dumps({**step, "special_tokens": tokens}, ensure_ascii=False)


def write(spec: TokenizerSpec) -> tuple[bytes, bytes]:
    """Writes ``vocab.txt`` and ``tokenizer_config.json``.

    Raises:
        FormatError: The tokenizer has a feature that they cannot hold; the error names it.
    """
    model = spec.model
    if not isinstance(model, WordPiece):
        raise _cannot(f"a model of the kind {type(model).__name__}")
    rows = dict(zip(model.ids, model.tokens, strict=True))
    rows |= {token.id: token.content.encode() for token in spec.added_tokens}
    if sorted(rows) != list(range(len(rows))):
        raise _cannot("ids with holes")
    step = json.loads(spec.normalizers[0]) if len(spec.normalizers) == 1 and spec.normalizers[0][:1] == "{" else {}
    if step.get("type") != "BertNormalizer":
        raise _cannot("normalizers other than BertNormalizer")
    config: dict[str, Any] = {key: step.get(option) for key, option in _OPTIONS.items()}
    config |= {f"{key}_token": name for key, name in _named(spec, model).items()}
    config["tokenizer_class"] = "BertTokenizer"
    vocabulary = b"".join(rows[id] + b"\n" for id in range(len(rows)))
    return vocabulary, json.dumps(config, ensure_ascii=False, indent=2).encode() + b"\n"


def _named(spec: TokenizerSpec, model: WordPiece) -> dict[str, str]:
    """The special tokens by role, as far as the tokenizer defines them."""
    names = {key: name for key, name in _SPECIAL.items() if name in spec.special_tokens} | {"unk": model.unk_token}
    post = json.loads(spec.post_processor) if spec.post_processor else {}
    parts = [part["SpecialToken"]["id"] for part in post.get("single", []) if "SpecialToken" in part]
    return names | dict(zip(("cls", "sep"), parts, strict=False))


def _cannot(what: str) -> FormatError:
    return FormatError(f"vocab.txt cannot hold {what}", remedy="save as tokenizer.json or native")
