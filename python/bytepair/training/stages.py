"""Later stages of a training: where each begins, and its split pattern."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from bytepair.errors import SourceError, TrainingError
from bytepair.model.split_patterns import split_pattern
from bytepair.sources.source import holds_counts
from bytepair.training.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair.training.inputs import TrainingSource


class Stage(NamedTuple):
    """A later stage.

    Attributes:
        begins: The number of tokens that there are when it begins.
        pattern: Its split pattern.
    """

    begins: int
    pattern: str


def parse_stages(given: Sequence[tuple[int, str]], least: int, vocab_size: int) -> list[Stage]:
    """The later stages of a training.

    Args:
        given: Pairs of a number of tokens and a split pattern, by name or as a regular expression.
        least: The number of tokens before any merge.
        vocab_size: The number of tokens at the end.

    Raises:
        TrainingError: A stage begins before the one before it, or not before the end.
        PatternError: There is no pattern of such a name.

    Example:
        >>> [stage.begins for stage in parse_stages([(300, "o200k"), (400, "superwords")], 256, 500)]
        [300, 400]
    """
    stages = [Stage(begins, split_pattern(split)) for begins, split in given]
    for before, stage in zip([least, *(stage.begins for stage in stages)], stages, strict=False):
        if not before <= stage.begins < vocab_size:
            raise TrainingError(
                f"a stage begins at {stage.begins:,} tokens, which is not between {before:,} and {vocab_size - 1:,}",
                remedy="give each stage the number of tokens that it begins at, in order, below vocab_size",
                cli_remedy="give each --stage the number of tokens that it begins at, in order, below --vocab-size",
            )
    return stages


def check_stages(source: TrainingSource, checkpoint: object | None) -> None:
    """Checks that later stages can read the source again.

    Raises:
        SourceError: The source is counts, which cannot be split, or an iterator, which ends.
        TrainingError: There is a checkpoint, which keeps the counts of one stage.
    """
    if checkpoint is not None:
        raise TrainingError(
            "a checkpoint keeps the counts of one stage",
            remedy="train the first stage with checkpoint=, and go on with bytepair.extend(..., split=...)",
            cli_remedy="train the first stage with --checkpoint, and go on with `bytepair extend --stage`",
        )
    remedy = "name files, or pass a list or another iterable that can be read again"
    if isinstance(source, Counts) or (isinstance(source, Mapping) and holds_counts(source)):
        raise SourceError("counted pieces cannot be split again, as a later stage needs", remedy=remedy)
    parts = source.values() if isinstance(source, Mapping) else [source]
    if any(isinstance(part, Iterator) for part in parts):
        raise SourceError("an iterator can be read once, and each stage reads the source", remedy=remedy)
