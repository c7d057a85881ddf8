"""The oracle of ``turns.py`` for templates that write tools and reasoning from structured fields."""

from __future__ import annotations

import re
from typing import Any

from fuzz.turns import (
    MISSING,
    Chat,
    Message,
    Part,
    RefusedError,
    Written,
    json_parts,
    printed,
    quoted,
    reasoning_of,
    role_of,
    shown,
    text_at,
)


def _thoughts_inside(content: str) -> tuple[str, str]:
    """The reasoning and the answer of a content with both."""
    thought = content.partition("</think>")[0].rstrip("\n").rpartition("<think>")[2].lstrip("\n")
    return thought, content.rpartition("</think>")[2].lstrip("\n")


def _last_query(messages: list[Message]) -> int:
    for at in reversed(range(len(messages))):
        content = messages[at].get("content", MISSING)
        if role_of(messages[at]) == "user" and isinstance(content, str):
            answer = content.startswith("<tool_response>") and content.endswith("</tool_response>")
            if not answer:
                return at
    return len(messages) - 1


def _json_call(out: Written, at: int, number: int, call: dict[str, Any]) -> None:
    path = f"tool_calls/{number}"
    if call.get("function"):
        call, path = call["function"], f"{path}/function"
    out.put('<tool_call>\n{"name": "')
    out.append(shown(call.get("name", MISSING), at, f"{path}/name"))
    out.put('", "arguments": ')
    arguments = call.get("arguments", MISSING)
    if isinstance(arguments, str):
        out.say(arguments, at, f"{path}/arguments")
    else:
        out += json_parts(arguments, at, f"{path}/arguments")
    out.put("}\n</tool_call>")


def _qwen3_assistant(out: Written, chat: Chat, at: int, content: str | None, last_query: int) -> None:
    message = chat.messages[at]
    thought, key = reasoning_of(message)
    said = content or ""
    if not isinstance(thought, str):
        key, thought = "content", ""
        if "</think>" in said:
            thought, said = _thoughts_inside(said)
        else:
            key = ""
    out.put("<|im_start|>")
    out.say(message["role"], at, "role")
    out.put("\n")
    if at > last_query and (at == len(chat.messages) - 1 or thought):
        out.put("<think>\n")
        if key:
            out.say(thought.strip("\n"), at, key)
        out.put("\n</think>\n\n")
        out.append(Part(said.lstrip("\n"), *((at, "content") if content is not None else ())))
    else:
        out.append(Part(said, *((at, "content") if content is not None else ())))
    for number, call in enumerate(message.get("tool_calls") or ()):
        out.put("\n" if said or number else "")
        _json_call(out, at, number, call)
    out.put("<|im_end|>\n")


def qwen3(chat: Chat) -> Written:
    """Thinking is kept only after the last question; tools, calls and results as JSON in tags."""
    out, messages = Written(), chat.messages
    if not messages:
        raise RefusedError("there is no first message")
    first = role_of(messages[0]) == "system"
    if chat.tools:
        out.put("<|im_start|>system\n")
        if first:
            out.say(text_at(messages[0], "content"), 0, "content")
            out.put("\n\n")
        out.put(quoted(chat.source, '"# Tools'))
        for number, tool in enumerate(chat.tools):
            out.put("\n")
            out += json_parts(tool, None, f"tools/{number}")
        out.put(quoted(chat.source, r'"\n</tools>'))
    elif first:
        out.put("<|im_start|>system\n")
        out.say(text_at(messages[0], "content"), 0, "content")
        out.put("<|im_end|>\n")
    last_query = _last_query(messages)
    for at, message in enumerate(messages):
        role, given = role_of(message), message.get("content", MISSING)
        content = given if isinstance(given, str) else None
        # Without a text, the turn is that of an empty one.
        said = Part("") if given and content is None else Part(content or "", at, "content", content is not None)
        if role == "user" or (role == "system" and at):
            out.put("<|im_start|>")
            out.say(role, at, "role")
            out += [Part("\n"), said, Part("<|im_end|>\n")]
        elif role == "assistant":
            _qwen3_assistant(out, chat, at, content, last_query)
        elif role == "tool":
            out.put("" if at and role_of(messages[at - 1]) == "tool" else "<|im_start|>user")
            out += [Part("\n<tool_response>\n"), said, Part("\n</tool_response>")]
            out.put("" if at + 1 < len(messages) and role_of(messages[at + 1]) == "tool" else "<|im_end|>\n")
    if chat.add_generation_prompt:
        out.put("<|im_start|>assistant\n")
        if chat.variables.get("enable_thinking") is False:
            out.put("<think>\n\n</think>\n\n")
    return out


def _coder_items(out: Written, items: Any, path: str, tag: str) -> None:
    if not isinstance(items, list) or not items:
        return
    out.put(f"\n<{tag}>[")
    for at, item in enumerate(items):
        out.put(", " if at else "")
        out.put("`" if isinstance(item, str) else "")
        out.append(shown(item, None, f"{path}/{at}"))
        out.put("`" if isinstance(item, str) else "")
    out.put(f"]</{tag}>")


def _plain_key(key: str, path: str) -> list[Part]:
    """A key as part of a tag: blanks and hyphens are replaced by text of the template's own."""
    parts = []
    for piece in re.split("([- $]+)", key):
        own = not piece.strip("- $")
        parts.append(Part("_" * len(piece.replace("$", ""))) if own else Part(piece, None, path))
    return parts


def _coder_parameter(out: Written, name: str, fields: dict[str, Any], path: str) -> None:
    out.put("\n<parameter>\n<name>")
    out.say(name, None, path)
    out.put("</name>")
    if "type" in fields:
        out += [Part("\n<type>"), shown(fields["type"], None, f"{path}/type"), Part("</type>")]
    if "description" in fields:
        out.put("\n<description>")
        out.say(printed(fields["description"]).strip(), None, f"{path}/description")
        out.put("</description>")
    _coder_items(out, fields.get("enum", MISSING), f"{path}/enum", "enum")
    for key, value in fields.items():
        if key not in ("type", "description", "enum", "required"):
            plain = _plain_key(key, f"{path}/{key}")
            out += [Part("\n<"), *plain, Part(">")]
            if isinstance(value, dict):
                out += json_parts(value, None, f"{path}/{key}")
            else:
                out.append(shown(value, None, f"{path}/{key}"))
            out += [Part("</"), *plain, Part(">")]
    _coder_items(out, fields.get("required", MISSING), f"{path}/required", "required")
    out.put("\n</parameter>")


def _coder_tool(out: Written, tool: dict[str, Any], path: str) -> None:
    if "function" in tool:
        tool, path = tool["function"], f"{path}/function"
    out += [Part("\n<function>\n<name>"), shown(tool.get("name", MISSING), None, f"{path}/name")]
    out.put("</name>\n<description>")
    out.say(printed(tool.get("description", MISSING)).strip(), None, f"{path}/description")
    out.put("</description>\n<parameters>")
    parameters = tool.get("parameters", MISSING)
    if not isinstance(parameters, dict):
        raise RefusedError("a tool without parameters")
    for name, fields in parameters.get("properties", {}).items():
        _coder_parameter(out, name, fields, f"{path}/parameters/properties/{name}")
    _coder_items(out, parameters.get("required", MISSING), f"{path}/parameters/required", "required")
    out.put("\n</parameters>")
    if "return" in tool:
        out.put("\n<return>")
        back = tool["return"]
        out += (
            json_parts(back, None, f"{path}/return")
            if isinstance(back, dict)
            else [shown(back, None, f"{path}/return")]
        )
        out.put("</return>")
    out.put("\n</function>")


def _coder_calls(out: Written, message: Message, at: int) -> None:
    out.put("<|im_start|>")
    out.say(message["role"], at, "role")
    content = message.get("content")
    if isinstance(content, str) and content.strip():
        out.put("\n")
        out.say(content.strip(), at, "content")
        out.put("\n")
    for number, given in enumerate(message["tool_calls"]):
        call, path = given, f"tool_calls/{number}"
        if "function" in call:
            call, path = call["function"], f"{path}/function"
        out.put("\n<tool_call>\n<function=")
        out.say(text_at(call, "name"), at, f"{path}/name")
        out.put(">\n")
        if "arguments" in call:
            if not isinstance(call["arguments"], dict):
                raise RefusedError("arguments are no object")
            for name, value in call["arguments"].items():
                out.put("<parameter=")
                out.say(name, at, f"{path}/arguments/{name}")
                out += [Part(">\n"), shown(value, at, f"{path}/arguments/{name}"), Part("\n</parameter>\n")]
        out.put("</function>\n</tool_call>")
    out.put("<|im_end|>\n")


def qwen3_coder(chat: Chat) -> Written:
    """Tools and calls as tags, one per parameter."""
    out, messages, skipped, system = Written(), chat.messages, 0, MISSING
    if not messages:
        raise RefusedError("there is no first message")
    if role_of(messages[0]) == "system":
        skipped, system = 1, messages[0].get("content", MISSING)
    if system is not MISSING:
        out.put("<|im_start|>system\n")
        out.say(text_at(messages[0], "content"), 0, "content")
    elif chat.tools:
        out.put(quoted(chat.source, r'"<|im_start|>system\nYou'))
    if chat.tools:
        out.put(quoted(chat.source, r'"\n\nYou have') + "<tools>")
        for number, tool in enumerate(chat.tools):
            _coder_tool(out, tool, f"tools/{number}")
        out.put("\n</tools>" + quoted(chat.source, r"'\n\nIf you"))
    out.put("<|im_end|>\n" if system is not MISSING or chat.tools else "")
    for at in range(skipped, len(messages)):
        message, role = messages[at], role_of(messages[at])
        following = messages[at + 1] if at + 1 < len(messages) else None
        if role == "assistant" and isinstance(message.get("tool_calls"), list) and message["tool_calls"]:
            _coder_calls(out, message, at)
        elif role == "tool":
            if at > skipped and role_of(messages[at - 1]) != "tool":
                out.put("<|im_start|>user\n")
            out += [Part("<tool_response>\n"), shown(message.get("content", MISSING), at, "content")]
            out.put("\n</tool_response>\n")
            out.put("<|im_end|>\n" if following is None or role_of(following) != "tool" else "")
        else:
            out.put("<|im_start|>")
            out.say(text_at(message, "role"), at, "role")
            out.put("\n")
            out.say(text_at(message, "content"), at, "content")
            out.put("<|im_end|>\n")
    if chat.add_generation_prompt:
        out.put("<|im_start|>assistant\n")
    return out
