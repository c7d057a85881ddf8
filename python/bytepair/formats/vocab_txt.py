"""``vocab.txt`` of BERT: a token a line, whose number is its id; and ``tokenizer_config.json`` beside it.

The model is WordPiece. The other stages are those of BERT: ``BertNormalizer`` and ``BertPreTokenizer``, a
template with ``[CLS]`` and ``[SEP]``, and special tokens by their names. ``do_lower_case``, ``strip_accents`` and
``tokenize_chinese_chars`` come from the configuration; without one, text is lowercased unless a token has a capital
letter, which lowercased text never has.

Source: BERT's ``tokenization.py``, and its conversion to ``tokenizers`` in ``transformers``.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair._core import read_lines, read_words
from bytepair.errors import FormatError
from bytepair.formats import esm
from bytepair.formats.classes import GENERAL, A, B, check_tokens, refused, refused_alone, template, warn_if_unknown
from bytepair.formats.text_files import lines
from bytepair.model.models import WordPiece, model_options
from bytepair.model.packed import PackedModel
from bytepair.model.spec import AddedToken, TokenizerSpec
from bytepair.model.steps import parse_step, spell_step

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_SPECIAL = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}


class _Class(NamedTuple):
    """The special tokens and the template of a class."""

    names: Mapping[str, str]
    """Its special tokens by their roles."""
    pair: tuple[str | int, ...]
    """The template for two texts, of roles and texts."""
    types: tuple[str, str]
    """The types of the parts of one text and of two."""
    strips: bool = False
    """Whether its mask takes the white space before it."""


_SINGLE: tuple[str | int, ...] = ("cls", A, "sep")
_BERT = _Class(_SPECIAL, ("cls", A, "sep", B, "sep"), ("000", "00011"))
_BOTH = {"bos": "<s>", "eos": "</s>"}
_MPNET = {"pad": "<pad>", "unk": "[UNK]", "cls": "<s>", "sep": "</s>", "mask": "<mask>"}
_FUNNEL = {"pad": "<pad>", "unk": "<unk>", "cls": "<cls>", "sep": "<sep>", "mask": "<mask>"}
_QUESTION = "question"
_CLASSES = {
    "RoCBert": _BERT,
    "MPNet": _Class(_BOTH | _MPNET, ("cls", A, "sep", "sep", B, "sep"), ("000", "000011"), strips=True),
    "Funnel": _Class(_BOTH | _FUNNEL, _BERT.pair, ("200", "20011")),
    # Behind a question stands the place of its answer, and a full stop.
    "Splinter": _Class(
        _SPECIAL | {_QUESTION: "[QUESTION]"}, ("cls", A, _QUESTION, ".", "sep", B, "sep"), ("000", "0000011")
    ),
}
_REFUSED = {"Bertweet", "Phobert", "RoFormer", "Tapas"}

_PRE_TOKENIZERS = ("BertPreTokenizer",)
_DECODERS = (spell_step({"type": "WordPiece", "prefix": "##", "cleanup": True}),)
_OPTIONS = {"do_lower_case": "lowercase", "strip_accents": "strip_accents"}
_OPTIONS |= {"tokenize_chinese_chars": "handle_chinese_chars"}


def looks_like(data: bytes) -> bool:
    """Whether it is text with ``[UNK]`` as a line, or Funnel's ``<unk>`` and tokens that continue a word, or ESM's."""
    begin = b"\n" + data[: 1 << 20]
    return b"\n[UNK]" in begin or (b"\n<unk>\n" in begin and b"\n##" in begin) or esm.looks_like(data)


def read(data: bytes, config: Mapping[str, Any] | None = None, name: str | None = None) -> TokenizerSpec:
    r"""Reads a vocabulary.

    Args:
        data: ``vocab.txt``.
        config: ``tokenizer_config.json``, parsed.
        name: The class of ``transformers``: some have other special tokens than BERT, or another template.

    Raises:
        FormatError: The class finds words in another way. A line is not UTF-8, is empty or occurs twice; ``line`` names
            it. Or a special token is missing.

    Example:
        >>> read(b"[UNK]\nlow\n##er\n").model.tokens
        (b'[UNK]', b'low', b'##er')
    """
    config = config or {}
    if name == "BertJapanese":
        raise refused_alone(name)
    if name in _REFUSED:
        raise refused(f"{name}Tokenizer finds words in another way than BERT, or adds more to a text")
    if name == "Esm" or (name is None and esm.looks_like(data)):
        return esm.read([token.decode() for token in ids_of_lines(data)], config)
    if name == "Splinter" and config.get("padding_side") == "left":
        raise refused("SplinterTokenizer with its padding on the left puts the question behind the text")
    if name not in _CLASSES:
        warn_if_unknown(name)
    of_class = _CLASSES.get(str(name), _BERT)
    names = {key: _name(config, f"{key}_token", standard) for key, standard in of_class.names.items()}
    vocab = read_lines(data) or {token.decode(): id for token, id in ids_of_lines(data).items()}
    found = {key: vocab.get(name) for key, name in names.items()}
    present = {key: id for key, id in found.items() if id is not None}
    if "unk" not in present:
        raise FormatError(f"the vocabulary has no {names['unk']}", remedy="is the file whole? fetch it again")
    # MPNet's and Funnel's vocabularies have the special tokens of BERT's.
    capital = _has_capital(data, {name.encode() for name in (*names.values(), *_SPECIAL.values())})
    options = {
        "clean_text": True,
        "handle_chinese_chars": _flag(config, "tokenize_chinese_chars", default=True),
        "strip_accents": _flag(config, "strip_accents", default=None),
        "lowercase": _flag(config, "do_lower_case", default=not capital),
    }
    added = sorted({id: names[key] for key, id in present.items()}.items())
    # The model gets no special tokens, so text never becomes one.
    columns = read_words(vocab, list(names.values()), names["unk"])
    assert columns is not None, "each line has an id of its own"
    mask = names["mask"] if of_class.strips else None
    spec = TokenizerSpec(
        PackedModel(columns, model_options(WordPiece((), (), unk_token=names["unk"]))),
        added_tokens=tuple(AddedToken(token, id, lstrip=token == mask) for id, token in added),
        normalizers=(spell_step({"type": "BertNormalizer", **options}),),
        pre_tokenizers=_PRE_TOKENIZERS,
        decoders=_DECODERS,
        roles=tuple((role, names[role]) for role in present if role != _QUESTION),
    )
    if not {"cls", "sep"} <= present.keys():
        return spec
    single, pair = ([names.get(str(part), part) for part in row] for row in (_SINGLE, of_class.pair))
    stop = vocab.get(".")
    known = {token: id for id, token in added} | ({} if stop is None else {".": stop})
    check_tokens((part for part in pair if isinstance(part, str)), known)
    return spec.replace(post_processor=template(single, pair, known, of_class.types))


def ids_of_lines(data: bytes) -> dict[bytes, int]:
    """The tokens with their ids."""
    texts = lines(data, "vocab.txt")
    tokens = data.split(b"\n") if b"\r" not in data else [text.removesuffix("\r").encode() for text in texts]
    if not tokens[-1]:
        tokens.pop()
    ids = dict(zip(tokens, range(len(tokens)), strict=True))
    if len(ids) == len(tokens) and b"" not in ids:
        return ids
    seen: dict[bytes, int] = {}
    for number, token in enumerate(tokens, 1):
        if not token:
            raise FormatError("the line is empty", line=number, remedy="each line is a token")
        if seen.setdefault(token, number) != number:
            raise FormatError(f"the token {token.decode()!r} is also in line {seen[token]}", line=number)
    return ids


def _has_capital(data: bytes, special: Collection[bytes]) -> bool:
    """Whether a line of ASCII has a capital letter and is none of the special tokens."""
    rest = b"\n" + data + b"\n"
    for token in special:
        rest = rest.replace(b"\n" + token + b"\n", b"\n")
    if rest == rest.lower():
        return False
    for found in re.finditer(rb"[A-Z]", data):
        start, end = data.rfind(b"\n", 0, found.start()) + 1, data.find(b"\n", found.end())
        line = data[start : end if end >= 0 else None].removesuffix(b"\r")
        if line.isascii() and line not in special:
            return True
    return False


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


def with_settings(spec: TokenizerSpec, name: str | None, config: Mapping[str, Any]) -> TokenizerSpec:
    """A tokenizer that normalizes as BERT does, with the settings of its folder if they are those of a class.

    BERT's classes change the normalizer of a ``tokenizer.json`` by them, and the general one does not.

    Raises:
        FormatError: A setting is neither true nor false.
    """
    if name is None or name in GENERAL:
        return spec
    stated = {option: _flag(config, key, default=None) for key, option in _OPTIONS.items()}
    step = parse_step(spec.normalizers[0]) | {option: flag for option, flag in stated.items() if flag is not None}
    return spec.replace(normalizers=(spell_step(step),))


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
