"""Rendered text, and spans that record the origin of each part of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair.chat.template import Template
    from bytepair.chat.traced.values import Run


class Span(NamedTuple):
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


@dataclass(frozen=True, eq=False)
class Rendered:
    """A chat as text, with the origin of each character.

    Attributes:
        text: The rendered text.
        runs: The number of characters and the origin of each part of it; `spans` are made of them.
        has_generation: Whether the template has ``{% generation %}`` blocks.
        template: The template.

    Example:
        >>> from bytepair.chat.rendering.render import render
        >>> rendered = render([{"role": "user", "content": "Hi"}], "<{{ messages[0].content }}>")
        >>> [(rendered.text[span.start : span.end], span.kind) for span in rendered.spans]
        [('<', 'template'), ('Hi', 'content'), ('>', 'template')]
    """

    text: str
    runs: Sequence[Run] = field(repr=False)
    has_generation: bool
    template: Template

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """The parts of the text, in order and without gaps; adjacent parts of one origin are one span."""
        return _spans(self.runs, whole=True)

    @cached_property
    def outline(self) -> tuple[Span, ...]:
        """As `spans`, but adjacent content from outside of the messages is one span: tools have many fields."""
        return _spans(self.runs, whole=False)

    def until(self, end: int) -> Rendered:
        """The first characters."""
        runs = []
        left = end
        for length, origin in self.runs:
            runs.append((min(length, left), origin))
            left -= length
            if left <= 0:
                break
        return replace(self, text=self.text[:end], runs=runs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rendered):
            return NotImplemented
        return (self.text, self.spans, self.template) == (other.text, other.spans, other.template)

    def __hash__(self) -> int:
        return hash((self.text, self.template))


def _spans(runs: Sequence[Run], *, whole: bool) -> tuple[Span, ...]:
    spans = []
    at = start = 0
    key: tuple[Any, ...] | None = None
    last = None
    for length, origin in runs:
        if origin is last:
            at += length
            continue
        last = origin
        if not whole and origin.message is None and origin.kind == "content":
            here: tuple[Any, ...] = ("content", None, None, "", origin.generated)
        else:
            here = (origin.kind, origin.message, origin.role, origin.field, origin.generated)
        if here != key and (length or origin.kind == "content"):
            if key is not None:
                spans.append(Span(start, at, *key))
            start, key = at, here
        at += length
    if key is not None and (at or key[0] == "content"):
        spans.append(Span(start, at, *key))
    return tuple(spans)
