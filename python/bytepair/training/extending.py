"""A tokenizer and text -> the same tokenizer with more merges."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bytepair._core import PieceCounter, PieceCounts
from bytepair.errors import FormatError, TrainingError
from bytepair.model.checks import MOST_IDS
from bytepair.model.semantics import to_merges, to_ranks
from bytepair.model.split_patterns import split_pattern
from bytepair.progress import reporter
from bytepair.resolver import TokenizerLike, load
from bytepair.sources.source import Reading
from bytepair.tokenizer import Tokenizer
from bytepair.training.counting import check_unread, count_source
from bytepair.training.counts import Counts, Stages
from bytepair.training.inputs import empty, warn_of_few
from bytepair.training.learning import learn_merges
from bytepair.training.memory import parse_bytes

if TYPE_CHECKING:
    from typing import Literal

    from bytepair.model.models import BytePair
    from bytepair.progress import Report
    from bytepair.training.inputs import TrainingSource
    from bytepair.training.learning import Learned, Ties


def extend(  # noqa: D417 (some arguments are those of `train`)
    tokenizer: TokenizerLike,
    source: TrainingSource,
    vocab_size: int,
    *,
    split: str | None = None,
    ties: Ties = "lowest_ids",
    min_frequency: int = 2,
    max_token_length: int | None = None,
    max_words: int | None = None,
    field: str | None = None,
    delimiter: str | None = None,
    errors: Literal["strict", "replace"] = "strict",
    threads: int | None = None,
    memory: str | int | None = None,
    progress: bool | str | Report = False,
) -> Tokenizer:
    """Learns more merges from text, after those of a tokenizer.

    All tokens keep their ids; new ones get the ids from ``tokenizer.vocab_size`` on. Text is normalized and split by
    the tokenizer's own stages, and all added tokens are cut out. Pieces begin as the tokenizer encodes them, and
    learning goes on from there as in `train`. The new ids of a piece are its old ones with the new merges applied in
    order: training to 1,000 tokens and extending to 2,000 with the same text equals training to 2,000.

    The new merges rank after all others. Ranks are converted to merges and back, which takes a proof. With
    ``ignore_merges``, pieces that are tokens begin whole and have nothing to merge; merges make new tokens of their
    pieces as well, since adjacent tokens of an encoding are the encoding of their own bytes. A pair is skipped for
    good if its bytes are a token already, which happens only where the vocabulary holds tokens that its merges do not
    make of their bytes, or pieces contain the text of an added token.

    Another ``split`` makes a second stage, such as that of SuperBPE (Liu et al., 2025): merges that were learned within
    words are followed by those across them. The result has that split alone, and its merges apply to the wider pieces
    from the first on.

    Arguments that are not listed are those of `train`.

    Args:
        tokenizer: The tokenizer to extend, which does not change; or any name that `bytepair.load` takes.
        source: As for `train`; a mapping of pieces to counts is not split.
        vocab_size: The ``vocab_size`` of the result: the largest id plus one, and so the rows of an embedding.
        split: The split pattern of the result, by name or as a regular expression; None for that of the tokenizer.
        ties: As for `train`; ``lowest_ids`` compares the ids of the tokens.
        max_token_length: As for `train`; for new tokens.
        max_words: As for `train`; for new tokens.

    Raises:
        TrainingError: As `train`; ``vocab_size`` is below that of the tokenizer; ranks are not proved to be merges.
        EncodeError, ArtifactError, PatternError: As `train`; or a byte of the text has no token.

    Warns:
        TokenizerWarning: The pairs ran out: there are fewer new tokens than requested.

    Time: that of `train` for the new merges, and of encoding each distinct piece once.

    Example:
        >>> from bytepair import train
        >>> tok = train({"low": 5, "lower": 2}, vocab_size=259, special_tokens=["<|end|>"])
        >>> more = extend(tok, {"lower": 2, "lowest": 3}, vocab_size=262)
        >>> more.tokens("lowest"), more.special_tokens == tok.special_tokens
        ([b'lowest'], True)
        >>> wide = extend(tok, iter(["low low by the way by the way"]), 267, split="superwords", max_words=2)
        >>> wide.tokens("by the way")
        [b'by ', b'the wa', b'y']
    """
    tokenizer = load(tokenizer)
    if split is not None:
        pattern = split_pattern(split)
        tokenizer = Tokenizer(tokenizer.spec.replace(split=(pattern,) if pattern else ()))
    missing = vocab_size - tokenizer.vocab_size
    if missing < 0 or vocab_size > MOST_IDS:
        raise TrainingError(
            f"a vocabulary of {tokenizer.vocab_size} ids cannot be extended to {vocab_size}",
            remedy=f"use {tokenizer.vocab_size} to {MOST_IDS}; bytepair.prune makes vocabularies smaller",
            cli_remedy=f"use {tokenizer.vocab_size} to {MOST_IDS}; `bytepair prune` makes vocabularies smaller",
        )
    spec = tokenizer.spec
    model = proved_merges(spec.byte_pair)
    report = reporter(progress)
    learned: list[Learned] = []
    reading = Reading(field=field, delimiter=delimiter)
    learn_merges(
        count_pieces(tokenizer, source, reading=reading, errors=errors, threads=threads, memory=memory, report=report),
        missing,
        alphabet=tokenizer,
        ties=ties,
        min_frequency=min_frequency * (source.denominator if isinstance(source, Counts) else 1),
        max_token_length=max_token_length,
        max_words=max_words,
        threads=threads,
        learned=learned,
        report=report,
    )
    warn_of_few(len(learned), missing, min_frequency, "new tokens")
    tokens = list(model.tokens)
    for left, right, _ in learned:
        tokens.append(tokens[left] + tokens[right])
    ids = (*model.ids, *range(tokenizer.vocab_size, tokenizer.vocab_size + len(learned)))
    merges = (*(model.merges or ()), *((ids[left], ids[right]) for left, right, _ in learned))
    extended = replace(model, tokens=tuple(tokens), ids=ids, merges=merges)
    if spec.byte_pair.semantics == "ranks":
        # This proof cannot fail: without its own merge, a new token's bytes stay the pair that was adjacent.
        extended = to_ranks(extended)
    return Tokenizer(spec.replace(model=extended))


def count_pieces(
    tokenizer: Tokenizer,
    source: TrainingSource,
    *,
    reading: Reading,
    errors: str,
    threads: int | None,
    memory: str | int | None,
    report: Report | None,
) -> PieceCounts:
    """Counts the pieces of a source as this tokenizer's model gets them; arguments and errors as `extend`."""
    if isinstance(source, Counts):
        stages = Stages(
            "".join(tokenizer.spec.split[:1]),
            tuple(tokenizer.spec.normalizers),
            tuple(token.content for token in tokenizer.spec.added_tokens),
        )
        check_unread(reading)
        source.stages.check_same(stages)
        if len(tokenizer.spec.split) > 1 or tokenizer.spec.prefix_space:
            raise TrainingError(
                "a counts table has one split pattern and no prefix space, unlike this tokenizer",
                remedy="use the texts themselves",
            )
        return source.core
    counter = PieceCounter.of(tokenizer, memory=None if memory is None else parse_bytes(memory))
    count_source(counter, source, reading, errors=errors, threads=threads, report=report)
    counts = counter.finish(threads=threads)
    if not len(counts):
        raise empty()
    return counts


def proved_merges(model: BytePair) -> BytePair:
    """The same model with an explicit merge list.

    Raises:
        TrainingError: There is no proof that merges give every text the same ids as the ranks.
    """
    try:
        return to_merges(model)
    except FormatError as error:
        raise TrainingError(
            f"the ranks of this vocabulary are not proved to be merges: {error.what}",
            remedy="use a vocabulary that was trained, or one with a merge list",
        ) from error
