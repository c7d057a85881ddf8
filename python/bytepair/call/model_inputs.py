"""``tok(...)``: encode, truncate, post-process, pad, and make columns.

The same rows are made in three ways. Ids alone are assembled as lists (``columns``). Arrays, and offsets and
overflowing parts of many characters, are made with numpy for the whole batch at once (``flat_columns``). Few of these,
and what is rare, are built as `Encoding`, which defines the other two.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from bytepair._core import Control
from bytepair.call.columns import CallOptions, Rows, build_lists, unequal
from bytepair.call.encoding import BatchEncoding, Encoding, Known
from bytepair.call.offsets import encode_with_offsets
from bytepair.call.padding import KNOWN_PAD_TOKENS, Padding
from bytepair.call.post_processing import post_processor
from bytepair.call.roles import id_of
from bytepair.call.spelling import spell_tokens
from bytepair.call.tensors import converter
from bytepair.call.truncation import Truncation
from bytepair.errors import BytepairError, LimitError, SpecialTokenError

if TYPE_CHECKING:
    from bytepair.model.compiled import CompiledTokenizer

_STRATEGIES: dict[Any, str] = {
    True: "longest_first",
    "longest_first": "longest_first",
    "only_first": "only_first",
    "only_second": "only_second",
}
_LEAST = 4096
"""Offsets and overflowing parts of fewer characters are made row by row: numpy has a cost for each call."""
_PADDINGS: dict[Any, str] = {True: "longest", "longest": "longest", "max_length": "max_length"}


def options(
    tok: CompiledTokenizer,
    *,
    pair: bool,
    add_special_tokens: bool,
    padding: bool | str,
    truncation: bool | str,
    max_length: int | None,
    stride: int,
    pad_to_multiple_of: int | None,
    pad_token: str | int | None,
    padding_side: str | None,
    truncation_side: str | None,
    overflow: bool,
    reading: dict[str, Any],
    threads: int | None,
) -> CallOptions:
    """Checks the options of a call.

    Raises:
        ValueError: A value is unknown, or an option has no effect with the others.
        LimitError: `max_length` has no room for the ids of the post-processor, or for `stride`.
        SpecialTokenError: There is no pad token.
    """
    padded = _choice("padding", padding, _PADDINGS, "do_not_pad")
    strategy = _choice("truncation", truncation, _STRATEGIES, "do_not_truncate")
    most = None if max_length is None else _natural("max_length", max_length)
    if most is None and (strategy is not None or padded == "max_length"):
        option = "truncation" if strategy is not None else 'padding="max_length"'
        raise ValueError(f"{option} needs max_length: a tokenizer does not store the limit of its model")
    if most is not None and strategy is None and padded != "max_length":
        raise ValueError('max_length has no effect without truncation or padding="max_length"')
    stride = _natural("stride", stride)
    if strategy is None and (stride or truncation_side is not None):
        raise ValueError(f"{'stride' if stride else 'truncation_side'} has no effect without truncation")
    if stride and not overflow:
        raise ValueError("stride has no effect without return_overflowing_tokens=True")
    for name, value in (
        ("pad_to_multiple_of", pad_to_multiple_of),
        ("pad_token", pad_token),
        ("padding_side", padding_side),
    ):
        if padded is None and value is not None:
            raise ValueError(f"{name} has no effect without padding")
    if threads is not None:
        threads = _natural("threads", threads, least=1)
    return CallOptions(
        add=bool(add_special_tokens),
        pair=pair,
        truncation=None
        if strategy is None or most is None
        else _truncation(tok, most, strategy, stride, truncation_side, added=pair if add_special_tokens else None),
        padding=None
        if padded is None
        else _padding(tok, most if padded == "max_length" else None, pad_to_multiple_of, pad_token, padding_side),
        overflow=overflow,
        reading=reading,
        threads=threads,
    )


def _choice(name: str, value: Any, known: dict[Any, str], off: str) -> str | None:
    if value is False or value == off:
        return None
    if value is True or (isinstance(value, str) and value in known):
        return known[value]
    raise ValueError(f"{name}={value!r} is unknown; use {', '.join(map(repr, [False, *known]))}")


def _side(name: str, value: str | None) -> Any:
    if value not in (None, "left", "right"):
        raise ValueError(f'{name}={value!r} is unknown; use "left" or "right"')
    return value or "right"


def _natural(name: str, value: int, least: int = 0) -> int:
    value = index(value)
    if value < least:
        raise ValueError(f"{name}={value} is less than {least}")
    return value


def _truncation(
    tok: CompiledTokenizer, most: int, strategy: str, stride: int, side: str | None, *, added: bool | None
) -> Truncation:
    processor = post_processor(tok)
    extra = 0 if added is None else processor.added(pair=added)
    least = extra if added is None else max(extra, stride + processor.added(pair=False))
    if most < max(least, stride):
        what = f"the post-processor adds {extra} ids" + (f", and stride is {stride}" if stride else "")
        raise LimitError(
            f"max_length={most} is too small: {what}", remedy="use a larger max_length, or add_special_tokens=False"
        )
    return Truncation(most - extra, cast("Any", strategy), stride, _side("truncation_side", side))


def _padding(
    tok: CompiledTokenizer, length: int | None, multiple: int | None, token: str | int | None, side: str | None
) -> Padding:
    multiple = 1 if multiple is None else _natural("pad_to_multiple_of", multiple, least=1)
    if token is None and (named := id_of(tok, "pad")) is not None:
        token = named
    if token is None:
        ids = {token.content: token.id for token in tok.spec.added_tokens}
        token = next((name for name in KNOWN_PAD_TOKENS if name in ids), None)
        if token is None:
            raise SpecialTokenError(
                "the tokenizer has no known pad token",
                remedy='name one: pad_token="<|endoftext|>", or its id; any will do where attention_mask is used',
            )
        return Padding(ids[token], token, length, multiple, _side("padding_side", side))
    id = tok.token_id(token) if isinstance(token, str) else index(token)
    return Padding(id, spell_tokens(tok, [id])[0], length, multiple, _side("padding_side", side))


def call(
    tok: CompiledTokenizer,
    texts: Any,
    pairs: Any,
    options: CallOptions,
    *,
    tensors: str | None,
    columns: dict[str, bool],
    unwrap: bool,
) -> BatchEncoding:
    """Makes the columns of rows.

    Args:
        tok: The tokenizer.
        texts: The texts.
        pairs: The second texts, or None.
        options: The checked options.
        tensors: The kind of the columns: None, ``"np"`` or ``"pt"``.
        columns: Whether each optional column is made, by name.
        unwrap: Whether columns of lists are those of a single row.
    """
    convert = converter(tensors)
    texts, pairs = _batch(texts), None if pairs is None else _batch(pairs)
    if pairs is not None and len(pairs) != len(texts):
        raise ValueError(f"there are {len(texts)} texts and {len(pairs)} second texts of pairs")
    encode = _Encode(tok, texts, pairs, options)
    is_plain = not options.overflow and not columns["offset_mapping"]
    table = None
    at_once = convert is not None if is_plain else _suits_flat(tok, texts, pairs)
    if at_once:
        from bytepair.call import flat_columns  # noqa: PLC0415 (with numpy)

        table = flat_columns.build(tok, texts, pairs, options, columns, arrays=convert is not None)
    if table is not None:
        found = table.lists() if convert is None else table.arrays()
        made = BatchEncoding(found, lambda: encode.rows()[0], lambda: table)
    elif is_plain:
        found = build_lists(tok, texts, pairs, options, columns)
        made = BatchEncoding(found, lambda: encode.rows()[0], cache(encode.table))
    else:
        encodings, samples = encode.rows()
        found = encoding_columns(encodings, samples if options.overflow else None, columns)
        made = BatchEncoding(found if convert is None else _arrays(found), lambda: encodings)
    if convert is not None:
        for name, column in made.items():
            made[name] = convert(column)
    elif unwrap and not options.overflow:
        _unwrap(made)
    return made


def _arrays(columns: dict[str, list[Any]]) -> dict[str, Any]:
    """The columns of encodings as arrays."""
    import numpy as np  # noqa: PLC0415 (only arrays need it)

    made: dict[str, Any] = {}
    for name, column in columns.items():
        if column and isinstance(column[0], list) and len({len(row) for row in column}) > 1:
            raise unequal(name)
        array = np.asarray(column, dtype=np.int64)
        made[name] = array.reshape(len(column), -1 if array.size else 0, 2) if name == "offset_mapping" else array
    return made


def _suits_flat(tok: CompiledTokenizer, texts: Rows, pairs: Rows | None) -> bool:
    """Whether offsets and overflowing parts are made for all rows at once: of plain texts, that are not few."""
    sides = [rows for rows in (texts, pairs) if rows is not None]
    if any(not isinstance(text, str | bytes) for rows in sides for text in rows):
        return False
    return post_processor(tok).trims_first and sum(len(text) for rows in sides for text in rows) >= _LEAST


def _batch(texts: Rows) -> Rows:
    texts = list(texts)
    if Control in set(map(type, texts)):
        raise TypeError("a Control is a part of a text; put a text of parts into a list of its own")
    return texts


def _unwrap(batch: BatchEncoding) -> None:
    for name, column in batch.items():
        if name != "length":
            batch[name] = column[0]


class _Encode(NamedTuple):
    """Makes the encodings of rows."""

    tok: CompiledTokenizer
    texts: Rows
    pairs: Rows | None
    options: CallOptions

    def rows(self) -> tuple[list[Encoding], list[int]]:
        """The encoding of each row, followed by its overflowing parts, and the number of the text of each."""
        encodings = [self._row(number) for number in range(len(self.texts))]
        padding = self.options.padding
        if padding is not None:
            width = padding.width(max(map(len, encodings), default=0))
            for encoding in encodings:
                padding.pad(encoding, width)
        rows = [[encoding, *encoding.overflowing] for encoding in encodings]
        return [each for row in rows for each in row], [number for number, row in enumerate(rows) for _ in row]

    def table(self) -> Known | None:
        """The rows without columns, which finds their words at once; None where these are few."""
        if not _suits_flat(self.tok, self.texts, self.pairs):
            return None
        from bytepair.call import flat_columns  # noqa: PLC0415 (with numpy)

        return flat_columns.build(*self, defaultdict(bool), arrays=False)

    def _row(self, number: int) -> Encoding:
        tok, texts, pairs, options = self
        try:
            sides = [
                encode_with_offsets(tok, rows[number], place, options.reading)
                for place, rows in enumerate((texts, pairs))
                if rows is not None
            ]
            truncation = options.truncation
            if truncation is not None:
                kept = truncation.kept(*map(len, sides))
                sides = [
                    truncation.cut(side, keep, overflow=options.overflow)
                    for side, keep in zip(sides, kept, strict=False)
                ]
            return post_processor(tok).process(sides, add=options.add)
        except BytepairError as error:
            if len(texts) > 1:
                error.row = number
            raise


def encoding_columns(encodings: list[Encoding], samples: list[int] | None, columns: dict[str, bool]) -> dict[str, Any]:
    """The columns of encodings as lists; `samples` are the numbers of their texts, if some are overflowing parts."""
    done: dict[str, Any] = {"input_ids": [encoding.ids for encoding in encodings]}
    for name, attribute in (
        ("token_type_ids", "type_ids"),
        ("attention_mask", "attention_mask"),
        ("special_tokens_mask", "special_tokens_mask"),
        ("offset_mapping", "offsets"),
    ):
        if columns[name]:
            done[name] = [getattr(encoding, attribute) for encoding in encodings]
    if columns["length"]:
        done["length"] = [len(encoding) for encoding in encodings]
    if samples is not None:
        done["overflow_to_sample_mapping"] = samples
    return done
