"""The post-processors of ``tokenizers``: for a tokenizer or on their own. `bytepair.call.post_processors` runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from bytepair.call.post_processing import PostProcessor as Processing
from bytepair.compat.tokenizers.components import Component, Inner, Option
from bytepair.compat.tokenizers.shared import ByteLevelOptions
from bytepair.compat.tokenizers.spelling import Word, spell
from bytepair.compat.tokenizers.values import boolean, id_number, listed, text

if TYPE_CHECKING:
    from bytepair.compat.tokenizers.encoding import Encoding

Json = Any


class PostProcessor(Component):
    """The base class of post-processors.

    Example:
        >>> BertProcessing(("[SEP]", 102), ("[CLS]", 101)).num_special_tokens_to_add(is_pair=True)
        3
    """

    _stage = "post_processor"
    _kinds: ClassVar[dict[str, type[Component]]] = {}

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """The number of tokens added to a text or to a pair."""
        return Processing(self._raw()).added(pair=boolean("is_pair", is_pair))

    def process(self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True) -> Encoding:
        """Process the encoding of a text, or the two of a pair, into a new encoding.

        Raises:
            LimitError: The overflow of a pair would make hundreds of thousands of encodings.
        """
        from bytepair.compat.tokenizers.encoding import Encoding, copies  # noqa: PLC0415 (it is asked for)

        add = boolean("add_special_tokens", add_special_tokens)
        return Encoding._of(Processing(self._raw()).process(copies(encoding, pair), add=add))

    def __repr__(self) -> str:
        return spell(_shown(self._json()), 100)

    def __str__(self) -> str:
        return spell(_shown(self._json()), 6)


def _token(name: str, value: Any) -> list[Json]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"{name} is a token and its id")
    return [text(name, value[0]), id_number(name, value[1])]


def _pair(value: list[Json]) -> tuple[str, int]:
    return value[0], value[1]


class BertProcessing(PostProcessor):
    """Adds ``[CLS]`` before the first text and ``[SEP]`` after each."""

    sep = Option["tuple[str, int]"](_token, ["[SEP]", 102], read=_pair)
    cls = Option["tuple[str, int]"](_token, ["[CLS]", 101], read=_pair)

    def __init__(self, sep: tuple[str, int], cls_token: tuple[str, int]) -> None:
        self._set(sep=sep, cls=cls_token)


class RobertaProcessing(PostProcessor):
    """Adds ``<s>`` before the first text, ``</s>`` before the second and after each."""

    sep = Option["tuple[str, int]"](_token, ["</s>", 2], read=_pair)
    cls = Option["tuple[str, int]"](_token, ["<s>", 0], read=_pair)
    trim_offsets = Option[bool](boolean, True)
    add_prefix_space = Option[bool](boolean, True)

    def __init__(
        self,
        sep: tuple[str, int],
        cls_token: tuple[str, int],
        trim_offsets: bool = True,
        add_prefix_space: bool = True,
    ) -> None:
        self._set(sep=sep, cls=cls_token, trim_offsets=trim_offsets, add_prefix_space=add_prefix_space)


class ByteLevel(ByteLevelOptions, PostProcessor):
    """Excludes white space at the ends of tokens from offsets.

    Args:
        add_prefix_space: Whether the first space of a text may have been prepended.
        trim_offsets: Whether to change offsets at all.
        use_regex: An option of the pre-tokenizer without effect here.
        type: ``"ByteLevel"``, as in the state of a ByteLevel.
    """

    def __init__(
        self,
        add_prefix_space: bool | None = None,
        trim_offsets: bool | None = None,
        use_regex: bool | None = None,
        *,
        type: str = "ByteLevel",  # noqa: A002 (as the state has it)
    ) -> None:
        options = {"add_prefix_space": add_prefix_space, "trim_offsets": trim_offsets, "use_regex": use_regex}
        self._set(**{name: True if value is None else value for name, value in options.items()}, type=type)


class TemplateProcessing(PostProcessor):
    """Arranges texts and special tokens by a template.

    Args:
        single: The template for a text: a list of pieces, or a string with spaces between them. ``$A`` and ``$B`` are
            the texts, ``:1`` after a piece is its type id, and any other piece is a special token.
        pair: The template for a pair.
        special_tokens: The special tokens of the templates: (token, id), or the JSON of one that has several ids.

    Raises:
        ValueError: A piece is malformed, or a special token is missing.

    Example:
        >>> template = TemplateProcessing("<s> $A", "<s> $A <s> $B:1", [("<s>", 1)])
        >>> template.num_special_tokens_to_add(False), template.num_special_tokens_to_add(True)
        (1, 2)
    """

    def __init__(
        self,
        single: str | list[str] | None = None,
        pair: str | list[str] | None = None,
        special_tokens: list[Any] | None = None,
    ) -> None:
        special = [
            _special(each) for each in listed("special_tokens", () if special_tokens is None else special_tokens)
        ]
        self._table = {
            "type": "TemplateProcessing",
            "single": _template("single", "$A" if single is None else single),
            "pair": _template("pair", "$A:0 $B:1" if pair is None else pair),
            "special_tokens": {each["id"]: each for each in sorted(special, key=lambda token: token["id"])},
        }
        self._check()

    @property
    def single(self) -> Json:
        """The template for a text, as JSON. It can be set to any value that the constructor takes."""
        return self._table["single"]

    @single.setter
    def single(self, single: str | list[str]) -> None:
        before = self._table
        self._table = {**before, "single": _template("single", single)}
        try:
            self._check()
        except ValueError:
            self._table = before
            raise
        from bytepair.compat.tokenizers.components import Changes  # noqa: PLC0415 (seldom done)

        Changes.tell()

    def _check(self) -> None:
        single, pair = self._table["single"], self._table["pair"]
        used = {piece["SpecialToken"]["id"] for piece in (*single, *pair) if "SpecialToken" in piece}
        missing = sorted(used - self._table["special_tokens"].keys())
        if missing:
            raise ValueError(f"Missing SpecialToken(s) with id(s) {', '.join(missing)}: give them as special_tokens")
        if {piece["Sequence"]["id"] for piece in pair if "Sequence" in piece} != {"A", "B"}:
            raise ValueError("the template of a pair needs both texts, $A and $B")


def _special(given: Any) -> dict[str, Json]:
    match given:
        case {"id": str(name), "ids": [*ids], "tokens": [*tokens]}:
            if len(ids) != len(tokens):
                raise ValueError(f"the special token {name!r} needs as many ids as tokens")
        case (str(name), int(id)) | (int(id), str(name)):
            ids, tokens = [id], [name]
        case _:
            raise TypeError(f"{given!r} is not a special token: use (token, id), or a dict of id, ids and tokens")
    return {"id": name, "ids": [id_number("id", id) for id in ids], "tokens": [text("token", each) for each in tokens]}


def _template(name: str, given: Any) -> list[Json]:
    if isinstance(given, str):
        given = given.split(" ")
    if not isinstance(given, (list, tuple)):
        raise TypeError(f"{name} is a str, or a list of pieces")
    return [_piece(text(name, piece)) for piece in given]


def _piece(spelled: str) -> dict[str, Json]:
    name, *types = spelled.split(":")
    kind, id, type_id = "SpecialToken", name, 0
    wrong = ValueError(f"Cannot build Piece from {spelled!r}: $A, $B, a number of a type behind $, or a special token")
    if name.startswith("$"):
        kind, id = "Sequence", "B" if name in ("$B", "$b") else "A"
        if name not in ("$", "$A", "$a", "$B", "$b"):
            type_id = _number(name[1:], wrong)
    if len(types) > 1:
        raise wrong
    if types:
        type_id = _number(types[0], wrong)
    return {kind: {"id": id, "type_id": type_id}}


def _number(spelled: str, wrong: ValueError) -> int:
    if not (spelled.isascii() and spelled.isdigit()):
        raise wrong
    return int(spelled)


class Sequence(Inner, PostProcessor):
    """Applies post-processors in order."""

    _inner = "processors"

    def __init__(self, processors_py: list[PostProcessor]) -> None:
        self._fill(processors_py)


def _shown(table: Json) -> Json:
    """The JSON of a post-processor for its repr, with templates as calls."""
    if table["type"] == "Sequence":
        return {**table, "processors": [_shown(each) for each in table["processors"]]}
    if table["type"] in ("BertProcessing", "RobertaProcessing"):
        return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    if table["type"] != "TemplateProcessing":
        return table
    pieces = {
        name: [
            {"type": kind, **fields, "id": Word(fields["id"]) if kind == "Sequence" else fields["id"]}
            for piece in table[name]
            for kind, fields in piece.items()
        ]
        for name in ("single", "pair")
    }
    special = {name: {"type": "SpecialToken", **token} for name, token in table["special_tokens"].items()}
    return {**table, **pieces, "special_tokens": special}
