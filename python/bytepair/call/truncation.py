"""Truncation of a text or a pair to a number of ids.

Source of the rules: ``utils/truncation.rs`` of ``tokenizers`` 0.22, read for its behaviour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from bytepair.call.encoding import Encoding
from bytepair.errors import LimitError

if TYPE_CHECKING:
    from bytepair.call.options import Side

Strategy: TypeAlias = Literal["longest_first", "only_first", "only_second"]
"""The truncation strategy: the text of a pair that is cut."""


class Truncation(NamedTuple):
    """The truncation rule of a call.

    Attributes:
        room: The most ids, without those that the post-processor adds.
        strategy: The text of a pair that is cut.
        stride: The number of ids that an overflowing part shares with the part before it.
        side: The end that is cut off.
    """

    room: int
    strategy: Strategy = "longest_first"
    stride: int = 0
    side: Side = "right"

    def kept(self, first: int, second: int | None = None) -> tuple[int, int]:
        """The numbers of ids to keep of each text of a pair; (number, 0) for a single text.

        Raises:
            LimitError: The text to cut is too short, or `stride` does not fit into the kept ids.

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
        """Cuts an encoding to `keep` ids, a result of `kept`; with `overflow` it also keeps the rest."""
        if keep >= len(encoding):
            return encoding
        windows = self.windows(len(encoding), keep)[: None if overflow else 1]
        whole = (0, len(encoding))
        parts = [encoding if window == whole else _slice(encoding, *window) for window in windows]
        parts[0].overflowing = parts[1:]
        return parts[0]

    def windows(self, length: int, keep: int) -> list[tuple[int, int]]:
        """Intervals of `keep` ids from the kept end to the other; the last may be shorter.

        Example:
            >>> Truncation(4, stride=1).windows(8, 4), Truncation(0).windows(8, 0)
            ([(0, 4), (3, 7), (6, 8)], [(0, 0), (0, 8)])
        """
        if keep >= length:
            return [(0, length)]
        if keep == 0:
            return [(0, 0), (0, length)]
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
