"""Chat templates rewritten in plain Python: the oracle for the origins in a rendering.

Each function takes a conversation and returns the parts of the text, each with its message and field. It does not use
templates or the tracing of the product; `transformers` confirms the joined text. More templates: `turns_of_*.py`.
"""

from __future__ import annotations

import ast
import functools
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Message = dict[str, Any]


class RefusedError(Exception):
    """The template cannot render this conversation: it would add None to a text, or iterate over a non-list."""


class Part(NamedTuple):
    """A part of a rendering.

    ``field`` is None for the template's own text. If not ``exact``, the part is the spelling of a value (brackets,
    quotes, a repr), and its origin may also be a field that contains it or is inside it.
    """

    text: str
    message: int | None = None
    field: str | None = None
    exact: bool = True
    generated: bool = False


class Missing:
    """The value that a template reads for a missing key."""

    def __bool__(self) -> bool:
        return False


MISSING = Missing()


@dataclass(frozen=True)
class Chat:
    """A conversation and all other inputs of a template.

    ``source`` is the template's; the oracles read its longer texts from it.
    """

    messages: list[Message]
    tools: list[dict[str, Any]] | None = None
    add_generation_prompt: bool = False
    variables: dict[str, Any] = field(default_factory=dict)
    source: str = field(default="", repr=False)


@functools.cache
def quoted(source: str, start: str) -> str:
    """The string constant of a template's source that begins with ``start``, including its quotes, as it is spelled
    there.

    Example:
        >>> quoted("{{ 'a' }}{{ 'bc' }}", "'b")
        'bc'
    """
    quote = start[0]
    found = re.compile(rf"{quote}(?:[^{quote}\\]|\\.)*{quote}", re.DOTALL).match(source, source.index(start))
    assert found is not None
    return str(ast.literal_eval(found[0].replace("\n", "\\n")))


def role_of(message: Mapping[str, Any]) -> Any:
    """The role, or MISSING."""
    return message.get("role", MISSING)


def text_at(owner: Any, key: str) -> str:
    """The text of a field.

    Raises:
        RefusedError: The field is not a text.
    """
    value = owner.get(key, MISSING) if isinstance(owner, dict) else MISSING
    if not isinstance(value, str):
        raise RefusedError(f"{key} is {value!r}, no text")
    return value


def printed(value: Any) -> str:
    """A template's output for a value."""
    return "" if value is MISSING else str(value)


def shown(value: Any, message: int | None, path: str) -> Part:
    """A value as a template writes it."""
    return Part(printed(value), message, path, isinstance(value, str))


def json_parts(value: Any, message: int | None, path: str) -> list[Part]:
    """The parts of ``json.dumps(value, ensure_ascii=False)``.

    Example:
        >>> [part.text for part in json_parts({"a": [1, "b"]}, None, "tools/0")]
        ['{', '"', 'a', '"', ': ', '[', '1', ', ', '"', 'b', '"', ']', '}']
    """
    if value is MISSING:
        raise RefusedError("what is not there has no JSON")
    if isinstance(value, str):
        quote = Part('"', message, path, exact=False)
        return [quote, Part(json.dumps(value, ensure_ascii=False)[1:-1], message, path), quote]
    if isinstance(value, dict):
        items = [
            [
                *json_parts(key, message, f"{path}/{key}"),
                Part(": ", message, path, exact=False),
                *json_parts(inner, message, f"{path}/{key}"),
            ]
            for key, inner in value.items()
        ]
        return _listed("{}", items, message, path)
    if isinstance(value, (list, tuple)):
        return _listed(
            "[]", [json_parts(inner, message, f"{path}/{at}") for at, inner in enumerate(value)], message, path
        )
    return [Part(json.dumps(value), message, path)]


def _listed(brackets: str, items: Sequence[Sequence[Part]], message: int | None, path: str) -> list[Part]:
    parts = [Part(brackets[0], message, path, exact=False)]
    for at, item in enumerate(items):
        parts += [Part(", ", message, path, exact=False)] if at else []
        parts += item
    return [*parts, Part(brackets[1], message, path, exact=False)]


def reasoning_of(message: Mapping[str, Any]) -> tuple[Any, str]:
    """The reasoning, and its key: callers use three, and the first that is not None wins."""
    for key in ("reasoning_content", "thinking", "reasoning"):
        if message.get(key) is not None:
            return message[key], key
    return message.get("reasoning_content", MISSING), "reasoning_content"


class Written(list[Part]):
    """Parts in the order of writing."""

    def put(self, text: str) -> None:
        """Append text of the template's own."""
        self.append(Part(text))

    def say(self, text: str, message: int | None, path: str) -> None:
        """Append text of a field."""
        self.append(Part(text, message, path))

    def text(self) -> str:
        """All of the text."""
        return "".join(part.text for part in self)


def llama3(chat: Chat) -> Written:
    """Any role, contents stripped."""
    out = Written()
    for at, message in enumerate(chat.messages):
        out.put(chat.variables.get("bos_token", "") if at == 0 else "")
        out.put("<|start_header_id|>")
        out.say(text_at(message, "role"), at, "role")
        out.put("<|end_header_id|>\n\n")
        content = message.get("content", MISSING)
        out.append(Part(printed(content).strip(), at, "content", isinstance(content, str)))
        out.put("<|eot_id|>")
    if chat.add_generation_prompt:
        out.put("<|start_header_id|>assistant<|end_header_id|>\n\n")
    return out


def qwen2(chat: Chat) -> Written:
    """Any role, contents unchanged."""
    out = Written()
    for at, message in enumerate(chat.messages):
        out.put("<|im_start|>")
        out.say(text_at(message, "role"), at, "role")
        out.put("\n")
        out.say(text_at(message, "content"), at, "content")
        out.put("<|im_end|>\n")
    if chat.add_generation_prompt:
        out.put("<|im_start|>assistant\n")
    out.put("template ends here")  # the published file says so
    return out


def phi4(chat: Chat) -> Written:
    """Three roles, spelled by the template; others are left out."""
    out = Written()
    for at, message in enumerate(chat.messages):
        role = role_of(message)
        if role in ("system", "user", "assistant"):
            out.put(f"<|im_start|>{role}<|im_sep|>")
            out.say(text_at(message, "content"), at, "content")
            out.put("<|im_end|>")
    if chat.add_generation_prompt:
        out.put("<|im_start|>assistant<|im_sep|>")
    return out
