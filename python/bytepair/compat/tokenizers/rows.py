"""Rows: a text or a pair as ids; all other columns are computed on first access."""

from __future__ import annotations

from bisect import bisect
from functools import cache, partial
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
    from collections.abc import Callable, Sequence

    from bytepair.call.batch_offsets import BatchOffsets
    from bytepair.call.post_processing import LayoutPart
    from bytepair.tokenizer import Tokenizer

_LEAST = 512
"""The offsets of texts of fewer characters are found one by one: numpy has a cost for each call."""
_READING = {"added": "match", "errors": "strict"}

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
                error.row = bisect(list(accumulate(sum(map(_parts, row)) for row in inputs)), error.row)
            # tokenizers raises TypeError for a lone surrogate; other errors are about characters without a token.
            if all(map(_is_unicode, flat)):
                raise
            raise TypeError(f"TextInputSequence must be str of valid Unicode: {error}") from error
        at_once = sum(map(len, flat)) >= _LEAST and not self.dropout and self.processor.trims_first
        offsets = cache(partial(self.offsets, flat, threads)) if at_once else None
        made, count = [], 0
        for row in inputs:
            sides = [next(ids) if isinstance(text, str) else [id for _ in text for id in next(ids)] for text in row]
            made.append(Row(self, row, sides, add=add, offsets=offsets, first=count))
            count += sum(map(_parts, row))
        if self.padding is not None:
            lengths = [row.length for row in made]
            width = self.padding.width(max(lengths, default=0))
            for each, length in zip(made, lengths, strict=True):
                each.filling = max(width - length, 0)
        return made

    def offsets(self, texts: list[str], threads: int | None) -> BatchOffsets:
        """The offsets of texts, which can be encoded."""
        from bytepair.call.batch_offsets import BatchOffsets  # noqa: PLC0415 (with numpy)

        found = BatchOffsets(self.core, texts, {**_READING, "special": self.special, "threads": threads})
        found.trim(self.processor)
        return found

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

    Args:
        ready: The tokenizer.
        texts: The text or texts.
        sides: The ids of each.
        add: Whether the post-processor adds its tokens.
        offsets: Finds the offsets of all texts of the call; None if only `whole` does.
        first: The number of the first text, or word, in the call.

    Attributes:
        filling: The number of ids of padding.
        overflows: Whether truncation removed anything.
    """

    __slots__ = ("_add", "_first", "_offsets", "_ready", "_sides", "_texts", "filling", "overflows")

    def __init__(
        self,
        ready: Ready,
        texts: tuple[Text, ...],
        sides: list[list[int]],
        *,
        add: bool,
        offsets: Callable[[], BatchOffsets] | None,
        first: int,
    ) -> None:
        self._ready = ready
        self._offsets = offsets
        self._first = first
        self._texts = texts
        self._add = add
        self.filling = 0
        self.overflows = False
        truncation = ready.cut(pair=len(sides) > 1, add=add) if ready.truncation is not None else None
        if truncation is not None:
            kept = truncation.kept(*map(len, sides))
            for place, (side, keep) in enumerate(zip(sides, kept, strict=False)):
                if keep < len(side):
                    self.overflows = True
                    sides[place] = side[:keep] if truncation.side == "right" else side[len(side) - keep :]
        self._sides = sides

    @property
    def length(self) -> int:
        """The number of ids."""
        length = self.filling
        for part in self._layout():
            length += len(part.ids) if part.sequence is None else len(self._sides[part.sequence])
        return length

    def _layout(self) -> tuple[LayoutPart, ...]:
        return self._ready.processor.layout(pair=len(self._sides) > 1, add=self._add)

    @property
    def is_drawn(self) -> bool:
        """Whether dropout was used, so that the encoding cannot be repeated."""
        return bool(self._ready.dropout)

    def _column(
        self, name: str | None, filling: Any, sides: list[list[Any]] | None = None, added: Any = None
    ) -> list[Any]:
        """A column as the layout has it under a name, and with the values of `sides`, if given, for the ids of texts.

        Without a name each added id has the value `added`.
        """
        column: list[Any] = []
        for part in self._layout():
            values = [added] * len(part.ids) if name is None else getattr(part, name)
            if part.sequence is None:
                column += values
            elif sides is not None:
                column += sides[part.sequence]
            else:
                column += values * len(self._sides[part.sequence])
        if self.filling:
            more = [filling] * self.filling
            padding = self._ready.padding
            return more + column if padding is not None and padding.side == "left" else column + more
        return column

    def ids(self) -> list[int]:
        """The ids."""
        padding = self._ready.padding
        return self._column("ids", padding.id if padding else 0, self._sides)

    def _found_column(self, kind: str, name: str | None, added: Any, filling: Any) -> list[Any] | None:
        """A column of offsets, words or tokens, by its method of `BatchOffsets`; None if `whole` has to find it."""
        if self._offsets is None:
            return None
        offsets, first = self._offsets(), self._first
        is_left = self._ready.truncation is not None and self._ready.truncation.side == "left"
        sides = []
        for text, side in zip(self._texts, self._sides, strict=True):
            start, end = offsets.bounds.item(first), offsets.bounds.item(first + _parts(text))
            start, end = (end - len(side), end) if is_left else (start, start + len(side))
            if kind == "word_list" and not isinstance(text, str):
                sides.append(offsets.text_list(start, end, first))
            else:
                sides.append(getattr(offsets, kind)(start, end))
            first += _parts(text)
        return self._column(name, filling, sides, added)

    def tokens(self) -> list[str] | None:
        """The tokens; None if `whole` has to find them."""
        filling = "" if self._ready.padding is None else self._ready.padding.token
        if self.is_drawn:
            return self._column("tokens", filling, [spell_tokens(self._ready.core, side) for side in self._sides])
        return self._found_column("token_list", "tokens", None, filling)

    def offsets(self) -> list[tuple[int, int]] | None:
        """The offsets; None if `whole` has to find them."""
        return self._found_column("offset_list", None, (0, 0), (0, 0))

    def word_ids(self) -> list[int | None] | None:
        """The number of each id's word; None if `whole` has to find them."""
        return self._found_column("word_list", None, None, None)

    def sequence_ids(self) -> list[int | None] | None:
        """The number of each id's text; None if `whole` has to find them."""
        if not self._ready.processor.tells_texts(pair=len(self._sides) > 1, add=self._add):
            return None
        sides: list[list[int]] = [[number] * len(side) for number, side in enumerate(self._sides)]
        return self._column(None, None, sides)

    def type_ids(self) -> list[int]:
        """The type ids."""
        return self._column("type_ids", self._ready.pad_type_id)

    def special_tokens_mask(self) -> list[int]:
        """1 for added ids, else 0."""
        return self._column("special", 1)

    def attention_mask(self) -> list[int]:
        """0 for padding, else 1."""
        return self._column(None, 0, [[1] * len(side) for side in self._sides], 1)

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
        return ready.finish(sides, add=self._add, width=self.length if self.filling else None)


def _parts(text: Text) -> int:
    """The number of texts that are encoded for it."""
    return 1 if isinstance(text, str) else len(text)


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
