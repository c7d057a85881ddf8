"""What all components have in common: they are the JSON objects of ``tokenizer.json``, with properties.

A component can change at any time, and a tokenizer that holds it changes with it. So all changes are counted, and a
tokenizer looks at its components again only when there were any.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast, overload

from bytepair._core import check_step
from bytepair.errors import FormatError
from bytepair.formats.hf_common import shown
from bytepair.steps import spell_step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

T = TypeVar("T")
Json = Any


class Changes:
    """How often any component changed."""

    count: ClassVar[int] = 0

    @classmethod
    def tell(cls) -> None:
        """Counts one more."""
        cls.count += 1


class Option(Generic[T]):
    """A property of a component, which is a value of its JSON object.

    Args:
        check: What a value becomes in the object; raises TypeError or ValueError.
        default: The value of objects that have none.
        key: Its name in the object, if that is another one.
        read: What the property says of the value; None for the value itself.
    """

    def __init__(
        self, check: Callable[[str, Any], Json], default: Json, key: str = "", read: Callable[[Json], T] | None = None
    ) -> None:
        self.check = check
        self.default = default
        self.key = key
        self.read = read
        self.name = ""

    def __set_name__(self, owner: type[Component], name: str) -> None:
        self.name = name
        self.key = self.key or name

    @overload
    def __get__(self, component: None, owner: type[Component]) -> Self: ...
    @overload
    def __get__(self, component: Component, owner: type[Component]) -> T: ...
    def __get__(self, component: Component | None, owner: type[Component]) -> T | Self:
        if component is None:
            return self
        value = component._table.get(self.key, self.default)
        return cast("T", value if self.read is None else self.read(value))

    def __set__(self, component: Component, value: T) -> None:
        component._table[self.key] = self.check(self.name, value)
        Changes.tell()


class Component:
    """A normalizer, pre-tokenizer, post-processor, decoder or model."""

    _stage: ClassVar[str]
    _kinds: ClassVar[dict[str, type[Component]]]
    _options: ClassVar[dict[str, Option[Any]]] = {}
    _inner: ClassVar[str] = ""

    def __init_subclass__(cls, **said: Any) -> None:
        super().__init_subclass__(**said)
        cls._options = {**cls._options, **{o.key: o for o in vars(cls).values() if isinstance(o, Option)}}
        if "_kinds" in vars(cls) or not hasattr(cls, "_kinds"):
            return
        if cls.__module__.startswith(__package__ or ""):
            cls._kinds.setdefault(cls.__name__, cls)

    def __init__(self) -> None:
        self._set()

    def _set(self, **values: Any) -> None:
        """Gives a new component its properties."""
        options = {option.name: option for option in self._options.values()}
        self._table: dict[str, Json] = {
            "type": type(self).__name__,
            **{option.key: option.check(name, values[name]) for name, option in options.items() if name in values},
        }

    @classmethod
    def _read(cls, table: dict[str, Json]) -> Self:
        """The component of a JSON object."""
        self = cls.__new__(cls)
        self._table = dict(table)
        return self

    def _json(self) -> dict[str, Json]:
        """The component as its JSON object, with all its keys in order."""
        known = {key: self._table.get(key, option.default) for key, option in self._options.items()}
        return {"type": self._table["type"], **known, **{k: v for k, v in self._table.items() if k not in known}}

    def _raw(self) -> dict[str, Json]:
        """The component as it was given: what a file leaves out is not filled in, so that what it needs is missed."""
        return dict(self._table)

    def __getstate__(self) -> bytes:
        return json.dumps(self._json(), ensure_ascii=False, separators=(",", ":")).encode()

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._kinds, self.__getstate__())

    def __repr__(self) -> str:
        return spell(self._json(), 100)

    def __str__(self) -> str:
        return spell(self._json(), 6)


def _rebuild(kinds: dict[str, type[Component]], state: bytes) -> Component:
    return read(kinds, json.loads(state), "")


def read(kinds: dict[str, type[Component]], table: Json, pointer: str) -> Component:
    """The component of a JSON object.

    Raises:
        FormatError: It is no object, or of a kind that is not known.
    """
    kind = table.get("type") if isinstance(table, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        what = f"{kind!r} is unknown" if isinstance(kind, str) else f"{shown(table)} is none"
        raise FormatError(f"the component {what}", pointer=pointer, remedy=f"there are {', '.join(kinds)}")
    return kinds[kind]._read(table)


class Inner(Component):
    """What every ``Sequence`` of components is."""

    _is_flat: ClassVar[bool] = False
    """Whether one that is made of others takes their components."""

    def _fill(self, components: Any) -> None:
        base = self._base()
        if not isinstance(components, (list, tuple)):
            raise TypeError(f"a Sequence is made of a list, not of {type(components).__name__}")
        for each in components:
            if not isinstance(each, base):
                raise TypeError(f"{each!r} is no {base.__name__}")
        self._table = {"type": "Sequence"}
        self._components: list[Component] = []
        for each in components:
            if self._is_flat and isinstance(each, Inner):
                self._components += each._components
            else:
                self._components.append(each)

    @classmethod
    def _base(cls) -> type[Component]:
        return next(each for each in cls.__mro__ if "_kinds" in vars(each))

    @classmethod
    def _read(cls, table: dict[str, Json]) -> Self:
        rest = {key: value for key, value in table.items() if key != cls._inner}
        self = super()._read(rest)
        inner = table.get(cls._inner, [])
        if not isinstance(inner, list):
            raise FormatError(f"{cls._inner} is not a list", pointer=f"/{cls._stage}/{cls._inner}")
        self._components = [
            read(cls._kinds, each, f"/{cls._stage}/{cls._inner}/{row}") for row, each in enumerate(inner)
        ]
        return self

    def _json(self) -> dict[str, Json]:
        return {**self._table, self._inner: [each._json() for each in self._components]}

    def _raw(self) -> dict[str, Json]:
        return {**self._table, self._inner: [each._raw() for each in self._components]}

    def __len__(self) -> int:
        return len(self._components)

    def __iter__(self) -> Iterator[Component]:
        return iter(self._components)

    def __getitem__(self, index: int) -> Any:
        return self._components[index]

    def __setitem__(self, index: int, value: Any) -> None:
        if not isinstance(value, self._base()):
            raise TypeError(f"{value!r} is no {self._base().__name__}")
        self._components[index] = value
        Changes.tell()


# What values may be.


def boolean(name: str, value: Any) -> bool:
    """True or False."""
    if value is True or value is False:
        return bool(value)
    raise TypeError(f"{name} is True or False, not {shown(value)}")


def text(name: str, value: Any) -> str:
    """A string."""
    if isinstance(value, str):
        return str(value)
    raise TypeError(f"{name} is a str, not {shown(value)}")


def natural(name: str, value: Any) -> int:
    """A number from 0 on."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} is a number, not {shown(value)}")
    number = value.__index__()
    if number < 0:
        raise OverflowError(f"{name}={number} is less than 0")
    return int(number)


def character(name: str, value: Any) -> str:
    """One character."""
    value = text(name, value)
    if len(value) != 1:
        raise ValueError(f"{name}: expected a string of length 1, and {shown(value)} has {len(value)}")
    return str(value)


def optional(check: Callable[[str, Any], Json]) -> Callable[[str, Any], Json]:
    """The same or None."""
    return lambda name, value: None if value is None else check(name, value)


def choice(**known: str) -> Callable[[str, Any], str]:
    """One of these, which JSON spells as said."""

    def check(name: str, value: Any) -> str:
        value = text(name, value)
        if value not in known:
            raise ValueError(f"{name}={shown(value)} is unknown; use one of {', '.join(known)}")
        return known[value]

    return check


_BEHAVIORS = {
    "removed": "Removed",
    "isolated": "Isolated",
    "merged_with_previous": "MergedWithPrevious",
    "merged_with_next": "MergedWithNext",
    "contiguous": "Contiguous",
}
_NAMES = {said: name for name, said in _BEHAVIORS.items()}


def as_behavior(name: str, value: Any) -> str:
    """What becomes of what divides."""
    value = text(name, getattr(value, "value", value))
    if value not in _BEHAVIORS:
        raise ValueError(f"{name}={shown(value)} is unknown; use one of {', '.join(_BEHAVIORS)}")
    return _BEHAVIORS[value]


def behavior_name(said: Json) -> str:
    """What Python calls what JSON says."""
    return _NAMES.get(said, str(said))


class Regex:
    """A regular expression, where a plain string is meant literally.

    Args:
        s: The expression.

    Raises:
        PatternError: It does not compile.

    Example:
        >>> from bytepair.compat.tokenizers import Regex, pre_tokenizers
        >>> pre_tokenizers.Split(Regex(r"[0-9]+"), "isolated").pre_tokenize_str("ab12")
        [('ab', (0, 2)), ('12', (2, 4))]
    """

    def __init__(self, s: str) -> None:
        self.pattern = text("s", s)
        step = {"type": "Replace", "pattern": {"Regex": self.pattern}, "content": ""}
        check_step("normalizer", spell_step(step))


def as_pattern(name: str, value: Any) -> dict[str, str]:
    """A literal string, or a regular expression."""
    if isinstance(value, Regex):
        return {"Regex": value.pattern}
    return {"String": text(name, value)}


def read_metaspace(table: dict[str, Json]) -> dict[str, Json]:
    """A Metaspace of an old file, which says ``add_prefix_space`` in place of ``prepend_scheme``, as a new one."""
    if "add_prefix_space" not in table or "prepend_scheme" in table:
        return table
    kept = {key: value for key, value in table.items() if key not in ("add_prefix_space", "str_rep")}
    return {**kept, "prepend_scheme": "always" if boolean("add_prefix_space", table["add_prefix_space"]) else "never"}


class Hidden:
    """A pattern, which ``tokenizers`` neither shows nor changes once a component has it."""

    def __get__(self, component: Any, owner: Any) -> Any:
        raise NotImplementedError("the pattern of a component cannot be read; see its state, or make a new component")

    def __set__(self, component: Any, value: Any) -> None:
        raise NotImplementedError("the pattern of a component cannot be set; make a new component")


def spell(value: Json, most: int) -> str:  # noqa: PLR0911 (one for each kind)
    """A JSON object as a call that would make it; lists have at most so many members, and long strings are cut.

    Example:
        >>> spell({"type": "Strip", "strip_left": True, "strip_right": False}, 6)
        'Strip(strip_left=True, strip_right=False)'
    """
    if isinstance(value, dict):
        if "type" in value:
            inside = [
                f"{key}={spell(Word(each) if key in _NAMED and isinstance(each, str) else each, most)}"
                for key, each in value.items()
                if key != "type"
            ]
            return f"{value['type']}({', '.join(inside)})"
        if value.keys() in ({"String"}, {"Regex"}, {"Fixed"}):
            [(key, each)] = value.items()
            return f"{key}({spell(each, most)})"
        return "{" + ", ".join(_few([f"{spell(k, most)}:{spell(v, most)}" for k, v in _first(value, most)], most)) + "}"
    if isinstance(value, (list, tuple)):
        inside = _few([spell(each, most) for each in value[: most + 1]], most)
        return "(" + ", ".join(inside) + ")" if isinstance(value, tuple) else "[" + ", ".join(inside) + "]"
    if isinstance(value, Word):
        return str(value)
    if isinstance(value, str):
        return f'"{value[:100]}..."' if most < 100 and len(value) > 100 else f'"{value}"'
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


# Options whose values are names.
_NAMED = ("behavior", "prepend_scheme", "direction", "strategy")


class Word(str):
    """A string that is spelled without quotation marks."""

    __slots__ = ()


def _first(value: dict[str, Json], most: int) -> list[tuple[str, Json]]:
    from itertools import islice  # noqa: PLC0415 (for those who print)

    return list(islice(value.items(), most + 1))


def _few(inside: list[str], most: int) -> list[str]:
    return inside if len(inside) < most else [*inside[: most - 1], "..."]
