"""Labels: the trained spans of a rendered text, and the tokens that overlap them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    from bytepair.chat.rendering.spans import Rendered, Span

    TrainOn: TypeAlias = str | Collection[str] | Callable[[int, Any], bool] | None

Interval: TypeAlias = "tuple[int, int]"
"""A span of the text: start and end in characters."""

# End-of-turn markers of published templates, besides the eos token of the template's configuration.
ENDS = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<end_of_turn>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|END_OF_TURN_TOKEN|>",
    "<end_of_utterance>",
    "<｜end▁of▁sentence｜>",
    "</s>",
    "<eos>",
)
# Fields that head a turn: the model receives them and does not write them.
_HEADS = ("role", "name")
_MODELS = ("assistant", "model")


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


def end_pattern(end_of_turn: str | Collection[str] | None, eos_token: Any) -> re.Pattern[str]:
    """Compile a pattern for the end of a turn: the given markers, or the known ones and the template's eos token."""
    if end_of_turn is None:
        ends = {*ENDS, eos_token} if isinstance(eos_token, str) else set(ENDS)
    else:
        ends = {end_of_turn} if isinstance(end_of_turn, str) else set(end_of_turn)
    return re.compile("|".join(re.escape(end) for end in sorted(ends, key=len, reverse=True) if end) or r"(?!)")


def trained(
    rendered: Rendered,
    chosen: frozenset[int],
    end: re.Pattern[str],
    *,
    train_end: bool,
    prompt: str | None,
) -> list[Interval]:
    """Find the trained spans of the text, in order and disjoint.

    Args:
        rendered: The text and its spans.
        chosen: The indices of the messages to train on.
        end: The pattern for the end of a turn.
        train_end: Whether the end of a turn is trained on as well.
        prompt: The generation prompt. If given, everything between it and the end of the turn is trained on, the
            template's own text included; if None, only the content of the messages.

    In messages with ``{% generation %}`` blocks, these blocks are trained on.
    """
    intervals: list[Interval] = []
    rows: dict[int | None, list[int]] = {}
    for row, span in enumerate(rendered.spans):
        rows.setdefault(span.message, []).append(row)
    for number in sorted(chosen & rows.keys()):
        own = rows[number]
        written = [row for row in own if _top(rendered.spans[row]) not in _HEADS]
        ending = _ending(rendered, own[-1], end)
        blocks = _blocks(rendered, own, end)
        if blocks:
            found = [(start, stop if train_end or not ending else min(stop, ending[0])) for start, stop in blocks]
        elif rendered.has_generation and rendered.spans[own[0]].role in _MODELS:
            # The template marks this turn as not written by the model.
            continue
        elif prompt is not None and written:
            found = [
                (_beginning(rendered, written[0], prompt), ending[0] if ending else rendered.spans[written[-1]].end)
            ]
        else:
            found = [(rendered.spans[row].start, rendered.spans[row].end) for row in written]
        intervals += found
        if train_end and ending:
            intervals.append(ending)
    return joined(intervals)


def _top(span: Span) -> str:
    return (span.field or "").split("/", 1)[0]


def _ending(rendered: Rendered, row: int, end: re.Pattern[str]) -> Interval | None:
    """The first end-of-turn marker between a turn's last span and the next content; None if there is none."""
    spans = rendered.spans
    last = row + 1
    while last < len(spans) and spans[last].kind == "template":
        last += 1
    if last == row + 1:
        return None
    found = end.search(rendered.text, spans[row].end, spans[last - 1].end)
    return found and found.span()


def _blocks(rendered: Rendered, own: list[int], end: re.Pattern[str]) -> list[Interval]:
    """The generated parts of the text around a message's spans.

    Adjacent parts of two messages are divided at the end-of-turn marker.
    """
    spans = rendered.spans
    message = spans[own[0]].message
    found: list[Interval] = []
    for row in own:
        if not spans[row].generated or (found and spans[row].start < found[-1][1]):
            continue
        first = last = row
        while first > 0 and spans[first - 1].generated and spans[first - 1].message in (None, message):
            first -= 1
        while last + 1 < len(spans) and spans[last + 1].generated and spans[last + 1].message in (None, message):
            last += 1
        start, stop = spans[first].start, spans[last].end
        if first > 0 and spans[first - 1].generated:
            before = _ending(rendered, first - 1, end)
            start = before[1] if before else spans[row].start
        if last + 1 < len(spans) and spans[last + 1].generated:
            behind = _ending(rendered, own[-1], end)
            stop = behind[1] if behind else stop
        found.append((start, stop))
    return found


def _beginning(rendered: Rendered, row: int, prompt: str) -> int:
    """The start of a turn, given its first written span: after the prompt if the prompt precedes the span."""
    spans, first = rendered.spans, row
    while first > 0 and (spans[first - 1].kind == "template" or _top(spans[first - 1]) in _HEADS):
        first -= 1
    at = rendered.text.rfind(prompt, spans[first].start, spans[row].start) if prompt else -1
    return spans[row].start if at < 0 else at + len(prompt)


def joined(intervals: Sequence[Interval]) -> list[Interval]:
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
    offsets: NDArray[np.int64], intervals: Sequence[Interval]
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
    row = np.minimum(np.searchsorted(right, starts, side="right"), len(right) - 1)
    overlap: NDArray[np.bool_] = (left[row] < ends) & (right[row] > starts) & (starts < ends)
    beyond: NDArray[np.bool_] = overlap & ((starts < left[row]) | (ends > right[row]))
    return overlap, beyond
