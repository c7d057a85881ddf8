"""The repr of components: calls that would make them."""

from __future__ import annotations

from typing import Any

Json = Any


def spell(value: Json, most: int) -> str:  # noqa: PLR0911 (one for each kind)
    """Format a JSON object as a call that would make it; lists have at most `most` items, and long strings are cut.

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


# Options whose values are printed as names.
_NAMED = ("behavior", "prepend_scheme", "direction", "strategy")


class Word(str):
    """A string that is printed without quotation marks."""

    __slots__ = ()


def _first(value: dict[str, Json], most: int) -> list[tuple[str, Json]]:
    from itertools import islice  # noqa: PLC0415 (only a repr needs it)

    return list(islice(value.items(), most + 1))


def _few(inside: list[str], most: int) -> list[str]:
    return inside if len(inside) < most else [*inside[: most - 1], "..."]
