"""The oracle of ``turns.py`` for templates that write tools, and what was thought, from structured fields."""

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
    printed,
    reasoning_of,
    role_of,
    shown,
    text_at,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

_QWEN3_TOOLS = (
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with function "
    "signatures within <tools></tools> XML tags:\n<tools>",
    "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
    '<tool_call></tool_call> XML tags:\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n'
    "</tool_call><|im_end|>\n",
)
_CODER_TOOLS = (
    "\n\nYou have access to the following functions:\n\n<tools>",
    "\n</tools>\n\nIf you choose to call a function ONLY reply in the following format with NO suffix:\n\n<tool_call>\n"
    "<function=example_function_name>\n<parameter=example_parameter_1>\nvalue_1\n</parameter>\n"
    "<parameter=example_parameter_2>\nThis is the value for the second parameter\nthat can span\nmultiple lines\n"
    "</parameter>\n</function>\n</tool_call>\n\n<IMPORTANT>\nReminder:\n- Function calls MUST follow the specified "
    "format: an inner <function=...></function> block must be nested within <tool_call></tool_call> XML tags\n- Required "
    "parameters MUST be specified\n- You may provide optional reasoning for your function call in natural language "
    "BEFORE the function call, but NOT after\n- If there is no function call available, answer the question like normal "
    "with your current knowledge and do not tell the user about function calls\n</IMPORTANT>",
)
_CODER_SYSTEM = "You are Qwen, a helpful AI assistant that can interact with a computer to solve tasks."
_GLM_TOOLS = (
    "<|system|>\n# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with "
    "function signatures within <tools></tools> XML tags:\n<tools>\n",
    "</tools>\n\nFor each function call, output the function name and arguments within the following XML format:\n"
    "<tool_call>{function-name}\n<arg_key>{arg-key-1}</arg_key>\n<arg_value>{arg-value-1}</arg_value>\n"
    "<arg_key>{arg-key-2}</arg_key>\n<arg_value>{arg-value-2}</arg_value>\n...\n</tool_call>",
)


def _iterated(value: Any) -> Iterable[Any]:
    if value is MISSING:
        return ()
    if not isinstance(value, list):
        raise RefusedError(f"{value!r} is no list")
    return value


def _thoughts_inside(content: str) -> tuple[str, str]:
    """What was thought, and what was then said, of a content with both."""
    thought = content.split("</think>")[0].rstrip("\n").split("<think>")[-1].lstrip("\n")
    return thought, content.split("</think>")[-1].lstrip("\n")


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
    """Thinking stays only after the last question; tools, calls and results as JSON in tags."""
    out, messages = Written(), chat.messages
    if not messages:
        raise RefusedError("there is no first message")
    first = role_of(messages[0]) == "system"
    if chat.tools:
        out.put("<|im_start|>system\n")
        if first:
            out.say(text_at(messages[0], "content"), 0, "content")
            out.put("\n\n")
        out.put(_QWEN3_TOOLS[0])
        for number, tool in enumerate(chat.tools):
            out.put("\n")
            out += json_parts(tool, None, f"tools/{number}")
        out.put(_QWEN3_TOOLS[1])
    elif first:
        out.put("<|im_start|>system\n")
        out.say(text_at(messages[0], "content"), 0, "content")
        out.put("<|im_end|>\n")
    last_query = _last_query(messages)
    for at, message in enumerate(messages):
        role, given = role_of(message), message.get("content", MISSING)
        content = given if isinstance(given, str) else None
        said = Part(content, at, "content") if content is not None else Part("")
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
            plain = Part(key.replace("-", "_").replace(" ", "_").replace("$", ""), None, f"{path}/{key}")
            out += [Part("\n<"), plain, Part(">")]
            if isinstance(value, dict):
                out += json_parts(value, None, f"{path}/{key}")
            else:
                out.append(shown(value, None, f"{path}/{key}"))
            out += [Part("</"), plain, Part(">")]
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
        out += json_parts(back, None, f"{path}/return") if isinstance(back, dict) else [shown(back, None, f"{path}/return")]
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
    for number, call in enumerate(message["tool_calls"]):
        path = f"tool_calls/{number}"
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
    """Tools and calls as tags, a parameter each."""
    out, messages, skipped, system = Written(), chat.messages, 0, MISSING
    if not messages:
        raise RefusedError("there is no first message")
    if role_of(messages[0]) == "system":
        skipped, system = 1, messages[0].get("content", MISSING)
    if system is not MISSING:
        out.put("<|im_start|>system\n")
        out.say(text_at(messages[0], "content"), 0, "content")
    elif chat.tools:
        out.put(f"<|im_start|>system\n{_CODER_SYSTEM}")
    if chat.tools:
        out.put(_CODER_TOOLS[0])
        for number, tool in enumerate(chat.tools):
            _coder_tool(out, tool, f"tools/{number}")
        out.put(_CODER_TOOLS[1])
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


def _visible(value: Any, at: int) -> list[Part]:
    """The text that GLM reads in a content."""
    if isinstance(value, list):
        parts = []
        for number, item in enumerate(value):
            if isinstance(item, dict) and item.get("type") == "text":
                parts.append(shown(item.get("text", MISSING), at, f"content/{number}/text"))
            elif isinstance(item, str):
                parts.append(Part(item, at, f"content/{number}"))
        return parts
    return [] if value is MISSING else [shown(value, at, "content")]


def _between(parts: list[Part], start: int, end: int) -> list[Part]:
    """What stands there of the joined text."""
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
    for number, call in enumerate(message.get("tool_calls") or ()):
        path = f"tool_calls/{number}"
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
        out.put(_GLM_TOOLS[0])
        for number, tool in enumerate(chat.tools):
            out += json_parts(tool, None, f"tools/{number}")
            out.put("\n")
        out.put(_GLM_TOOLS[1])
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
    """Kimi K2: the head names who speaks, results name their call."""
    out = Written()
    heads = {"system": "system|>system", "user": "user|>user", "assistant": "assistant|>assistant", "tool": "system|>tool"}
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
        out.put("<|im_end|>")
    if chat.add_generation_prompt:
        out.put("<|im_assistant|>assistant<|im_middle|>")
    return out

