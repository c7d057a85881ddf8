"""Post-processors: what a tokenizer puts around and between texts.

They run as in ``tokenizers``, down to what it does with overflowing encodings: those of a template keep the type ids
that they came with. Source: ``processors/`` and ``tokenizer/encoding.rs`` of ``tokenizers`` 0.22, read for how they
behave. Columns of an `Encoding` are replaced here and never changed, so that copies may share them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from bytepair.checks import MOST_IDS
from bytepair.encodings import Encoding
from bytepair.errors import FormatError, LimitError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

Json = Any

# The characters that Unicode calls White_Space, and the byte alphabet's space: what trimming takes off offsets.
_SPACES = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\u0120"
)
_IS_SPACE = frozenset(_SPACES)

_MOST_NESTED = 64
"""How deep one ``Sequence`` may stand in another."""

_MOST_OVERFLOWING = 200_000
"""How many encodings one row may become: two texts that both overflow have as many as their product."""


class Part(NamedTuple):
    """A stretch of what the post-processor makes of a row.

    Attributes:
        sequence: The text that stands here, 0 or 1; None for ids that are added.
        ids: The ids that are added; empty for a text.
        type_ids: Their type ids; of a text one, that of all its ids.
        special: Whether they count as special.
    """

    sequence: int | None
    ids: tuple[int, ...]
    type_ids: tuple[int, ...]
    special: tuple[int, ...]


class _Step(Protocol):
    def added(self, pair: bool) -> int: ...

    def run(self, encodings: list[Encoding], add: bool) -> list[Encoding]: ...


class PostProcessor:
    """The post-processor of a ``tokenizer.json``, ready to run.

    Args:
        table: Its JSON, parsed; None for none.

    Raises:
        FormatError: It is malformed or of an unknown kind; ``pointer`` says where.

    Example:
        >>> bert = {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}
        >>> processor = PostProcessor(bert)
        >>> processor.added(pair=True)
        3
        >>> [(part.sequence, part.ids, part.type_ids) for part in processor.layout(pair=True, add=True)]
        [(None, (101,), (0,)), (0, (), (0,)), (None, (102,), (0,)), (1, (), (1,)), (None, (102,), (1,))]
    """

    def __init__(self, table: Json = None) -> None:
        self._steps = None if table is None else _read(table)
        self._layouts = {
            (pair, add): _layout(self.process([_marker(number) for number in range(1 + pair)], add=add))
            for pair in (False, True)
            for add in (False, True)
        }

    def added(self, *, pair: bool) -> int:
        """How many ids it adds to a text, or to a pair."""
        return sum(step.added(pair) for step in self._steps or ())

    def layout(self, *, pair: bool, add: bool) -> tuple[Part, ...]:
        """What it makes of a row that did not overflow, in order."""
        return self._layouts[pair, add]

    def process(self, encodings: list[Encoding], *, add: bool) -> Encoding:
        """One encoding of that of a text, or of those of a pair, which nobody else may hold.

        Args:
            encodings: One or two.
            add: Whether special tokens are added; offsets are trimmed in any case.

        Raises:
            LimitError: So much overflowed that a pair would become hundreds of thousands of encodings.
        """
        budget = [_MOST_OVERFLOWING]
        if self._steps is None:
            if len(encodings) > 1:
                for number, encoding in enumerate(encodings):
                    _claim(encoding, number)
            return _merged(encodings, budget)
        for number, encoding in enumerate(encodings):
            _claim(encoding, number)
            for other in encoding.overflowing:
                _claim(other, number)
            encoding.type_ids = [number] * len(encoding)
        for step in self._steps:
            encodings = step.run(encodings, add)
        return _merged(encodings, budget)


class _ByteLevel(NamedTuple):
    trim_offsets: bool
    add_prefix_space: bool

    def added(self, pair: bool) -> int:  # noqa: ARG002 (it adds nothing to either)
        return 0

    def run(self, encodings: list[Encoding], add: bool) -> list[Encoding]:  # noqa: ARG002 (it trims in any case)
        if self.trim_offsets:
            _trim(encodings, self.add_prefix_space)
        for number, encoding in enumerate(encodings):
            _claim(encoding, number)
        return encodings


class _Bert(NamedTuple):
    sep: tuple[str, int]
    cls: tuple[str, int]

    def added(self, pair: bool) -> int:
        return 3 if pair else 2

    def run(self, encodings: list[Encoding], add: bool) -> list[Encoding]:
        if not add:
            return encodings
        done = []
        for number, encoding in enumerate(encodings):
            before, last = ([self.cls], 0) if number == 0 else ([], 1)
            whole = [
                _wrapped(each, before, [self.sep], [*[0] * len(before), *each.type_ids, last], min(number, 1))
                for each in (encoding, *encoding.overflowing)
            ]
            whole[0].overflowing = whole[1:]
            done.append(whole[0])
        return done


class _Roberta(NamedTuple):
    sep: tuple[str, int]
    cls: tuple[str, int]
    trim_offsets: bool
    add_prefix_space: bool

    def added(self, pair: bool) -> int:
        return 4 if pair else 2

    def run(self, encodings: list[Encoding], add: bool) -> list[Encoding]:
        if self.trim_offsets:
            _trim(encodings, self.add_prefix_space)
        for encoding in encodings:
            encoding.type_ids = [0] * len(encoding)
        if not add:
            return encodings
        done = []
        for number, encoding in enumerate(encodings):
            before = self.cls if number == 0 else self.sep
            whole = [
                _wrapped(each, [before], [self.sep], [0] * (len(each) + 2), min(number, 1))
                for each in (encoding, *encoding.overflowing)
            ]
            whole[0].overflowing = whole[1:]
            done.append(whole[0])
        return done


class _Piece(NamedTuple):
    sequence: int | None
    ids: list[int]
    tokens: list[str]
    type_id: int


class _Template(NamedTuple):
    single: list[_Piece]
    pair: list[_Piece]

    def added(self, pair: bool) -> int:
        return sum(len(piece.ids) for piece in (self.pair if pair else self.single))

    def run(self, encodings: list[Encoding], add: bool) -> list[Encoding]:
        if not 1 <= len(encodings) <= 2:
            raise FormatError(
                f"a TemplateProcessing stands behind what makes {len(encodings)} parts, where it takes one or two"
            )
        done = []
        for sequence, ids, tokens, type_id in self.pair if len(encodings) == 2 else self.single:
            if sequence is None:
                if add:
                    done.append(_added(ids, tokens, type_id))
                continue
            encoding = encodings[sequence]
            encoding.type_ids = [type_id] * len(encoding)
            _claim(encoding, sequence)
            done.append(_copy(encoding))
        return done


def _claim(encoding: Encoding, sequence: int) -> None:
    encoding._ranges[sequence] = (0, len(encoding))


def _added(ids: list[int], tokens: list[str], type_id: int) -> Encoding:
    count = len(ids)
    return Encoding(ids, tokens, [(0, 0)] * count, [None] * count, [type_id] * count, [1] * count, [1] * count)


def _copy(encoding: Encoding) -> Encoding:
    return Encoding(
        encoding.ids,
        encoding.tokens,
        encoding.offsets,
        encoding.word_ids,
        encoding.type_ids,
        encoding.special_tokens_mask,
        encoding.attention_mask,
        [_copy(other) for other in encoding.overflowing],
        dict(encoding._ranges),
    )


def _wrapped(
    encoding: Encoding,
    before: Sequence[tuple[str, int]],
    after: Sequence[tuple[str, int]],
    type_ids: list[int],
    sequence: int,
) -> Encoding:
    """An encoding between added tokens, without what overflowed."""
    front, back = len(before), len(after)
    return Encoding(
        [*(id for _, id in before), *encoding.ids, *(id for _, id in after)],
        [*(token for token, _ in before), *encoding.tokens, *(token for token, _ in after)],
        [*[(0, 0)] * front, *encoding.offsets, *[(0, 0)] * back],
        [*[None] * front, *encoding.word_ids, *[None] * back],
        type_ids,
        [*[1] * front, *[0] * len(encoding), *[1] * back],
        [1] * (len(encoding) + front + back),
        ranges={sequence: (front, front + len(encoding))},
    )


def _trim(encodings: list[Encoding], add_prefix_space: bool) -> None:
    for encoding in encodings:
        for each in (encoding, *encoding.overflowing):
            each.offsets = _trimmed(each.tokens, each.offsets, add_prefix_space)


def _trimmed(tokens: list[str], offsets: list[tuple[int, int]], add_prefix_space: bool) -> list[tuple[int, int]]:
    """Offsets without the white space at the ends of tokens."""
    done = list(offsets)
    for place, token in enumerate(tokens):
        if not token or (token[0] not in _IS_SPACE and token[-1] not in _IS_SPACE):
            continue
        start, end = offsets[place]
        leading = len(token) - len(token.lstrip(_SPACES))
        trailing = len(token) - len(token.rstrip(_SPACES))
        # One space at the front may be the one that was put there, which stands for no character.
        if leading and not (add_prefix_space and leading == 1 and (place == 0 or start == 0)):
            start = min(start + leading, end)
        if trailing and end >= trailing:
            end = max(end - trailing, start)
        done[place] = (start, end)
    return done


def _merged(encodings: list[Encoding], budget: list[int]) -> Encoding:
    if not encodings:
        return _added([], [], 0)
    merged = encodings[0]
    for other in encodings[1:]:
        merged = _joined(merged, other, budget)
    return merged


def _joined(left: Encoding, right: Encoding, budget: list[int]) -> Encoding:
    """Two encodings as one; what overflowed on a side is joined with the other side and all that overflowed there."""
    budget[0] -= 1
    if budget[0] < len(left.overflowing) * len(right.overflowing):
        raise LimitError(
            "truncation would make too many encodings of what overflows in both texts of a pair",
            remedy='use a larger max_length, or truncation="only_first" or "only_second"',
        )
    overflowing = []
    for each in left.overflowing:
        overflowing.append(_joined(each, right, budget))
        overflowing.extend([_joined(each, other, budget) for other in right.overflowing])
    overflowing.extend([_joined(left, other, budget) for other in right.overflowing])
    ranges = dict(left._ranges)
    for sequence, (start, end) in right._ranges.items():
        ranges[sequence] = (start + len(left), end + len(left))
    return Encoding(
        left.ids + right.ids,
        left.tokens + right.tokens,
        left.offsets + right.offsets,
        left.word_ids + right.word_ids,
        left.type_ids + right.type_ids,
        left.special_tokens_mask + right.special_tokens_mask,
        left.attention_mask + right.attention_mask,
        overflowing,
        ranges,
    )


def _marker(number: int) -> Encoding:
    """A text of one id that no token has, to see where the post-processor puts it."""
    return Encoding([-1 - number], [""], [(0, 0)], [0], [number], [0], [1])


def _layout(encoding: Encoding) -> tuple[Part, ...]:
    """Where the markers went, and what stands around them."""
    parts: list[Part] = []
    for id, type_id, special in zip(encoding.ids, encoding.type_ids, encoding.special_tokens_mask, strict=True):
        if id < 0:
            parts.append(Part(-1 - id, (), (type_id,), (special,)))
        elif parts and parts[-1].sequence is None:
            last = parts.pop()
            parts.append(Part(None, (*last.ids, id), (*last.type_ids, type_id), (*last.special, special)))
        else:
            parts.append(Part(None, (id,), (type_id,), (special,)))
    return tuple(parts)


def _read(table: Json) -> list[_Step]:
    """The steps of a post-processor: those of nested sequences are one after the other."""
    steps: list[_Step] = []
    waiting: list[tuple[Json, str, int]] = [(table, "/post_processor", 0)]
    while waiting:
        table, pointer, depth = waiting.pop()
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
            steps.append(_ByteLevel(_flag(table, "trim_offsets", pointer), _flag(table, "add_prefix_space", pointer)))
        elif kind == "BertProcessing":
            _check_keys(table, {"sep", "cls"}, pointer)
            steps.append(_Bert(_token(table, "sep", pointer), _token(table, "cls", pointer)))
        elif kind == "RobertaProcessing":
            _check_keys(table, {"sep", "cls", "trim_offsets", "add_prefix_space"}, pointer)
            steps.append(
                _Roberta(
                    _token(table, "sep", pointer),
                    _token(table, "cls", pointer),
                    _flag(table, "trim_offsets", pointer),
                    _flag(table, "add_prefix_space", pointer),
                )
            )
        elif kind == "TemplateProcessing":
            steps.append(_read_template(table, pointer))
        else:
            what = repr(kind)[:80] if isinstance(table, dict) else f"what is no object ({type(table).__name__})"
            raise FormatError(
                f"the post-processor {what} is unknown",
                pointer=pointer,
                remedy="there are TemplateProcessing, ByteLevel, RobertaProcessing, BertProcessing and Sequence",
            )
    _check_order(steps)
    return steps


def _check_order(steps: list[_Step]) -> None:
    """Raises FormatError where templates follow each other that do not fit; with markers in place of texts."""
    try:
        for pair in (False, True):
            for add in (False, True):
                encodings = [_marker(number) for number in range(1 + pair)]
                for step in steps:
                    encodings = step.run(encodings, add)
    except FormatError as error:
        raise FormatError(error.what, pointer="/post_processor") from None


def _read_template(table: Json, pointer: str) -> _Template:
    _check_keys(table, {"single", "pair", "special_tokens"}, pointer)
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
    return _Template(single, pair)


def _read_piece(piece: Json, special: dict[str, tuple[list[int], list[str]]], pointer: str, *, most: int) -> _Piece:
    if not isinstance(piece, dict) or len(piece) != 1 or not piece.keys() <= {"Sequence", "SpecialToken"}:
        raise FormatError("a piece of a template is a Sequence or a SpecialToken", pointer=pointer)
    [(kind, said)] = piece.items()
    pointer = f"{pointer}/{kind}"
    if not isinstance(said, dict):
        raise FormatError(f"a {kind} of a template is an object", pointer=pointer)
    _check_keys(said, {"id", "type_id"}, pointer)
    name = _typed(said, "id", str, pointer)
    type_id = _id(said.get("type_id"), f"{pointer}/type_id")
    if kind == "SpecialToken":
        if name not in special:
            raise FormatError(f"the template's special token {name!r} is not defined", pointer=f"{pointer}/id")
        return _Piece(None, *special[name], type_id)
    if name not in ("A", "B"):
        raise FormatError(f"a sequence is A or B, not {name!r}", pointer=f"{pointer}/id")
    if name == "B" and not most:
        raise FormatError("the template of a single text uses the second of a pair", pointer=f"{pointer}/id")
    return _Piece("AB".index(name), [], [], type_id)


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
    said = _typed(table, key, list, pointer)
    if len(said) != 2 or not isinstance(said[0], str):
        raise FormatError(f"{key} is a token and its id", pointer=f"{pointer}/{key}")
    return said[0], _id(said[1], f"{pointer}/{key}/1")


def _id(id: Json, pointer: str) -> int:
    if type(id) is not int or not 0 <= id < MOST_IDS:
        raise FormatError(f"the id {str(id)[:80]!r} is no number from 0 to {MOST_IDS - 1}", pointer=pointer)
    return id


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
