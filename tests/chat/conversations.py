"""Random conversations for chat templates, and their renderings by `transformers`."""

from __future__ import annotations

import json
import random
import warnings
from typing import Any

from fuzz.chats import without_none
from transformers.utils.chat_template_utils import render_jinja_template

WORDS = [
    *(
        "",
        " ",
        "  \n",
        "hello",
        "Hello there.\n",
        " x </think> y",
        "<think>\nr\n</think>\n\nanswer",
        "</think>",
        "/nothink",
    ),
    *("<|im_end|>", "<|eot_id|>", "<tool_response>q</tool_response>", "é🦊", "ﬁ ß İ", "a'b", 'c"d', "\\n\t", "{{ x }}"),
]


def text(rng: random.Random) -> str:
    return "".join(rng.choice(WORDS) for _ in range(rng.randrange(3)))


def value(rng: random.Random, depth: int = 0) -> Any:
    if depth > 2 or rng.random() < 0.4:
        return text(rng)
    plain: list[Any] = [None, True, False, 0, 3, -2.5, 1e20]
    if rng.random() < 0.6:
        return rng.choice(plain)
    if rng.random() < 0.5:
        return [value(rng, depth + 1) for _ in range(rng.randrange(3))]
    return {text(rng) + str(key): value(rng, depth + 1) for key in range(rng.randrange(3))}


def message(rng: random.Random) -> dict[str, Any]:
    role = rng.choice(["user", "user", "assistant", "assistant", "system", "tool", "developer", "other"])
    made: dict[str, Any] = {"role": role}
    shapes = rng.random()
    if shapes < 0.8:
        made["content"] = text(rng)
    elif shapes < 0.85:
        made["content"] = None
    elif shapes < 0.95:
        made["content"] = [{"type": "text", "text": text(rng)}, {"type": "image"}, {"type": "text", "text": text(rng)}]
    if role == "assistant":
        if rng.random() < 0.4:
            made["tool_calls"] = [call(rng) for _ in range(rng.randrange(3))]
        if rng.random() < 0.3:
            made[rng.choice(["reasoning_content", "thinking", "reasoning"])] = rng.choice([text(rng), None])
    if role == "tool" and rng.random() < 0.7:
        made["tool_call_id"] = "c1"
        made["name"] = "f" + text(rng)
    return made


def call(rng: random.Random) -> dict[str, Any]:
    arguments: Any = {f"{text(rng)}{key}": value(rng) for key in range(rng.randrange(4))}
    if rng.random() < 0.3:
        arguments = json.dumps(arguments)
    return {"type": "function", "id": "c1", "function": {"name": "f" + text(rng), "arguments": arguments}}


def tool(rng: random.Random) -> dict[str, Any]:
    fields: dict[str, Any] = {
        f"p{text(rng)}{key}": {
            "type": rng.choice(["string", "integer", ["string", "null"]]),
            "description": text(rng),
            rng.choice(["enum", "default", "x-y $"]): rng.choice([["a", 1, None], value(rng), {"q": None}]),
        }
        for key in range(rng.randrange(3))
    }
    parameters = {"type": "object", "properties": fields, "required": list(fields)[:1]}
    return {
        "type": "function",
        "function": {"name": "f", "description": text(rng), "parameters": parameters, "return": value(rng)},
    }


def conversation(rng: random.Random) -> dict[str, Any]:
    """The arguments of a rendering: messages, tools, add_generation_prompt and variables."""
    made: dict[str, Any] = {
        "messages": [message(rng) for _ in range(rng.randrange(6))],
        "add_generation_prompt": rng.random() < 0.5,
        "variables": rng.choice([{}, {}, {"enable_thinking": False}, {"enable_thinking": True, "thinking": True}]),
    }
    if rng.random() < 0.4:
        made["tools"] = [tool(rng) for _ in range(rng.randrange(3))]
    if rng.random() < 0.1:
        made["documents"] = [{"title": text(rng), "text": text(rng)}]
    return made


def proper(rng: random.Random) -> dict[str, Any]:
    """The same, but one that every template takes: turns that alternate, and contents that are text."""
    made = conversation(rng)
    turns: list[dict[str, Any]] = [{"role": "system", "content": text(rng)}] if rng.random() < 0.5 else []
    for _ in range(rng.randrange(1, 4)):
        turns += [{"role": "user", "content": text(rng)}, {"role": "assistant", "content": text(rng)}]
    return made | {"messages": turns[: len(turns) - (rng.random() < 0.3)]}


def expected(source: str, given: dict[str, Any], special: dict[str, Any]) -> str | Exception:
    """The text that `transformers` renders, or its error."""
    given = dict(given)
    named = {**special, **given.pop("variables", {})}
    try:
        with warnings.catch_warnings():
            # Python warns of literals in compiled code that cannot work.
            warnings.simplefilter("ignore", SyntaxWarning)
            messages = without_none(given.pop("messages"))
            return str(render_jinja_template([messages], chat_template=source, **given, **named)[0][0])
    except Exception as error:
        return error
