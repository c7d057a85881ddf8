"""Traced values as text: Python's ``str`` and ``repr``, and JSON.

The brackets and commas of a container have the origin of the container, which is the template's if it made it. A key
has the origin of its value, and an escape that of its character.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bytepair.chat.jinja import LoopContext, Macro, Namespace, Undefined, namespace_items
from bytepair.chat.limits import RUN
from bytepair.chat.traced.values import (
    CONTAINERS,
    TEMPLATE,
    VIEWS,
    Run,
    Safe,
    Text,
    TextOrigin,
    TracedDict,
    TracedNone,
    joined,
    merged,
    origin_of,
    placed,
    plain,
    runs_of,
    weight,
)
from bytepair.errors import TemplateError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bytepair.chat.limits import Budget

_escape_unicode = json.encoder.encode_basestring
_escape_ascii = json.encoder.encode_basestring_ascii
_WIDEST_INDENT = 100
# The JSON texts of a tool that are kept: a template writes a tool in one way.
_MOST_KEPT = 2


def to_text(budget: Budget, value: Any) -> str:
    """``str(value)``.

    Raises:
        TemplateError: The value is a function or the like, without a meaningful text.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Undefined):
        return ""
    return represent(budget, value)


def represent(budget: Budget, value: Any) -> str:
    """``repr(value)``."""
    kept: dict[Any, str] | None = getattr(value, "_texts", None) if isinstance(value, CONTAINERS) else None
    if kept is not None and "repr" in kept:
        made = kept["repr"]
        budget.spend(len(made) + weight(made))
        return made
    parts: list[str] = []
    _represent(budget, value, origin_of(value), parts)
    made = joined(parts)
    if kept is not None and len(kept) < _MOST_KEPT:
        kept["repr"] = made
    return made


def _represent(budget: Budget, value: Any, origin: TextOrigin, parts: list[str]) -> None:
    """Append the parts of a value; `origin` is used if the value records none."""
    budget.spend(16)
    if isinstance(value, str):
        quoted = _quoted(budget, value)
        parts += ["Markup(", quoted, ")"] if type(value) is Safe else [quoted]
        return
    if value is None or isinstance(value, int | float | TracedNone):
        parts.append(placed(repr(value), getattr(value, "_origin", origin)))
        return
    if isinstance(value, CONTAINERS):
        origin = value._origin
    budget.enter()
    if isinstance(value, dict):
        _braces(budget, value.items(), origin, parts)
    elif isinstance(value, list):
        _listed(budget, value, origin, parts, "[", "]")
    elif isinstance(value, tuple):
        _listed(budget, value, origin, parts, "(", ",)" if len(value) == 1 else ")")
    elif isinstance(value, VIEWS):
        _listed(budget, list(value), origin, parts, f"{type(value).__name__}([", "])")
    elif isinstance(value, Namespace):
        parts.append("<Namespace ")
        _braces(budget, namespace_items(value), TEMPLATE, parts)
        parts.append(">")
    elif isinstance(value, range | Undefined | LoopContext | Macro):
        parts.append(repr(value))
    else:
        raise TemplateError(
            f"the template prints a value of the type {type(value).__name__}, which has no text",
            remedy="call a method; turn a lazy sequence into a list",
        )
    budget.depth -= 1


def _braces(budget: Budget, items: Any, origin: TextOrigin, parts: list[str]) -> None:
    parts.append(placed("{", origin))
    for at, (key, value) in enumerate(items):
        if at:
            parts.append(placed(", ", origin))
        _represent(budget, key, origin, parts)
        parts.append(placed(": ", origin))
        _represent(budget, value, origin, parts)
    parts.append(placed("}", origin))


def _listed(  # noqa: PLR0917 (both brackets)
    budget: Budget, items: Any, origin: TextOrigin, parts: list[str], left: str, right: str
) -> None:
    parts.append(placed(left, origin))
    for at, value in enumerate(items):
        if at:
            parts.append(placed(", ", origin))
        _represent(budget, value, origin, parts)
    parts.append(placed(right, origin))


def _quoted(budget: Budget, text: str) -> str:
    """``repr(text)`` with the origin of each escape."""
    budget.spend(weight(text))
    whole = repr(str.__str__(text))
    budget.spend(len(whole))
    if type(text) is str:
        return whole
    # A leading quote makes repr of a part choose the same quotes as for the whole.
    front = "'" if whole[0] == '"' else '"'
    return _by_runs(text, whole, lambda part: len(repr(front + part)) - 3)


def _by_runs(text: str, whole: str, length_of: Callable[[str], int]) -> str:
    """The quoted text with the runs of its source; if that has one origin, so have the quotes."""
    runs = merged(run for run in runs_of(text) if run[0]) or runs_of(text)
    if len(runs) == 1:
        return placed(whole, runs[0][1])
    found: list[Run] = [(1, TEMPLATE)]
    at = 0
    bare = plain(text)
    for length, origin in runs_of(text):
        found.append((length_of(bare[at : at + length]), origin))
        at += length
    return Text(whole, merged([*found, (1, TEMPLATE)]))


def to_json(  # noqa: PLR0917 (as json.dumps and transformers have it)
    budget: Budget,
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: Any = None,
    sort_keys: bool = False,
) -> str:
    """``json.dumps(value, ...)`` with the options of ``tojson``.

    Raises:
        TypeError: The value has no JSON form.
    """
    if isinstance(indent, str):
        margin: str | None = plain(indent)
    elif indent is None or isinstance(indent, TracedNone):
        margin = None
    else:
        if indent > _WIDEST_INDENT:
            raise TemplateError(f"tojson indents by {indent}", remedy=f"use at most {_WIDEST_INDENT}")
        margin = " " * indent
    for text in (indent, *(separators if isinstance(separators, list | tuple) else ())):
        if isinstance(text, str) and origin_of(text) is not TEMPLATE:
            raise TemplateError(
                f"tojson separates its values by {origin_of(text)}",
                remedy="write separators and indent into the template",
            )
    if separators is None or isinstance(separators, TracedNone):
        separators = (", ", ": ") if margin is None else (",", ": ")
    item_separator, key_separator = separators
    escape = _escape_ascii if ensure_ascii else _escape_unicode
    options = (escape, margin, bool(sort_keys), (str(item_separator), str(key_separator)))
    kept: dict[Any, str] | None = getattr(value, "_texts", None) if isinstance(value, CONTAINERS) else None
    if kept is not None and options in kept:
        made = kept[options]
        budget.spend(len(made) + weight(made))
        return made
    writer = _Json(budget, *options)
    writer.write(value, origin_of(value), 0)
    made = "".join(writer.parts)
    if any(origin is not TEMPLATE for _, origin in writer.runs):
        made = Text(made, tuple(writer.runs))
    if kept is not None and len(kept) < _MOST_KEPT:
        kept[options] = made
    return made


class _Json:
    """The writer of one JSON text: its parts, and their runs."""

    __slots__ = ("budget", "colon", "comma", "escape", "last", "margin", "parts", "runs", "sort")

    def __init__(
        self, budget: Budget, escape: Callable[[str], str], margin: str | None, sort: bool, separators: tuple[str, str]
    ) -> None:
        self.budget = budget
        self.escape = escape
        self.margin = margin
        self.sort = sort
        self.comma, self.colon = separators
        self.parts: list[str] = []
        self.runs: list[Run] = []
        self.last: TextOrigin | None = None

    def put(self, text: str, origin: TextOrigin) -> None:
        """Append a text of one origin."""
        self.parts.append(text)
        if origin is self.last:
            self.runs[-1] = (self.runs[-1][0] + len(text), origin)
        else:
            self.runs.append((len(text), origin))
            self.last = origin

    def write(self, value: Any, origin: TextOrigin, level: int) -> None:
        kind = type(value)
        if kind is Text or isinstance(value, str):
            self.string(value)
        elif kind is TracedDict or isinstance(value, dict):
            self.container(value, getattr(value, "_origin", origin), level, "{}")
        elif isinstance(value, list | tuple):
            self.container(value, getattr(value, "_origin", origin), level, "[]")
        else:
            self.budget.spend(16)
            self.put(self.scalar(value), getattr(value, "_origin", origin))

    def string(self, text: str) -> None:
        runs = text._runs if type(text) is Text else runs_of(text)
        self.budget.spend(2 * len(text) + RUN * len(runs) + 16)
        whole = self.escape(text)
        self.budget.spend(len(whole))
        if len(runs) == 1:
            self.put(whole, runs[0][1])
            return
        made = _by_runs(text, whole, lambda part: len(self.escape(part)) - 2)
        self.parts.append(whole)
        self.runs += runs_of(made)
        self.last = None

    def scalar(self, value: Any) -> str:
        if value is None or isinstance(value, TracedNone):
            return "null"
        if value is True or value is False or type(value).__name__ == "TracedBool":
            return "true" if value else "false"
        if isinstance(value, int):
            return int.__repr__(value)
        if isinstance(value, float):
            return json.dumps(float(value))
        raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")

    def container(self, value: Any, origin: TextOrigin, level: int, brackets: str) -> None:
        budget, put = self.budget, self.put
        budget.enter()
        put(brackets[0], origin)
        is_dict = brackets == "{}"
        items: Any = value
        if is_dict:
            items = sorted(value.items()) if self.sort else value.items()
        gap = "" if self.margin is None else "\n" + self.margin * (level + 1)
        before, between = gap, self.comma + gap
        here = origin
        for item in items:
            budget.spend(len(between) + 16)
            if before:
                put(before, origin)
            before = between
            if is_dict:
                key, inner = item
                here = self.key(key, origin)
                put(self.colon, origin)
                self.write(inner, here, level + 1)
            else:
                self.write(item, here, level + 1)
        if value and gap:
            budget.spend(len(gap))
            put("\n" + str(self.margin) * level, origin)
        put(brackets[1], origin)
        budget.depth -= 1

    def key(self, key: Any, origin: TextOrigin) -> TextOrigin:
        """Write a key, and return the origin for a value that records none."""
        if isinstance(key, str):
            self.string(key)
            return origin_of(key) if type(key) is not str else origin
        if key is None or isinstance(key, int | float | TracedNone):
            self.string(self.scalar(key))
            return origin
        raise TypeError(f"keys must be str, int, float, bool or None, not {type(key).__name__}")
