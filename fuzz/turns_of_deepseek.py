"""The oracle of ``turns.py`` for the templates of DeepSeek, which move system messages to the front."""

from __future__ import annotations

from typing import Any

from fuzz.turns import MISSING, Chat, Message, RefusedError, Written, role_of, text_at


def _systems(out: Written, chat: Chat) -> None:
    """All text of the system, before the rest."""
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
    """DeepSeek V3.1: a mark that ends thinking precedes each answer."""
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
