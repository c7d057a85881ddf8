"""What chat templates write, said again in plain Python: the oracle of where content lies in a rendering.

Each function takes a conversation and gives the parts of the text, each with the message and the field that it is from.
It knows nothing of templates, nor of how the product follows content through one; `transformers` says that the joined
text is right. The templates that write tools are in ``turns_of_tools.py``.
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
    """The template cannot take this conversation: it would add None to a text, or walk over what is no list."""


class Part(NamedTuple):
    """A part of a rendering.

    ``field`` is None for the template's own text. If not ``exact``, the part is the spelling of a value (brackets,
    quotes, a repr), and may also be said to be from something that contains it or is inside it.
    """

    text: str
    message: int | None = None
    field: str | None = None
    exact: bool = True
    generated: bool = False


class Missing:
    """What a template takes a key for that is not there."""

    def __bool__(self) -> bool:
        return False


MISSING = Missing()


@dataclass(frozen=True)
class Chat:
    """A conversation and all else that a template is given.

    ``source`` is the template's, of which the oracles read its longer texts.
    """

    messages: list[Message]
    tools: list[dict[str, Any]] | None = None
    add_generation_prompt: bool = False
    variables: dict[str, Any] = field(default_factory=dict)
    source: str = field(default="", repr=False)


@functools.cache
def quoted(source: str, start: str) -> str:
    """The string constant of a template's source that begins with ``start``, quote and all, as it is spelled there.

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
    """What stands there, if it is a text.

    Raises:
        RefusedError: It is not, and so cannot be added to one.
    """
    value = owner.get(key, MISSING) if isinstance(owner, dict) else MISSING
    if not isinstance(value, str):
        raise RefusedError(f"{key} is {value!r}, no text")
    return value


def printed(value: Any) -> str:
    """What a template writes for a value."""
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
    """What was thought, and the key it is under: callers know three, of which the first wins that is not None."""
    for key in ("reasoning_content", "thinking", "reasoning"):
        if message.get(key) is not None:
            return message[key], key
    return message.get("reasoning_content", MISSING), "reasoning_content"


class Written(list[Part]):
    """Parts as they are written."""

    def put(self, text: str) -> None:
        """Text of the template's own."""
        self.append(Part(text))

    def say(self, text: str, message: int | None, path: str) -> None:
        """Text of a field."""
        self.append(Part(text, message, path))

    def text(self) -> str:
        """All of it."""
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
    """Any role, contents as they are."""
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


def _systems(out: Written, chat: Chat) -> None:
    """All that the system says, before the rest."""
    out.put(chat.variables.get("bos_token", ""))
    first = True
    for at, message in enumerate(chat.messages):
        if role_of(message) == "system":
            out.put("" if first else "\n\n")
            out.say(text_at(message, "content"), at, "content")
            first = False


def _calls_of(message: Message) -> list[Any]:
    calls = message["tool_calls"]
    if not isinstance(calls, list):
        raise RefusedError("tool_calls is no list")
    return calls


def deepseek(chat: Chat) -> Written:
    """DeepSeek V3: one kind of mark a role, tool calls as fenced JSON."""
    out = Written()
    _systems(out, chat)
    called = after_tool = answered = False
    for at, message in enumerate(chat.messages):
        role = role_of(message)
        if role == "user":
            after_tool = False
            out.put("<｜User｜>")
            out.say(text_at(message, "content"), at, "content")
        elif role == "assistant" and "tool_calls" in message:
            after_tool = False
            for number, call in enumerate(_calls_of(message)):
                if called:
                    out.put("\n<｜tool▁call▁begin｜>")
                else:
                    out.put("<｜Assistant｜>")
                    if message.get("content", MISSING) is not None:
                        out.say(text_at(message, "content"), at, "content")
                    out.put("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>")
                path = f"tool_calls/{number}"
                function = call.get("function")
                out.say(text_at(call, "type"), at, f"{path}/type")
                out.put("<｜tool▁sep｜>")
                out.say(text_at(function, "name"), at, f"{path}/function/name")
                out.put("\n```json\n")
                out.say(text_at(function, "arguments"), at, f"{path}/function/arguments")
                out.put("\n```<｜tool▁call▁end｜>")
                called = True
            out.put("<｜tool▁calls▁end｜><｜end▁of▁sentence｜>")
        elif role == "assistant":
            content = text_at(message, "content")
            out.put("<｜tool▁outputs▁end｜>" if after_tool else "<｜Assistant｜>")
            out.say(content if after_tool else content.split("</think>")[-1], at, "content")
            out.put("<｜end▁of▁sentence｜>")
            after_tool = False
        elif role == "tool":
            after_tool = True
            out.put("" if answered else "<｜tool▁outputs▁begin｜>")
            answered = True
            out.put("<｜tool▁output▁begin｜>")
            out.say(text_at(message, "content"), at, "content")
            out.put("<｜tool▁output▁end｜>")
    if after_tool:
        out.put("<｜tool▁outputs▁end｜>")
    elif chat.add_generation_prompt:
        out.put("<｜Assistant｜>")
    return out


def deepseek31(chat: Chat) -> Written:
    """DeepSeek V3.1: a mark that ends thinking stands before each answer."""
    out = Written()
    _systems(out, chat)
    thinking = bool(chat.variables.get("thinking", False))
    called = after_tool = after_user = False
    for at, message in enumerate(chat.messages):
        role = role_of(message)
        if role == "user":
            after_tool, called, after_user = False, False, True
            out.put("<｜User｜>")
            out.say(text_at(message, "content"), at, "content")
        elif role == "assistant" and message.get("tool_calls") is not None:
            out.put("<｜Assistant｜></think>" if after_user else "")
            after_tool = called = after_user = False
            for number, call in enumerate(_calls_of(message)):
                if not called:
                    if message.get("content", MISSING) is not None:
                        out.say(text_at(message, "content"), at, "content")
                    out.put("<｜tool▁calls▁begin｜>")
                path, function = f"tool_calls/{number}/function", call.get("function")
                out.put("<｜tool▁call▁begin｜>")
                out.say(text_at(function, "name"), at, f"{path}/name")
                out.put("<｜tool▁sep｜>")
                out.say(text_at(function, "arguments"), at, f"{path}/arguments")
                out.put("<｜tool▁call▁end｜>")
                called = True
            out.put("<｜tool▁calls▁end｜><｜end▁of▁sentence｜>")
        elif role == "assistant":
            content = text_at(message, "content")
            if after_user:
                out.put("<｜Assistant｜>" + ("<think>" if message.get("prefix") and thinking else "</think>"))
            after_user = False
            out.say(content if after_tool else content.split("</think>", 1)[-1], at, "content")
            out.put("<｜end▁of▁sentence｜>")
            after_tool = False
        elif role == "tool":
            after_user, after_tool = False, True
            out.put("<｜tool▁output▁begin｜>")
            out.say(text_at(message, "content"), at, "content")
            out.put("<｜tool▁output▁end｜>")
    if chat.add_generation_prompt and after_user and not after_tool:
        out.put("<｜Assistant｜>" + ("<think>" if thinking else "</think>"))
    return out
