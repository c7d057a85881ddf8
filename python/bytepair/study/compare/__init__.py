"""`compare`: two tokenizers beside each other, stage by stage and text by text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bytepair.sources.inputs import Reading
from bytepair.study.compare import documents, texts
from bytepair.study.compare.places import Locator
from bytepair.study.compare.result import (
    AddedTokens,
    Compared,
    Comparison,
    Divergence,
    Merges,
    Passage,
    Side,
    Source,
    Stage,
    Vocabulary,
)
from bytepair.study.compare.stages import added_tokens, stages
from bytepair.study.compare.vocabularies import keys, merges, stands_for, vocabulary

if TYPE_CHECKING:
    from bytepair.call.options import Added, Special
    from bytepair.study.compare.documents import Sources
    from bytepair.tokenizer import Tokenizer

__all__ = [
    "AddedTokens",
    "Compared",
    "Comparison",
    "Divergence",
    "Merges",
    "Passage",
    "Side",
    "Source",
    "Stage",
    "Vocabulary",
    "compare",
]


def compare(
    a: Tokenizer,
    b: Tokenizer,
    sources: Sources | None = None,
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
    """Compares two tokenizers: their stages, their vocabularies, and what they make of texts.

    Ids of unrelated vocabularies are different numbers for the same tokens, so places and bytes are compared first and
    ids last. A place is between two characters: tokens that are parts of one character end behind it. What is saved is
    what `b` needs less than `a`; it is counted by passages, which are the texts between two places where tokens of both
    end, so that the tokens saved and lost in all passages are those of the whole.

    Args:
        a: The first tokenizer.
        b: The second.
        sources: A path, glob or URL, or a list of these, of all kinds of files that `bytepair.shard` reads; an iterable
            of texts; or a mapping of names to these. None compares the tokenizers alone.
        names: What the two are called.
        special: As for `Tokenizer.encode`; by default special tokens in the texts are text, as they are in a corpus.
        added: As for `Tokenizer.encode`.
        errors: What becomes of bytes that are not UTF-8: ``strict`` raises, ``replace`` puts U+FFFD there.
        field: The field or column that holds the text, for files of rows.
        delimiter: What stands between two documents of a plain text; None: a file is one document.
        examples: How many passages are given at most of those that save most, and of those that lose most.
        threads: Up to how many threads encode; None for all cores.

    Returns:
        The comparison; ``as_dict()`` makes it JSON, `bytepair.view.compared` text and a page.

    Raises:
        SourceError: No file matches, or an option has no effect on the files.
        ArtifactError: A file cannot be read.
        EncodeError: A text is not UTF-8, or one of the two has no token for it; ``file`` and ``row`` say which it is.
        SpecialTokenError: A text holds a token that the call does not allow.

    Complexity:
        A few times the time of encoding the texts with both; more where a stage changes the text, so that tokens have
        to be located. Memory for the longest document, forty to eighty bytes for each of its tokens, eight megabytes
        of others, and up to half a million passages of each source. So give a large plain text a `delimiter`.

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
        raise ValueError(f"examples={examples} is no number of passages; use 0 or more")
    meant_a, meant_b = stands_for(a.spec), stands_for(b.spec)
    here = stages(a.spec, b.spec)
    numbers = keys(a, b, meant_a, meant_b)
    found = []
    if sources is not None:
        options = {"special": special, "added": added}
        same_before = all(stage.same for stage in here if stage.name in {"added tokens", "normalizers", "split"})
        same_model = all(stage.same for stage in here if stage.name == "model")
        first, second = (Locator(one, meant, options, threads) for one, meant in ((a, meant_a), (b, meant_b)))
        for name, batches in documents.batches(sources, Reading(field=field, delimiter=delimiter), errors):
            tally = texts.Tally(name, first, second, numbers, same_before=same_before, same_model=same_model)
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
