"""The oracle of ``turns.py`` for the built-in templates, which all have generation blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.turns import MISSING, Chat, Message, Part, RefusedError, Written, printed, role_of, text_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ROLES = ("system", "user", "assistant")


def dropping_nothing(oracle: Callable[[Chat], Written], chat: Chat) -> Written:
    """The output of a format's oracle, unless the chat has a field that none of these formats supports."""
    for message in chat.messages:
        reasoning = (message.get(name) for name in ("reasoning_content", "thinking", "reasoning"))
        if message.get("tool_calls") or next((said for said in reasoning if said is not None), None):
            raise RefusedError("tool calls or reasoning")
    if chat.tools:
        raise RefusedError("tools")
    return oracle(chat)


def _turn(out: Written, said: Sequence[Part], end: str, *, generated: bool) -> None:
    out += [part._replace(generated=generated) for part in (*said, Part(end))]


def _text(message: Message, at: int) -> list[Part]:
    return [Part(text_at(message, "content"), at, "content")]


def _trimmed(message: Message, at: int) -> list[Part]:
    """A content after ``trim``; without content, the turn is that of an empty one."""
    content = message.get("content", MISSING)
    return [Part(printed(content).strip(), at, "content", isinstance(content, str))]


def _known(message: Message, roles: Sequence[str] = _ROLES) -> str:
    role = role_of(message)
    if role not in roles:
        raise RefusedError(f"role {role!r}")
    return str(role)


def _framed(chat: Chat, before: str, after: str, end: str, line: str, *, trimmed: bool = False) -> Written:
    """Each message alike: its role between two marks, its content, and a mark that ends it."""
    out = Written()
    for at, message in enumerate(chat.messages):
        role = text_at(message, "role")
        out += [Part(before), Part(role, at, "role"), Part(after)]
        said = _trimmed(message, at) if trimmed else _text(message, at)
        _turn(out, said, end, generated=role == "assistant")
        out.put(line)
    out.put(f"{before}assistant{after}" if chat.add_generation_prompt else "")
    return out


def chatml(chat: Chat) -> Written:
    """Any role."""
    return _framed(chat, "<|im_start|>", "\n", "<|im_end|>", "\n")


def llama3(chat: Chat) -> Written:
    """Any role, contents stripped, bos before all."""
    turns = _framed(chat, "<|start_header_id|>", "<|end_header_id|>\n\n", "<|eot_id|>", "", trimmed=True)
    return Written([Part(chat.variables["bos_token"]), *turns])


def phi4(chat: Chat) -> Written:
    """Three roles."""
    for message in chat.messages:
        _known(message)
    return _framed(chat, "<|im_start|>", "<|im_sep|>", "<|im_end|>", "")


def zephyr(chat: Chat) -> Written:
    """Three roles, eos after each."""
    for message in chat.messages:
        _known(message)
    return _framed(chat, "<|", "|>\n", chat.variables["eos_token"], "\n")


def mistral(chat: Chat) -> Written:
    """Marks around each input, eos after each answer."""
    out = Written([Part(chat.variables["bos_token"])])
    for at, message in enumerate(chat.messages):
        role = _known(message)
        out.put("")  # two answers in a row are two blocks, though nothing is between them
        mark = {"system": "SYSTEM_PROMPT", "user": "INST"}.get(role, "")
        if mark:
            out.put(f"[{mark}]")
        end = f"[/{mark}]" if mark else chat.variables["eos_token"]
        _turn(out, _text(message, at), end, generated=not mark)
    return out


def deepseek(chat: Chat) -> Written:
    """All system texts, then turns."""
    out = Written([Part(chat.variables["bos_token"])])
    systems = [at for at, message in enumerate(chat.messages) if role_of(message) == "system"]
    for at in systems:
        out.put("\n\n" if at != systems[0] else "")
        content = chat.messages[at].get("content", MISSING)
        out.append(Part(printed(content), at, "content", isinstance(content, str)))
    for at, message in enumerate(chat.messages):
        role = _known(message)
        if role == "user":
            out += [Part("<｜User｜>"), *_text(message, at)]
        elif role == "assistant":
            out.put("<｜Assistant｜>")
            _turn(out, _text(message, at), chat.variables["eos_token"], generated=True)
    out.put("<｜Assistant｜>" if chat.add_generation_prompt else "")
    return out


def gemma(chat: Chat) -> Written:
    """The system's text before that of the next user."""
    out, system = Written([Part(chat.variables["bos_token"])]), []
    for at, message in enumerate(chat.messages):
        role = _known(message, _ROLES if at == 0 else _ROLES[1:])
        if role == "system":
            system = [*_text(message, at), Part("\n\n")]
        elif role == "user":
            out += [Part("<start_of_turn>user\n"), *system, *_trimmed(message, at), Part("<end_of_turn>\n")]
            system = []
        elif system:
            raise RefusedError("a system message without a user's behind it")
        else:
            out.put("<start_of_turn>model\n")
            _turn(out, _trimmed(message, at), "<end_of_turn>", generated=True)
            out.put("\n")
    if system:
        raise RefusedError("a system message without a user's behind it")
    out.put("<start_of_turn>model\n" if chat.add_generation_prompt else "")
    return out


def llama2(chat: Chat) -> Written:
    """The system's text inside the first user's; turns alternate."""
    out, expected, system = Written(), "user", None
    for at, message in enumerate(chat.messages):
        if role_of(message) == "system" and at == 0:
            system = message.get("content", MISSING)
            continue
        role = _known(message, (expected,))
        expected = "assistant" if role == "user" else "user"
        if role == "assistant":
            out.put(" ")
            _turn(out, _trimmed(message, at), " " + chat.variables["eos_token"], generated=True)
            continue
        out.put(chat.variables["bos_token"] + "[INST] ")
        if system is None:
            out += _trimmed(message, at)
        else:
            said = text_at(message, "content").rstrip()
            out += [Part("<<SYS>>\n"), *_text(chat.messages[0], 0)]
            out += [Part("\n<</SYS>>\n\n" if said else "\n<</SYS>>"), Part(said, at, "content", exact=bool(said))]
        out.put(" [/INST]")
        system = None
    if system is not None:
        raise RefusedError("a system message without a user's behind it")
    return out
