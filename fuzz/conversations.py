"""Random conversations: all inputs that chat templates take, and many invalid ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fuzz.hostile import hostile_text
from fuzz.turns import Chat, Message

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

PROTOCOL = (
    "<|im_start|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|start_header_id|>",
    "<｜User｜>",
    "<｜end▁of▁sentence｜>",
    "<｜tool▁sep｜>",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "</tool_response>",
    "[gMASK]",
    "[INST]",
    "[/INST]",
    "<|user|>",
    "<|observation|>",
    "/nothink",
    "</s>",
    "<<SYS>>",
    "CONTINUE_FINAL_MESSAGE_TAG",
    "{{ bos_token }}",
    "{% generation %}",
)
"""Texts that are protocol in some template: in content they are text, or refused."""
_RUNS = ("a", " ", "\n", "<", "|", "｜", "▁", "é", "👍🏽", "\u0301", "\u202e", "日", "<|", "=", "0")
_WORDS = (
    "city",
    "name",
    "Paris",
    "x",
    "a b",
    "größe",
    "日本",
    "func",
    "$ref",
    "my-key",
    "type",
    "items",
    "/",
    "~1",
    "",
)
_EVIL = ('"', "\\", '"}', "'", "}}", "\u2028", "\x00", "\\n", "{", "</", "&<>")


@dataclass(frozen=True)
class Takes:
    """The inputs that a template accepts.

    ``arguments`` of tool calls are an ``"object"``, a ``"string"``, ``"both"``, or ``""`` if calls are not accepted.
    ``strict`` templates require a system message only at the beginning, and alternating turns of user and assistant.
    ``variables`` are true or false, ``texts`` are variables that a template writes.
    """

    roles: tuple[str, ...] = ("system", "user", "assistant")
    any_role: bool = False
    strict: bool = False
    arguments: str = ""
    thinking: bool = False
    parts: bool = False
    results: bool = False
    tools: bool = False
    none: bool = False
    variables: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


def content_of(random: random.Random, literals: Sequence[str] = (), *, longest: int = 12) -> str:
    """A text as users write it, or as attackers do.

    Args:
        random: The source of all choices.
        literals: Protocol text that may occur in it, whole or in pieces; without any it is only hostile.
        longest: Approximate limit of atoms for most texts; one in a hundred has forty times as many.
    """
    kind = random.random()
    if kind < 0.06:
        return ""
    if kind < 0.1:
        return random.choice([" ", "\n", "\n\n", "  \n", "\t", "\r\n", "\u00a0", "\u3000"])
    if kind < 0.13:
        return random.choice(_RUNS) * random.choice([2, 3, 17, 64, 400])
    length = random.randint(1, longest) * (40 if kind > 0.99 else 1)
    text = hostile_text(random, length)
    if literals:
        for _ in range(random.choice([0, 0, 1, 1, 2, 4])):
            at = random.choice([0, len(text), random.randint(0, len(text))])
            text = text[:at] + piece_of(random, literals) + text[at:]
    if random.random() < 0.15:
        space = random.choice([" ", "\n", "\n\n", "\t ", "\u2003"])
        text = random.choice([space + text, text + space, space + text + space])
    if random.random() < 0.05:  # marks that a normalizer joins with what the template writes before, as with <
        text = random.choice("\u0338\u0301\u0327\u200d\ufe0f") + text
    return text


def piece_of(random: random.Random, literals: Sequence[str]) -> str:
    """A literal, its beginning or end, a near miss, or a text that a normalizer turns into it."""
    literal = random.choice(literals)
    cut = random.randint(1, max(1, len(literal) - 1))
    wide = "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in literal)
    return random.choice([literal, literal, literal, literal[:cut], literal[cut:], literal[:cut] + " " + literal[cut:],
                          literal.upper(), wide, literal + literal[:cut], literal[:cut] + literal])  # fmt: skip


def _word(random: random.Random, literals: Sequence[str]) -> str:
    kind = random.random()
    if literals and kind < 0.12:
        return piece_of(random, literals)
    if kind < 0.2:
        return random.choice(_EVIL) + random.choice(_WORDS)
    return random.choice(_WORDS) if kind < 0.85 else content_of(random, longest=3)


def json_of(random: random.Random, literals: Sequence[str], depth: int = 2) -> Any:
    """A JSON value."""
    kind = random.random()
    if kind < 0.5 or not depth:
        return _word(random, literals) if random.random() < 0.7 else content_of(random, literals, longest=5)
    if kind < 0.7:
        return random.choice([0, -1, 10**20, 3.5, 1e-9, True, False, None])
    if kind < 0.85:
        return [json_of(random, literals, depth - 1) for _ in range(random.randint(0, 3))]
    return object_of(random, literals, depth - 1)


def object_of(random: random.Random, literals: Sequence[str], depth: int = 2) -> dict[str, Any]:
    """A JSON object."""
    return {_word(random, literals): json_of(random, literals, depth) for _ in range(random.randint(0, 3))}


def tool_of(random: random.Random, literals: Sequence[str]) -> dict[str, Any]:
    """The schema of a tool."""
    properties: dict[str, Any] = {}
    for _ in range(random.randint(0, 3)):
        fields: dict[str, Any] = {"type": random.choice(["string", "integer", ["string", "null"]])}
        if random.random() < 0.7:
            fields["description"] = content_of(random, literals, longest=4)
        if random.random() < 0.3:
            fields["enum"] = [json_of(random, literals, 0) for _ in range(random.randint(0, 3))]
        if random.random() < 0.3:
            fields[_word(random, literals) or "additional-$ properties"] = json_of(random, literals)
        properties[_word(random, literals)] = fields
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    if random.random() < 0.6:
        parameters["required"] = [_word(random, literals) for _ in range(random.randint(0, 2))]
    function: dict[str, Any] = {"name": _word(random, literals)}
    function["description"] = content_of(random, literals, longest=4)
    function = {**function, "parameters": parameters} if random.random() < 0.97 else function
    if random.random() < 0.2:
        function["return"] = json_of(random, literals)
    return {"type": "function", "function": function} if random.random() < 0.9 else function


def _call_of(random: random.Random, takes: Takes, literals: Sequence[str]) -> dict[str, Any]:
    kind = random.choice(["object", "string"]) if takes.arguments == "both" else takes.arguments
    arguments = object_of(random, literals) if kind == "object" else content_of(random, literals, longest=4)
    function = {"name": _word(random, literals), "arguments": arguments}
    if random.random() < 0.1 and takes.arguments == "both":
        return function
    return {"id": _word(random, literals), "type": "function", "function": function}


def _parts_of(random: random.Random, literals: Sequence[str]) -> list[Any]:
    texts = [content_of(random, literals, longest=4) for _ in range(random.randint(0, 3))]
    return [{"type": "text", "text": text} for text in texts]


def message_of(random: random.Random, takes: Takes, role: str, literals: Sequence[str]) -> Message:
    """A message of a role."""
    message: Message = {"role": role, "content": content_of(random, literals)}
    if takes.parts and random.random() < 0.2:
        message["content"] = _parts_of(random, literals)
    if random.random() < 0.1:
        message["name"] = _word(random, literals)
    if role == "assistant":
        if takes.arguments and random.random() < 0.35:
            message["tool_calls"] = [_call_of(random, takes, literals) for _ in range(random.choice([0, 1, 1, 2, 3]))]
            if takes.none and random.random() < 0.3:
                message["content"] = None
        if takes.thinking and random.random() < 0.3:
            key = random.choice(["reasoning_content"] * 6 + ["reasoning", "thinking"])
            message[key] = random.choice(["", "\n"]) + content_of(random, literals, longest=5)
        elif takes.thinking and literals and random.random() < 0.2 and isinstance(message["content"], str):
            thought = content_of(random, literals, longest=4)
            message["content"] = f"<think>\n{thought}\n</think>\n\n{message['content']}"
    if random.random() < 0.05:  # no template writes it
        message["metadata"] = object_of(random, literals)
    if role == "tool":
        message["tool_call_id"] = _word(random, literals)
        if takes.results and random.random() < 0.2:
            message["content"] = [
                random.choice(
                    [{"output": _word(random, literals)}, _word(random, literals), {"type": "text", "text": "x"}]
                )
                for _ in range(random.randint(0, 2))
            ]
    return message


def _broken(random: random.Random, messages: list[Message]) -> None:
    """Remove something that many templates need, or insert something they cannot accept."""
    message = random.choice(messages)
    fault = random.randrange(6)
    if fault == 0:
        message["content"] = None
    elif fault == 1:
        message.pop("content", None)
    elif fault == 2:
        message["content"] = [{"type": "text", "text": "in a part"}]
    elif fault == 3:
        message["tool_calls"] = random.choice([None, []])
    elif fault == 4:
        message["content"] = random.choice([7, 2.5, True])
    else:
        message["reasoning_content"] = random.choice([None, 3])


def chat_of(
    random: random.Random, takes: Takes, literals: Sequence[str] = (), *, broken: float = 0.03, turns: int = 6
) -> Chat:
    """A conversation.

    Args:
        random: The source of all choices.
        takes: The inputs that the template accepts.
        literals: Protocol text for any field of it; without any, a field contains some only by chance.
        broken: Probability of a conversation that many templates refuse.
        turns: The maximum number of messages.
    """
    count = random.randint(1, turns)
    roles = ["system"] if "system" in takes.roles and random.random() < 0.4 else []
    while len(roles) < count:
        if takes.strict or random.random() < 0.7:  # turns as they mostly are
            previous = roles[-1] if roles else "system"
            role = "user" if previous in ("system", "assistant") else "assistant"
            if previous == "assistant" and "tool" in takes.roles and random.random() < 0.3:
                role = "tool"
        else:
            role = random.choice(takes.roles)
        roles.append(role)
    if takes.any_role and random.random() < 0.1:
        roles[random.randrange(len(roles))] = _word(random, literals) or "developer"
    messages = [message_of(random, takes, role, literals) for role in roles]
    if random.random() < broken:
        _broken(random, messages)
    tools = None
    if takes.tools and random.random() < 0.25:
        tools = [tool_of(random, literals) for _ in range(random.randint(0, 2))]
    variables: dict[str, Any] = {
        name: random.choice([True, False]) for name in takes.variables if random.random() < 0.4
    }
    variables |= {name: content_of(random, literals, longest=4) for name in takes.texts if random.random() < 0.4}
    return Chat(messages, tools, random.random() < 0.2, variables)
