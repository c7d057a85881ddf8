"""Traced values: templates see these instead of strings, numbers, lists and dicts.

A `Text` is a ``str`` with runs, each a number of characters and their `TextOrigin`. A plain ``str`` is the template's
own text. Containers record their origin, for the brackets and quotes of their printed form, and their weight: the
number of characters in them, counted once for each path that leads to them. Attributes begin with an underscore,
which hides them from templates. The file is long because each kind of value has a class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from bytepair.chat.limits import ELEMENT, RUN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bytepair.chat.limits import Budget


class TextOrigin:
    """The origin of characters; `bytepair.chat.rendering.spans.Span` describes the attributes."""

    __slots__ = ("_twin", "field", "generated", "kind", "message", "role")

    def __init__(
        self,
        kind: str,
        message: int | None = None,
        role: str | None = None,
        field: str | None = None,
        generated: bool = False,
    ) -> None:
        self.kind = kind
        self.message = message
        self.role = role
        self.field = field
        self.generated = generated
        self._twin: TextOrigin | None = None

    def in_generation(self) -> TextOrigin:
        """This origin inside a ``{% generation %}`` block; always the same object."""
        if self.generated:
            return self
        if self._twin is None:
            self._twin = TextOrigin(self.kind, self.message, self.role, self.field, generated=True)
        return self._twin

    def key(self) -> tuple[object, ...]:
        """A key that is equal for equal origins."""
        return (self.kind, self.message, self.role, self.field, self.generated)

    def __str__(self) -> str:
        if self.kind == "template":
            return "the template"
        return f"{self.field!r}" + ("" if self.message is None else f" of message {self.message}")


TEMPLATE = TextOrigin("template")
Run: TypeAlias = tuple[int, TextOrigin]
"""A number of characters, and their origin."""

_new_str = str.__new__


class Text(str):
    """A string with the origins of its characters."""

    __slots__ = ("_runs",)
    _runs: tuple[Run, ...]

    def __new__(cls, text: str, runs: tuple[Run, ...]) -> Text:
        """Make a string with its runs, which cover it."""
        made = _new_str(cls, text)
        made._runs = runs
        return made

    def __str__(self) -> str:
        return self

    def __iter__(self) -> Iterator[str]:
        return _characters(self)

    def __add__(self, other: str) -> str:
        return joined((self, other))

    def __radd__(self, other: str) -> str:
        return joined((other, self))


class Safe(Text):
    """Text marked as safe: Jinja would escape text that an operator or a method joins with it."""

    __slots__ = ()


class TracedInt(int):
    """An int from the inputs."""

    _origin: TextOrigin


class TracedBool(TracedInt):
    """``True`` or ``False`` from the inputs."""

    def __repr__(self) -> str:
        return "True" if self else "False"

    __str__ = __repr__


class TracedFloat(float):
    """A float from the inputs."""

    __slots__ = ("_origin",)
    _origin: TextOrigin


class TracedNone:
    """``None`` from the inputs."""

    __slots__ = ("_origin",)
    _origin: TextOrigin

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return other is None or type(other) is TracedNone

    def __hash__(self) -> int:
        return hash(None)

    def __repr__(self) -> str:
        return "None"


class TracedDict(dict[Any, Any]):
    """A dict from the inputs, or one that the template made."""

    __slots__ = ("_origin", "_texts", "_weight")
    _texts: dict[Any, str]
    _origin: TextOrigin
    _weight: int


class TracedList(list[Any]):
    """A list from the inputs, or one that the template made."""

    __slots__ = ("_origin", "_texts", "_weight")
    _texts: dict[Any, str]
    _origin: TextOrigin
    _weight: int


class TracedTuple(tuple[Any, ...]):
    """A tuple from the inputs, or one that the template made."""

    _origin: TextOrigin
    _weight: int


CONTAINERS = (TracedDict, TracedList, TracedTuple)
_PLACED = (TracedInt, TracedFloat, TracedNone, *CONTAINERS)
VIEWS: tuple[type[Any], ...] = (type({}.keys()), type({}.values()), type({}.items()))


def joined(parts: Iterable[str]) -> str:
    """Concatenate parts; the result is a plain string if all parts are.

    Example:
        >>> content = TextOrigin("content", 0, "user", "content")
        >>> [(length, str(origin)) for length, origin in joined(["<", Text("", ((0, content),)), ">"])._runs]
        [(1, 'the template'), (0, "'content' of message 0"), (1, 'the template')]
    """
    parts = list(parts)
    runs, plain = _runs_of_all(parts)
    text = "".join(parts)
    return text if plain else Text(text, tuple(runs))


def join(parts: Sequence[str], budget: Budget) -> str:
    """As `joined`, charged before it is made."""
    runs, plain = _runs_of_all(parts)
    budget.spend(sum(map(len, parts)) + RUN * len(runs) + 4 * len(parts))
    text = "".join(parts)
    return text if plain else Text(text, tuple(runs))


def joined_apart(parts: Sequence[str]) -> tuple[str, tuple[Run, ...]]:
    """As `joined`, with the runs beside the text, so that a long text is copied once.

    Example:
        >>> joined_apart(["<", ">"])[0]
        '<>'
    """
    runs, _ = _runs_of_all(parts)
    return "".join(parts), tuple(runs)


def _runs_of_all(parts: Sequence[str]) -> tuple[list[Run], bool]:
    """The runs of parts that follow one another, and whether all are the template's."""
    runs: list[Run] = []
    last: TextOrigin | None = None
    plain = True
    for part in parts:
        if type(part) is str:
            if part:
                if last is TEMPLATE:
                    runs[-1] = (runs[-1][0] + len(part), TEMPLATE)
                else:
                    runs.append((len(part), TEMPLATE))
                    last = TEMPLATE
            continue
        plain = False
        own = part._runs  # type: ignore[attr-defined]  # else it is a Text
        if own and own[0][1] is last:
            runs[-1] = (runs[-1][0] + own[0][0], last)
            runs += own[1:]
        else:
            runs += own
        last = runs[-1][1] if runs else None
    return runs, plain


def merged(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Merge adjacent runs of one origin, and drop empty runs of the template."""
    found: list[Run] = []
    for length, origin in runs:
        if found and found[-1][1] is origin:
            found[-1] = (found[-1][0] + length, origin)
        elif length or origin.kind == "content":
            found.append((length, origin))
    return tuple(found)


def runs_of(text: str) -> tuple[Run, ...]:
    """The runs of any string."""
    return ((len(text), TEMPLATE),) if type(text) is str else text._runs  # type: ignore[attr-defined]  # else it is a Text


def placed(text: str, origin: TextOrigin) -> str:
    """Text of one origin."""
    return text if origin is TEMPLATE else Text(text, ((len(text), origin),))


def weight(text: str) -> int:
    """The weight of a text: its length, and `RUN` for each run."""
    return len(text) if type(text) is str else len(text) + RUN * len(text._runs)  # type: ignore[attr-defined]  # else it is a Text


def plain(text: str) -> str:
    """The string without its runs."""
    return str.__str__(text)


def cut(text: str, start: int, end: int) -> str:
    """The characters from `start` to `end`, both in the text; an empty part keeps the origin of adjacent content."""
    piece = str.__getitem__(text, slice(start, end))
    if type(text) is str:
        return piece
    runs = text._runs  # type: ignore[attr-defined]  # else it is a Text
    if len(runs) == 1:
        return Text(piece, ((len(piece), runs[0][1]),))
    found: list[Run] = []
    at = 0
    touched = None
    for length, origin in runs:
        stop = at + length
        if at > end:
            break
        if length == 0:
            if start <= at:
                found.append((0, origin))
        elif at < end and stop > start:
            found.append((min(stop, end) - max(at, start), origin))
        if at <= start <= stop and origin.kind == "content":
            touched = touched or origin
        at = stop
    if not piece and not found and touched is not None:
        found.append((0, touched))
    return Text(piece, merged(found))


def _characters(text: Text) -> Iterator[str]:
    """`cut` of each character in linear time; empty runs belong to both adjacent characters."""
    before: list[Run] = []
    runs: list[Run] = []
    at = 0
    for length, origin in text._runs:
        if not length:
            before.append((0, origin))
            runs.append((0, origin))
            continue
        for here in range(at, at + length):
            if here:
                yield Text(str.__getitem__(text, here - 1), merged(runs))
            runs = [*before, (1, origin)]
            before = []
        at += length
    if at:
        yield Text(str.__getitem__(text, at - 1), merged(runs))


def trimmed(text: str, start: int, end: int) -> str:
    """As `cut`, but content that is removed entirely leaves an empty run at the edge."""
    if type(text) is str:
        return text[start:end]
    runs = text._runs  # type: ignore[attr-defined]  # else it is a Text
    if len(runs) == 1:
        return cut(text, start, end)
    found: list[Run] = []
    at = 0
    for length, origin in runs:
        stop = at + length
        inside = max(0, min(stop, end) - max(at, start))
        if inside or origin.kind == "content":
            found.append((inside, origin))
        at = stop
    return Text(str.__getitem__(text, slice(start, end)), merged(found))


def origin_of(value: object) -> TextOrigin:
    """The origin of a value; for text, that of the first content in it."""
    if isinstance(value, Text):
        return next((origin for _, origin in value._runs if origin.kind == "content"), TEMPLATE)
    return value._origin if isinstance(value, _PLACED) else TEMPLATE


def number(value: Any, origin: TextOrigin) -> Any:
    """A number, True, False or None with an origin."""
    if origin is TEMPLATE:
        return value
    made: Any
    if value is None:
        made = TracedNone()
    elif isinstance(value, bool | TracedBool):
        made = TracedBool(value)
    elif isinstance(value, int):
        made = TracedInt(value)
    elif isinstance(value, float):
        made = TracedFloat(value)
    else:
        return value
    made._origin = origin
    return made


def weigh(value: object, budget: Budget) -> int:
    """The number of characters in a value, counted once for each path that leads to them, within the budget."""
    if isinstance(value, str):
        return ELEMENT + weight(value)
    if isinstance(value, CONTAINERS):
        return ELEMENT + value._weight
    if isinstance(value, int):
        return ELEMENT + (value.bit_length() >> 2)
    if isinstance(value, (list, tuple, dict, *VIEWS)):
        total = 0
        items: Any = value.items() if isinstance(value, dict) else value
        for item in items:
            budget.spend()
            total = budget.hold(total + weigh(item, budget))
        return ELEMENT + total
    return ELEMENT


def make_list(items: Iterable[Any], budget: Budget, origin: TextOrigin = TEMPLATE) -> TracedList:
    """Make a list and charge its weight."""
    made = TracedList()
    total = 0
    for item in items:
        budget.spend(ELEMENT)
        total = budget.hold(total + weigh(item, budget))
        made.append(item)
    made._origin, made._weight = origin, total
    return made


def make_tuple(items: Iterable[Any], budget: Budget, origin: TextOrigin = TEMPLATE) -> TracedTuple:
    """Make a tuple and charge its weight."""
    listed = make_list(items, budget)
    made = TracedTuple(listed)
    made._origin, made._weight = origin, listed._weight
    return made


def make_dict(items: Iterable[tuple[Any, Any]], budget: Budget, origin: TextOrigin = TEMPLATE) -> TracedDict:
    """Make a dict and charge its weight; a repeated key keeps its first spelling."""
    made = TracedDict()
    total = others = 0
    for key, value in items:
        budget.spend(ELEMENT)
        if not isinstance(key, str):
            # Hashes of strings are randomized; other values can be chosen to collide.
            others += 1
            budget.spend(others >> 2)
        total = budget.hold(total + weigh(key, budget) + weigh(value, budget))
        made[key] = value
    made._origin, made._weight = origin, total
    return made
