"""Messages, tools, documents and variables -> traced values for a template.

The file is long because it checks the inputs and reports each kind of fault by name.
"""

from __future__ import annotations

import marshal
import math
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from bytepair.chat.limits import ELEMENT, exceeded
from bytepair.chat.rendering.plain import plain_value
from bytepair.chat.template import SPECIAL
from bytepair.chat.traced.values import (
    TEMPLATE,
    Text,
    TextOrigin,
    TracedDict,
    TracedList,
    TracedNone,
    TracedTuple,
    number,
)
from bytepair.errors import TemplateError

if TYPE_CHECKING:
    from bytepair.chat.limits import Limits
    from bytepair.chat.template import Template

# The fields that hold a message's reasoning; older names are copied to the newer ones, which templates read.
REASONING = ("reasoning_content", "thinking", "reasoning")
"""The names of a message's reasoning, the standard one first."""
_ANY_REASONING = frozenset(REASONING)
_PAIR = 2 * ELEMENT
_MOST_BITS = 1 << 13
# A data set has the same tools in every conversation: their traced values, and the JSON of these, are kept.
_MOST_KEPT = 8
_LONGEST_KEPT = 1 << 20
_kept: OrderedDict[tuple[str, bytes, int], tuple[Any, int]] = OrderedDict()
_lock = threading.Lock()
# The same fields recur in every conversation: by place, their names and origins are kept, and the role's text.
_MOST_PLACES = 1 << 8
_MOST_NAMES = 1 << 4
_LONGEST_NAME = 64
_Named: TypeAlias = tuple[Text, TextOrigin, Text | None]
_names: dict[tuple[int | None, str | None], dict[str, _Named]] = {}
_RESERVED = ("messages", "tools", "documents", "add_generation_prompt")


class TracedInputs:
    """Converts the inputs of one rendering to traced values, within its limits."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left = limits.messages
        self._place: tuple[int | None, str | None] = (None, None)

    @property
    def size(self) -> int:
        """The size of the inputs in characters; an element of a container counts as `ELEMENT`."""
        return self._limits.messages - self._left

    def arguments(
        self, messages: Any, tools: Any, documents: Any, template: Template, variables: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """The template's variables by name."""
        values = {name: self._own(value, name) for name, value in template.variables.items()}
        for name, value in (variables or {}).items():
            if not isinstance(name, str):
                raise TypeError(f"the name of a variable is a str, not {type(name).__name__}")
            if name in _RESERVED:
                raise TypeError(f"the variable {name!r} is an argument of its own")
            own = name in SPECIAL
            values[name] = self._own(value, name) if own else self._value(value, self._origin(f"variables/{name}"), 0)
        values["messages"] = self._messages(messages)
        values["tools"] = self._tables(tools, "tools")
        values["documents"] = self._tables(documents, "documents")
        return values

    def _own(self, value: Any, name: str) -> Any:
        """A variable that counts as the template's own text."""
        self._take(ELEMENT + (len(value) if isinstance(value, str) else 0))
        if value is None or type(value) in (str, bool, int, float):
            return value
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, list | tuple):
            return self._list([self._own(item, name) for item in value], TEMPLATE)
        if isinstance(value, Mapping):
            pairs = [(str.__str__(self._name(key, name)), self._own(item, name)) for key, item in value.items()]
            return self._dict(pairs, TEMPLATE)
        raise TypeError(f"the variable {name!r} is {type(value).__name__}; use strings, numbers, lists or mappings")

    def _tables(self, tables: Any, name: str) -> Any:
        if tables is None:
            return None
        if isinstance(tables, str | bytes | Mapping) or not isinstance(tables, Sequence):
            raise TypeError(f"{name} is a list of mappings, not {type(tables).__name__}")
        for index, table in enumerate(tables):
            if callable(table):
                raise TypeError(f"{name}[{index}] is a function: describe it by a JSON schema")
            if not isinstance(plain_value(table), Mapping):
                raise TypeError(f"{name}[{index}] is a mapping, not {type(table).__name__}")
        try:
            # Exact by type, unlike JSON; other types than Python's own are not kept.
            key = (name, marshal.dumps(tables, 2), self._limits.depth)  # type: ignore[arg-type]  # or it raises
        except ValueError:
            return self._value(list(tables), self._origin(name), 0)
        if len(key[1]) > _LONGEST_KEPT:
            return self._value(list(tables), self._origin(name), 0)
        with _lock:
            found = _kept.get(key)
            if found is not None:
                _kept.move_to_end(key)
        if found is None:
            before = self._left
            made = self._value(list(tables), self._origin(name), 0)
            _keep_texts(made)
            with _lock:
                _kept[key] = made, before - self._left
                while len(_kept) > _MOST_KEPT:
                    _kept.popitem(last=False)
            return made
        self._take(found[1])
        return found[0]

    def _messages(self, messages: Any) -> Any:
        messages = getattr(messages, "messages", messages)
        if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
            raise TypeError(f"messages are a list of mappings, not {type(messages).__name__}")
        found = []
        for index, given in enumerate(messages):
            message = given if type(given) is dict else plain_value(given)
            if type(message) is not dict and not isinstance(message, Mapping):
                raise TypeError(f"message {index} is a mapping, not {type(given).__name__}")
            role = message.get("role")
            self._place = (index, str.__str__(role) if isinstance(role, str) else None)
            found.append(self._message(message))
        self._place = (None, None)
        return self._list(found, self._origin("messages"))

    def _message(self, message: Mapping[Any, Any]) -> Any:
        """A message. As in transformers, a field that is None is a missing one: templates print None, or fail."""
        made, size, weight = TracedDict(), 0, 0
        names = _names.get(self._place) or self._names_here()
        for key, value in message.items():
            if type(value) is str and type(key) is str:
                # Nearly all fields.
                name, origin, same = names.get(key) or self._named(key, names)
                length = len(value)
                size += len(key) + length + _PAIR
                made[name] = same or Text(value, ((length, origin),))
            elif value is not None:
                name, field = self._pair(key, value, "", 1)
                made[name] = field
                weight += ELEMENT + len(name) + _weight(field)
        self._take(size)
        origin = (names.get("") or self._named("", names))[1]
        if not _ANY_REASONING.isdisjoint(message):
            return self._dict(self._with_reasoning(list(made.items())), origin)
        made._origin, made._weight = origin, weight + size
        return made

    def _names_here(self) -> dict[str, _Named]:
        """The names of the fields of this message that are known."""
        names: dict[str, _Named] = {}
        if len(self._place[1] or "") <= _LONGEST_NAME:
            if len(_names) >= _MOST_PLACES:
                _names.clear()
            _names[self._place] = names
        return names

    def _named(self, name: str, names: dict[str, _Named]) -> _Named:
        """The name of a field of this message, the field's origin, and its text if that is the role."""
        origin = self._origin(name)
        role = self._place[1] if name == "role" else None
        made = Text(name, ((len(name), origin),)), origin, Text(role, ((len(role), origin),)) if role else None
        if len(name) <= _LONGEST_NAME and len(names) < _MOST_NAMES:
            names[name] = made
        return made

    def _with_reasoning(self, pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """The pairs of a message, with its reasoning under the names that templates read."""
        known = dict(pairs)
        # None is represented by its traced stand-in.
        empty = TracedNone
        source = next((name for name in REASONING if name in known and type(known[name]) is not empty), None)
        if source is None:
            return pairs
        origin = self._origin(source)
        value = known[source]
        thinking = [] if "thinking" in known else [(self._text("thinking", origin), value)]
        changed = [(name, value if name == "reasoning_content" else old) for name, old in pairs]
        standard = [] if "reasoning_content" in known else [(self._text("reasoning_content", origin), value)]
        # The order of transformers: new keys first, then the existing keys in their order, then reasoning_content.
        front = [pair for pair in changed if pair[0] == "thinking"]
        return [*thinking, *front, *(pair for pair in changed if pair[0] != "thinking"), *standard]

    def _origin(self, field: str) -> TextOrigin:
        message, role = self._place
        return TextOrigin("content", message, role, field)

    def _text(self, text: str, origin: TextOrigin) -> Any:
        self._take(len(text) + ELEMENT)
        return Text(text, ((len(text), origin),))

    def _name(self, key: Any, field: str) -> str:
        if not isinstance(key, str):
            raise TemplateError(
                f"{self._where(field)} has the key {str(key)[:80]!r}, of type {type(key).__name__}",
                remedy="use str keys",
            )
        return key if type(key) is str else str.__str__(key)

    def _where(self, field: str | None) -> str:
        message = self._place[0]
        if message is None:
            return str(field)
        return f"message {message}" + (f", {field}," if field else "")

    def _pair(self, key: Any, value: Any, parent: str | None, depth: int) -> tuple[Any, Any]:
        """A key and its value, which have one origin."""
        name = self._name(key, str(parent))
        origin = self._origin(f"{parent}/{name}" if parent else name)
        if type(value) is str:
            # The fast path of `_value`: most values are strings.
            self._take(len(name) + len(value) + 2 * ELEMENT)
            text = Text
            return text(name, ((len(name), origin),)), text(value, ((len(value), origin),))
        return self._text(name, origin), self._value(value, origin, depth)

    def _value(self, value: Any, origin: TextOrigin, depth: int) -> Any:
        """An input value as a traced one; numpy scalars, dataclasses and pydantic models count as plain values."""
        if type(value) is str:
            return self._text(value, origin)
        value = plain_value(value)
        if isinstance(value, str):
            return self._text(str.__str__(value), origin)
        self._take(ELEMENT)
        where = origin.field
        if value is None or isinstance(value, bool | int | float):
            if isinstance(value, float) and not math.isfinite(value):
                raise TemplateError(f"{self._where(where)} is {value}", remedy="JSON has no such number")
            if isinstance(value, int) and value.bit_length() > _MOST_BITS:
                raise TemplateError(f"{self._where(where)} has thousands of digits", remedy="pass it as a string")
            return number(value, origin)
        if depth > self._limits.depth:
            raise exceeded(f"{self._where(str(where)[:80])} is nested deeper than {self._limits.depth} levels", "depth")
        if isinstance(value, Mapping):
            return self._dict([self._pair(key, item, where, depth + 1) for key, item in value.items()], origin)
        if isinstance(value, list | tuple):
            items = [self._value(item, self._origin(f"{where}/{at}"), depth + 1) for at, item in enumerate(value)]
            return self._list(items, origin, isinstance(value, tuple))
        raise TemplateError(
            f"{self._where(where)} is {type(value).__name__}",
            remedy="use strings, numbers, True, False, None, lists and mappings",
        )

    def _take(self, amount: int) -> None:
        self._left -= amount
        if self._left < 0:
            raise exceeded(f"messages and tools have more than {self._limits.messages} characters", "messages")

    def _list(self, items: list[Any], origin: TextOrigin, as_tuple: bool = False) -> Any:
        made = TracedTuple(items) if as_tuple else TracedList(items)
        made._origin, made._weight = origin, sum(map(_weight, items))
        return made

    def _dict(self, pairs: list[tuple[Any, Any]], origin: TextOrigin) -> Any:
        made = TracedDict(pairs)
        made._origin = origin
        made._weight = sum([ELEMENT + len(key) + _weight(value) for key, value in pairs])
        return made


def _keep_texts(value: Any) -> None:
    """Let each list and dict keep the texts that templates make of it."""
    if isinstance(value, TracedList | TracedDict):
        value._texts = {}
        for inner in value.values() if isinstance(value, TracedDict) else value:
            _keep_texts(inner)


def _weight(value: Any) -> int:
    return ELEMENT + (len(value) if isinstance(value, str) else getattr(value, "_weight", 0))
