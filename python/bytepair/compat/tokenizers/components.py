"""The base of all components: JSON objects of ``tokenizer.json`` with properties.

A component is mutable, and so is a tokenizer that holds it. A global counter of changes tells a tokenizer when it must
read its components again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast, overload

from bytepair.compat.tokenizers.spelling import spell
from bytepair.errors import FormatError
from bytepair.formats.hf_common import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typing_extensions import Self

T = TypeVar("T")
Json = Any


class Changes:
    """The number of changes of any component so far."""

    count: ClassVar[int] = 0

    @classmethod
    def tell(cls) -> None:
        """Count a change."""
        cls.count += 1


class Option(Generic[T]):
    """A property of a component, stored in its JSON object.

    Args:
        check: Converts a value to JSON; raises TypeError or ValueError.
        default: The value of objects without this key.
        key: The key in the object, if it differs from the name.
        read: Converts JSON to the value of the property; None for no conversion.
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
    _custom: Any = None
    """The object that does the work of a component written in Python."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._options = {**cls._options, **{o.key: o for o in vars(cls).values() if isinstance(o, Option)}}
        if "_kinds" in vars(cls) or not hasattr(cls, "_kinds"):
            return
        if cls.__module__.startswith(__package__ or ""):
            cls._kinds.setdefault(cls.__name__, cls)

    def __init__(self) -> None:
        self._set()

    def _set(self, **values: Any) -> None:
        """Set the properties of a new component."""
        kind = next((each for each in type(self).__mro__ if self._kinds.get(each.__name__) is each), None)
        if kind is None:
            raise TypeError(f"use one of the subclasses of {type(self).__name__}: {', '.join(self._kinds)}")
        options = {option.name: option for option in self._options.values()}
        self._table: dict[str, Json] = {
            "type": kind.__name__,
            **{option.key: option.check(name, values[name]) for name, option in options.items() if name in values},
        }

    @classmethod
    def _read(cls, table: dict[str, Json]) -> Self:
        """Make the component of a JSON object."""
        self = cls.__new__(cls)
        self._table = dict(table)
        return self

    @classmethod
    def _of_object(cls, obj: Any) -> Self:
        """Make a component whose work an object in Python does."""
        self = cls.__new__(cls)
        self._table, self._custom = {"type": "Custom"}, obj
        return self

    @property
    def _has_custom(self) -> bool:
        """Whether it or a part of it is written in Python."""
        return self._custom is not None

    def _refuse_custom(self) -> None:
        if self._custom is not None:
            base = next(each.__name__ for each in type(self).__mro__ if "_kinds" in vars(each))
            raise FormatError(
                f"a {base} written in Python cannot be saved or converted",
                remedy="replace it before, and set it again afterwards",
            )

    def _json(self) -> dict[str, Json]:
        """The JSON object of the component, with all keys in order."""
        self._refuse_custom()
        known = {key: self._table.get(key, option.default) for key, option in self._options.items()}
        return {"type": self._table["type"], **known, **{k: v for k, v in self._table.items() if k not in known}}

    def _raw(self) -> dict[str, Json]:
        """The component's JSON object as read: missing keys are not filled in, so that errors name them."""
        self._refuse_custom()
        return dict(self._table)

    def __getstate__(self) -> bytes:
        return json.dumps(self._json(), ensure_ascii=False, separators=(",", ":")).encode()

    def __setstate__(self, state: bytes) -> None:
        made = _rebuild(self._kinds, state)
        if not isinstance(self, type(made)):
            raise TypeError(f"the state of a {type(made).__name__} does not fit a {type(self).__name__}")
        self.__dict__ = made.__dict__
        Changes.tell()

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._kinds, self.__getstate__())

    def __repr__(self) -> str:
        if self._has_custom:
            return object.__repr__(self)
        return spell(self._json(), 100)

    def __str__(self) -> str:
        if self._has_custom:
            return object.__repr__(self)
        return spell(self._json(), 6)


def _rebuild(kinds: dict[str, type[Component]], state: bytes) -> Component:
    return read(kinds, json.loads(state), "")


def read(kinds: dict[str, type[Component]], table: Json, pointer: str) -> Component:
    """Make the component of a JSON object.

    Raises:
        FormatError: The value is not an object, or its type is unknown.
    """
    kind = table.get("type") if isinstance(table, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        what = f"{kind!r} is unknown" if isinstance(kind, str) else f"{shown(table)} has no type"
        raise FormatError(f"the component {what}", pointer=pointer, remedy=f"use one of {', '.join(kinds)}")
    return kinds[kind]._read(table)


class Inner(Component):
    """The base class of every ``Sequence`` of components."""

    _is_flat: ClassVar[bool] = False
    """Whether a Sequence of Sequences takes their components."""

    def _fill(self, components: Any) -> None:
        base = self._base()
        if not isinstance(components, (list, tuple)):
            raise TypeError(f"a Sequence takes a list, not {type(components).__name__}")
        for each in components:
            if not isinstance(each, base):
                raise TypeError(f"{each!r} is not a {base.__name__}")
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

    @property
    def _has_custom(self) -> bool:
        return any(each._has_custom for each in self._components)

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
