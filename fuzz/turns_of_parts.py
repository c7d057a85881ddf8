"""The oracle of ``turns.py`` for templates with content of several parts, and markers around calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fuzz.turns import (
    MISSING,
    Chat,
    Message,
    Part,
    RefusedError,
    Written,
    json_parts,
    reasoning_of,
    role_of,
    shown,
    text_at,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


def _iterated(value: Any) -> Iterable[Any]:
    if value is MISSING:
        return ()
    if not isinstance(value, list):
        raise RefusedError(f"{value!r} is no list")
    return value


def _visible(value: Any, at: int) -> list[Part]:
    """The text that GLM reads in a content."""
    if isinstance(value, list):
        parts = []
        for number, item in enumerate(value):
            if isinstance(item, dict) and item.get("type") == "text":
                parts.append(shown(item.get("text", MISSING), at, f"content/{number}/text"))
            elif isinstance(item, str):
                parts.append(Part(item, at, f"content/{number}"))
        # Without a text, the turn is that of an empty one.
        return parts or [Part("", at, "content", exact=False)]
    return [] if value is MISSING else [shown(value, at, "content")]


def _between(parts: list[Part], start: int, end: int) -> list[Part]:
    """The part of the joined text between two places."""
    kept, here = [], 0
    for part in parts:
        inside = part.text[max(start - here, 0) : max(end - here, 0)]
        here += len(part.text)
        if inside or start == end:
            kept.append(part._replace(text=inside))
    return kept


def _stripped(parts: list[Part], characters: str | None = None) -> list[Part]:
    text = "".join(part.text for part in parts)
    start = len(text) - len(text.lstrip(characters))
    return _between(parts, start, max(start, len(text.rstrip(characters))))


def _glm_assistant(out: Written, message: Message, at: int, last_user: int) -> None:
    said = _visible(message.get("content", MISSING), at)
    thought, key = reasoning_of(message)
    thoughts: list[Part] = []
    if isinstance(thought, str):
        thoughts = [Part(thought, at, key)]
    else:
        text = "".join(part.text for part in said)
        if "</think>" in text:
            before = text[: text.index("</think>")].rstrip("\n")
            opened = before.rfind("<think>")
            thoughts = _between(said, opened + len("<think>") if opened >= 0 else 0, len(before))
            said = _between(said, text.rindex("</think>") + len("</think>"), len(text))
            thoughts, said = _stripped(thoughts, "\n"), _stripped_left(said)
    out.put("<|assistant|>\n<think>")
    if at > last_user and "".join(part.text for part in thoughts):
        out += _stripped(thoughts)
    out.put("</think>")
    if "".join(part.text for part in said).strip():
        out.put("\n")
        out += _stripped(said)
    for number, given in enumerate(message.get("tool_calls") or ()):
        call, path = given, f"tool_calls/{number}"
        if call.get("function"):
            call, path = call["function"], f"{path}/function"
        out.put("\n<tool_call>")
        out.say(text_at(call, "name"), at, f"{path}/name")
        out.put("\n")
        arguments = call.get("arguments", MISSING)
        if not isinstance(arguments, dict):
            raise RefusedError("arguments are no object")
        for name, value in arguments.items():
            inner = f"{path}/arguments/{name}"
            out += [Part("<arg_key>"), Part(name, at, inner), Part("</arg_key>\n<arg_value>")]
            out += [Part(value, at, inner)] if isinstance(value, str) else json_parts(value, at, inner)
            out.put("</arg_value>\n")
        out.put("</tool_call>")


def _stripped_left(parts: list[Part]) -> list[Part]:
    text = "".join(part.text for part in parts)
    return _between(parts, len(text) - len(text.lstrip("\n")), len(text))


def glm45(chat: Chat) -> Written:
    """GLM 4.5: contents of several parts, thinking after the last user only."""
    out, messages = Written([Part("[gMASK]<sop>")]), chat.messages
    if chat.tools:
        before, _, rest = chat.source.partition("{%- if tools -%}\n")[2].partition("{% for tool in tools %}\n")
        out.put(before)
        for number, tool in enumerate(chat.tools):
            out += json_parts(tool, None, f"tools/{number}")
            out.put("\n")
        out.put(rest.partition("{% endfor %}\n")[2].partition("{%-")[0])
    silent = "enable_thinking" in chat.variables and not chat.variables["enable_thinking"]
    last_user = max((at for at, message in enumerate(messages) if role_of(message) == "user"), default=-1)
    for at, message in enumerate(messages):
        role, content = role_of(message), message.get("content", MISSING)
        if role == "user":
            said = _visible(content, at)
            out += [Part("<|user|>\n"), *said]
            out.put("/nothink" if silent and not "".join(part.text for part in said).endswith("/nothink") else "")
        elif role == "assistant":
            _glm_assistant(out, message, at, last_user)
        elif role == "tool":
            again = at and role_of(messages[at - 1]) == "tool" and isinstance(content, str)
            out.put("" if again else "<|observation|>")
            results = [(content, "content", content)] if isinstance(content, str) else []
            if not results:
                for number, item in enumerate(_iterated(content)):
                    path, output = f"content/{number}", item
                    if isinstance(item, dict) and "output" in item:
                        path, output = f"{path}/output", item["output"]
                    results.append((output, path, item))
            for output, path, _ in results:
                out += [Part("\n<tool_response>\n"), shown(output, at, path), Part("\n</tool_response>")]
        elif role == "system":
            out += [Part("<|system|>\n"), *_visible(content, at)]
    if chat.add_generation_prompt:
        out.put("<|assistant|>" + ("\n<think></think>" if silent else ""))
    return out


def kimi(chat: Chat) -> Written:
    """Kimi K2: the head names the speaker, results name their call."""
    out = Written()
    heads = {
        "system": "system|>system",
        "user": "user|>user",
        "assistant": "assistant|>assistant",
        "tool": "system|>tool",
    }
    if chat.tools:
        out.put("<|im_system|>tool_declare<|im_middle|>")
        out += json_parts(chat.tools, None, "tools")
        out.put("<|im_end|>")
    for at, message in enumerate(chat.messages):
        role, content = role_of(message), message.get("content", MISSING)
        if at == 0 and role != "system":
            out.put("<|im_system|>system<|im_middle|>You are a helpful assistant<|im_end|>")
        out.put(f"<|im_{heads[role]}<|im_middle|>" if role in heads else "")
        if role == "assistant" and message.get("tool_calls"):
            out += [shown(content, at, "content")] if content else []
            out.put("<|tool_calls_section_begin|>")
            for number, call in enumerate(message["tool_calls"]):
                path, function = f"tool_calls/{number}/function", call.get("function", MISSING)
                out.put("<|tool_call_begin|>functions.")
                out.say(text_at(function, "name"), at, f"{path}/name")
                out.put(f":{number}<|tool_call_argument_begin|>")
                out += json_parts(function.get("arguments", MISSING), at, f"{path}/arguments")
                out.put("<|tool_call_end|>")
            out.put("<|tool_calls_section_end|>")
        elif role == "tool":
            out.put("## Return of ")
            out.append(shown(message.get("tool_call_id", MISSING), at, "tool_call_id"))
            out += [Part("\\n"), shown(content, at, "content")]
        elif isinstance(content, str):
            out.say(content, at, "content")
        elif content is not None:
            for number, item in enumerate(_iterated(content)):
                if item.get("type") == "image" or "image" in item or "image_url" in item:
                    out.put("<|media_start|>image<|media_content|><|media_pad|><|media_end|>")
                else:
                    out.append(shown(item.get("text", MISSING), at, f"content/{number}/text"))
        # Without a text, the turn is that of an empty one.
        out += [] if out[-1].message == at else [Part("", at, "content", exact=False)]
        out.put("<|im_end|>")
    if chat.add_generation_prompt:
        out.put("<|im_assistant|>assistant<|im_middle|>")
    return out
