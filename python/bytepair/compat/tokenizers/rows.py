"""Rows: a text or a pair as ids; all other columns are computed on first access."""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from bytepair.call.encoding import Encoding
from bytepair.call.offsets import encode_with_offsets
from bytepair.call.padding import Padding
from bytepair.call.post_processing import PostProcessor
from bytepair.call.spelling import spell_tokens
from bytepair.call.truncation import Truncation
from bytepair.compat.tokenizers.limits import pad
from bytepair.errors import EncodeError, LimitError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair.tokenizer import Tokenizer

Text: TypeAlias = "str | list[str]"
"""A text, or the words of a pre-tokenized text."""


class Ready(NamedTuple):
    """An immutable snapshot of a tokenizer, for calls.

    Attributes:
        core: The tokenizer that encodes.
        processor: The post-processor.
        special: The policy for special tokens in text: ``allow`` or ``text``.
        truncation: The truncation, before room for added tokens is subtracted; None for none.
        padding: The padding; None for none.
        pad_type_id: The type id of padding.
        dropout: The dropout probability of merges.
    """

    core: Tokenizer
    processor: PostProcessor
    special: str
    truncation: Truncation | None
    padding: Padding | None
    pad_type_id: int
    dropout: float | None

    def encode(self, texts: list[str], threads: int | None) -> list[list[int]]:
        """Encode texts.

        Raises:
            EncodeError: A text is not valid Unicode; or a character has no token and there is no unknown token.
        """
        special: Any = self.special
        if self.dropout:
            return [self.core.encode(text, special=special, dropout=self.dropout) for text in texts]
        if len(texts) == 1:
            return [self.core.encode(texts[0], special=special)]
        return self.core.encode_batch(texts, special=special, threads=threads)

    def rows(self, inputs: list[tuple[Text, ...]], *, add: bool, threads: int | None = None) -> list[Row]:
        """Encode texts and pairs to rows.

        Raises:
            TypeError: A text is not valid Unicode.
            EncodeError: A character has no token and there is no unknown token.
            LimitError: Truncation leaves no room for added tokens.
        """
        flat = [part for row in inputs for text in row for part in ((text,) if isinstance(text, str) else text)]
        try:
            ids = iter(self.encode(flat, threads))
        except EncodeError as error:
            if len(inputs) > 1 and error.row is not None:
                parts = [sum(1 if isinstance(text, str) else len(text) for text in row) for row in inputs]
                error.row = bisect(list(accumulate(parts)), error.row)
            # tokenizers raises TypeError for a lone surrogate; other errors are about characters without a token.
            if all(map(_is_unicode, flat)):
                raise
            raise TypeError(f"TextInputSequence must be str of valid Unicode: {error}") from error
        made = []
        for row in inputs:
            sides = [next(ids) if isinstance(text, str) else [id for _ in text for id in next(ids)] for text in row]
            made.append(Row(self, row, sides, add))
        if self.padding is not None:
            width = self.padding.width(max([row.length for row in made], default=0))
            for each in made:
                each.pad(width)
        return made

    def cut(self, *, pair: bool, add: bool) -> Truncation | None:
        """The truncation of rows with room for added tokens.

        Raises:
            LimitError: There is no room.
        """
        truncation = self.truncation
        extra = self.processor.added(pair=pair) if add and truncation is not None else 0
        if truncation is None or not extra:
            return truncation
        if truncation.room < extra:
            raise LimitError(
                f"max_length={truncation.room} is too small: the post-processor adds {extra} ids",
                remedy="use a larger max_length, or add_special_tokens=False",
            )
        return truncation._replace(room=truncation.room - extra)

    def finish(self, sides: list[Encoding], *, add: bool, width: int | None) -> Encoding:
        """Truncate, post-process and pad; `width` is the padded length, None for the length of this row."""
        truncation = self.cut(pair=len(sides) > 1, add=add)
        if truncation is not None:
            kept = truncation.kept(*map(len, sides))
            sides = [truncation.cut(side, keep, overflow=True) for side, keep in zip(sides, kept, strict=False)]
        whole = self.processor.process(sides, add=add)
        if self.padding is not None:
            pad(whole, self.padding, self.padding.width(len(whole)) if width is None else width, self.pad_type_id)
        return whole


class Row:
    """A text or a pair as ids, with other columns on request.

    Attributes:
        length: The number of ids.
        overflows: Whether truncation removed anything.
    """

    __slots__ = ("_add", "_filling", "_kept", "_ready", "_sides", "_texts", "length", "overflows")

    def __init__(self, ready: Ready, texts: tuple[Text, ...], sides: list[list[int]], add: bool) -> None:
        self._ready = ready
        self._texts = texts
        self._add = add
        self._filling = 0
        self.overflows = False
        pair = len(sides) > 1
        truncation = ready.cut(pair=pair, add=add) if ready.truncation is not None else None
        if truncation is not None:
            kept = truncation.kept(*map(len, sides))
            for place, (side, keep) in enumerate(zip(sides, kept, strict=False)):
                if keep < len(side):
                    self.overflows = True
                    sides[place] = side[:keep] if truncation.side == "right" else side[len(side) - keep :]
        self._sides = sides
        self.length = sum(
            len(part.ids) if part.sequence is None else len(sides[part.sequence])
            for part in ready.processor.layout(pair=pair, add=add)
        )

    def pad(self, width: int) -> None:
        """Set the padded length."""
        if width > self.length:
            self._filling = width - self.length
            self.length = width

    @property
    def is_drawn(self) -> bool:
        """Whether dropout was used, so that the encoding cannot be repeated."""
        return bool(self._ready.dropout)

    def _column(self, name: str, filling: Any, sides: list[list[Any]] | None = None) -> list[Any]:
        column: list[Any] = []
        for part in self._ready.processor.layout(pair=len(self._sides) > 1, add=self._add):
            values = getattr(part, name)
            if part.sequence is None:
                column += values
            elif sides is not None:
                column += sides[part.sequence]
            else:
                column += values * len(self._sides[part.sequence])
        if self._filling:
            more = [filling] * self._filling
            padding = self._ready.padding
            return more + column if padding is not None and padding.side == "left" else column + more
        return column

    def ids(self) -> list[int]:
        """The ids."""
        padding = self._ready.padding
        return self._column("ids", padding.id if padding else 0, self._sides)

    def tokens(self) -> list[str]:
        """The tokens."""
        padding, filling = self._ready.padding, self._filling
        ids = self.ids()
        if padding is None or not filling:
            return spell_tokens(self._ready.core, ids)
        if padding.side == "left":
            return [padding.token] * filling + spell_tokens(self._ready.core, ids[filling:])
        return spell_tokens(self._ready.core, ids[:-filling]) + [padding.token] * filling

    def type_ids(self) -> list[int]:
        """The type ids."""
        return self._column("type_ids", self._ready.pad_type_id)

    def special_tokens_mask(self) -> list[int]:
        """1 for added ids, else 0."""
        return self._column("special", 1)

    def attention_mask(self) -> list[int]:
        """0 for padding, else 1."""
        count = self.length - self._filling
        padding = self._ready.padding
        if padding is not None and padding.side == "left":
            return [0] * self._filling + [1] * count
        return [1] * count + [0] * self._filling

    def whole(self) -> Encoding:
        """All columns, and the overflowing parts.

        Raises:
            NotImplementedError: Dropout was used.
        """
        ready = self._ready
        if self.is_drawn:
            raise NotImplementedError(
                "offsets, words and overflowing are not available with dropout; ids, tokens, type_ids, attention_mask "
                "and special_tokens_mask are: set model.dropout to None"
            )
        reading = {"special": ready.special}
        sides = [
            encode_with_offsets(ready.core, text, place, reading)
            if isinstance(text, str)
            else of_words(ready.core, text, place, reading)
            for place, text in enumerate(self._texts)
        ]
        return ready.finish(sides, add=self._add, width=self.length if self._filling else None)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def of_words(tok: Tokenizer, words: Sequence[str], sequence: int, reading: dict[str, Any]) -> Encoding:
    """Encode a list of words: `word_ids` are their indices, and offsets count from the start of each word.

    Raises:
        TypeError: A word is not a ``str``.

    Example:
        >>> import bytepair as bp
        >>> one = of_words(bp.train({"low": 5}, vocab_size=258), ["slow", "low"], 0, {})
        >>> one.ids, one.word_ids, one.offsets
        ([115, 257, 257], [0, 0, 1], [(0, 1), (1, 4), (0, 3)])
    """
    whole = Encoding([], [], [], [], [], [], [])
    for number, word in enumerate(words):
        if not isinstance(word, str):
            raise TypeError(f"word {number} of a text is {word!r}, not a str")
        one = encode_with_offsets(tok, word, sequence, reading)
        whole.ids += one.ids
        whole.tokens += one.tokens
        whole.offsets += one.offsets
        whole.word_ids += [number] * len(one)
    count = len(whole.ids)
    whole.type_ids, whole.special_tokens_mask, whole.attention_mask = [sequence] * count, [0] * count, [1] * count
    return whole
