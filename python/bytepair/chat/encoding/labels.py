"""Labels: the trained spans of a rendered text, and the tokens that overlap them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bytepair.chat.encoding.turns import MODELS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from bytepair.chat.encoding.turns import Turn, Turns
    from bytepair.chat.rendering.spans import Rendered

    TrainOn: TypeAlias = str | Collection[str] | Callable[[int, Any], bool] | None

_BLOCK = 1 << 16

Interval: TypeAlias = "tuple[int, int]"
"""A span of the text: start and end in characters."""


def selected(messages: Sequence[Any], train_on: TrainOn) -> frozenset[int]:
    """Return the indices of the messages to train on; TypeError for an invalid `train_on`."""
    if train_on is None:
        return frozenset()
    if callable(train_on):
        return frozenset(number for number, message in enumerate(messages) if train_on(number, message))
    roles = {train_on} if isinstance(train_on, str) else set(train_on)
    if not all(isinstance(role, str) for role in roles):
        raise TypeError(
            f"train_on is a role, several roles, a function of index and message, or None, not {train_on!r}"
        )
    return frozenset(number for number, message in enumerate(messages) if message.get("role") in roles)


def pattern_of(marks: Any) -> re.Pattern[str] | None:
    """Compile a pattern for one mark or several; None for None, and for what is no text."""
    if marks is None:
        return None
    texts = [marks] if isinstance(marks, str) else [mark for mark in marks if isinstance(mark, str)]
    return re.compile("|".join(re.escape(mark) for mark in sorted(texts, key=len, reverse=True) if mark) or r"(?!)")


@dataclass(frozen=True, slots=True)
class Trained:
    """A part of the text that is trained, and the reason.

    Attributes:
        start: The index of its first character.
        end: The index after its last character.
        message: The index of the message that causes it.
        why: ``"field"`` for a field of the message, ``"mark"`` for the template's text that its author writes,
            ``"end"`` for the mark that ends the turn, ``"block"`` for a ``{% generation %}`` block.
        field: The path of the field; None for the template's text.

    Example:
        >>> Trained(5, 9, 1, "field", "content").why
        'field'
    """

    start: int
    end: int
    message: int
    why: str
    field: str | None = None


def trained(
    rendered: Rendered, chosen: frozenset[int], turns: Turns, *, train_end: bool, train_marks: bool
) -> list[Trained]:
    """Find the trained parts of the text, in order.

    Args:
        rendered: The text and its spans.
        chosen: The indices of the messages to train on.
        turns: The turns of the conversation.
        train_end: Whether the end of a turn is trained on as well.
        train_marks: Whether the template's own text is that a message's author writes.

    In messages with ``{% generation %}`` blocks, these blocks are trained on.

    Raises:
        TemplateError: The beginning or the end of a turn cannot be known.
    """
    parts: list[Trained] = []
    for number in sorted(chosen):
        turn = turns.of(number, marks=train_marks and not rendered.has_generation)
        if turn is None:
            continue
        blocks = _blocks(rendered, turn, turns) if rendered.has_generation else []
        if blocks:
            stop, rest = turn.end or (len(rendered.text), len(rendered.text))
            parts += [Trained(start, min(end, stop), number, "block") for start, end in blocks if start < stop]
            if train_end:
                parts += [Trained(max(start, rest), end, number, "block") for start, end in blocks if end > rest]
        elif rendered.has_generation and _role(rendered, number) in MODELS:
            # The template marks this turn as not written by the model.
            continue
        else:
            parts += [Trained(start, end, number, "field", field) for start, end, field in turn.fields if start < end]
            parts += [Trained(start, end, number, "mark") for start, end in turn.marks]
        if train_end and turn.end:
            parts.append(Trained(*turn.end, number, "end"))
    return sorted(parts, key=lambda part: (part.start, part.end))


def _role(rendered: Rendered, number: int) -> str | None:
    return next((span.role for span in rendered.outline if span.message == number), None)


def _blocks(rendered: Rendered, turn: Turn, turns: Turns) -> list[Interval]:
    """The generated parts of the text around a message's fields.

    Adjacent parts of two messages are divided at the end of the first one's turn.
    """
    spans = rendered.outline
    number = turn.message
    last_field = max(end for _, end, _ in turn.fields)
    own = [row for row, span in enumerate(spans) if span.message == number and span.end <= last_field]
    if not any(spans[row].generated for row in own):
        # Of an empty content, the template's text around it is left.
        place = turn.fields[-1][0]
        own = [row for row, span in enumerate(spans) if span.message is None and span.start <= place <= span.end]
    found: list[Interval] = []
    for row in own:
        if not spans[row].generated or (found and spans[row].start < found[-1][1]):
            continue
        first = last = row
        while first > 0 and spans[first - 1].generated and spans[first - 1].message in (None, number):
            first -= 1
        while last + 1 < len(spans) and spans[last + 1].generated and spans[last + 1].message in (None, number):
            last += 1
        start, stop = spans[first].start, spans[last].end
        if first > 0 and spans[first - 1].generated:
            other = spans[first - 1].message
            before = turns.of(other, marks=False) if other is not None else None
            start = before.end[1] if before and before.end else spans[row].start
        if last + 1 < len(spans) and spans[last + 1].generated:
            stop = turn.end[1] if turn.end else stop
        found.append((start, stop))
    return found


def joined(intervals: Iterable[Interval]) -> list[Interval]:
    """Sort spans, merge those that touch or overlap, and drop empty ones."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if start >= end:
            continue
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def overlapping(
    offsets: NDArray[np.int32] | NDArray[np.int64], intervals: Sequence[Interval]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Find the tokens that overlap the trained spans, and those of them only partly inside.

    Args:
        offsets: Start and end of each token, of shape (n, 2).
        intervals: The trained spans, in order and disjoint.

    Returns:
        Two boolean arrays of shape (n,). Time is O(n log m) for m spans.

    Example:
        >>> overlapping(np.array([[0, 2], [2, 4], [4, 4], [4, 6]]), [(3, 5)])
        (array([False,  True, False,  True]), array([False,  True, False,  True]))
    """
    starts, ends = offsets[:, 0], offsets[:, 1]
    if not intervals:
        none = np.zeros(len(offsets), dtype=np.bool_)
        return none, none.copy()
    left, right = np.array(intervals, dtype=np.int64).T
    overlap = np.empty(len(offsets), dtype=np.bool_)
    beyond = np.empty(len(offsets), dtype=np.bool_)
    # In blocks: what is made on the way takes many times the memory of the result.
    for at in range(0, len(offsets), _BLOCK):
        block = slice(at, at + _BLOCK)
        start, end = starts[block], ends[block]
        row = np.minimum(np.searchsorted(right, start, side="right"), len(right) - 1)
        overlap[block] = (left[row] < end) & (right[row] > start) & (start < end)
        beyond[block] = overlap[block] & ((start < left[row]) | (end > right[row]))
    return overlap, beyond
