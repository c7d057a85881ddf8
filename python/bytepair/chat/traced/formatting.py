"""``%`` and ``format`` for traced strings.

The literal parts have the origin of the format, which must be a single one; inserted values keep their origin. Padding
has the origin of the format, and a formatted number keeps the origin of the number.
"""

from __future__ import annotations

import re
from _string import formatter_field_name_split, formatter_parser  # type: ignore[import-not-found]  # it has no stubs
from typing import TYPE_CHECKING, Any

from bytepair.chat.traced.printing import represent, to_text
from bytepair.chat.traced.values import TextOrigin, TracedNone, cut, joined, origin_of, placed, plain, runs_of, weight
from bytepair.errors import TemplateError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bytepair.chat.limits import Budget

_WIDEST = 1000
_PERCENT = re.compile(r"%(?:\(([^()]*)\))?([#0\- +]*)(\*|\d*)(?:\.(\*|\d*))?[hlL]?(.?)", re.DOTALL)
_STRING_SPEC = re.compile(r"(?:(.)?([<>^]))?(0?)(\d*)(?:\.(\d+))?s?", re.DOTALL)


def _literal_origin(text: str) -> TextOrigin:
    """The origin of a format; TemplateError for content, whose placeholders must not be filled."""
    origins = {id(origin): origin for _, origin in runs_of(text)}
    for origin in origins.values():
        if origin.kind == "content":
            raise TemplateError(
                f"{origin} is used as a format, which would rewrite it",
                remedy="join it with + or ~ instead",
            )
    return next(iter(origins.values()))


def _bounded(number: str | None) -> int:
    """A width or a precision of a format."""
    if number == "*" or (number and (len(number) > 6 or int(number) > _WIDEST)):
        raise TemplateError(
            f"a format has the width {number[:20]}", remedy=f"write a number of at most {_WIDEST} into the format"
        )
    return int(number) if number else 0


def percent(budget: Budget, text: str, values: Any) -> str:
    """``text % values``.

    Raises:
        TemplateError: The format is content, or its result is too large.
        TypeError: The values do not match the format.
    """
    budget.spend(weight(text))
    bare = plain(text)
    origin = _literal_origin(text)
    by_name = not isinstance(values, tuple | str) and hasattr(values, "__getitem__")
    queue = list(values) if isinstance(values, tuple) else [values]
    used = 0
    parts: list[str] = []
    at = 0
    for match in _PERCENT.finditer(bare):
        parts.append(placed(bare[at : match.start()], origin))
        at = match.end()
        name, flags, width, precision, kind = match.groups()
        if not kind:
            raise ValueError("incomplete format")
        if kind == "%":
            parts.append(placed("%", origin))
            continue
        if kind not in "diouxXeEfFgGcrsa":
            raise ValueError(f"unsupported format character {kind!r} in %")
        if name is not None:
            if not by_name:
                raise TypeError("format requires a mapping")
            value = values[name]
            used = len(queue)
        else:
            if used >= len(queue):
                raise TypeError("not enough arguments for format string")
            value = queue[used]
            used += 1
        _bounded(width)
        most = None if precision is None else _bounded(precision)
        parts.append(_converted(budget, value, kind, flags, width, precision, most, origin))
    parts.append(placed(bare[at:], origin))
    if used < len(queue) and not by_name:
        raise TypeError("not all arguments converted during string formatting")
    return joined(parts)


def _converted(  # noqa: PLR0917 (the parts of a directive)
    budget: Budget,
    value: Any,
    kind: str,
    flags: str,
    width: str,
    precision: str | None,
    most: int | None,
    origin: TextOrigin,
) -> str:
    """The text of one placeholder of a ``%`` format."""
    if kind in "sra":
        shown = to_text(budget, value) if kind == "s" else represent(budget, value)
        if kind == "a" and not shown.isascii():
            raise TemplateError("a format spells text in ASCII (%a)", remedy="use %r or %s")
        budget.spend(weight(shown) + int(width or 0))
        if most is not None:
            shown = cut(shown, 0, min(most, len(shown)))
        padding = placed(" " * max(0, int(width or 0) - len(shown)), origin)
        return joined((shown, padding) if "-" in flags else (padding, shown))
    directive = f"%{flags}{width}" + ("" if precision is None else f".{precision}") + kind
    budget.spend(len(directive) + _WIDEST)
    return placed(directive % (None if isinstance(value, TracedNone) else value,), origin_of(value))


def format_text(budget: Budget, text: str, *args: Any, **kwargs: Any) -> str:
    """`str.format`; attributes and items are looked up by the rules of templates."""
    return _formatted(budget, text, args, kwargs)


def format_map(budget: Budget, text: str, mapping: Mapping[str, Any]) -> str:
    """`str.format_map`."""
    return _formatted(budget, text, (), mapping)


def _formatted(budget: Budget, text: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    budget.spend(weight(text))
    origin = _literal_origin(text)
    counter = _Counter()
    return joined(_fill(budget, plain(text), args, kwargs, origin, counter, 2))


class _Counter:
    """Numbers the placeholders without a name."""

    def __init__(self) -> None:
        self.next = 0
        self.manual: bool | None = None

    def name(self, first: Any) -> Any:
        manual = first != ""
        if manual and isinstance(first, str):
            return first
        if self.manual is not None and self.manual != manual:
            raise ValueError("cannot switch between manual field specification and automatic field numbering")
        self.manual = manual
        if manual:
            return first
        self.next += 1
        return self.next - 1


def _fill(  # noqa: PLR0917 (it calls itself)
    budget: Budget,
    text: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    origin: TextOrigin,
    counter: _Counter,
    depth: int,
) -> list[str]:
    """The parts of a format with its placeholders filled."""
    if depth < 0:
        raise ValueError("Max string recursion exceeded")
    parts: list[str] = []
    for literal, field, spec, conversion in formatter_parser(text):
        parts.append(placed(literal, origin))
        if field is None:
            continue
        first, rest = formatter_field_name_split(field)
        first = counter.name(first)
        value = args[first] if isinstance(first, int) else kwargs[first]
        for is_attribute, name in rest:
            value = budget.lookup(value, name, is_attribute)
        if conversion == "r":
            value = represent(budget, value)
        elif conversion == "s":
            value = to_text(budget, value)
        elif conversion:
            raise TemplateError(f"a format converts by !{conversion}", remedy="use !s or !r")
        filled = _fill(budget, spec, args, kwargs, origin, counter, depth - 1) if "{" in spec else [spec]
        joined_spec = joined(filled)
        _literal_origin(joined_spec)
        parts.append(_specified(budget, value, plain(joined_spec), origin))
    return parts


def _specified(budget: Budget, value: Any, spec: str, origin: TextOrigin) -> str:
    """``format(value, spec)``."""
    for number in re.findall(r"\d+", spec):
        _bounded(number)
    if not spec:
        shown = to_text(budget, value)
        budget.spend(weight(shown))
        return shown
    if not isinstance(value, str):
        if not isinstance(value, int | float):
            raise TypeError(f"unsupported format string passed to {type(value).__name__}.__format__")
        budget.spend(_WIDEST)
        made = format(bool(value) if type(value).__name__ == "TracedBool" else value, spec)
        return placed(made, origin_of(value))
    match = _STRING_SPEC.fullmatch(spec)
    if match is None:
        raise ValueError(f"Invalid format specifier {spec!r} for text")
    fill, align, zero, width, precision = match.groups()
    shown = cut(value, 0, min(int(precision), len(value))) if precision is not None else value
    budget.spend(weight(shown) + _WIDEST)
    fill = fill or (zero or " ")
    missing = max(0, int(width or 0) - len(shown))
    left = {"<": 0, ">": missing, "^": missing // 2}[align or "<"]
    return joined((placed(fill * left, origin), shown, placed(fill * (missing - left), origin)))
