"""Small made templates, one for each structure that published templates have, and an oracle for their labels.

A structure is data: the texts that a template writes around a message. `source` makes a template of it. `written`
writes the same text in plain Python, part by part, and decides for each part whether a model writes it: from the end of
the prompt for generation to the mark that ends the turn. Neither spans nor renderings of a part are used for that.
The file is long because there are so many of them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from fuzz.turns import Message


@dataclass(frozen=True)
class Structure:
    """The texts that a template writes around each kind of message.

    Attributes:
        name: Its name.
        start: The text before all messages.
        user: Before and after a user's content.
        header: Before an assistant's turn.
        header_after_result: The same after a result of a tool; None for `header`.
        prompt: The prompt for generation; "" for none.
        prompt_after_result: The same after a result; None for `prompt`.
        thinking: Before and after reasoning; None if it is dropped.
        keeps: The turns that keep their reasoning: ``"all"``, or those after the last user message (``"last"``).
        empty: The text in place of no reasoning.
        content: Before and after an assistant's content.
        calls: Before and after all calls.
        call: Before the name of a call, between name and arguments, and after these.
        between: Between two calls.
        end: After an assistant's turn at the end of a conversation.
        end_in_history: The same if messages follow; None for `end`.
        end_of_call: The same after calls; None for `end`.
        end_before_result: The same after calls that have a result; None for `end_of_call`.
        result: Before the name of the call (if `repeats`), before and after the content of a result.
        repeats: Whether the result of a call repeats its name.
        trailer: At the end of a conversation without a prompt.
        eos: The variable ``eos_token``.
        takes_parts: Whether content may be a list of parts.
        part: Before and after each part of a content.
        trims: Whether contents and reasoning are written without the white space around them.
    """

    name: str
    start: str = "<s>"
    user: tuple[str, str] = ("<|im_start|>user\n", "<|im_end|>\n")
    header: str = "<|im_start|>assistant\n"
    header_after_result: str | None = None
    prompt: str = "<|im_start|>assistant\n"
    prompt_after_result: str | None = None
    thinking: tuple[str, str] | None = ("<think>\n", "\n</think>\n\n")
    keeps: str = "all"
    empty: str = ""
    content: tuple[str, str] = ("", "")
    calls: tuple[str, str] = ("", "")
    call: tuple[str, str, str] = ('<tool_call>\n{"name": "', '", "arguments": ', "}\n</tool_call>")
    between: str = "\n"
    end: str = "<|im_end|>\n"
    end_in_history: str | None = None
    end_of_call: str | None = None
    end_before_result: str | None = None
    result: tuple[str, str, str] = ("<|im_start|>tool\n", "", "<|im_end|>\n")
    repeats: bool = False
    trailer: str = ""
    eos: str | None = None
    takes_parts: bool = False
    part: tuple[str, str] = ("", "")
    trims: bool = False

    def end_after(self, *, has_calls: bool, following: str | None) -> str:
        """The text after an assistant's turn, by the role of the next message."""
        end = self.end_of_call if has_calls and self.end_of_call is not None else self.end
        if has_calls and following == "tool" and self.end_before_result is not None:
            return self.end_before_result
        if not has_calls and following is not None and self.end_in_history is not None:
            return self.end_in_history
        return end

    def header_of(self, before: str | None) -> str:
        """The text before an assistant's turn, by the role of the message before."""
        return self.header_after_result if before == "tool" and self.header_after_result is not None else self.header

    def prompt_of(self, before: str | None) -> str:
        """The prompt for generation, by the role of the message before."""
        return self.prompt_after_result if before == "tool" and self.prompt_after_result is not None else self.prompt


_MISTRAL_CALL = ('{"name": "', '", "arguments": ', "}")
_GLM_CALL = ("\n<tool_call>", "\n<arg_key>all</arg_key>\n<arg_value>", "</arg_value>\n</tool_call>")
_DEEPSEEK_CALL = ("<｜tool▁call▁begin｜>function<｜tool▁sep｜>", "\n```json\n", "\n```<｜tool▁call▁end｜>")
_HARMONY: dict[str, Any] = {
    "user": ("<|start|>user<|message|>", "<|end|>"),
    "header": "<|start|>assistant",
    "prompt": "<|start|>assistant",
    "thinking": ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant"),
    "content": ("<|channel|>final<|message|>", ""),
    "call": (" to=functions.", "<|channel|>commentary json<|message|>", ""),
    "end_of_call": "<|call|>",
    "result": ("<|start|>functions.", " to=assistant<|channel|>commentary<|message|>", "<|end|>"),
    "repeats": True,
}
_GEMMA: dict[str, Any] = {
    "user": ("<|turn>user\n", "<turn|>\n"),
    "header": "<|turn>model\n",
    "prompt": "<|turn>model\n",
    "thinking": ("<|channel>thought\n", "\n<channel|>"),
    "call": ("<|tool_call>call:", "{", "}<tool_call|>"),
    "between": "",
    "end": "<turn|>\n",
    "end_of_call": "<|tool_response>",
    "header_after_result": "",
    "prompt_after_result": "",
    "result": ("response:", "{value:", "}<tool_response|>"),
    "repeats": True,
}
_DEEPSEEK: dict[str, Any] = {
    "start": "<｜begin▁of▁sentence｜>",
    "user": ("<｜User｜>", ""),
    "header": "<｜Assistant｜>",
    "prompt": "<｜Assistant｜>",
    "calls": ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
    "call": _DEEPSEEK_CALL,
    "end": "<｜end▁of▁sentence｜>",
    "result": ("<｜tool▁output▁begin｜>", "", "<｜tool▁output▁end｜>"),
    "eos": "<｜end▁of▁sentence｜>",
}
_MISTRAL: dict[str, Any] = {
    "user": ("[INST]", "[/INST]"),
    "header": "",
    "prompt": "",
    "thinking": ("[THINK]", "[/THINK]"),
    "calls": ("[TOOL_CALLS][", "]"),
    "call": _MISTRAL_CALL,
    "between": ", ",
    "end": "</s>",
    "result": ("[TOOL_RESULTS]", "", "[/TOOL_RESULTS]"),
    "eos": "</s>",
}
_GLM: dict[str, Any] = {
    "start": "[gMASK]<sop>",
    "user": ("<|user|>\n", ""),
    "header": "<|assistant|>",
    "prompt": "<|assistant|>",
    "thinking": ("\n<think>", "</think>\n"),
    "empty": "\n<think></think>\n",
    "call": _GLM_CALL,
    "between": "",
    "end": "",
    "result": ("<|observation|>\n<tool_response>\n", "", "\n</tool_response>"),
}
_APERTUS: dict[str, Any] = {
    "user": ("<|user_start|>", "<|user_end|>"),
    "header": "<|assistant_start|>",
    "prompt": "<|assistant_start|>",
    "thinking": ("<|inner_prefix|>", "<|inner_suffix|>"),
    "calls": ("<|tools_prefix|>[", "]<|tools_suffix|>"),
    "call": ('{"', '": ', "}"),
    "between": ", ",
    "end": "<|assistant_end|>",
    "end_before_result": "",
    "header_after_result": "",
    "prompt_after_result": "",
    "result": ("[", "", "]"),
}
STRUCTURES = (
    Structure("chatml"),
    Structure("chatml, reasoning of the last turns only", keeps="last"),
    Structure("an empty thought without reasoning", keeps="last", empty="<think>\n\n</think>\n\n"),
    Structure("a prompt that begins to think", prompt="<|im_start|>assistant\n<think>\n"),
    Structure("QwQ: a prompt that history drops", prompt="<|im_start|>assistant\n<think>\n", thinking=None),
    Structure("a prompt that has thought already", prompt="<|im_start|>assistant\n<think>\n\n</think>\n\n"),
    Structure("parts", takes_parts=True),
    Structure("parts in marks", takes_parts=True, part=("<part>", "</part>")),
    Structure("trimmed", trims=True),
    Structure("trimmed parts", trims=True, takes_parts=True),
    Structure("Llama 3: trimmed, and no line behind the end", trims=True, thinking=None, end="<|eot_id|>"),
    Structure("trimmed behind a space", trims=True, content=(" ", " "), end="</s>", thinking=None),
    Structure("trimmed, reasoning of the last turns only", trims=True, keeps="last",
              prompt="<|im_start|>assistant\n<think>\n"),
    Structure("harmony", **_HARMONY, end="<|return|>", end_in_history="<|end|>"),
    Structure("harmony with one end", **_HARMONY, end="<|end|>"),
    Structure("Gemma 4", **_GEMMA),
    Structure("Gemma 4, reasoning of the last turns only", **_GEMMA, keeps="last"),
    Structure("Mistral", **_MISTRAL),
    Structure("Mistral with a space", **{**_MISTRAL, "content": (" ", ""), "thinking": None}),
    Structure("Mistral 3", **{**_MISTRAL, "calls": ("", ""), "call": ("[TOOL_CALLS]", "[ARGS]", ""), "between": ""}),
    Structure("DeepSeek V3", **_DEEPSEEK),
    Structure(
        "DeepSeek R1: results end where the answer begins",
        **{**_DEEPSEEK, "header_after_result": "<｜tool▁outputs▁end｜>", "prompt_after_result": "", "thinking": None},
    ),
    Structure(
        "DeepSeek V3.1: a prompt that thinks, and history that does not",
        **{**_DEEPSEEK, "prompt": "<｜Assistant｜><think>", "thinking": None, "empty": "</think>"},
    ),
    Structure("GLM: the next turn ends this one", **_GLM),
    Structure("GLM 4.7: a prompt that thinks", **{**_GLM, "prompt": "<|assistant|><think>", "empty": "</think>"}),
    Structure("Apertus: results inside of a turn", **_APERTUS),
    Structure(
        "GigaChat: a call is a message of its own",
        user=("user<|role_sep|>", "<|message_sep|>"),
        header="assistant<|role_sep|>",
        prompt="assistant<|role_sep|>",
        call=("<|message_sep|>function call<|role_sep|>", " ", ""),
        between="",
        end="<|message_sep|>",
        result=("function result<|role_sep|>", "", "<|message_sep|>"),
    ),
    Structure("Phi-3: the end of text behind the end", end="<|end|>\n", user=("<|user|>\n", "<|end|>\n"),
              header="<|assistant|>\n", prompt="<|assistant|>\n", trailer="<|endoftext|>", eos="<|endoftext|>"),
    Structure("Llama 3 as it was: the prompt behind every conversation", thinking=None, start="<|begin_of_text|>",
              user=("<|h|>user<|/h|>\n\n", "<|eot_id|>"), header="<|h|>assistant<|/h|>\n\n",
              prompt="<|h|>assistant<|/h|>\n\n", trailer="<|h|>assistant<|/h|>\n\n", end="<|eot_id|>",
              result=("<|h|>tool<|/h|>\n\n", "", "<|eot_id|>")),
    Structure("Apertus: a prompt after results that history drops",
              **{**_APERTUS, "prompt_after_result": "<|assistant_start|>"}),
    Structure("a text behind all messages", trailer="the end of the chat"),
    Structure("Hunyuan: an answer in marks", content=("<answer>\n", "\n</answer>"), prompt="<|im_start|>assistant\n"),
    Structure(
        "Command R7B: everything is marked",
        user=("<|START_OF_TURN_TOKEN|><|USER_TOKEN|>", "<|END_OF_TURN_TOKEN|>"),
        header="<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        prompt="<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        thinking=("<|START_THINKING|>", "<|END_THINKING|>"),
        content=("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
        calls=("<|START_ACTION|>[", "]<|END_ACTION|>"),
        call=('{"tool_name": "', '", "parameters": ', "}"),
        between=",\n",
        end="<|END_OF_TURN_TOKEN|>",
    ),
    Structure(
        "MiniMax M2: brackets that are no marks",
        user=("]~b]user\n", "[e~[\n"),
        header="]~b]ai\n",
        prompt="]~b]ai\n<think>\n",
        calls=("\n<minimax:tool_call>\n", "</minimax:tool_call>"),
        call=('<invoke name="', '">\n', "\n</invoke>\n"),
        between="",
        end="[e~[\n",
        result=("]~b]tool\n<response>", "", "</response>[e~[\n"),
    ),
    Structure("Nemotron: thinking that history empties", prompt="<|im_start|>assistant\n<think>\n", keeps="last",
              empty="<think></think>"),
    Structure("Llama 3.1: a call of braces", thinking=None, user=("<|h|>user<|/h|>\n\n", "<|eot_id|>"),
              header="<|h|>assistant<|/h|>\n\n", prompt="<|h|>assistant<|/h|>\n\n", end="<|eot_id|>",
              end_of_call="<|eom_id|>", call=('{"name": "', '", "parameters": ', "}"), between="; "),
    Structure("words instead of marks", start="", user=("User: ", "\n\n"), header="Assistant:", prompt="Assistant:",
              content=(" ", ""), thinking=None, call=("\nCall ", " with ", "."), end=" END\n\n",
              result=("Result: ", "", "\n\n")),
    Structure("no end at all", user=("<|user|>", ""), header="<|bot|>", prompt="<|bot|>", end="",
              result=("<|tool|>", "", "")),
    Structure("a name in the result of every call", repeats=True, result=("<|im_start|>tool ", "\n", "<|im_end|>\n")),
    Structure("no prompt, but a header", prompt="", thinking=None),
)  # fmt: skip


def source(structure: Structure) -> str:
    """The template of a structure."""
    s = structure

    def text(value: str) -> str:
        return "{{ " + json.dumps(value, ensure_ascii=False) + " }}"

    def either(condition: str, one: str, other: str) -> str:
        return f"{{% if {condition} %}}{text(one)}{{% else %}}{text(other)}{{% endif %}}" if one != other else text(one)

    trim = " | trim" if s.trims else ""
    content = "{{ (m.content or '')" + trim + " }}"
    if s.takes_parts:
        part = f"{text(s.part[0])}{{{{ p.text{trim} }}}}{text(s.part[1])}"
        parts = f"{{% for p in m.content or [] %}}{part}{{% endfor %}}"
        content = f"{{% if m.content is string %}}{{{{ m.content{trim} }}}}{{% else %}}{parts}{{% endif %}}"
    thought = ""
    if s.thinking:
        kept = "true" if s.keeps == "all" else "loop.index0 > ns.user"
        thought = (
            f"{{% if m.reasoning_content and {kept} %}}{text(s.thinking[0])}{{{{ m.reasoning_content{trim} }}}}"
            f"{text(s.thinking[1])}{{% else %}}{text(s.empty)}{{% endif %}}"
        )
    elif s.empty:
        thought = text(s.empty)
    one = f"{text(s.call[0])}{{{{ c.function.name }}}}{text(s.call[1])}{{{{ c.function.arguments | tojson }}}}"
    between = f"{{% if not loop.first %}}{text(s.between)}{{% endif %}}"
    each = f"{between}{one}{text(s.call[2])}{{% set ns.name = c.function.name %}}"
    every = f"{{% for c in m.tool_calls %}}{each}{{% endfor %}}"
    calls = f"{{% if m.tool_calls %}}{text(s.calls[0])}{every}{text(s.calls[1])}{{% endif %}}"
    after_calls = either(
        "following == 'tool'",
        s.end_after(has_calls=True, following="tool"),
        s.end_after(has_calls=True, following=None),
    )
    after_content = either(
        "following", s.end_after(has_calls=False, following="user"), s.end_after(has_calls=False, following=None)
    )
    repeated = "{{ ns.name }}" if s.repeats else ""
    prompt = either("messages and messages[-1].role == 'tool'", s.prompt_of("tool"), s.prompt)
    return (
        "{% set ns = namespace(user=-1, name='') %}"
        "{% for m in messages %}{% if m.role == 'user' %}{% set ns.user = loop.index0 %}{% endif %}{% endfor %}"
        + text(s.start)
        + "{% for m in messages %}{% set following = loop.nextitem.role if loop.nextitem else '' %}"
        "{% if m.role == 'user' %}"
        + f"{text(s.user[0])}{content}{text(s.user[1])}"
        + "{% elif m.role == 'tool' %}"
        + f"{text(s.result[0])}{repeated}{text(s.result[1])}{content}{text(s.result[2])}"
        + "{% else %}"
        + either("loop.previtem and loop.previtem.role == 'tool'", s.header_of("tool"), s.header)
        + thought
        + "{% if m.content or not m.tool_calls %}"
        + f"{text(s.content[0])}{content}{text(s.content[1])}"
        + "{% endif %}"
        + calls
        + f"{{% if m.tool_calls %}}{after_calls}{{% else %}}{after_content}{{% endif %}}"
        + "{% endif %}{% endfor %}"
        + f"{{% if add_generation_prompt %}}{prompt}{{% else %}}{text(s.trailer)}{{% endif %}}"
    )


class Piece(NamedTuple):
    """A part of the text of a structure: who causes it, and whether a model writes it."""

    text: str
    message: int | None = None
    is_trained: bool = False
    is_field: bool = False


_SPACES = ("", " ", "\n", "\n\n", "  \n", "\t")
_ATOM = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]|.", re.DOTALL)


def _agreement(one: str, other: str) -> int:
    """The length of the common beginning of two texts, cut between marks."""
    length = 0
    for left, right in zip(_ATOM.findall(one), _ATOM.findall(other), strict=False):
        if left != right:
            break
        length += len(left)
    return length


def written(structure: Structure, messages: list[Message], *, add_generation_prompt: bool = False) -> list[Piece]:
    """The text of a conversation, in parts."""
    s = structure
    pieces = [Piece(s.start)]
    last_user = max((at for at, message in enumerate(messages) if message["role"] == "user"), default=-1)
    name = ""
    before = None
    for at, message in enumerate(messages):
        role = message["role"]
        if role == "assistant":
            following = messages[at + 1]["role"] if at + 1 < len(messages) else None
            pieces += _answer(s, at, message, (before, following), is_late=at > last_user)
            name = next((call["function"]["name"] for call in reversed(message.get("tool_calls") or [])), name)
        else:
            first, middle, last = s.result if role == "tool" else (s.user[0], "", s.user[1])
            pieces += [Piece(first), Piece(name if s.repeats and role == "tool" else ""), Piece(middle)]
            pieces += [*_said(s, at, message), Piece(last)]
        before = role
    pieces.append(Piece(s.prompt_of(before) if add_generation_prompt else s.trailer))
    return pieces


def _said(s: Structure, at: int, message: Message, *, is_trained: bool = False) -> Iterator[Piece]:
    """The content of a message, each part in its marks."""
    content = message.get("content") or ""
    if isinstance(content, str):
        before, texts, after = "", [content], ""
    else:
        texts = [part["text"] for part in content]
        before, after = s.part
    for text in texts:
        yield Piece(before, at, is_trained)
        yield Piece(text.strip() if s.trims else text, at, is_trained, is_field=True)
        yield Piece(after, at, is_trained)


def _answer(
    s: Structure, at: int, message: Message, around: tuple[str | None, str | None], *, is_late: bool
) -> Iterator[Piece]:
    before, following = around
    header = s.header_of(before)
    body = list(_body(s, at, message, is_late))
    text = "".join(piece.text for piece in body)
    if s.prompt_of(before):
        given = _agreement(s.prompt_of(before), header + text)
    else:
        # Without a prompt, the header is what every answer begins with.
        probe = "".join(piece.text for piece in _body(s, at, {"role": "assistant", "content": "\0"}, is_late))
        given = _agreement(header + probe.partition("\0")[0], header + text)
    yield Piece(header, at)
    left = max(0, given - len(header))
    for piece in body:
        # A field is the model's, even if it begins as the prompt goes on.
        left = 0 if piece.is_field else left
        cut = min(left, len(piece.text))
        left -= cut
        yield Piece(piece.text[:cut], at)
        yield piece._replace(text=piece.text[cut:])
    has_calls = bool(message.get("tool_calls"))
    end = s.end_after(has_calls=has_calls, following=following)
    real = s.end_after(has_calls=has_calls, following=None)
    own = end.rstrip() if end == real else ""
    yield Piece(own, at, is_trained=True)
    yield Piece(end[len(own) :])


def _body(s: Structure, at: int, message: Message, is_late: bool) -> Iterator[Piece]:
    """What is between the header and the end of an assistant's turn, all of it the model's."""

    def mark(text: str) -> Piece:
        return Piece(text, at, is_trained=True)

    def field(text: str) -> Piece:
        return Piece(text, at, is_trained=True, is_field=True)

    thought = message.get("reasoning_content")
    if s.thinking and thought and (s.keeps == "all" or is_late):
        yield from (mark(s.thinking[0]), field(thought.strip() if s.trims else thought), mark(s.thinking[1]))
    else:
        yield mark(s.empty)
    calls = message.get("tool_calls") or []
    if message.get("content") or not calls:
        yield from (mark(s.content[0]), *_said(s, at, message, is_trained=True), mark(s.content[1]))
    if calls:
        yield mark(s.calls[0])
        for number, call in enumerate(calls):
            yield mark(s.between if number else "")
            arguments = json.dumps(call["function"]["arguments"], ensure_ascii=False)
            yield from (mark(s.call[0]), field(call["function"]["name"]), mark(s.call[1]))
            yield from (field(arguments), mark(s.call[2]))
        yield mark(s.calls[1])


def conversation(random: random.Random, structure: Structure) -> list[Message]:
    """A conversation with calls, results, reasoning, parts and None, which the structure can write."""
    messages: list[Message] = []
    for _ in range(random.randint(1, 3)):
        messages.append({"role": "user", "content": _content(random, structure)})
        for _ in range(random.choice([0, 0, 1, 2])):
            calls = [_call(random) for _ in range(random.choice([1, 1, 2]))]
            answer = {"role": "assistant", "content": random.choice([None, "", _words(random)]), "tool_calls": calls}
            messages.append(_thought(random, answer))
            messages += [{"role": "tool", "content": _content(random, structure)} for _ in calls]
        if random.random() < 0.9 or messages[-1]["role"] == "tool":
            messages.append(_thought(random, {"role": "assistant", "content": _content(random, structure)}))
        if random.random() < 0.05:
            messages.append({"role": "assistant", "content": None, "tool_calls": [_call(random)]})
    return messages


def _thought(random: random.Random, message: Message) -> Message:
    if random.random() < 0.5:
        message["reasoning_content"] = random.choice([_text(random), None, ""])
    if random.random() < 0.1:  # no template writes it
        message["metadata"] = {"at": _word(random)}
    if random.random() < 0.1:
        message["tool_calls"] = message.get("tool_calls") or random.choice([[], None])
    return message


def _call(random: random.Random) -> dict[str, Any]:
    arguments = {
        _word(random): random.choice([_words(random), 3, None, True, [1, "x"]]) for _ in range(random.randint(0, 2))
    }
    return {"type": "function", "function": {"name": _word(random), "arguments": arguments}}


def _content(random: random.Random, structure: Structure) -> Any:
    if structure.takes_parts and random.random() < 0.5:
        return [{"type": "text", "text": _text(random)} for _ in range(random.randint(0, 2))]
    return _text(random) if random.random() < 0.97 else random.choice([[], None])


def _text(random: random.Random) -> str:
    """Words, sometimes with white space around them, and sometimes nothing else."""
    words = _words(random) if random.random() < 0.95 else ""
    return random.choice(_SPACES) + words + random.choice(_SPACES) if random.random() < 0.4 else words


def _words(random: random.Random) -> str:
    return " ".join(_word(random) for _ in range(random.randint(1, 3)))


def _word(random: random.Random) -> str:
    # The words also occur in marks: nothing may be found by searching.
    return random.choice(
        ["user", "assistant", "tool", "call", "think", "x", "y", "é", "END", "functions.get"]
    ) + random.choice("abc12")
