"""Post-processing: the special tokens that a tokenizer adds around and between texts. `encode` adds none.

Source: ``tokenizer/encoding.rs`` and ``process`` in ``tokenizer/mod.rs`` of ``tokenizers`` 0.22, read for their
behaviour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair.call import post_processor_json
from bytepair.call.encoding import Encoding
from bytepair.call.post_processors import ByteLevel, RobertaProcessing, added_encoding, claim
from bytepair.errors import FormatError, LimitError
from bytepair.model.cache import cached

if TYPE_CHECKING:
    from bytepair.model.compiled import CompiledTokenizer

Json = Any

_MOST_OVERFLOWING = 200_000
"""The most encodings of one row: if both texts of a pair overflow, there are as many as the product of their parts."""


class LayoutPart(NamedTuple):
    """A part of the layout of a post-processed row: a text, or added ids.

    Attributes:
        sequence: The number of the text, 0 or 1; None for added ids.
        ids: The added ids; empty for a text.
        tokens: Their tokens as the post-processor spells them, as `ids`.
        type_ids: The type id of each added id; for a text a single one for all its ids.
        special: The values of ``special_tokens_mask``, as `type_ids`.
    """

    sequence: int | None
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    type_ids: tuple[int, ...]
    special: tuple[int, ...]


class PostProcessor:
    """The post-processor of a ``tokenizer.json``.

    Args:
        table: Its parsed JSON; None for no post-processor.

    Raises:
        FormatError: It is malformed or of an unknown kind; ``pointer`` locates the fault.

    Example:
        >>> bert = {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}
        >>> processor = PostProcessor(bert)
        >>> processor.added(pair=True)
        3
        >>> [(part.sequence, part.ids, part.type_ids) for part in processor.layout(pair=True, add=True)]
        [(None, (101,), (0,)), (0, (), (0,)), (None, (102,), (0,)), (1, (), (1,)), (None, (102,), (1,))]
    """

    def __init__(self, table: Json = None) -> None:
        self._processors = None if table is None else post_processor_json.read(table)
        self._told: dict[tuple[bool, bool], bool] = {}
        try:
            self._layouts = {
                (pair, add): _layout(self.process([_marker(number) for number in range(1 + pair)], add=add))
                for pair in (False, True)
                for add in (False, True)
            }
        except FormatError as error:
            # A template may be incompatible with the post-processor before it.
            raise FormatError(error.what, pointer="/post_processor") from None

    def added(self, *, pair: bool) -> int:
        """The number of ids that it adds to a text, or to a pair."""
        return sum(processor.added(pair) for processor in self._processors or ())

    @property
    def trims(self) -> list[tuple[int, bool]]:
        """The number of each processor that trims offsets, and its ``add_prefix_space``."""
        return [
            (number, processor.add_prefix_space)
            for number, processor in enumerate(self._processors or ())
            if isinstance(processor, ByteLevel | RobertaProcessing) and processor.trim_offsets
        ]

    @property
    def trims_first(self) -> bool:
        """Whether offsets are trimmed by the first processor alone, or not at all."""
        return [number for number, _ in self.trims] in ([], [0])

    def layout(self, *, pair: bool, add: bool) -> tuple[LayoutPart, ...]:
        """The layout of a row that did not overflow."""
        return self._layouts[pair, add]

    def layouts(self, *, pair: bool, add: bool) -> list[tuple[LayoutPart, ...]] | None:
        """The layout of a row, and that of an overflowing part of its first and of its second text.

        None if these are not as many rows as parts, or differ in more than type ids and the mask of special tokens.
        """
        rows = self._marked(pair=pair, add=add)
        found = [_layout(row) for row in rows]
        shapes = {tuple((part.sequence, part.ids) for part in parts) for parts in found}
        return found if len(rows) == 2 + pair and len(shapes) == 1 else None

    def tells_texts(self, *, pair: bool, add: bool) -> bool:
        """Whether `Encoding.sequence_ids` are those of `layouts`: some post-processors confuse the texts."""
        told = self._told.get((pair, add))
        if told is None:
            rows = self._marked(pair=pair, add=add)
            texts = [[None if id >= 0 else -1 - id for id in row.ids] for row in rows]
            told = all(row._ranges for row in rows) and [row.sequence_ids for row in rows] == texts
            self._told[pair, add] = told
        return told

    def _marked(self, *, pair: bool, add: bool) -> list[Encoding]:
        """A row of markers, and one for an overflowing part of each text."""
        rows = [self.process([_marker(number) for number in range(1 + pair)], add=add)]
        for side in range(1 + pair):
            encodings = [_marker(number) for number in range(1 + pair)]
            encodings[side].overflowing = [_marker(side)]
            rows += self.process(encodings, add=add).overflowing
        return rows

    def process(self, encodings: list[Encoding], *, add: bool) -> Encoding:
        """Merges the encoding of a text, or those of a pair, into one; they are changed in place.

        Args:
            encodings: One or two.
            add: Whether special tokens are added; offsets are trimmed in any case.

        Raises:
            LimitError: The overflowing parts of a pair would make hundreds of thousands of encodings.
        """
        budget = [_MOST_OVERFLOWING]
        if self._processors is None:
            if len(encodings) > 1:
                for number, encoding in enumerate(encodings):
                    claim(encoding, number)
            return _merged(encodings, budget)
        for number, encoding in enumerate(encodings):
            claim(encoding, number)
            for other in encoding.overflowing:
                claim(other, number)
            encoding.type_ids = [number] * len(encoding)
        for processor in self._processors:
            encodings = processor.run(encodings, add)
        return _merged(encodings, budget)


def post_processor(tokenizer: CompiledTokenizer) -> PostProcessor:
    """The post-processor of a tokenizer, parsed once.

    Raises:
        FormatError: It is malformed or of an unknown kind; ``pointer`` locates the fault.
    """
    return cached(tokenizer, "post_processor", _parse)


def _parse(tokenizer: CompiledTokenizer) -> PostProcessor:
    import json  # noqa: PLC0415 (few tokenizers have one)

    text = tokenizer.spec.post_processor
    return PostProcessor(None if text is None else json.loads(text))


def _merged(encodings: list[Encoding], budget: list[int]) -> Encoding:
    if not encodings:
        return added_encoding([], [], 0)
    merged = encodings[0]
    for other in encodings[1:]:
        merged = joined(merged, other, budget)
    return merged


def joined(left: Encoding, right: Encoding, budget: list[int]) -> Encoding:
    """Two encodings as one. Each overflowing part of a side is joined with the other side and its overflowing parts.

    Raises:
        LimitError: `budget`, the number of encodings that may still be made, is used up.
    """
    budget[0] -= 1
    if budget[0] < len(left.overflowing) * len(right.overflowing):
        raise LimitError(
            "truncation would make too many encodings: both texts of a pair overflow",
            remedy='use a larger max_length, or truncation="only_first" or "only_second"',
        )
    overflowing = []
    for each in left.overflowing:
        overflowing.append(joined(each, right, budget))
        overflowing.extend([joined(each, other, budget) for other in right.overflowing])
    overflowing.extend([joined(left, other, budget) for other in right.overflowing])
    ranges = dict(left._ranges)
    for sequence, (start, end) in right._ranges.items():
        ranges[sequence] = (start + len(left), end + len(left))
    return Encoding(
        left.ids + right.ids,
        left.tokens + right.tokens,
        left.offsets + right.offsets,
        left.word_ids + right.word_ids,
        left.type_ids + right.type_ids,
        left.special_tokens_mask + right.special_tokens_mask,
        left.attention_mask + right.attention_mask,
        overflowing,
        ranges,
    )


def _marker(number: int) -> Encoding:
    """A text of one id that no token has: it marks the position of a text in the layout."""
    return Encoding([-1 - number], [""], [(0, 0)], [0], [number], [0], [1])


def _layout(encoding: Encoding) -> tuple[LayoutPart, ...]:
    """The positions of the markers, and the ids around them."""
    parts: list[LayoutPart] = []
    columns = encoding.ids, encoding.tokens, encoding.type_ids, encoding.special_tokens_mask
    for id, token, type_id, special in zip(*columns, strict=True):
        if id < 0:
            parts.append(LayoutPart(-1 - id, (), (), (type_id,), (special,)))
            continue
        last = parts.pop() if parts and parts[-1].sequence is None else LayoutPart(None, (), (), (), ())
        ids, tokens, type_ids = (*last.ids, id), (*last.tokens, token), (*last.type_ids, type_id)
        parts.append(LayoutPart(None, ids, tokens, type_ids, (*last.special, special)))
    return tuple(parts)
