"""What a picture of a chat shows of each token: what text it stands for, whose it is, and whether it is trained."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bytepair.view.spelling import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bytepair.tokenizer import Tokenizer

_IGNORED = -100


class SpanOfText(Protocol):
    """Where a part of a rendered text is from: `bytepair.chat.rendering.spans.Span`."""

    @property
    def start(self) -> int:
        """The first character."""

    @property
    def end(self) -> int:
        """The character behind the last one."""

    @property
    def kind(self) -> str:
        """``"template"`` or ``"content"``."""

    @property
    def message(self) -> int | None:
        """The number of the message."""

    @property
    def role(self) -> str | None:
        """Whose it is."""

    @property
    def field(self) -> str | None:
        """Which part of the message."""


class ChatTokens(Protocol):
    """What a picture is made of. `ChatExample` is one."""

    @property
    def text(self) -> str:
        """The rendered text."""

    @property
    def spans(self) -> Sequence[SpanOfText]:
        """What each part of it is, in order."""

    @property
    def input_ids(self) -> NDArray[np.int64]:
        """The ids."""

    @property
    def labels(self) -> NDArray[np.int64]:
        """The id where a token is trained, else -100."""

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each token is from in `text`, in characters: shape (tokens, 2)."""


@dataclass(frozen=True, slots=True)
class ChatCell:
    """A token.

    Attributes:
        number: Which token of the example.
        id: Its id.
        token: Its bytes.
        start: The first character of `text` that it is from.
        end: The character behind the last one.
        shown: Those of its characters that no token before it has shown. Several tokens can be parts of one character.
        kind: ``"role"`` for what is from a message, ``"template"``, ``"given"`` for what is from tools, documents and
            variables, ``"added"`` for what is from nowhere in the text.
        group: Whose it is: the role; else the kind; of what was given ``tools``, ``documents`` or ``variables``.
        message: The number of the message; None if it is from none.
        field: Which part of it.
        is_trained: Whether it has a label.
        straddles: What it is from, if that is both template and content, or two messages; else empty.
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
    """Characters that no token is from: cut off, or taken out by a normalizer.

    Attributes:
        start: The first one.
        text: What they are.
    """

    start: int
    text: str


def cells(example: ChatTokens, tokenizer: Tokenizer) -> Iterator[ChatCell | ChatGap]:
    """The tokens of an example in order, with what lies between them.

    Args:
        example: The example.
        tokenizer: What it was encoded with.

    Raises:
        ValueError: The arrays of the example do not belong together.
        InvalidIdError: The tokenizer has no such id: it is another one.
    """
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


def _owner(spans: Sequence[SpanOfText], first: int, start: int, end: int) -> tuple[SpanOfText | None, tuple[str, ...]]:
    """The span that most of an interval is in, the first of equal ones; and what it is from, if that is several things.

    `first` is the first span that does not end before the interval.
    """
    owner: SpanOfText | None = None
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


def name(part: SpanOfText | ChatCell) -> str:
    """What a span, or the owner of a token, is called; what is no role is in brackets."""
    kind, group = (part.kind, part.group) if isinstance(part, ChatCell) else _group(part)
    message = "" if part.message is None else f", message {part.message}"
    return (group if kind == "role" else f"({group})") + message + (f", {part.field}" if part.field else "")


def instead(cell: ChatCell) -> str:
    """What is shown of a token whose characters were shown before, or that is from none."""
    if cell.end > cell.start:
        return f"‹{cell.token[:40].hex(' ')}›"
    return f"‹{quote(cell.token)}›"


def _group(span: SpanOfText | None) -> tuple[str, str]:
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
            "there must be as many of each"
        )
    for number, (start, end) in enumerate(offsets):
        if not 0 <= start <= end <= characters:
            raise ValueError(
                f"token {number} has the offsets {start} to {end}, which are no part of a text of {characters} "
                "characters; the offsets are of another text"
            )
