"""Texts in an Arrow column -> ids in another one, for use inside other data systems."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bytepair import _core
from bytepair.errors import CorpusError
from bytepair.shards.sharding import Frame, frame
from bytepair.sources.columns import OF_NULL, buffers, null_value
from bytepair.sources.compressed import arrow
from bytepair.tokenizer import Tokenizer

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from bytepair.call.options import Added, Special
    from bytepair.sources.flat_rows import FlatTexts

__all__ = ["ArrowEncoder", "Frame"]

_TEXTS = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")


class ArrowEncoder:
    """Adds a column of ids to tables and batches.

    Args:
        tokenizer: Its path, or the tokenizer itself.
        field: The column that holds the text; nulls raise.
        output: The column for the ids, as lists of int32; an existing one of that name is replaced.
        bos: Tokens before each text.
        eos: Tokens after each text.
        special: As for `Tokenizer.encode`.
        added: As for `Tokenizer.encode`.
        errors: As for `Tokenizer.encode`.
    """

    def __init__(
        self,
        tokenizer: str | os.PathLike[str] | Tokenizer,
        field: str,
        output: str,
        *,
        bos: Frame,
        eos: Frame,
        special: Special,
        added: Added,
        errors: str,
    ) -> None:
        self._tokenizer = tokenizer if isinstance(tokenizer, Tokenizer) else Tokenizer.from_file(Path(tokenizer))
        self._field = field
        self._output = output
        self._options: dict[str, Any] = {"special": special, "added": added, "errors": errors}
        self._options |= {"prefix": frame(self._tokenizer, bos), "suffix": frame(self._tokenizer, eos)}

    def table(self, table: Any) -> Any:
        """A table of pyarrow with the ids.

        Raises:
            CorpusError: It is something else; there is no such column, it holds no strings, or a value is null.
            EncodeError, SpecialTokenError: A text cannot be encoded.
        """
        pa = arrow("a.arrow")
        if not isinstance(table, pa.Table):
            raise CorpusError(
                f"a batch is {type(table).__name__}, not a table of pyarrow", remedy='pass batch_format="pyarrow"'
            )
        return pa.Table.from_batches([self.batch(batch) for batch in table.to_batches() or _empty(pa, table.schema)])

    def batch(self, batch: Any) -> Any:
        """A record batch of pyarrow with the ids; errors as `table`."""
        pa = arrow("a.arrow")
        ids, offsets = self._encode(batch)
        if len(ids) > np.iinfo(np.int32).max:
            raise CorpusError(f"a batch has {len(ids)} tokens", remedy="use smaller batches")
        lists = pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(ids.view(np.int32)))
        columns = {name: batch.column(name) for name in batch.schema.names}
        return pa.RecordBatch.from_pydict({**columns, self._output: lists})

    def _encode(self, batch: Any) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        texts = texts_of(batch, self._field)
        ids, offsets, refused = _core.encode_buffer(self._tokenizer, texts.data, texts.offsets, **self._options)
        for row, error in refused:
            error.row = row
            raise error
        return ids, offsets


def texts_of(batch: Any, field: str) -> FlatTexts:
    """The texts in a column of a record batch of pyarrow.

    Raises:
        CorpusError: There is no such column, it holds no strings, or a value is null.
    """
    pa = arrow("a.arrow")
    found = batch.schema.get_all_field_indices(field)
    if len(found) != 1:
        raise CorpusError(
            f"there are {len(found)} columns {field!r}",
            remedy=f"the columns are {', '.join(map(repr, batch.schema.names[:20])) or 'none'}",
        )
    column = batch.column(found[0])
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if str(column.type) not in _TEXTS:
        raise CorpusError(f"the column {field!r} holds {column.type}, not strings", remedy="name a column of strings")
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise CorpusError(null_value(field), row=row, remedy=OF_NULL)
    return buffers(column.cast("large_binary"))


def _empty(pa: Any, schema: Any) -> list[Any]:
    return [pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)]
