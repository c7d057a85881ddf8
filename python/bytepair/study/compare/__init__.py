"""`compare`: two tokenizers side by side, stage by stage and text by text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bytepair.model.meanings import stands_for
from bytepair.resolver import TokenizerLike, load
from bytepair.sources.source import Reading
from bytepair.study.compare import documents, texts
from bytepair.study.compare.places import Locator
from bytepair.study.compare.result import (
    Comparison,
    Divergence,
    Passage,
    SharedAddedTokens,
    SharedMerges,
    SharedVocabulary,
    Side,
    SourceComparison,
    StageComparison,
    TokenTotals,
)
from bytepair.study.compare.stages import added_tokens, stages
from bytepair.study.compare.vocabularies import keys, merges, vocabulary

if TYPE_CHECKING:
    from bytepair.call.options import Added, Special
    from bytepair.sources.source import Source as TextSource

__all__ = [
    "Comparison",
    "Divergence",
    "Passage",
    "SharedAddedTokens",
    "SharedMerges",
    "SharedVocabulary",
    "Side",
    "SourceComparison",
    "StageComparison",
    "TokenTotals",
    "compare",
]


def compare(
    a: TokenizerLike,
    b: TokenizerLike,
    sources: TextSource | None = None,
    *,
    names: tuple[str, str] = ("A", "B"),
    special: Special = "text",
    added: Added = "match",
    errors: Literal["strict", "replace"] = "strict",
    field: str | None = None,
    delimiter: str | None = None,
    examples: int = 10,
    threads: int | None = None,
) -> Comparison:
    """Compare two tokenizers: their stages, their vocabularies, and their tokens of texts.

    Unrelated vocabularies have different ids for the same tokens, so boundaries and bytes are compared first and ids
    last. A boundary is between two characters: tokens that are parts of one character end after it. Saved tokens are
    those that `b` needs fewer than `a`. They are counted by passages, the texts between two boundaries that both
    tokenizers share, so the tokens saved and lost in all passages add up to the totals.

    Args:
        a: The first tokenizer, or any name that `bytepair.load` takes.
        b: The second, likewise.
        sources: See `bytepair.sources.source`; groups are compared apart, by their names. None compares the tokenizers
            alone.
        names: The names of the two.
        special: As for `Tokenizer.encode`; by default special tokens in the texts are text, as in a corpus.
        added: As for `Tokenizer.encode`.
        errors: ``strict`` raises at bytes that are not UTF-8; ``replace`` replaces them with U+FFFD.
        field: See `bytepair.sources.source.Reading`.
        delimiter: See `bytepair.sources.source.Reading`.
        examples: The most passages to return of those that save most, and of those that lose most.
        threads: The most threads that encode; None for all cores.

    Returns:
        The comparison; ``as_dict()`` is for JSON, `bytepair.view.compared` draws text and a page.

    Raises:
        SourceError: No file matches, or an option has no effect on the files.
        ArtifactError: A file cannot be read.
        EncodeError: A text is not UTF-8, or one of the two cannot encode it; ``file`` and ``row`` locate it.
        SpecialTokenError: A text holds a token that the call does not allow.

    Complexity:
        A few times the time of encoding the texts with both; more where a stage changes the text, so that tokens must
        be located. Memory for the longest document, 40 to 80 bytes for each of its tokens, 8 MB of others, and up to
        half a million passages of each source. Set a `delimiter` for a large plain text.

    Example:
        >>> import bytepair as bp
        >>> small = bp.train({"low": 5}, vocab_size=258, split="gpt2")
        >>> large = bp.train({"low": 5, "lower": 2}, vocab_size=259, split="gpt2")
        >>> found = bp.compare(small, large, {"en": iter(["low", "a lower one"])})
        >>> [stage.name for stage in found.stages if not stage.same], found.total.tokens_a, found.total.saved
        (['model'], 10, 1)
        >>> found.sources[0].firsts[0].text, found.sources[0].savings
        ('er', (Passage(text='er', times=1, tokens_a=2, tokens_b=1),))
    """
    if examples < 0:
        raise ValueError(f"examples={examples} is negative; use 0 or more")
    a, b = load(a), load(b)
    meant_a, meant_b = stands_for(a.spec), stands_for(b.spec)
    here = stages(a.spec, b.spec)
    numbers = keys(a, b, meant_a, meant_b)
    found = []
    if sources is not None:
        options = {"special": special, "added": added}
        same_before = all(stage.same for stage in here if stage.name in {"added tokens", "normalizer", "split"})
        same_model = all(stage.same for stage in here if stage.name == "model")
        first, second = (Locator(one, meant, options, threads) for one, meant in ((a, meant_a), (b, meant_b)))
        for name, batches in documents.batches(sources, Reading(field=field, delimiter=delimiter), errors):
            tally = texts.SourceTally(name, first, second, numbers, same_before=same_before, same_model=same_model)
            for batch in batches:
                tally.add(batch)
            found.append(tally)
    one, other = (
        Side(name, one.fingerprint, one.spec.semantics, len(one), one.vocab_size)
        for name, one in zip(names, (a, b), strict=True)
    )
    return Comparison(
        a=one,
        b=other,
        stages=here,
        added=added_tokens(a.spec, b.spec),
        vocabulary=vocabulary(meant_a, meant_b, texts.shares(found, numbers)),
        merges=merges(a.spec, b.spec, meant_a, meant_b),
        sources=tuple(tally.result(examples) for tally in found),
    )
