"""Pre-tokenized texts: each word is encoded alone, with its own index and offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytepair.call.model_inputs import encoding_columns
from bytepair.call.post_processing import post_processor
from bytepair.call.tensors import converter
from bytepair.compat.tokenizers.rows import of_words
from bytepair.compat.transformers.batch import BatchEncoding
from bytepair.errors import BytepairError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bytepair.call.columns import CallOptions
    from bytepair.call.encoding import Encoding
    from bytepair.call.flat_columns import Table
    from bytepair.tokenizer import Tokenizer

_LEAST = 64
"""Fewer words are encoded one after the other: numpy has a cost for each call."""


def rows(
    tok: Tokenizer, texts: Sequence[Sequence[str]], pairs: Sequence[Sequence[str]] | None, options: CallOptions
) -> tuple[list[Encoding], list[int]]:
    """Encode rows; return the encodings, each followed by its overflowing parts, and the index of each one's text.

    Errors are those of a call of the tokenizer, with the index of the row.
    """
    encodings = []
    for number, text in enumerate(texts):
        given = [text] if pairs is None else [text, pairs[number]]
        try:
            encodings.append(_row(tok, given, options))
        except BytepairError as error:
            if len(texts) > 1:
                error.row = number
            raise
    if options.padding is not None:
        width = options.padding.width(max(map(len, encodings), default=0))
        for encoding in encodings:
            options.padding.pad(encoding, width)
    if not options.overflow:
        return encodings, list(range(len(encodings)))
    groups = [[encoding, *encoding.overflowing] for encoding in encodings]
    return [each for group in groups for each in group], [number for number, group in enumerate(groups) for _ in group]


def _row(tok: Tokenizer, given: list[Sequence[str]], options: CallOptions) -> Encoding:
    sides = [of_words(tok, text, place, options.reading) for place, text in enumerate(given)]
    cut = options.truncation
    if cut is not None:
        kept = cut.kept(*map(len, sides))
        sides = [cut.cut(side, keep, overflow=options.overflow) for side, keep in zip(sides, kept, strict=False)]
    return post_processor(tok).process(sides, add=options.add)


def _suits_flat(tok: Tokenizer, sides: list[Sequence[Sequence[str]]], columns: dict[str, bool]) -> bool:
    if any(not isinstance(word, str) for side in sides for text in side for word in text):
        return False
    return not columns["offset_mapping"] or post_processor(tok).trims_first


def _of_table(
    table: Table, encode: Callable[[], list[Encoding]], tensors: str | None, *, unwrap: bool
) -> BatchEncoding:
    convert = converter(tensors)
    if convert is not None:
        return BatchEncoding({name: convert(column) for name, column in table.arrays().items()}, encode, lambda: table)
    made = BatchEncoding(table.lists(), encode, lambda: table)
    if unwrap:
        made.update({name: column[0] for name, column in made.items() if name != "length"})
    return made


def call(
    tok: Tokenizer,
    texts: Sequence[Sequence[str]],
    pairs: Sequence[Sequence[str]] | None,
    options: CallOptions,
    *,
    tensors: str | None,
    columns: dict[str, bool],
    unwrap: bool,
) -> BatchEncoding:
    """The columns of rows; arguments as `bytepair.call.model_inputs.call`."""
    given = [side for side in (texts, pairs) if side is not None]
    if sum(len(text) for side in given for text in side) >= _LEAST and _suits_flat(tok, given, columns):
        from bytepair.call import flat_columns  # noqa: PLC0415 (with numpy)

        table = flat_columns.build(tok, texts, pairs, options, columns, arrays=tensors is not None, words=True)
        if table is not None:
            return _of_table(table, lambda: rows(tok, texts, pairs, options)[0], tensors, unwrap=unwrap)
    encodings, samples = rows(tok, texts, pairs, options)
    found = encoding_columns(encodings, samples if options.overflow else None, columns)
    made = BatchEncoding(found, lambda: encodings)
    if tensors is not None:
        return made.convert_to_tensors(tensors)
    if unwrap:
        made.update({name: column[0] for name, column in made.items() if name != "length"})
    return made
