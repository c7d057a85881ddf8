"""Columns of ids as lists, row by row, without offsets; `flat_columns` makes them for a whole batch at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from bytepair.call.post_processing import post_processor
from bytepair.errors import BytepairError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair.call.options import TextInput
    from bytepair.call.padding import Padding
    from bytepair.call.post_processing import LayoutPart
    from bytepair.call.truncation import Truncation
    from bytepair.model.compiled import CompiledTokenizer

Rows: TypeAlias = "Sequence[TextInput]"
"""The texts of a batch, or the second texts of its pairs."""

# The values of padding; None for the id of the pad token.
_FILLINGS: dict[str, int | None] = {
    "input_ids": None,
    "token_type_ids": 0,
    "attention_mask": 0,
    "special_tokens_mask": 1,
}


class CallOptions(NamedTuple):
    """The checked options of a call.

    Attributes:
        add: Whether the post-processor adds its tokens.
        pair: Whether rows are pairs.
        truncation: The truncation rule; None for no truncation.
        padding: The padding rule; None for no padding.
        overflow: Whether overflowing parts are kept.
        reading: The options ``special``, ``added`` and ``errors`` of `Tokenizer.encode`.
        threads: The most threads.
    """

    add: bool
    pair: bool
    truncation: Truncation | None
    padding: Padding | None
    overflow: bool
    reading: dict[str, Any]
    threads: int | None


def unequal(name: str) -> ValueError:
    """The error for rows of different lengths, which cannot form an array."""
    return ValueError(
        f"the rows of {name} differ in length and cannot form an array; use padding=True, and truncation=True "
        "where some are longer than max_length"
    )


def build_lists(
    tok: CompiledTokenizer, texts: Rows, pairs: Rows | None, options: CallOptions, columns: dict[str, bool]
) -> dict[str, Any]:
    """The columns as lists of lists."""
    rows = _lists(tok, texts, options)
    others = None if pairs is None else _lists(tok, pairs, options)
    parts = post_processor(tok).layout(pair=options.pair, add=options.add)
    truncation = options.truncation
    kept: list[tuple[list[int], list[int]]] = []
    for number, row in enumerate(rows):
        other = [] if others is None else others[number]
        if truncation is not None and len(row) + len(other) > truncation.room:
            place = number if len(rows) > 1 else None
            first, second = kept_of(truncation, len(row), len(other) if options.pair else None, row=place)
            left = truncation.side == "left"
            row = row[len(row) - first :] if left else row[:first]  # noqa: PLW2901 (cut for this row)
            other = other[len(other) - second :] if left else other[:second]
        kept.append((row, other))
    done: dict[str, Any] = {"input_ids": [_ids(parts, pair) for pair in kept]}
    lengths = [len(ids) for ids in done["input_ids"]]
    if columns["token_type_ids"]:
        done["token_type_ids"] = [_constants(parts, pair, "type_ids") for pair in kept]
    if columns["attention_mask"]:
        done["attention_mask"] = [[1] * length for length in lengths]
    if columns["special_tokens_mask"]:
        done["special_tokens_mask"] = [_constants(parts, pair, "special") for pair in kept]
    padding = options.padding
    if padding is not None:
        width = padding.width(max(lengths, default=0))
        for name, filling in _FILLINGS.items():
            if name in done:
                _fill(done[name], width, padding.id if filling is None else filling, padding.side)
    if columns["length"]:
        done["length"] = [len(ids) for ids in done["input_ids"]]
    return done


def _fill(rows: list[list[int]], width: int, filling: int, side: str) -> None:
    """Pads rows in place; no caller shares them yet."""
    for number, row in enumerate(rows):
        count = width - len(row)
        if count > 0:
            if side == "right":
                row += [filling] * count  # noqa: PLW2901 (in place)
            else:
                rows[number] = [filling] * count + row


def _ids(parts: tuple[LayoutPart, ...], pair: tuple[list[int], list[int]]) -> list[int]:
    if len(parts) == 1 and parts[0].sequence is not None:
        return pair[parts[0].sequence]
    ids: list[int] = []
    for part in parts:
        ids += part.ids if part.sequence is None else pair[part.sequence]
    return ids


def _constants(parts: tuple[LayoutPart, ...], pair: tuple[list[int], list[int]], name: str) -> list[int]:
    column: list[int] = []
    for part in parts:
        values = getattr(part, name)
        column += values if part.sequence is None else values * len(pair[part.sequence])
    return column


def kept_of(truncation: Truncation, first: int, second: int | None = None, *, row: int | None) -> tuple[int, int]:
    """As `Truncation.kept`, with the row in its errors; None for a text by itself."""
    try:
        return truncation.kept(first, second)
    except BytepairError as error:
        error.row = row
        raise


def _lists(tok: CompiledTokenizer, texts: Rows, options: CallOptions) -> list[list[int]]:
    if len(texts) == 1:
        return [tok.encode(texts[0], **options.reading, threads=options.threads)]
    return tok.encode_batch(texts, **options.reading, threads=options.threads)
