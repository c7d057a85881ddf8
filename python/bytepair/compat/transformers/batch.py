"""`BatchEncoding`: the columns of a call, with the names and spans of ``transformers``."""

from __future__ import annotations

from typing import Any, NamedTuple

from bytepair.call import encoding
from bytepair.call.tensors import converter


class CharSpan(NamedTuple):
    """A range of characters of a text; `end` is exclusive."""

    start: int
    end: int


class TokenSpan(NamedTuple):
    """A range of tokens of a row; `end` is exclusive."""

    start: int
    end: int


class BatchEncoding(encoding.BatchEncoding):
    """Columns of rows: a dict whose keys are also attributes.

    A `bytepair.call.encoding.BatchEncoding` with the additions of ``transformers``: spans with ``start`` and ``end``,
    slices of its encodings, ``data``, and `convert_to_tensors`. With several rows, lookups need the row.

    Example:
        >>> import bytepair as bp
        >>> from bytepair.compat.transformers import PreTrainedTokenizerFast
        >>> tokenizer = PreTrainedTokenizerFast(tokenizer_object=bp.train({"low": 5}, vocab_size=258))
        >>> batch = tokenizer(["low low", "slow"])
        >>> batch.token_to_chars(1, 1), batch[1:], batch.n_sequences
        (CharSpan(start=1, end=4), [<Encoding: 2 tokens, 0 overflowing>], 1)
    """

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            if self._encodings is None and self._encode is None:
                return {name: column[key] for name, column in self.items()}
            return self.encodings[key]
        return super().__getitem__(key)

    @property
    def data(self) -> dict[str, Any]:
        """The columns as a plain dict."""
        return dict(self)

    @property
    def is_fast(self) -> bool:
        """Whether the lookups of tokens are available."""
        return self._encodings is not None or self._encode is not None

    @property
    def n_sequences(self) -> int | None:
        """The number of texts in a row; None if there is no row."""
        return self.encodings[0].n_sequences if self.encodings else None

    def char_to_token(self, row: int, char: int | None = None, sequence_index: int = 0) -> int | None:
        """As `Encoding.char_to_token`."""
        return super().char_to_token(row, char, sequence_index)

    def char_to_word(self, row: int, char: int | None = None, sequence_index: int = 0) -> int | None:
        """As `Encoding.char_to_word`."""
        return super().char_to_word(row, char, sequence_index)

    def token_to_chars(self, row: int, token: int | None = None) -> CharSpan | None:
        """As `Encoding.token_to_chars`."""
        found = super().token_to_chars(row, token)
        return None if found is None else CharSpan(*found)

    def word_to_tokens(self, row: int, word: int | None = None, sequence_index: int = 0) -> TokenSpan | None:
        """As `Encoding.word_to_tokens`."""
        found = super().word_to_tokens(row, word, sequence_index)
        return None if found is None else TokenSpan(*found)

    def word_to_chars(self, row: int, word: int | None = None, sequence_index: int = 0) -> CharSpan | None:
        """As `Encoding.word_to_chars`; None where ``transformers`` fails."""
        found = super().word_to_chars(row, word, sequence_index)
        return None if found is None else CharSpan(*found)

    def to(self, device: Any) -> BatchEncoding:
        """Move tensors to a device; other columns stay as they are."""
        return adopt(super().to(device))

    def convert_to_tensors(self, tensor_type: str | None = None, prepend_batch_axis: bool = False) -> BatchEncoding:
        """Convert the columns to arrays, in place.

        Args:
            tensor_type: ``"np"`` or ``"pt"``; None for no conversion.
            prepend_batch_axis: Whether each column is one row, and becomes a batch of one.

        Raises:
            ValueError: The rows of a column differ in length, or the kind is unknown.
        """
        convert = converter(getattr(tensor_type, "value", tensor_type))
        if convert is None:
            return self
        import numpy as np  # noqa: PLC0415 (imported on first use)

        for name, column in self.items():
            if hasattr(column, "shape"):
                continue
            try:
                array = np.asarray([column] if prepend_batch_axis else column, dtype=np.int64)
            except ValueError as error:
                raise ValueError(
                    f"the rows of {name} differ in length; use padding=True and truncation=True with a max_length"
                ) from error
            self[name] = convert(array)
        return self


def adopt(batch: encoding.BatchEncoding) -> BatchEncoding:
    """Convert a batch of bytepair to this class."""
    made = BatchEncoding(batch, batch._encode, batch._rows)
    made._encodings = batch._encodings
    return made
