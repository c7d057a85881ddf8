"""`Encoding`: what a call of the face returns. Columns that are not asked for are not made.

Ids, and what follows from their numbers alone, are there at once; for everything else the text is encoded once more,
with places, when it is first asked for.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from bytepair.call import encoding as core
from bytepair.call.post_processing import _joined
from bytepair.call.processors import _copy, added, claim
from bytepair.call.truncation import Padding, Truncation
from bytepair.compat.tokenizers.limits import pad

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair.compat.tokenizers.rows import Row

_MOST_MERGED = 200_000


class Encoding:
    """The ids of a text or a pair, and where each is from; what there is to ask is that of `bytepair.Encoding`.

    Lists are copies, which their owner may change.

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
        self._whole: core.Encoding | None = added([], [], 0)

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
            # Another thread may have made them meanwhile, and changed them since.
            made = row.whole()
            if self._whole is None:
                self._whole = made
            self._row = None
        assert self._whole is not None
        return self._whole

    def _copy(self) -> core.Encoding:
        return _copy(self._all())

    def __reduce__(self) -> tuple[Any, ...]:
        return Encoding._of, (self._all(),)

    def __len__(self) -> int:
        row = self._row
        return len(self._all()) if row is None else row.length

    def __repr__(self) -> str:
        columns = "ids, type_ids, tokens, offsets, attention_mask, special_tokens_mask, overflowing"
        return f"Encoding(num_tokens={len(self)}, attributes=[{columns}])"

    @property
    def ids(self) -> list[int]:
        """The ids."""
        row = self._row
        return list(self._all().ids) if row is None else row.ids()

    @property
    def type_ids(self) -> list[int]:
        """The type of each id: for most 0, in some pairs 1 of the second text."""
        row = self._row
        return list(self._all().type_ids) if row is None else row.type_ids()

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding, else 1."""
        row = self._row
        return list(self._all().attention_mask) if row is None else row.attention_mask()

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for what the post-processor and padding added, else 0."""
        row = self._row
        return list(self._all().special_tokens_mask) if row is None else row.special_tokens_mask()

    @property
    def tokens(self) -> list[str]:
        """The tokens as the vocabulary spells them."""
        row = self._row
        if row is not None and row.is_drawn:
            return row.tokens()
        return list(self._all().tokens)

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Which characters of its text an id stands for; (0, 0) of what was added."""
        return list(self._all().offsets)

    @property
    def word_ids(self) -> list[int | None]:
        """The number of the word that an id lies in; None of what was added."""
        return list(self._all().word_ids)

    @property
    def words(self) -> list[int | None]:
        """The same as `word_ids`, by its old name."""
        warnings.warn("Encoding.words is called word_ids", DeprecationWarning, stacklevel=2)
        return self.word_ids

    @property
    def sequence_ids(self) -> list[int | None]:
        """For each id the number of the text that it is from; None of what was added."""
        return self._all().sequence_ids

    @property
    def n_sequences(self) -> int:
        """How many texts it is made of."""
        return self._all().n_sequences

    @property
    def overflowing(self) -> list[Encoding]:
        """What truncation cut off."""
        row = self._row
        if row is not None and not row.overflows:
            return []
        return [Encoding._of(each) for each in self._all().overflowing]

    def token_to_sequence(self, token_index: int) -> int | None:
        """The text that a token is from; None if it was added or there is no such token."""
        return self._all().token_to_sequence(token_index)

    def token_to_chars(self, token_index: int) -> tuple[int, int] | None:
        """The offsets of a token; None if it was added or there is no such token."""
        return self._all().token_to_chars(token_index)

    def token_to_word(self, token_index: int) -> int | None:
        """The word of a token; None if it was added or there is no such token."""
        return self._all().token_to_word(token_index)

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The first token that stands for a character of a text; None if there is none."""
        return self._all().char_to_token(char_pos, sequence_index)

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The word that a character lies in; None if no token stands for it."""
        return self._all().char_to_word(char_pos, sequence_index)

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """The tokens of a word as (first, behind the last); None if there is no such word."""
        return self._all().word_to_tokens(word_index, sequence_index)

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """The characters of a word as (start, end); None if there is no such word."""
        return self._all().word_to_chars(word_index, sequence_index)

    def set_sequence_id(self, sequence_id: int) -> None:
        """Says that all tokens are of this text."""
        claim(self._all(), sequence_id)

    def truncate(self, max_length: int, stride: int = 0, direction: str = "right") -> None:
        """Cuts it to so many tokens; what is cut off is then in `overflowing`.

        Args:
            max_length: How many tokens are left.
            stride: How many tokens a part shares with the one before.
            direction: The side that is cut off.

        Raises:
            ValueError: `stride` leaves no room, or there is no such side.
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
        """Fills it, and all that overflowed, up to a length.

        Raises:
            ValueError: There is no such side.
        """
        if direction not in ("left", "right"):
            raise ValueError(f"Unknown `direction`: `{direction}`. Use one of `left` or `right`")
        side: Any = direction
        pad(self._all(), Padding(pad_id, pad_token, side=side), length, pad_type_id)

    @staticmethod
    def merge(encodings: Sequence[Encoding], growing_offsets: bool = True) -> Encoding:
        """One encoding of several.

        Args:
            encodings: These, which stay as they are.
            growing_offsets: Whether the offsets of each go on where those of the one before ended.

        Raises:
            LimitError: So much overflowed that there would be hundreds of thousands of encodings.
        """
        merged = added([], [], 0)
        for place, each in enumerate(encodings):
            merged = _merged(merged, each._copy(), growing_offsets) if place else each._copy()
        return Encoding._of(merged)


def copies(encoding: Any, pair: Any) -> list[core.Encoding]:
    """What two encodings say, or one, that may be changed; TypeError if one is something else."""
    for each in (encoding, pair):
        if not isinstance(each, Encoding) and (each is encoding or each is not None):
            raise TypeError(f"an encoding is an Encoding, not {type(each).__name__}")
    return [encoding._copy()] if pair is None else [encoding._copy(), pair._copy()]


def _merged(left: core.Encoding, right: core.Encoding, growing: bool) -> core.Encoding:
    """Two as one, and what overflowed on each side with all of the other."""
    overflowing = []
    for each in left.overflowing:
        overflowing.append(_merged(each, right, growing))
        overflowing.extend([_merged(each, other, growing) for other in right.overflowing])
    overflowing.extend([_merged(left, other, growing) for other in right.overflowing])
    right = _bare(right)
    if growing and left.offsets:
        by = left.offsets[-1][1]
        right.offsets = [(start + by, end + by) for start, end in right.offsets]
    merged = _joined(_bare(left), right, [_MOST_MERGED])
    merged.overflowing = overflowing
    return merged


def _bare(encoding: core.Encoding) -> core.Encoding:
    bare = _copy(encoding)
    bare.overflowing = []
    return bare
