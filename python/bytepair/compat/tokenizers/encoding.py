"""`Encoding`: the result of a call, with lazy columns.

Ids and columns that follow from their number are available at once. The first access to any other column finds the
offsets of all texts of the call, or of this text again.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from bytepair.call import encoding as core
from bytepair.call.padding import Padding
from bytepair.call.post_processing import joined
from bytepair.call.post_processors import added_encoding, claim, copied
from bytepair.call.truncation import Truncation
from bytepair.compat.tokenizers.limits import pad

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair.compat.tokenizers.rows import Row

_MOST_MERGED = 200_000


class Encoding:
    """The ids of a text or a pair, with the columns and lookups of `bytepair.Encoding`.

    Lists are copies that a caller may change.

    Example:
        >>> from bytepair.compat.tokenizers import Tokenizer, models
        >>> tokenizer = Tokenizer(models.WordLevel({"low": 0, "?": 1}, unk_token="?"))
        >>> encoding = tokenizer.encode("low")
        >>> encoding.ids, encoding.tokens, encoding.offsets
        ([0], ['low'], [(0, 3)])
    """

    __slots__ = ("__weakref__", "_row", "_whole")

    def __init__(self) -> None:
        self._row: Row | None = None
        self._whole: core.Encoding | None = added_encoding([], [], 0)

    @classmethod
    def _of(cls, whole: core.Encoding) -> Encoding:
        self = cls.__new__(cls)
        self._row = None
        self._whole = whole
        return self

    @classmethod
    def _later(cls, row: Row) -> Encoding:
        self = cls.__new__(cls)
        self._row = row
        self._whole = None
        return self

    def _all(self) -> core.Encoding:
        """All columns."""
        row = self._row
        if row is not None:
            # Another thread may have made them, and changed them since.
            made = row.whole()
            if self._whole is None:
                self._whole = made
            self._row = None
        assert self._whole is not None
        return self._whole

    def _copy(self) -> core.Encoding:
        return copied(self._all())

    def __reduce__(self) -> tuple[Any, ...]:
        return Encoding._of, (self._all(),)

    def __len__(self) -> int:
        row = self._row
        return len(self._all()) if row is None else row.length

    def __repr__(self) -> str:
        columns = "ids, type_ids, tokens, offsets, attention_mask, special_tokens_mask, overflowing"
        return f"Encoding(num_tokens={len(self)}, attributes=[{columns}])"

    def _column(self, name: str) -> list[Any]:
        """A column, which a row may know without an encoding of its own."""
        row = self._row
        column: list[Any] | None = None if row is None else getattr(row, name)()
        return list(getattr(self._all(), name)) if column is None else column

    @property
    def ids(self) -> list[int]:
        """The ids."""
        return self._column("ids")

    @property
    def type_ids(self) -> list[int]:
        """The type of each id: usually 0, and 1 in the second text of some pairs."""
        return self._column("type_ids")

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding, else 1."""
        return self._column("attention_mask")

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for ids that the post-processor or padding added, else 0."""
        return self._column("special_tokens_mask")

    @property
    def tokens(self) -> list[str]:
        """The tokens as spelled in the vocabulary."""
        return self._column("tokens")

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The start and end of each id in its text, in characters; (0, 0) for added ids."""
        return self._column("offsets")

    @property
    def word_ids(self) -> list[int | None]:
        """The index of each id's word; None for added ids."""
        return self._column("word_ids")

    @property
    def words(self) -> list[int | None]:
        """The former name of `word_ids`."""
        warnings.warn("Encoding.words is called word_ids", DeprecationWarning, stacklevel=2)
        return self.word_ids

    @property
    def sequence_ids(self) -> list[int | None]:
        """The index of each id's text; None for added ids."""
        return self._column("sequence_ids")

    @property
    def n_sequences(self) -> int:
        """The number of texts."""
        return self._all().n_sequences

    @property
    def overflowing(self) -> list[Encoding]:
        """The parts that truncation removed."""
        row = self._row
        if row is not None and not row.overflows:
            return []
        return [Encoding._of(each) for each in self._all().overflowing]

    def token_to_sequence(self, token_index: int) -> int | None:
        """The index of a token's text; None if it was added or does not exist."""
        return self._all().token_to_sequence(token_index)

    def token_to_chars(self, token_index: int) -> tuple[int, int] | None:
        """The offsets of a token; None if it was added or does not exist."""
        return self._all().token_to_chars(token_index)

    def token_to_word(self, token_index: int) -> int | None:
        """The index of a token's word; None if it was added or does not exist."""
        return self._all().token_to_word(token_index)

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The first token that contains a character of a text; None if there is none."""
        return self._all().char_to_token(char_pos, sequence_index)

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The word that contains a character; None if no token contains it."""
        return self._all().char_to_word(char_pos, sequence_index)

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """The tokens of a word as (first, last + 1); None if there is no such word."""
        return self._all().word_to_tokens(word_index, sequence_index)

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """The characters of a word as (start, end); None if there is no such word."""
        return self._all().word_to_chars(word_index, sequence_index)

    def set_sequence_id(self, sequence_id: int) -> None:
        """Assign all tokens to one text."""
        claim(self._all(), sequence_id)

    def truncate(self, max_length: int, stride: int = 0, direction: str = "right") -> None:
        """Truncate in place; `overflowing` receives the removed parts.

        Args:
            max_length: The number of tokens to keep.
            stride: The number of tokens that a part shares with the previous one.
            direction: The side to remove.

        Raises:
            ValueError: `stride` is not less than `max_length`, or the side is unknown.
        """
        if direction not in ("left", "right"):
            raise ValueError(f"Invalid truncation direction value : {direction}")
        whole = self._all()
        if max_length >= len(whole):
            return
        if max_length and stride >= max_length:
            raise ValueError(f"stride={stride} leaves no room in max_length={max_length}: use a smaller one")
        side: Any = direction
        self._whole = Truncation(max_length, "longest_first", stride, side).cut(whole, max_length, overflow=True)

    def pad(
        self,
        length: int,
        direction: str = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
    ) -> None:
        """Pad in place to a length, the overflowing parts as well.

        Raises:
            ValueError: The side is unknown.
        """
        if direction not in ("left", "right"):
            raise ValueError(f"Unknown `direction`: `{direction}`. Use one of `left` or `right`")
        side: Any = direction
        pad(self._all(), Padding(pad_id, pad_token, side=side), length, pad_type_id)

    @staticmethod
    def merge(encodings: Sequence[Encoding], growing_offsets: bool = True) -> Encoding:
        """Merge encodings into a new one.

        Args:
            encodings: The encodings.
            growing_offsets: Whether the offsets of each continue from the end of the previous one.

        Raises:
            LimitError: The overflow would make hundreds of thousands of encodings.
        """
        merged = added_encoding([], [], 0)
        for place, each in enumerate(encodings):
            merged = _merged(merged, each._copy(), growing_offsets) if place else each._copy()
        return Encoding._of(merged)


def copies(encoding: Any, pair: Any) -> list[core.Encoding]:
    """Mutable copies of one or two encodings; TypeError for another type."""
    for each in (encoding, pair):
        if not isinstance(each, Encoding) and (each is encoding or each is not None):
            raise TypeError(f"an encoding is an Encoding, not {type(each).__name__}")
    return [encoding._copy()] if pair is None else [encoding._copy(), pair._copy()]


def _merged(left: core.Encoding, right: core.Encoding, growing: bool) -> core.Encoding:
    """Merge two encodings; each overflowing part is merged with all of the other side."""
    overflowing = []
    for each in left.overflowing:
        overflowing.append(_merged(each, right, growing))
        overflowing.extend([_merged(each, other, growing) for other in right.overflowing])
    overflowing.extend([_merged(left, other, growing) for other in right.overflowing])
    right = _bare(right)
    if growing and left.offsets:
        by = left.offsets[-1][1]
        right.offsets = [(start + by, end + by) for start, end in right.offsets]
    merged = joined(_bare(left), right, [_MOST_MERGED])
    merged.overflowing = overflowing
    return merged


def _bare(encoding: core.Encoding) -> core.Encoding:
    bare = copied(encoding)
    bare.overflowing = []
    return bare
