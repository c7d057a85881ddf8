"""How long rows may be: what truncation keeps of a text or a pair, and the padding behind or before it.

Source of the rules: ``utils/truncation.rs`` and ``utils/padding.rs`` of ``tokenizers`` 0.22, read for their behaviour.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from bytepair.call.encoding import Encoding
from bytepair.errors import LimitError

Side: TypeAlias = Literal["left", "right"]
"""An end of a text."""

Strategy: TypeAlias = Literal["longest_first", "only_first", "only_second"]
"""Which text of a pair is cut."""


class Truncation(NamedTuple):
    """How rows are cut.

    Attributes:
        room: The most ids, without those that the post-processor adds.
        strategy: Which text of a pair is cut.
        stride: How many ids what overflows shares with what is before it.
        side: Which end is cut off.
    """

    room: int
    strategy: Strategy = "longest_first"
    stride: int = 0
    side: Side = "right"

    def kept(self, first: int, second: int | None = None) -> tuple[int, int]:
        """How many ids are kept of a text, or of each of a pair; (kept, 0) of a text.

        Raises:
            LimitError: The text that is to be cut is too short for it, or `stride` does not fit into what is kept.

        Example:
            >>> Truncation(8).kept(10), Truncation(8).kept(3, 10), Truncation(7).kept(10, 9)
            ((8, 0), (3, 5), (4, 3))
        """
        total = first + (second or 0)
        if total <= self.room:
            return first, second or 0
        if self.room == 0:
            return 0, 0
        if self.strategy == "longest_first":
            kept = (self.room, 0) if second is None else self._longest_first(first, second)
        else:
            kept = self._only_one(first, second, total - self.room)
        for length, most in ((first, kept[0]), (second or 0, kept[1])):
            if most < length and 0 < most <= self.stride:
                raise LimitError(
                    f"stride={self.stride} leaves no room: {most} ids of a text are kept",
                    remedy="use a smaller stride or a larger max_length",
                )
        return kept

    def _longest_first(self, first: int, second: int) -> tuple[int, int]:
        shorter = min(first, second)
        longer = max(shorter, self.room - shorter)
        if shorter + longer > self.room:
            shorter = self.room // 2
            longer = self.room - shorter
        return (longer, shorter) if first > second else (shorter, longer)

    def _only_one(self, first: int, second: int | None, excess: int) -> tuple[int, int]:
        length = first if self.strategy == "only_first" else second
        if length is None:
            raise LimitError(
                'a text without a pair is too long, and truncation="only_second" cuts only the second',
                remedy='use truncation="longest_first"',
            )
        if length <= excess:
            raise LimitError(
                f'truncation="{self.strategy}" cannot cut {excess} ids off a text of {length}',
                remedy='use truncation="longest_first" or a larger max_length',
            )
        kept = length - excess
        return (kept, second or 0) if self.strategy == "only_first" else (first, kept)

    def cut(self, encoding: Encoding, keep: int, *, overflow: bool) -> Encoding:
        """What is kept of an encoding: `keep` ids, as `kept` says. What overflows is in it if that is asked for."""
        length = len(encoding)
        if keep >= length:
            return encoding
        if keep == 0:
            empty = _slice(encoding, 0, 0)
            empty.overflowing = [encoding] if overflow else []
            return empty
        if not overflow:
            return _slice(encoding, 0, keep) if self.side == "right" else _slice(encoding, length - keep, length)
        parts = [_slice(encoding, start, end) for start, end in self._windows(length, keep)]
        parts[0].overflowing = parts[1:]
        return parts[0]

    def _windows(self, length: int, keep: int) -> list[tuple[int, int]]:
        """Intervals of `keep` ids from the end that is kept to the other, where the last may be shorter."""
        step = keep - self.stride
        count = 1 + -(-(length - keep) // step)
        if self.side == "right":
            return [(step * row, min(step * row + keep, length)) for row in range(count)]
        return [(max(length - step * row - keep, 0), length - step * row) for row in range(count)]


def _slice(encoding: Encoding, start: int, end: int) -> Encoding:
    return Encoding(
        encoding.ids[start:end],
        encoding.tokens[start:end],
        encoding.offsets[start:end],
        encoding.word_ids[start:end],
        encoding.type_ids[start:end],
        encoding.special_tokens_mask[start:end],
        encoding.attention_mask[start:end],
    )


class Padding(NamedTuple):
    """How rows are made equally long.

    Attributes:
        id: The id that fills them.
        token: Its token.
        length: How long they become; None for as long as the longest.
        multiple: What the length is rounded up to a multiple of.
        side: Which end is filled.
    """

    id: int
    token: str
    length: int | None = None
    multiple: int = 1
    side: Side = "right"

    def width(self, longest: int) -> int:
        """How long rows become; longer ones stay as they are.

        Example:
            >>> Padding(0, "[PAD]", multiple=8).width(13), Padding(0, "[PAD]", length=10).width(13)
            (16, 10)
        """
        length = longest if self.length is None else self.length
        return length + -length % self.multiple

    def pad(self, encoding: Encoding, width: int) -> None:
        """Fills an encoding and all that overflowed."""
        for other in encoding.overflowing:
            self.pad(other, width)
        count = width - len(encoding)
        if count <= 0:
            return
        for name, filling in (
            ("ids", self.id),
            ("tokens", self.token),
            ("offsets", (0, 0)),
            ("word_ids", None),
            ("type_ids", 0),
            ("special_tokens_mask", 1),
            ("attention_mask", 0),
        ):
            column = getattr(encoding, name)
            more = [filling] * count
            setattr(encoding, name, column + more if self.side == "right" else more + column)
        if self.side == "left":
            ranges = encoding._ranges.items()
            encoding._ranges = {text: (start + count, end + count) for text, (start, end) in ranges}
