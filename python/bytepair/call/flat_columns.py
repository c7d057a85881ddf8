"""Columns of a whole batch at once, with numpy: as arrays, or as lists.

``model_inputs`` makes the same columns from `Encoding`, which defines them.
"""

from __future__ import annotations

from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from bytepair import _core
from bytepair.call.batch_offsets import BatchOffsets
from bytepair.call.columns import kept_of, unequal
from bytepair.call.post_processing import post_processor
from bytepair.errors import BytepairError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bytepair.call.columns import CallOptions, Rows
    from bytepair.call.post_processing import LayoutPart, PostProcessor
    from bytepair.call.truncation import Truncation
    from bytepair.model.compiled import CompiledTokenizer


def build(
    tok: CompiledTokenizer,
    texts: Rows,
    pairs: Rows | None,
    options: CallOptions,
    columns: dict[str, bool],
    *,
    arrays: bool = True,
    words: bool = False,
) -> Table | None:
    """The rows of a batch; with offsets only of plain texts.

    None where both texts of a pair overflow, or the post-processor arranges overflowing parts in a way of its own.

    Args:
        tok: The tokenizer.
        texts: The texts.
        pairs: The second texts, or None.
        options: The checked options.
        columns: Whether each optional column is made, by name.
        arrays: Whether the rows have to be equally long.
        words: Whether texts are lists of words, which are encoded alone.

    Raises:
        ValueError: The rows of arrays differ in length.
    """
    processor = post_processor(tok)
    layouts = processor.layouts(pair=options.pair, add=options.add) if options.overflow else None
    if options.overflow and layouts is None:
        return None
    layouts = layouts or [processor.layout(pair=options.pair, add=options.add)]
    given = [rows for rows in (texts, pairs) if rows is not None]
    sides = [_Side(tok, rows, options, located=columns["offset_mapping"], words=words) for rows in given]
    for side in sides:
        if side.located is not None:
            side.located.trim(processor)
    rows: tuple[NDArray[np.int64], NDArray[np.int64]] | None = (np.arange(len(texts)), np.zeros(len(texts), np.int64))
    if options.truncation is not None:
        if options.overflow:
            rows = _windows(sides, options.truncation)
        else:
            _keep(sides, options.truncation)
    if rows is None:
        return None
    lengths = np.zeros(len(rows[0]), np.int64)
    for part in layouts[0]:
        lengths += len(part.ids) if part.sequence is None else sides[part.sequence].lengths
    table = Table(processor, options, columns, lengths, rows)
    if arrays and len(set(table.widths.tolist())) > 1:
        raise unequal("input_ids")
    for parts in zip(*layouts, strict=True):
        table.add(parts, sides)
    return table


class Table:
    """Columns of rows one after the other, each filled from left to right."""

    def __init__(
        self,
        processor: PostProcessor,
        options: CallOptions,
        columns: dict[str, bool],
        lengths: NDArray[np.int64],
        rows: tuple[NDArray[np.int64], NDArray[np.int64]],
    ) -> None:
        self.processor, self.options = processor, options
        # The number of the text of each row, and that of its layout.
        samples, self.kinds = rows
        padding = options.padding
        width = 0 if padding is None else padding.width(int(lengths[self.kinds == 0].max(initial=0)))
        self.widths = np.maximum(lengths, width)
        self.begins = np.cumsum(self.widths) - self.widths
        self.gaps = self.widths - lengths
        self.is_left = padding is not None and padding.side == "left"
        self.next = self.begins + self.gaps if self.is_left else self.begins
        total = int(self.widths.sum())
        is_full = not self.gaps.any()
        self.done = {"input_ids": np.full(total, 0 if padding is None or is_full else padding.id, np.int64)}
        if columns["token_type_ids"]:
            self.done["token_type_ids"] = np.zeros(total, np.int64)
        if columns["attention_mask"]:
            self.done["attention_mask"] = np.ones(total, np.int64)
            if not is_full:
                gaps = runs(self.begins if self.is_left else self.begins + lengths, self.gaps)
                self.done["attention_mask"][gaps] = 0
        if columns["special_tokens_mask"]:
            self.done["special_tokens_mask"] = np.ones(total, np.int64)
        if columns["offset_mapping"]:
            self.done["offset_mapping"] = np.zeros((total, 2), np.int64)
        self.has_lengths = columns["length"]
        self.samples = samples if options.overflow else None
        self.filled: list[_Filled] = []

    def add(self, parts: tuple[LayoutPart, ...], sides: list[_Side]) -> None:
        """Adds ids or a text to each row: the same part of each layout, of which a row has one."""
        sequence = parts[0].sequence
        if sequence is None:
            for at, id in enumerate(parts[0].ids):
                self._set(self.next, id, parts, at, self.kinds)
                self.next = self.next + 1
            self.filled.append(_Filled(None, np.full(len(self.kinds), len(parts[0].ids))))
            return
        side = sides[sequence]
        places = runs(self.next, side.lengths)
        kept = slice(None) if side.is_whole else runs(side.starts, side.lengths)
        kinds = self.kinds if len(parts) == 1 else np.repeat(self.kinds, side.lengths)
        self._set(places, side.ids[kept], parts, 0, kinds)
        if side.located is not None:
            mapping = self.done["offset_mapping"]
            mapping[places] = side.located.offsets[kept]
            if side.located.first_offsets is not None:
                has_any = side.lengths > 0
                mapping[self.next[has_any]] = side.located.first_offsets[side.starts[has_any]]
        self.next = self.next + side.lengths
        self.filled.append(_Filled(sequence, side.lengths, side.starts, side.words))

    def _set(
        self, places: NDArray[np.int64], ids: Any, parts: tuple[LayoutPart, ...], at: int, kinds: NDArray[np.int64]
    ) -> None:
        self.done["input_ids"][places] = ids
        for name, values in (
            ("token_type_ids", [part.type_ids[at] for part in parts]),
            ("special_tokens_mask", [part.special[at] for part in parts]),
        ):
            if name in self.done:
                self.done[name][places] = values[0] if len(set(values)) == 1 else np.array(values)[kinds]

    @cached_property
    def _tells_texts(self) -> bool:
        return self.processor.tells_texts(pair=self.options.pair, add=self.options.add)

    def sequence_ids(self, row: int) -> list[int | None] | None:
        """As `Encoding.sequence_ids` of a row; None where that is not as the layout has it."""
        if not self._tells_texts:
            return None
        column: list[int | None] = []
        for part in self.filled:
            column += [part.sequence] * int(part.lengths[row])
        return self._padded(column, row)

    def word_ids(self, row: int) -> list[int | None]:
        """As `Encoding.word_ids` of a row."""
        column: list[int | None] = []
        for part in self.filled:
            length = int(part.lengths[row])
            if part.sequence is None:
                column += [None] * length
            else:
                assert part.words is not None
                assert part.starts is not None
                column += part.words()[part.starts[row] :][:length].tolist()
        return self._padded(column, row)

    def _padded(self, column: list[int | None], row: int) -> list[int | None]:
        gap: list[int | None] = [None] * int(self.gaps[row])
        return gap + column if self.is_left else column + gap

    def arrays(self) -> dict[str, Any]:
        """Takes the columns by name out of it, of rows that are equally long."""
        rows = len(self.widths)
        width = int(self.widths.max(initial=0))
        taken, self.done = self.done, {}
        done: dict[str, Any] = {name: column.reshape(rows, width, *column.shape[1:]) for name, column in taken.items()}
        if self.has_lengths:
            done["length"] = np.full(rows, width, np.int64)
        if self.samples is not None:
            done["overflow_to_sample_mapping"] = self.samples
        return done

    def lists(self) -> dict[str, Any]:
        """Takes the columns by name out of it, as lists of rows."""
        bounds = [*self.begins.tolist(), int(self.widths.sum())]
        taken, self.done = self.done, {}
        done: dict[str, Any] = {}
        for name, column in taken.items():
            if name == "offset_mapping":
                done[name] = _core.place_lists(column.reshape(-1), np.array(bounds))
            else:
                whole = column.tolist()
                done[name] = [whole[start:end] for start, end in pairwise(bounds)]
        if self.has_lengths:
            done["length"] = self.widths.tolist()
        if self.samples is not None:
            done["overflow_to_sample_mapping"] = self.samples.tolist()
        return done


class _Filled(NamedTuple):
    """A part of each row of a table."""

    sequence: int | None
    lengths: NDArray[np.int64]
    starts: NDArray[np.int64] | None = None
    words: Callable[[], NDArray[Any]] | None = None


class _Side:
    """The ids of one side of a batch, perhaps with their offsets, and the kept interval of each row.

    Attributes:
        ids: The ids.
        located: Their offsets; None if no column needs them.
        words: Finds the number of the word of each.
        starts: The start of each row in `ids`.
        lengths: The number of ids of each row.
        is_whole: Whether the rows are all ids.
    """

    def __init__(
        self, tok: CompiledTokenizer, texts: Rows, options: CallOptions, *, located: bool, words: bool
    ) -> None:
        firsts = np.cumsum([0, *(len(text) if words else 1 for text in texts)])
        reading = {**options.reading, "threads": options.threads}
        plain = cast("Sequence[str | bytes]", [word for text in texts for word in text] if words else texts)
        self.located: BatchOffsets | None = None
        try:
            if located:
                self.located = BatchOffsets(tok, plain, reading)
                self.ids, bounds = self.located.ids, self.located.bounds
            else:
                self.ids, bounds = _core.encode_batch_flat(tok, plain, **reading)
        except BytepairError as error:
            row = None if error.row is None else int(np.searchsorted(firsts, error.row, "right")) - 1
            error.row = row if len(texts) > 1 else None
            raise
        known = None if self.located is None else self.located.words
        if words:
            numbers = np.arange(len(plain)) - np.repeat(firsts[:-1], np.diff(firsts))
            known = np.repeat(numbers, np.diff(bounds))
            bounds = bounds[firsts]
        self.words = cache(lambda: BatchOffsets(tok, plain, reading).words if known is None else known)
        self.starts = bounds[:-1]
        self.lengths: NDArray[np.int64] = np.diff(bounds)
        self.is_whole = True

    def keep(self, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        """Replaces the rows by these intervals of the ids."""
        self.is_whole = False
        self.starts, self.lengths = starts, lengths


def runs(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of runs that begin at `starts`, one after the other.

    Example:
        >>> runs(np.array([0, 10]), np.array([2, 3])).tolist()
        [0, 1, 10, 11, 12]
    """
    numbers = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    numbers += np.arange(len(numbers))
    return numbers


def _keep(sides: list[_Side], truncation: Truncation) -> None:
    """Truncates the rows."""
    totals = sides[0].lengths if len(sides) == 1 else sides[0].lengths + sides[1].lengths
    rows = np.flatnonzero(totals > truncation.room)
    if not len(rows):
        return
    own = zip(rows.tolist(), *(side.lengths[rows].tolist() for side in sides), strict=True)
    kept = [kept_of(truncation, *lengths, row=row if len(totals) > 1 else None) for row, *lengths in own]
    for number, side in enumerate(sides):
        lengths = side.lengths.copy()
        lengths[rows] = [pair[number] for pair in kept]
        side.keep(side.starts + (side.lengths - lengths if truncation.side == "left" else 0), lengths)


def _windows(sides: list[_Side], truncation: Truncation) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Truncates the rows, and adds behind each its overflowing parts; None if both texts of a row overflow.

    Returns:
        The number of the text of each row, and that of its layout: 1 for a part of the first text, 2 of the second.
    """
    samples: list[int] = []
    kinds: list[int] = []
    intervals: list[list[tuple[int, int]]] = [[] for _ in sides]
    count = len(sides[0].lengths)
    for row, own in enumerate(zip(*(side.lengths.tolist() for side in sides), strict=True)):
        kept = own if sum(own) <= truncation.room else kept_of(truncation, *own, row=row if count > 1 else None)
        windows = [truncation.windows(length, keep) for length, keep in zip(own, kept, strict=False)]
        counts = [len(each) for each in windows]
        most = max(counts)
        if len(sides) > 1 and min(counts) > 1:
            return None
        samples += [row] * most
        kinds += [0, *[1 + counts.index(most)] * (most - 1)]
        for interval, each in zip(intervals, windows, strict=True):
            interval.extend(each if len(each) == most else each * most)
    numbers = np.array(samples, np.int64)
    for side, interval in zip(sides, intervals, strict=True):
        starts, ends = np.array(interval, np.int64).reshape(-1, 2).T
        side.keep(side.starts[numbers] + starts, ends - starts)
    return numbers, np.array(kinds, np.int64)
