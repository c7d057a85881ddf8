"""What a rendering is: text, and which part of it came from where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bytepair.chat.template import Template


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a rendered text that came from one place.

    Attributes:
        start: Where it begins, in characters of the text.
        end: Where it ends; equal to `start` for a content that is empty.
        kind: ``"template"`` for the template's own text and for special tokens, ``"content"`` for what was given.
        message: The index of the message; None if it is from no message.
        role: The role of that message, if it has one.
        field: The path inside of the message, such as ``"content"`` or ``"tool_calls/0/function/name"``; of what is
            from no message the whole path, such as ``"tools/0/name"`` or ``"variables/date"``; None for the template.
        generated: Whether it lies in a ``{% generation %}`` block.

    Example:
        >>> Span(0, 2, "content", 0, "user", "content", False).field
        'content'
    """

    start: int
    end: int
    kind: str
    message: int | None
    role: str | None
    field: str | None
    generated: bool


@dataclass(frozen=True, slots=True)
class Rendered:
    """A chat as text, each character of which is known by its source.

    Attributes:
        text: What the template makes of the chat.
        spans: The parts of the text, in order and without gaps; neighbours of one source are one span.
        has_generation: Whether the template has ``{% generation %}`` blocks.
        template: What rendered it.

    Example:
        >>> from bytepair.chat.rendering.render import render
        >>> rendered = render([{"role": "user", "content": "Hi"}], "<{{ messages[0].content }}>")
        >>> [(rendered.text[span.start : span.end], span.kind) for span in rendered.spans]
        [('<', 'template'), ('Hi', 'content'), ('>', 'template')]
    """

    text: str
    spans: tuple[Span, ...]
    has_generation: bool
    template: Template
