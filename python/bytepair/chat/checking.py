"""`check`: what a chat template does to conversations, each finding with the smallest conversation that shows it.

The template is rendered for all short conversations that it takes, the shortest first; contents are single letters.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bytepair.chat.encoding.example import ChatOptions, encode_chat, located, trusted
from bytepair.chat.encoding.reserved import copied
from bytepair.chat.rendering.inputs import REASONING
from bytepair.chat.rendering.render import render, template_of
from bytepair.errors import BytepairError, TemplateError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from bytepair.chat.rendering.spans import Rendered
    from bytepair.chat.template import Template
    from bytepair.model.compiled import CompiledTokenizer

# One moment for all renderings: a template that writes the time writes the same one.
_NOW = datetime(2026, 1, 1)
_TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "d",
            "parameters": {"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "string"}}},
        },
    }
    for name in ("g", "f")
]
_SHAPES = (
    *("UA", "UR", "SUA", "UAU", "UCT", "URU", "UDT", "UAUA", "UCTA", "URUA", "URUR", "UDTA"),
    *("UCTCTA", "UCTAUA", "UDTAUA"),
)


@dataclass(frozen=True, slots=True)
class TemplateFinding:
    """A property of a template.

    Attributes:
        name: The property.
        holds: Whether the template has it; None if no conversation could tell.
        conversation: The smallest conversation that shows that it has it not; None without one.
        detail: What differs in that conversation, or why a conversation is refused.
    """

    name: str
    holds: bool | None
    conversation: list[dict[str, Any]] | None = None
    detail: str = ""

    def __str__(self) -> str:
        answer = "unknown" if self.holds is None else "yes" if self.holds else "no"
        return f"{self.name}: {answer}" + (f" ({self.detail})" if self.detail else "")


@dataclass(frozen=True, slots=True)
class TemplateReport:
    """The findings of `check`, in order; `report[name]` is the finding with that name.

    Attributes:
        findings: The findings.
    """

    findings: tuple[TemplateFinding, ...]

    def __getitem__(self, name: str) -> TemplateFinding:
        for finding in self.findings:
            if finding.name == name:
                return finding
        raise KeyError(name)

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings))


def check(
    template: Template | str, tokenizer: CompiledTokenizer | None = None, *, variables: Mapping[str, Any] | None = None
) -> TemplateReport:
    """Report what a template does: prefixes, prompts, reasoning, contents, tools, roles, and labels.

    Args:
        template: A template, the name of a built-in one, or Jinja source.
        tokenizer: A tokenizer, to check ids and labels too.
        variables: Variables of the template, such as ``{"enable_thinking": False}``.

    Returns:
        The findings. ``keeps earlier text``: the text of n messages begins that of n + 1. ``keeps earlier ids``: so do
        the ids. ``repeats the prompt``: the text with the prompt for generation begins that with the answer.
        ``keeps reasoning``, ``keeps content`` (white space around it, too), ``keeps the order of tools``; ``takes ...``
        for roles and fields; ``can be trained on``. The conversations have tools, or contents in parts, where the
        template takes no others.

    Raises:
        TemplateError: The template is malformed, or takes no answer to a user's message.

    Example:
        >>> report = check("chatml")
        >>> report["keeps earlier text"].holds, report["takes tool calls"].holds
        (True, False)
        >>> print(check("{% for m in messages %}{{ m.content | trim }}{% endfor %}")["keeps content"])
        keeps content: no ('x' instead of ' x ')
    """
    made = _Checker(template_of(template), dict(variables or {}))
    made.render(made.chat("UA"))
    findings = [
        made.keeps_text(),
        made.repeats_prompt(),
        made.keeps_reasoning(),
        made.keeps_content(),
        made.keeps_tools(),
        *made.takes(),
    ]
    if tokenizer is not None:
        findings[1:1] = [made.keeps_ids(tokenizer)]
        findings.append(made.trains(tokenizer))
    return TemplateReport(tuple(findings))


def _parts(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}] if text else []


def _chat(shape: str, *, spelled: bool = False, parted: bool = False) -> list[dict[str, Any]]:
    """A conversation: U user, A answer, S system, R answer with reasoning, C call, D call with reasoning, T result."""
    arguments: Any = '{"x": "y"}' if spelled else {"x": "y"}
    letters = iter("abcdefghijkl")
    messages: list[dict[str, Any]] = []
    for at, kind in enumerate(shape):
        role = {"U": "user", "S": "system", "T": "tool"}.get(kind, "assistant")
        message: dict[str, Any] = {"role": role, "content": "" if kind in "CD" else next(letters)}
        if kind in "RD":
            message["reasoning_content"] = next(letters).upper()
        if kind in "CD":
            # Some templates take ids of nine characters only.
            call = {"type": "function", "id": f"{at:09}", "function": {"name": "f", "arguments": arguments}}
            message["tool_calls"] = [call]
        if kind == "T":
            message |= {"name": "f", "tool_call_id": f"{at - 1:09}"}
        if parted:
            message["content"] = _parts(message["content"])
        messages.append(message)
    return messages


class _Checker:
    """The renderings of one template."""

    def __init__(self, template: Template, variables: dict[str, Any]) -> None:
        self.template = template
        self.variables = variables
        # Some templates take chats with tools only, contents in parts only, the arguments of calls as JSON only.
        self.tools: Any = None
        self.parts = self.spells = False
        for self.tools, self.parts in ((None, False), (_TOOLS, False), (None, True), (_TOOLS, True), (None, False)):
            if self.tried(self.chat("UA")):
                break
        if not self.tried(self.chat("UC")):
            self.spells = True
            self.spells = bool(self.tried(self.chat("UC")))
        self.taken = [chat for chat in map(self.chat, _SHAPES) if self.tried(chat)]

    def chat(self, shape: str) -> list[dict[str, Any]]:
        return _chat(shape, spelled=self.spells, parted=self.parts)

    def render(self, messages: list[dict[str, Any]], *, prompt: bool = False, tools: Any = None) -> Rendered:
        tools = tools or self.tools
        return render(
            messages, self.template, tools=tools, add_generation_prompt=prompt, variables=self.variables, now=_NOW
        )

    def tried(self, messages: list[dict[str, Any]], **options: Any) -> Rendered | None:
        try:
            return self.render(messages, **options)
        except TemplateError:
            return None

    def keeps_text(self) -> TemplateFinding:
        return self._continues("keeps earlier text", lambda rendered: rendered.text)

    def keeps_ids(self, tokenizer: CompiledTokenizer) -> TemplateFinding:
        def ids_of(rendered: Rendered) -> list[int]:
            ids: list[int] = located(tokenizer, rendered.text, trusted(rendered))[0].tolist()
            return ids

        return self._continues("keeps earlier ids", ids_of)

    def _continues(self, name: str, value_of: Callable[[Rendered], Any]) -> TemplateFinding:
        known = None
        for chat in self.taken:
            before: Any = None
            for size in range(1, len(chat) + 1):
                rendered = self.tried(chat[:size])
                value = None if rendered is None else value_of(rendered)
                if before is not None and value is not None:
                    known = True
                    if value[: len(before)] != before:
                        return TemplateFinding(name, False, chat[:size], _difference(before, value))
                before = value
        return TemplateFinding(name, known)

    def repeats_prompt(self) -> TemplateFinding:
        name, known = "repeats the prompt", None
        for chat in self.taken:
            for at in range(1, len(chat)):
                if chat[at]["role"] != "assistant":
                    continue
                prompt = self.tried(chat[:at], prompt=True)
                whole = self.tried(chat[: at + 1])
                if prompt and whole:
                    known = True
                    if not whole.text.startswith(prompt.text):
                        return TemplateFinding(name, False, chat[: at + 1], _difference(prompt.text, whole.text))
        return TemplateFinding(name, known)

    def keeps_reasoning(self) -> TemplateFinding:
        name, known = "keeps reasoning", None
        for chat in self.taken:
            thinking = {at for at, message in enumerate(chat) if "reasoning_content" in message}
            rendered = self.tried(chat)
            if not thinking or rendered is None:
                continue
            known = True
            kept = {span.message for span in rendered.spans if span.field in REASONING}
            if missing := sorted(thinking - kept):
                return TemplateFinding(name, False, chat, f"message {missing[0]}")
        return TemplateFinding(name, known)

    def keeps_content(self) -> TemplateFinding:
        for at in (0, 1):
            chat = self.chat("UA")
            chat[at]["content"] = _parts(" x ") if self.parts else " x "
            rendered = self.render(chat)
            tops = [(span.message, (span.field or "").split("/")[0]) for span in rendered.spans]
            spans = [span for span, top in zip(rendered.spans, tops, strict=True) if top == (at, "content")]
            text = "".join(rendered.text[span.start : span.end] for span in spans)
            if text != " x ":
                return TemplateFinding("keeps content", False, chat, f"{text!r} instead of ' x '")
        return TemplateFinding("keeps content", True)

    def keeps_tools(self) -> TemplateFinding:
        name = "keeps the order of tools"
        chat = self.chat("UA")
        rendered = self.tried(chat, tools=_TOOLS)
        fields = [span.field or "" for span in rendered.spans] if rendered else []
        places = [[at for at, field in enumerate(fields) if field.startswith(prefix)] for prefix in _ORDER]
        if not all(places):
            return TemplateFinding(name, None)
        is_kept = min(places[0]) < min(places[1])
        return TemplateFinding(name, is_kept, None if is_kept else chat)

    def takes(self) -> Iterator[TemplateFinding]:
        yield TemplateFinding("takes chats without tools", not self.tools, self.chat("UA") if self.tools else None)
        yield TemplateFinding("takes contents as text", not self.parts, _chat("UA") if self.parts else None)
        several = self.chat("UC")
        several[1]["tool_calls"] += [{**several[1]["tool_calls"][0], "id": "9" * 9}]
        cases: list[tuple[str, list[dict[str, Any]], Any, str]] = [
            ("takes a system message", self.chat("SUA"), None, "content"),
            ("takes tools", self.chat("UA"), _TOOLS, "tools"),
            ("takes tool calls", self.chat("UC"), None, "tool_calls"),
            ("takes several calls", several, None, "tool_calls/1"),
            ("takes results", self.chat("UCT"), None, "content"),
            ("takes reasoning", self.chat("UR"), None, "reasoning_content"),
            ("takes parts", [{"role": "user", "content": _parts("x")}], None, "content"),
        ]
        for name, chat, tools, top in cases:
            try:
                rendered = self.render(chat, tools=tools)
            except TemplateError as error:
                yield TemplateFinding(name, False, chat, error.what)
                continue
            number = None if top == "tools" else 0 if name == "takes a system message" else len(chat) - 1
            names = REASONING if top == "reasoning_content" else (top,)
            fields = {span.field or "" for span in rendered.spans if span.message == number}
            found = any(f"{field}/".startswith(f"{name}/") for name in names for field in fields)
            # A list of calls that is written whole has no number.
            found |= top == "tool_calls/1" and "tool_calls" in fields
            yield TemplateFinding(name, found, None if found else chat, "" if found else "it is left out of the text")

    def trains(self, tokenizer: CompiledTokenizer) -> TemplateFinding:
        options = ChatOptions(
            template=self.template, tools=self.tools, variables=self.variables, policy="text", now=_NOW
        )
        for chat in self.taken:
            calls = {at for at, message in enumerate(chat) if "tool_calls" in message}
            written = {span.message for span in self.render(chat).spans if (span.field or "").startswith("tool_calls")}
            if calls - written:
                # A finding of its own.
                continue
            try:
                encode_chat(tokenizer, copied(chat), options)
            except BytepairError as error:
                return TemplateFinding("can be trained on", False, chat, str(error))
        return TemplateFinding("can be trained on", True)


_ORDER = ("tools/0/function/name", "tools/1/function/name")


def _difference(one: Any, other: Any) -> str:
    """Where two texts or lists of ids part."""
    pairs = enumerate(zip(one, other, strict=False))
    at = next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))
    return f"{other[at : at + 20]!r} instead of {one[at : at + 20]!r} at {at}"
