"""Functions as tools: type hints and docstrings (Google style) -> the JSON schemas for templates.

Source of the rules: ``utils/chat_template_utils.py`` of ``transformers`` 5.23, read for its behaviour.
"""

from __future__ import annotations

import inspect
import json
import re
import types
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from bytepair.errors import TemplateError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Json = dict[str, Any]

_SCALARS: dict[type, str] = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}
_SECTIONS = ("Args:", "Returns:", "Raises:")


def schema(function: Callable[..., Any]) -> Json:
    """Make the JSON schema of a function.

    Args:
        function: A function or method. Each argument has a type hint, and a description under ``Args:`` in the
            docstring, which may end with ``(choices: ["a", "b"])``.

    Raises:
        TemplateError: A hint or a description is missing, or a hint has no JSON schema.

    Example:
        >>> def multiply(x: float, y: float = 2) -> float:
        ...     '''Multiplies two numbers.
        ...
        ...     Args:
        ...         x: The first one.
        ...         y: The second one.
        ...     '''
        ...     return x * y
        >>> made = schema(multiply)["function"]
        >>> made["description"], made["parameters"]["properties"]["x"], made["parameters"]["required"]
        ('Multiplies two numbers.', {'type': 'number', 'description': 'The first one.'}, ['x'])
    """
    name = getattr(function, "__name__", "operation")
    documented = inspect.getdoc(function)
    if not documented:
        raise _refused(name, "it has no docstring")
    description, arguments, returns = _sections(documented.strip())
    parameters = _parameters(function, name)
    result = parameters["properties"].pop("return", None)
    for argument, schema_of in parameters["properties"].items():
        if argument not in arguments:
            raise _refused(name, f"its docstring does not describe {argument!r}")
        text = arguments[argument]
        choices = re.search(r"\(choices:\s*(.*?)\)\s*$", text, re.IGNORECASE)
        if choices:
            try:
                schema_of["enum"] = [each.strip() if isinstance(each, str) else each for each in json.loads(choices[1])]
            except ValueError as error:
                raise _refused(name, f"the choices of {argument!r} are not JSON") from error
            text = text[: choices.start()].strip()
        schema_of["description"] = text
    made = {"name": name, "description": description, "parameters": parameters}
    if result is not None:
        made["return"] = result | ({} if returns is None else {"description": returns})
    return {"type": "function", "function": made}


def _refused(name: str, why: str) -> TemplateError:
    return TemplateError(f"the function {name} cannot become a tool: {why}", remedy="pass its JSON schema, a dict")


def _parameters(function: Callable[..., Any], name: str) -> Json:
    given = inspect.signature(function).parameters
    first = next(iter(given), None)
    receiver = first if first in ("self", "cls") and given[first].annotation is inspect.Parameter.empty else None
    required = []
    for parameter in given.values():
        if parameter.name == receiver:
            continue
        if parameter.annotation is inspect.Parameter.empty:
            raise _refused(name, f"{parameter.name!r} has no type hint")
        if parameter.default is inspect.Parameter.empty:
            required.append(parameter.name)
    properties = {}
    for argument, hint in get_type_hints(function).items():
        found = _of_hint(hint)
        if found is not None:
            properties[argument] = found
        elif argument != "return":
            # A return type without a schema is left out.
            raise _refused(name, f"the type hint {hint!r} of {argument!r} has no JSON schema")
    made: Json = {"type": "object", "properties": properties}
    return {**made, "required": required} if required else made


def _of_hint(hint: Any) -> Json | None:
    """The JSON schema of a type hint; None if it has none."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is None:
        return _of_class(hint)
    if origin is Union or origin is types.UnionType:
        return _of_union(arguments)
    if origin is Literal:
        return _of_values(list(arguments))
    inner = [_of_hint(each) for each in arguments]
    made: Json | None = None
    if origin is dict and None not in inner[1:]:
        made = {"type": "object", "additionalProperties": inner[1]}
    elif origin is list and None not in inner:
        made = {"type": "array", "items": inner[0]}
    elif origin is tuple and None not in inner and len(inner) > 1:
        made = {"type": "array", "prefixItems": inner}
    return made


def _of_class(hint: Any) -> Json | None:
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _of_values([member.value for member in hint])
    plain: dict[Any, Json] = {kind: {"type": name} for kind, name in _SCALARS.items()}
    plain |= {list: {"type": "array"}, tuple: {"type": "array"}, dict: {"type": "object"}, Any: {}}
    return plain.get(hint)


def _of_values(values: Sequence[Any]) -> Json | None:
    if not values or any(type(value) not in _SCALARS for value in values):
        return None
    kinds = list(dict.fromkeys(_SCALARS[type(value)] for value in values))
    return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": list(values)}


def _of_union(arguments: Sequence[Any]) -> Json | None:
    kinds: list[Json] = []
    for each in arguments:
        found = _of_hint(each)
        if found is None:
            return None
        if each is not type(None):
            kinds.append(found)
    made: Json
    if len(kinds) == 1:
        made = kinds[0]
    elif all(kind.keys() == {"type"} and isinstance(kind["type"], str) for kind in kinds):
        names = sorted({kind["type"] for kind in kinds})
        made = {"type": names[0] if len(names) == 1 else names}
    else:
        made = {"anyOf": kinds}
    return {**made, "nullable": True} if type(None) in arguments else made


def _sections(text: str) -> tuple[str, dict[str, str], str | None]:
    """The description of a function, of its arguments, and of its result."""
    lines = text.splitlines()
    starts = [row for row, line in enumerate(lines) if line.strip() in _SECTIONS]
    parts = {
        lines[row].strip(): lines[row + 1 : end] for row, end in zip(starts, [*starts[1:], len(lines)], strict=True)
    }
    description = "\n".join(lines[: starts[0] if starts else len(lines)]).strip()
    returns = "\n".join(parts["Returns:"]).strip() if "Returns:" in parts else None
    arguments: dict[str, str] = {}
    name, depth = "", 0
    for line in parts.get("Args:", []):
        begins = re.match(r"([ \t]*)(\w+):\s*", line)
        if begins and (not arguments or len(begins[1]) <= depth):
            name, depth = begins[2], len(begins[1])
            arguments[name] = line[begins.end() :].strip()
        elif line.strip() and arguments:
            arguments[name] = f"{arguments[name]} {line.strip()}".strip()
    return description, arguments, returns
