"""Sweep over chats: random conversations through each template, against `transformers` and the oracles.

A case renders one conversation, compares the text with `transformers`, and the text and its spans with the oracle of
``turns.py``; then it encodes the conversation and compares ids, offsets and labels with those of ``labels.py``.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bytepair.chat.rendering.render import render
from bytepair.chat.template import Template
from bytepair.errors import TemplateError
from fuzz.case import equal
from fuzz.chat_templates import Subject, subjects
from fuzz.conversations import PROTOCOL, chat_of
from fuzz.turns import Chat, Part, RefusedError

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator, Sequence

    from bytepair.chat.rendering.spans import Rendered, Span


@functools.cache
def renderer_of_transformers() -> Any:
    """The renderer of `transformers`; imported on first use, since that takes seconds."""
    from transformers.utils.chat_template_utils import render_jinja_template  # noqa: PLC0415

    return render_jinja_template


def without_none(messages: Iterable[Any]) -> list[Any]:
    """Messages without fields that are None: `transformers` drops them before it renders."""
    return [{key: value for key, value in message.items() if value is not None} for message in messages]


@functools.cache
def template_of(subject: str) -> Template:
    """The product's template of a subject."""
    chosen = subjects()[subject]
    return Template(chosen.source, variables=chosen.variables)


def conversation(random: random.Random, subject: Subject, *, literals: bool, broken: float = 0.03) -> Chat:
    """A chat for a template, including its variables."""
    protocol = (*subject.marks * 2, *PROTOCOL) if literals else ()
    chat = chat_of(random, subject.takes, protocol, broken=broken)
    return replace(chat, variables={**subject.variables, **chat.variables}, source=subject.source)


def text_of_transformers(subject: Subject, chat: Chat) -> str | None:
    """The rendering of `transformers`; None if it raises."""
    try:
        (text,), _ = renderer_of_transformers()(
            [chat.messages],
            tools=chat.tools,
            chat_template=subject.source,
            add_generation_prompt=chat.add_generation_prompt,
            **chat.variables,
        )
    except Exception:  # whatever comes out of a template
        return None
    return str(text)


def given_to(subject: Subject, chat: Chat) -> dict[str, Any]:
    """The arguments of a call of bytepair that come from the chat."""
    own = {key: value for key, value in chat.variables.items() if key not in subject.variables}
    return {"tools": chat.tools, "add_generation_prompt": chat.add_generation_prompt, "variables": own or None}


def check_rendering(subject: Subject, chat: Chat) -> tuple[Rendered, list[Part]] | None:
    """Render a chat in three ways.

    Returns:
        The product's rendering and the oracle's parts; None if all three refuse the chat.

    Raises:
        AssertionError: They differ.
    """
    held = replace(chat, messages=without_none(chat.messages))
    expected = text_of_transformers(subject, held)
    try:
        parts = subject.oracle(held)
        text: str | None = parts.text()
    except RefusedError:
        parts, text = None, None
    equal("text of the oracle", text, expected)
    try:
        rendered = render(chat.messages, template_of(subject.name), **given_to(subject, chat))
    except TemplateError as error:
        if expected is not None:
            raise AssertionError(f"refused: {error}") from error
        return None
    equal("text", rendered.text, expected)
    assert parts is not None
    check_spans(rendered, parts, chat)
    return rendered, parts


def check_spans(rendered: Rendered, parts: Sequence[Part], chat: Chat) -> None:
    """Compare spans with the oracle's parts.

    Raises:
        AssertionError: They differ, or the spans do not cover the text.
    """
    here = 0
    before = None
    for span in rendered.spans:
        same = (span.kind, span.message, span.role, span.field, span.generated)
        equal("start of a span", span.start, here)
        assert span.end >= span.start, span
        assert same != before, f"two spans that are one at {span.start}: {same}"
        here, before = span.end, same
    equal("end of the spans", here, len(rendered.text))
    for start, part, spans in _beside(parts, rendered.spans):
        where = f"{part.text[:40]!r} at {start}"
        if not spans:
            raise AssertionError(f"no span for {part} at {start}")
        for span in spans:
            equal(f"kind of {where}", span.kind, "template" if part.field is None else "content")
            equal(f"message of {where}", span.message, part.message)
            role = None if part.message is None else chat.messages[part.message].get("role")
            equal(f"role of {where}", span.role, role)
            equal(f"generated of {where}", span.generated, part.generated)
            if not _same_field(span.field, part):
                raise AssertionError(f"field of {where} is {span.field!r}, not {part.field!r}")


def _beside(parts: Iterable[Part], spans: Sequence[Span]) -> Iterator[tuple[int, Part, list[Span]]]:
    """Each part with its spans; an empty content with its placeholder span."""
    start = first = 0
    for part in parts:
        end = start + len(part.text)
        while first < len(spans) and spans[first].end < start:
            first += 1
        if start < end:
            own = [span for span in _from(spans, first, end) if span.start < min(end, span.end) and start < span.end]
            yield start, part, own
        elif part.field is not None and part.exact:
            at = [span for span in _from(spans, first, end) if span.start <= start <= span.end]
            like = [span for span in at if span.message == part.message and _same_field(span.field, part)]
            yield start, part, like[:1]
        start = end


def _from(spans: Sequence[Span], first: int, end: int) -> Iterator[Span]:
    for at in range(first, len(spans)):
        if spans[at].start > end:
            return
        yield spans[at]


def _same_field(field: str | None, part: Part) -> bool:
    if field is None or part.field is None:
        return field == part.field
    got, expected = (name.replace("~1", "/").replace("~0", "~") for name in (field, part.field))
    if got == expected:
        return True
    return not part.exact and (got.startswith(expected + "/") or expected.startswith(got + "/"))
