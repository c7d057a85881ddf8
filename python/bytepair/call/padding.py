"""Padding of rows to a length.

Source of the rules: ``utils/padding.rs`` of ``tokenizers`` 0.22, read for its behaviour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from bytepair.call.encoding import Encoding
    from bytepair.call.options import Side

KNOWN_PAD_TOKENS = ("[PAD]", "<pad>", "<|pad|>", "<|padding|>")
"""Default pad tokens; the first that is an added token of the tokenizer is used."""


class Padding(NamedTuple):
    """The padding rule of a call.

    Attributes:
        id: The id of the pad token.
        token: The pad token.
        length: The length of the rows; None for that of the longest.
        multiple: The length is rounded up to a multiple of this.
        side: The end that is padded.
    """

    id: int
    token: str
    length: int | None = None
    multiple: int = 1
    side: Side = "right"

    def width(self, longest: int) -> int:
        """The length of padded rows; longer rows stay as they are.

        Example:
            >>> Padding(0, "[PAD]", multiple=8).width(13), Padding(0, "[PAD]", length=10).width(13)
            (16, 10)
        """
        length = longest if self.length is None else self.length
        return length + -length % self.multiple

    def pad(self, encoding: Encoding, width: int) -> None:
        """Pads an encoding and its overflowing parts."""
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
