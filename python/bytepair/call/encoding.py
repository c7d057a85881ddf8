"""The result of ``tok(...)``: columns by name, and the encoding of each row on demand.

The queries of `Encoding` follow ``tokenizer/encoding.rs`` of ``tokenizers`` 0.22, read for its behaviour.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, Protocol, overload

from bytepair.drawing.display import draw

if TYPE_CHECKING:
    from collections.abc import Callable


class Encoding:
    """One row of `tok(...)`: its ids, and the source of each id in the text.

    All columns are lists of one length. Offsets, characters and words count from the start of each text; a pair has two
    sequences, 0 and 1, and added ids belong to neither. The same as ``tokenizers.Encoding``.

    Attributes:
        ids: The ids.
        tokens: The tokens as the vocabulary spells them: in the byte alphabet for byte-level vocabularies.
        offsets: The characters of the text that an id covers, as (start, end), or bytes of ``bytes``; (0, 0) for added
            ids.
        word_ids: The number of the piece or added token that contains an id; None for added ids.
        type_ids: The type ids of the post-processor: usually 0; in some pairs 1 for the second text.
        special_tokens_mask: 1 for ids added by the post-processor or by padding, else 0.
        attention_mask: 0 for padding, else 1.
        overflowing: The parts that truncation cut off, as encodings.

    Example:
        >>> import bytepair as bp
        >>> one = bp.train({"low": 5}, vocab_size=258, split="gpt2").encoding("low low")
        >>> one.ids, one.tokens, one.offsets, one.word_ids
        ([257, 32, 257], ['low', 'Ġ', 'low'], [(0, 3), (3, 4), (4, 7)], [0, 1, 1])
        >>> one.char_to_token(5), one.word_to_chars(1)
        (2, (3, 7))
    """

    __slots__ = (
        "_ranges",
        "attention_mask",
        "ids",
        "offsets",
        "overflowing",
        "special_tokens_mask",
        "tokens",
        "type_ids",
        "word_ids",
    )

    def __init__(  # noqa: PLR0917 (its columns, in the order in which they are listed)
        self,
        ids: list[int],
        tokens: list[str],
        offsets: list[tuple[int, int]],
        word_ids: list[int | None],
        type_ids: list[int],
        special_tokens_mask: list[int],
        attention_mask: list[int],
        overflowing: list[Encoding] | None = None,
        ranges: dict[int, tuple[int, int]] | None = None,
    ) -> None:
        self.ids = ids
        self.tokens = tokens
        self.offsets = offsets
        self.word_ids = word_ids
        self.type_ids = type_ids
        self.special_tokens_mask = special_tokens_mask
        self.attention_mask = attention_mask
        self.overflowing: list[Encoding] = [] if overflowing is None else overflowing
        # Which tokens belong to a sequence; empty means that all belong to the first.
        self._ranges: dict[int, tuple[int, int]] = {} if ranges is None else ranges

    def __len__(self) -> int:
        return len(self.ids)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Encoding):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    # Unhashable: its columns can change.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Encoding: {len(self)} tokens, {len(self.overflowing)} overflowing>"

    def _repr_html_(self) -> str:
        return draw(self, "notebook.html")

    @property
    def n_sequences(self) -> int:
        """The number of texts in the row."""
        return len(self._ranges) or 1

    @property
    def sequence_ids(self) -> list[int | None]:
        """The number of the text of each id; None for added ids."""
        column: list[int | None] = [None] * len(self)
        for sequence in range(self.n_sequences):
            start, end = self._range(sequence)
            column[start:end] = [sequence] * (end - start)
        return column

    def _range(self, sequence: int) -> tuple[int, int]:
        return self._ranges.get(sequence, (0, len(self)))

    def token_to_sequence(self, token: int) -> int | None:
        """The text that a token comes from; None if it was added or there is no such token."""
        if not self._ranges:
            return 0 if 0 <= token < len(self) else None
        return next((sequence for sequence, (start, end) in self._ranges.items() if start <= token < end), None)

    def token_to_chars(self, token: int) -> tuple[int, int] | None:
        """The offsets of a token in its text; None if it was added or there is no such token."""
        return None if self.token_to_sequence(token) is None else self.offsets[token]

    def token_to_word(self, token: int) -> int | None:
        """The word of a token; None if it was added or there is no such token."""
        return None if self.token_to_sequence(token) is None else self.word_ids[token]

    def char_to_token(self, char: int, sequence: int = 0) -> int | None:
        """The first token that covers a character of a text; None if there is none. Linear in the tokens."""
        start, end = self._range(sequence)
        for token in range(start, end):
            first, last = self.offsets[token]
            if first <= char < last:
                return token
        return None

    def char_to_word(self, char: int, sequence: int = 0) -> int | None:
        """The word that contains a character; None if no token covers it."""
        token = self.char_to_token(char, sequence)
        return None if token is None else self.token_to_word(token)

    def word_to_tokens(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """The tokens of a word as (first, behind the last); None if there is no such word. Linear in the tokens."""
        start, end = self._range(sequence)
        first = last = None
        for token in range(start, end):
            here = self.word_ids[token]
            if here is not None and here > word:
                break
            if here == word:
                first = token if first is None else first
                last = token + 1
        return None if first is None or last is None else (first, last)

    def word_to_chars(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """The characters of a word as (start, end); None if there is no such word."""
        tokens = self.word_to_tokens(word, sequence)
        return None if tokens is None else (self.offsets[tokens[0]][0], self.offsets[tokens[1] - 1][1])


class Known(Protocol):
    """Columns of rows that are found without their encodings; None for one that is not."""

    def sequence_ids(self, row: int) -> list[int | None] | None:
        """As `Encoding.sequence_ids`."""

    def word_ids(self, row: int) -> list[int | None]:
        """As `Encoding.word_ids`."""


class BatchEncoding(dict[str, Any]):
    """Columns of rows: a dict whose keys are attributes as well.

    ``batch["input_ids"]`` and ``batch.input_ids`` are the same, ``model(**batch)`` works, and ``batch[0]`` is the first
    row's `Encoding`. The methods of `Encoding` exist here too and take the row as first argument; it may be left out if
    there is only one row. Pickling keeps the columns only.

    Args:
        columns: The columns.
        encode: Computes the encodings of the rows.
        rows: Finds columns of the rows without their encodings, or returns None.

    Example:
        >>> import bytepair as bp
        >>> batch = bp.train({"low": 5}, vocab_size=258)(["low low", "slow"])
        >>> batch.input_ids, batch["attention_mask"]
        ([[257, 32, 257], [115, 257]], [[1, 1, 1], [1, 1]])
        >>> batch.char_to_token(1, 3), batch.tokens(1), batch[0].offsets
        (1, ['s', 'low'], [(0, 3), (3, 4), (4, 7)])
    """

    __slots__ = ("_encode", "_encodings", "_rows")

    def __init__(
        self,
        columns: dict[str, Any],
        encode: Callable[[], list[Encoding]] | None = None,
        rows: Callable[[], Known | None] = lambda: None,
    ) -> None:
        super().__init__(columns)
        self._encode = encode
        self._rows = rows
        self._encodings: list[Encoding] | None = None

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(
                f"there is no column {name!r}; there are {', '.join(self)}: request others in the call"
            ) from None

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: str) -> Any: ...
        @overload
        def __getitem__(self, key: int) -> Encoding: ...
        def __getitem__(self, key: str | int) -> Any: ...

    def __missing__(self, key: object) -> Encoding:
        if isinstance(key, int):
            return self.encodings[key]
        raise KeyError(key)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)

    @property
    def encodings(self) -> list[Encoding]:
        """The encoding of each row.

        The first access encodes the texts again if the call requested only ids. Overflowing parts are included only if
        the call had ``return_overflowing_tokens=True``.

        Raises:
            ValueError: This was pickled, which keeps only the columns; or the tokenizer has no offsets.
        """
        if self._encodings is None:
            if self._encode is None:
                raise ValueError(
                    "there are no encodings: they are not pickled with the columns, and some tokenizers have none; "
                    "request columns in the call"
                )
            self._encodings = self._encode()
            self._encode = None
        return self._encodings

    def to(self, device: Any) -> BatchEncoding:
        """The same with its tensors on a device; other columns are unchanged."""
        moved = {name: column.to(device) if hasattr(column, "to") else column for name, column in self.items()}
        batch = BatchEncoding(moved, self._encode, self._rows)
        batch._encodings = self._encodings
        return batch

    def tokens(self, row: int = 0) -> list[str]:
        """As `Encoding.tokens`."""
        return self.encodings[row].tokens

    def word_ids(self, row: int = 0) -> list[int | None]:
        """As `Encoding.word_ids`."""
        rows = self._rows() if self._encodings is None else None
        return self.encodings[row].word_ids if rows is None else rows.word_ids(row)

    def sequence_ids(self, row: int = 0) -> list[int | None]:
        """As `Encoding.sequence_ids`."""
        rows = self._rows() if self._encodings is None else None
        found = None if rows is None else rows.sequence_ids(row)
        return self.encodings[row].sequence_ids if found is None else found

    def token_to_sequence(self, row: int, token: int | None = None) -> int | None:
        """As `Encoding.token_to_sequence`."""
        encoding, token = self._place(row, token)
        return encoding.token_to_sequence(token)

    def token_to_chars(self, row: int, token: int | None = None) -> tuple[int, int] | None:
        """As `Encoding.token_to_chars`."""
        encoding, token = self._place(row, token)
        return encoding.token_to_chars(token)

    def token_to_word(self, row: int, token: int | None = None) -> int | None:
        """As `Encoding.token_to_word`."""
        encoding, token = self._place(row, token)
        return encoding.token_to_word(token)

    def char_to_token(self, row: int, char: int | None = None, sequence: int = 0) -> int | None:
        """As `Encoding.char_to_token`."""
        encoding, char = self._place(row, char)
        return encoding.char_to_token(char, sequence)

    def char_to_word(self, row: int, char: int | None = None, sequence: int = 0) -> int | None:
        """As `Encoding.char_to_word`."""
        encoding, char = self._place(row, char)
        return encoding.char_to_word(char, sequence)

    def word_to_tokens(self, row: int, word: int | None = None, sequence: int = 0) -> tuple[int, int] | None:
        """As `Encoding.word_to_tokens`."""
        encoding, word = self._place(row, word)
        return encoding.word_to_tokens(word, sequence)

    def word_to_chars(self, row: int, word: int | None = None, sequence: int = 0) -> tuple[int, int] | None:
        """As `Encoding.word_to_chars`."""
        encoding, word = self._place(row, word)
        return encoding.word_to_chars(word, sequence)

    def _place(self, row: int, place: int | None) -> tuple[Encoding, int]:
        encodings = self.encodings
        if place is not None:
            return encodings[row], index(place)
        if len(encodings) != 1:
            raise ValueError(f"there are {len(encodings)} rows: pass the row before the other arguments")
        return encodings[0], index(row)
