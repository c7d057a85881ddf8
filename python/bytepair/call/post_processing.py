"""Post-processing: what a tokenizer puts around and between texts, in place of `encode`, which adds nothing.

Source: ``tokenizer/encoding.rs`` and ``process`` in ``tokenizer/mod.rs`` of ``tokenizers`` 0.22, read for how they
behave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bytepair.call import post_processor_json
from bytepair.call.encoding import Encoding
from bytepair.call.processors import added, claim
from bytepair.errors import FormatError, LimitError
from bytepair.model.cache import cached

if TYPE_CHECKING:
    from bytepair.model.compiled import CompiledTokenizer

Json = Any

_MOST_OVERFLOWING = 200_000
"""How many encodings one row may become: two texts that both overflow have as many as their product."""


class Part(NamedTuple):
    """A stretch of what the post-processor makes of a row.

    Attributes:
        sequence: The text that stands here, 0 or 1; None for ids that are added.
        ids: The ids that are added; empty for a text.
        type_ids: Their type ids; of a text one, that of all its ids.
        special: Whether they count as special.
    """

    sequence: int | None
    ids: tuple[int, ...]
    type_ids: tuple[int, ...]
    special: tuple[int, ...]


class PostProcessor:
    """The post-processor of a ``tokenizer.json``, ready to run.

    Args:
        table: Its JSON, parsed; None for none.

    Raises:
        FormatError: It is malformed or of an unknown kind; ``pointer`` says where.

    Example:
        >>> bert = {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}
        >>> processor = PostProcessor(bert)
        >>> processor.added(pair=True)
        3
        >>> [(part.sequence, part.ids, part.type_ids) for part in processor.layout(pair=True, add=True)]
        [(None, (101,), (0,)), (0, (), (0,)), (None, (102,), (0,)), (1, (), (1,)), (None, (102,), (1,))]
    """

    def __init__(self, table: Json = None) -> None:
        self._steps = None if table is None else post_processor_json.read(table)
        try:
            self._layouts = {
                (pair, add): _layout(self.process([_marker(number) for number in range(1 + pair)], add=add))
                for pair in (False, True)
                for add in (False, True)
            }
        except FormatError as error:
            # Templates that do not fit together.
            raise FormatError(error.what, pointer="/post_processor") from None

    def added(self, *, pair: bool) -> int:
        """How many ids it adds to a text, or to a pair."""
        return sum(step.added(pair) for step in self._steps or ())

    def layout(self, *, pair: bool, add: bool) -> tuple[Part, ...]:
        """What it makes of a row that did not overflow, in order."""
        return self._layouts[pair, add]

    def process(self, encodings: list[Encoding], *, add: bool) -> Encoding:
        """One encoding of that of a text, or of those of a pair, which nobody else may hold.

        Args:
            encodings: One or two.
            add: Whether special tokens are added; offsets are trimmed in any case.

        Raises:
            LimitError: So much overflowed that a pair would become hundreds of thousands of encodings.
        """
        budget = [_MOST_OVERFLOWING]
        if self._steps is None:
            if len(encodings) > 1:
                for number, encoding in enumerate(encodings):
                    claim(encoding, number)
            return _merged(encodings, budget)
        for number, encoding in enumerate(encodings):
            claim(encoding, number)
            for other in encoding.overflowing:
                claim(other, number)
            encoding.type_ids = [number] * len(encoding)
        for step in self._steps:
            encodings = step.run(encodings, add)
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
        return added([], [], 0)
    merged = encodings[0]
    for other in encodings[1:]:
        merged = _joined(merged, other, budget)
    return merged


def _joined(left: Encoding, right: Encoding, budget: list[int]) -> Encoding:
    """Two encodings as one; what overflowed on a side is joined with the other side and all that overflowed there."""
    budget[0] -= 1
    if budget[0] < len(left.overflowing) * len(right.overflowing):
        raise LimitError(
            "truncation would make too many encodings of what overflows in both texts of a pair",
            remedy='use a larger max_length, or truncation="only_first" or "only_second"',
        )
    overflowing = []
    for each in left.overflowing:
        overflowing.append(_joined(each, right, budget))
        overflowing.extend([_joined(each, other, budget) for other in right.overflowing])
    overflowing.extend([_joined(left, other, budget) for other in right.overflowing])
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
    """A text of one id that no token has, to see where the post-processor puts it."""
    return Encoding([-1 - number], [""], [(0, 0)], [0], [number], [0], [1])


def _layout(encoding: Encoding) -> tuple[Part, ...]:
    """Where the markers went, and what stands around them."""
    parts: list[Part] = []
    for id, type_id, special in zip(encoding.ids, encoding.type_ids, encoding.special_tokens_mask, strict=True):
        if id < 0:
            parts.append(Part(-1 - id, (), (type_id,), (special,)))
        elif parts and parts[-1].sequence is None:
            last = parts.pop()
            parts.append(Part(None, (*last.ids, id), (*last.type_ids, type_id), (*last.special, special)))
        else:
            parts.append(Part(None, (id,), (type_id,), (special,)))
    return tuple(parts)
