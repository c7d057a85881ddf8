"""The post-processor of ``tokenizer.json``, read and checked.

Source: the serialization of ``tokenizers`` (``processors/`` there).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytepair.call.post_processors import (
    BertProcessing,
    ByteLevel,
    Processor,
    RobertaProcessing,
    TemplatePiece,
    TemplateProcessing,
)
from bytepair.errors import FormatError
from bytepair.model.checks import MOST_IDS

if TYPE_CHECKING:
    from collections.abc import Collection

Json = Any

_MOST_PROCESSORS = 32
_MOST_ADDED = 1024
"""The most ids that a template may add to one text or pair; real ones add a few."""
_MOST_TEXTS = 16
"""The most uses of the texts in a template."""

_MOST_NESTED = 64
"""The most levels of nested ``Sequence``."""


def read(table: Json) -> list[Processor]:
    """Reads a parsed post-processor: its kinds in order, with nested sequences flattened.

    Raises:
        FormatError: It is malformed or of an unknown kind; ``pointer`` locates the fault.

    Example:
        >>> read({"type": "ByteLevel", "trim_offsets": True, "add_prefix_space": False})
        [ByteLevel(trim_offsets=True, add_prefix_space=False)]
    """
    processors: list[Processor] = []
    waiting: list[tuple[Json, str, int]] = [(table, "/post_processor", 0)]
    while waiting:
        table, pointer, depth = waiting.pop()
        if len(processors) >= _MOST_PROCESSORS:
            raise FormatError(
                "too many post-processors in a row", pointer=pointer, remedy=f"use at most {_MOST_PROCESSORS}"
            )
        kind = table.get("type") if isinstance(table, dict) else None
        if kind == "Sequence":
            _check_keys(table, {"processors"}, pointer)
            inner = _typed(table, "processors", list, pointer)
            if depth >= _MOST_NESTED:
                raise FormatError("too many sequences of post-processors in one another", pointer=pointer)
            waiting.extend(
                (each, f"{pointer}/processors/{place}", depth + 1) for place, each in reversed([*enumerate(inner)])
            )
        elif kind == "ByteLevel":
            _check_keys(table, {"trim_offsets", "add_prefix_space", "use_regex"}, pointer)
            _typed({"use_regex": True, **table}, "use_regex", bool, pointer)
            processors.append(
                ByteLevel(_flag(table, "trim_offsets", pointer), _flag(table, "add_prefix_space", pointer))
            )
        elif kind == "BertProcessing":
            _check_keys(table, {"sep", "cls"}, pointer)
            processors.append(BertProcessing(_token(table, "sep", pointer), _token(table, "cls", pointer)))
        elif kind == "RobertaProcessing":
            _check_keys(table, {"sep", "cls", "trim_offsets", "add_prefix_space"}, pointer)
            processors.append(
                RobertaProcessing(
                    _token(table, "sep", pointer),
                    _token(table, "cls", pointer),
                    _flag(table, "trim_offsets", pointer),
                    _flag(table, "add_prefix_space", pointer),
                )
            )
        elif kind == "TemplateProcessing":
            processors.append(_read_template(table, pointer))
        else:
            what = repr(kind)[:80] if isinstance(table, dict) else f"what is no object ({type(table).__name__})"
            raise FormatError(
                f"the post-processor {what} is unknown",
                pointer=pointer,
                remedy="there are TemplateProcessing, ByteLevel, RobertaProcessing, BertProcessing and Sequence",
            )
    return processors


def _read_template(table: Json, pointer: str) -> TemplateProcessing:
    # `tokenizers` passes over the options of a ByteLevel that Cohere's files have here.
    _check_keys(table, {"single", "pair", "special_tokens", "add_prefix_space", "trim_offsets", "use_regex"}, pointer)
    special: dict[str, tuple[list[int], list[str]]] = {}
    for name, token in _typed(table, "special_tokens", dict, pointer).items():
        place = f"{pointer}/special_tokens/{_escaped(name)}"
        if not isinstance(token, dict):
            raise FormatError("a special token is an object", pointer=place)
        _check_keys(token, {"id", "ids", "tokens"}, place)
        _typed(token, "id", str, place)
        ids, tokens = _typed(token, "ids", list, place), _typed(token, "tokens", list, place)
        ids = [_id(id, f"{place}/ids/{row}") for row, id in enumerate(ids)]
        if len(ids) != len(tokens) or not all(isinstance(text, str) for text in tokens):
            raise FormatError("a special token has one text for each of its ids", pointer=f"{place}/tokens")
        special[name] = (ids, tokens)
    single, pair = (
        [
            _read_piece(piece, special, f"{pointer}/{name}/{row}", most=most)
            for row, piece in enumerate(_typed(table, name, list, pointer))
        ]
        for name, most in (("single", 0), ("pair", 1))
    )
    for name, pieces in (("single", single), ("pair", pair)):
        texts, ids = sum(piece.sequence is not None for piece in pieces), sum(len(piece.ids) for piece in pieces)
        if texts > _MOST_TEXTS or ids > _MOST_ADDED or len(pieces) > _MOST_ADDED:
            raise FormatError(
                f"the template has {len(pieces)} pieces with {texts} texts and {ids} ids",
                pointer=f"{pointer}/{name}",
                remedy=f"use at most {_MOST_TEXTS} texts and {_MOST_ADDED} pieces and ids",
            )
    return TemplateProcessing(single, pair)


def _read_piece(
    piece: Json, special: dict[str, tuple[list[int], list[str]]], pointer: str, *, most: int
) -> TemplatePiece:
    if not isinstance(piece, dict) or len(piece) != 1 or not piece.keys() <= {"Sequence", "SpecialToken"}:
        raise FormatError("a piece of a template is a Sequence or a SpecialToken", pointer=pointer)
    [(kind, body)] = piece.items()
    pointer = f"{pointer}/{kind}"
    if not isinstance(body, dict):
        raise FormatError(f"a {kind} of a template is an object", pointer=pointer)
    _check_keys(body, {"id", "type_id"}, pointer)
    name = _typed(body, "id", str, pointer)
    type_id = _id(body.get("type_id"), f"{pointer}/type_id")
    if kind == "SpecialToken":
        if name not in special:
            raise FormatError(f"the template's special token {name!r} is not defined", pointer=f"{pointer}/id")
        return TemplatePiece(None, *special[name], type_id)
    if name not in ("A", "B"):
        raise FormatError(f"a sequence is A or B, not {name!r}", pointer=f"{pointer}/id")
    if name == "B" and not most:
        raise FormatError("the template of a single text uses the second of a pair", pointer=f"{pointer}/id")
    return TemplatePiece("AB".index(name), [], [], type_id)


def _check_keys(table: dict[str, Json], known: Collection[str], pointer: str) -> None:
    for key in table:
        if key != "type" and key not in known:
            raise FormatError(
                f"the post-processor's {key!r} is not supported", pointer=f"{pointer}/{_escaped(str(key))}"
            )


def _typed(table: dict[str, Json], key: str, kind: type, pointer: str) -> Any:
    if not isinstance(table.get(key), kind):
        names = {list: "a list", dict: "an object", str: "a string", bool: "true or false"}
        raise FormatError(f"{key} is {names[kind]}", pointer=f"{pointer}/{key}")
    return table[key]


def _flag(table: dict[str, Json], key: str, pointer: str) -> bool:
    return bool(_typed(table, key, bool, pointer))


def _token(table: dict[str, Json], key: str, pointer: str) -> tuple[str, int]:
    pair = _typed(table, key, list, pointer)
    if len(pair) != 2 or not isinstance(pair[0], str):
        raise FormatError(f"{key} is a token and its id", pointer=f"{pointer}/{key}")
    return pair[0], _id(pair[1], f"{pointer}/{key}/1")


def _id(id: Json, pointer: str) -> int:
    if type(id) is not int or not 0 <= id < MOST_IDS:
        raise FormatError(f"the id {str(id)[:80]!r} is no number from 0 to {MOST_IDS - 1}", pointer=pointer)
    return id


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
