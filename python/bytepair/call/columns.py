"""Columns of ids without offsets: as lists, or with numpy for the whole batch at once.

``model_inputs`` makes the same columns from `Encoding`, which defines them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from bytepair import _core
from bytepair.call.post_processing import post_processor
from bytepair.errors import BytepairError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

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
            first, second = _kept(truncation, len(row), len(other) if options.pair else None, number)
            left = truncation.side == "left"
            row = row[len(row) - first :] if left else row[:first]  # noqa: PLW2901
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


def _kept(truncation: Truncation, first: int, second: int | None, row: int) -> tuple[int, int]:
    try:
        return truncation.kept(first, second)
    except BytepairError as error:
        error.row = row
        raise


def _lists(tok: CompiledTokenizer, texts: Rows, options: CallOptions) -> list[list[int]]:
    if len(texts) == 1:
        return [tok.encode(texts[0], **options.reading, threads=options.threads)]
    return tok.encode_batch(texts, **options.reading, threads=options.threads)


def build_arrays(
    tok: CompiledTokenizer, texts: Rows, pairs: Rows | None, options: CallOptions, columns: dict[str, bool]
) -> dict[str, Any]:
    """The columns as arrays of int64, for all rows at once.

    Raises:
        ValueError: The rows differ in length.
    """
    import numpy as np  # noqa: PLC0415 (only arrays need it)

    sides = [_Flat(tok, rows, options) for rows in (texts, pairs) if rows is not None]
    if options.truncation is not None:
        _keep(sides, options.truncation)
    parts = post_processor(tok).layout(pair=options.pair, add=options.add)
    lengths = np.zeros(len(texts), np.int64)
    for part in parts:
        lengths += len(part.ids) if part.sequence is None else sides[part.sequence].lengths
    padding = options.padding
    longest = int(lengths.max(initial=0))
    width = longest if padding is None else padding.width(longest)
    shortest = int(lengths.min(initial=longest))
    if shortest < longest and (padding is None or width < longest):
        raise unequal("input_ids")
    matrix = _Matrix(lengths, max(width, longest), padding, columns)
    for part in parts:
        if part.sequence is None:
            matrix.add(part)
        else:
            matrix.put(part, sides[part.sequence])
    return matrix.columns(columns)


class _Matrix:
    """Columns of equally long rows, filled from left to right."""

    def __init__(
        self, lengths: NDArray[np.int64], width: int, padding: Padding | None, columns: dict[str, bool]
    ) -> None:
        import numpy as np  # noqa: PLC0415 (as above)

        rows = len(lengths)
        self.shape = (rows, width)
        self.lengths = lengths
        self.is_left = padding is not None and padding.side == "left"
        self.next = np.arange(rows, dtype=np.int64) * width
        if self.is_left:
            self.next += width - lengths
        self.is_full = int(lengths.min(initial=width)) == width
        filling = 0 if padding is None or self.is_full else padding.id
        self.ids = np.full(rows * width, filling, np.int64)
        self.types = np.zeros(rows * width, np.int64) if columns["token_type_ids"] else None
        self.special = np.ones(rows * width, np.int64) if columns["special_tokens_mask"] else None

    def add(self, part: LayoutPart) -> None:
        """Adds the same ids to each row."""
        for id, type_id, special in zip(part.ids, part.type_ids, part.special, strict=True):
            self._set(self.next, id, type_id, special)
            self.next = self.next + 1

    def put(self, part: LayoutPart, side: _Flat) -> None:
        """Adds a text to each row."""
        self._set(side.places(self.next), side.kept(), part.type_ids[0], part.special[0])
        self.next = self.next + side.lengths

    def _set(self, places: NDArray[np.int64], ids: int | NDArray[np.uint32], type_id: int, special: int) -> None:
        self.ids[places] = ids
        if self.types is not None and type_id:
            self.types[places] = type_id
        if self.special is not None:
            self.special[places] = special

    def columns(self, columns: dict[str, bool]) -> dict[str, Any]:
        """The columns by name."""
        import numpy as np  # noqa: PLC0415 (as above)

        done: dict[str, Any] = {"input_ids": self.ids.reshape(self.shape)}
        if self.types is not None:
            done["token_type_ids"] = self.types.reshape(self.shape)
        if columns["attention_mask"]:
            place = np.arange(self.shape[1])
            if self.is_full:
                done["attention_mask"] = np.ones(self.shape, np.int64)
            elif self.is_left:
                done["attention_mask"] = (place >= (self.shape[1] - self.lengths)[:, None]).astype(np.int64)
            else:
                done["attention_mask"] = (place < self.lengths[:, None]).astype(np.int64)
        if self.special is not None:
            done["special_tokens_mask"] = self.special.reshape(self.shape)
        if columns["length"]:
            done["length"] = np.full(self.shape[0], self.shape[1], np.int64)
        return done


class _Flat:
    """The ids of one side of a batch, and the kept interval of each row."""

    def __init__(self, tok: CompiledTokenizer, texts: Rows, options: CallOptions) -> None:
        import numpy as np  # noqa: PLC0415 (only arrays need it)

        self.ids, ends = _core.encode_batch_flat(tok, texts, **options.reading, threads=options.threads)
        self.starts = ends[:-1]
        self.lengths: NDArray[np.int64] = np.diff(ends)
        self.is_whole = True

    def keep(self, rows: NDArray[np.int64], kept: list[int], side: str) -> None:
        """Truncates rows to these numbers of ids."""
        self.is_whole = False
        lengths = self.lengths.copy()
        lengths[rows] = kept
        if side == "left":
            self.starts = self.starts + (self.lengths - lengths)
        self.lengths = lengths

    def places(self, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The positions of the kept ids if each row begins at `starts`."""
        import numpy as np  # noqa: PLC0415 (as above)

        ends = np.cumsum(self.lengths)
        places = np.repeat(starts - ends + self.lengths, self.lengths)
        places += np.arange(len(places))
        return places

    def kept(self) -> NDArray[np.uint32]:
        """The kept ids of all rows."""
        return self.ids if self.is_whole else self.ids[self.places(self.starts)]


def _keep(sides: list[_Flat], truncation: Truncation) -> None:
    import numpy as np  # noqa: PLC0415 (only arrays need it)

    totals = sides[0].lengths if len(sides) == 1 else sides[0].lengths + sides[1].lengths
    rows = np.flatnonzero(totals > truncation.room)
    if not len(rows):
        return
    columns = [side.lengths[rows].tolist() for side in sides]
    seconds = columns[1] if len(sides) > 1 else [None] * len(rows)
    kept = [
        _kept(truncation, first, second, row)
        for row, first, second in zip(rows.tolist(), columns[0], seconds, strict=True)
    ]
    for number, side in enumerate(sides):
        side.keep(rows, [pair[number] for pair in kept], truncation.side)
