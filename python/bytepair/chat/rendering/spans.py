"""Rendered text, and spans that record the origin of each part of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bytepair.chat.template import Template


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a rendered text that has one origin.

    Attributes:
        start: The index of its first character in the text.
        end: The index after its last character; equal to `start` for empty content.
        kind: ``"template"`` for the template's own text and special tokens, ``"content"`` for text from the inputs.
        message: The index of the message; None for text that is not from a message.
        role: The role of that message, if it has one.
        field: The path inside the message, such as ``"content"`` or ``"tool_calls/0/function/name"``; for other inputs
            the whole path, such as ``"tools/0/name"`` or ``"variables/date"``; None for the template.
        generated: Whether it is inside a ``{% generation %}`` block.

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
    """A chat as text, with the origin of each character.

    Attributes:
        text: The rendered text.
        spans: The parts of the text, in order and without gaps; adjacent parts of one origin are one span.
        has_generation: Whether the template has ``{% generation %}`` blocks.
        template: The template.

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
