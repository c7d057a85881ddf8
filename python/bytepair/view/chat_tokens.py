"""The tokens of a chat for a picture: text, source and label of each."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bytepair.view.spelling import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytepair.chat.encoding.example import ChatExample
    from bytepair.chat.rendering.spans import Span
    from bytepair.tokenizer import Tokenizer

_IGNORED = -100


@dataclass(frozen=True, slots=True)
class ChatCell:
    """A token.

    Attributes:
        number: The index of the token in the example.
        id: Its id.
        token: Its bytes.
        start: Its start in `text`, in characters.
        end: Its end.
        shown: Its characters that no token before it has shown. Several tokens can be parts of one character.
        kind: ``"role"`` for tokens of a message, ``"template"``, ``"given"`` for tokens of tools, documents and
            variables, ``"added"`` for tokens that cover no text.
        group: The role; for ``"given"`` ``tools``, ``documents`` or ``variables``; else the kind.
        message: The number of the message; None for none.
        field: The field of the message.
        is_trained: Whether it has a label.
        straddles: The names of its sources, if these are template and content, or two messages; else empty.
    """

    number: int
    id: int
    token: bytes
    start: int
    end: int
    shown: str
    kind: str
    group: str
    message: int | None
    field: str | None
    is_trained: bool
    straddles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChatGap:
    """Characters without a token: truncated, or removed by a normalizer."""

    start: int
    text: str


def cells(example: ChatExample, tokenizer: Tokenizer) -> Iterator[ChatCell | ChatGap]:
    """The tokens of an example in order, with the gaps between them; errors as `bytepair.view.chat.html`."""
    text, spans = example.text, example.spans
    ids, labels, offsets = (getattr(example, name).tolist() for name in ("input_ids", "labels", "offsets"))
    _check(ids, labels, offsets, len(text))
    ends = [span.end for span in spans]
    covered = 0
    for number, (id, label, (start, end)) in enumerate(zip(ids, labels, offsets, strict=True)):
        if start > covered:
            yield ChatGap(covered, text[covered:start])
            covered = start
        owner, sides = _owner(spans, bisect_right(ends, start), start, end)
        yield ChatCell(
            number=number,
            id=id,
            token=tokenizer.token_bytes(id),
            start=start,
            end=end,
            shown=text[max(start, covered) : end],
            kind=_group(owner)[0],
            group=_group(owner)[1],
            message=owner.message if owner else None,
            field=owner.field if owner else None,
            is_trained=label != _IGNORED,
            straddles=sides,
        )
        covered = max(covered, end)
    if covered < len(text):
        yield ChatGap(covered, text[covered:])


def _owner(spans: Sequence[Span], first: int, start: int, end: int) -> tuple[Span | None, tuple[str, ...]]:
    """The span with the largest overlap with an interval, and the names of its sources if there are several.

    `first` is the first span that does not end before the interval. Ties go to the first span.
    """
    owner: Span | None = None
    most = 0
    sides: dict[tuple[str, int | None], str] = {}
    for index in range(first, len(spans)):
        span = spans[index]
        if span.start >= end:
            break
        size = min(span.end, end) - max(span.start, start)
        if size > 0:
            sides.setdefault((span.kind, span.message if span.kind == "content" else None), name(span))
        if size > most:
            owner, most = span, size
    return owner, tuple(sides.values()) if len(sides) > 1 else ()


def name(part: Span | ChatCell) -> str:
    """The name of a span, or of a token's span; in brackets unless it is a role."""
    kind, group = (part.kind, part.group) if isinstance(part, ChatCell) else _group(part)
    message = "" if part.message is None else f", message {part.message}"
    return (group if kind == "role" else f"({group})") + message + (f", {part.field}" if part.field else "")


def instead(cell: ChatCell) -> str:
    """The stand-in of a token without characters of its own."""
    if cell.end > cell.start:
        return f"‹{cell.token[:40].hex(' ')}›"
    return f"‹{quote(cell.token)}›"


def _group(span: Span | None) -> tuple[str, str]:
    if span is None:
        return "added", "added"
    if span.kind == "template":
        return "template", "template"
    if span.message is None:
        return "given", (span.field or "variables").partition("/")[0]
    return "role", span.role or "no role"


def _check(ids: list[int], labels: list[int], offsets: list[list[int]], characters: int) -> None:
    if not len(ids) == len(labels) == len(offsets):
        raise ValueError(
            f"the example has {len(ids)} input_ids, {len(labels)} labels and {len(offsets)} offsets; "
            "the numbers must be equal"
        )
    for number, (start, end) in enumerate(offsets):
        if not 0 <= start <= end <= characters:
            raise ValueError(
                f"token {number} has the offsets {start} to {end}, outside a text of {characters} characters; the "
                "offsets belong to another text"
            )
