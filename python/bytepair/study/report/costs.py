"""Counts of ids -> `Cost` and `VocabularyUse`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bytepair.study.report.measures import entropy, histogram, ranks, ratio, renyi_efficiency
from bytepair.study.report.results import Cost, TokenUse, VocabularyUse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bytepair.study.report.counting import VocabularyArrays
    from bytepair.study.report.results import CorpusSize


class ReportOptions(NamedTuple):
    """The options of `bytepair.report` that costs depend on."""

    context: int
    rare: int
    parallel: bool
    examples: int


def cost(
    vocabulary: VocabularyArrays,
    size: CorpusSize,
    uses: NDArray[np.int64],
    first: tuple[CorpusSize, NDArray[np.int64]],
    settings: ReportOptions,
) -> Cost:
    """The cost of a corpus with a tokenizer, compared with `first`: the size and the uses of the first corpus."""
    tokens, first_tokens = int(uses.sum()), int(first[1].sum())
    bits = entropy(uses)
    used, never, rare = _shares(vocabulary, uses, settings.rare)
    return Cost(
        tokenizer=vocabulary.name,
        corpus=size.name,
        tokens=tokens,
        bytes_per_token=ratio(size.bytes, tokens),
        tokens_per_byte=ratio(tokens, size.bytes),
        tokens_per_character=ratio(tokens, size.characters),
        tokens_per_word=ratio(tokens, size.words),
        premium_per_byte=ratio(tokens * first[0].bytes, size.bytes * first_tokens),
        premium_per_character=ratio(tokens * first[0].characters, size.characters * first_tokens),
        parity=ratio(tokens, first_tokens) if settings.parallel else None,
        context_characters=settings.context * size.characters // tokens if tokens else None,
        context_words=settings.context * size.words // tokens if tokens else None,
        used=used,
        never_used=never,
        rarely_used=rare,
        unknown=0 if vocabulary.unknown is None else int(uses[vocabulary.unknown]),
        byte_tokens=int(uses[vocabulary.partial].sum()),
        entropy=bits,
        bits_per_byte=None if bits is None else ratio(bits * tokens, size.bytes),
        renyi_efficiency=renyi_efficiency(uses, len(vocabulary.tokens)),
        ranks=ranks(uses),
        lengths=histogram(vocabulary.lengths, uses),
        most_used=_examples(vocabulary, uses, _most(uses), settings.examples),
    )


def use(vocabulary: VocabularyArrays, uses: NDArray[np.int64], settings: ReportOptions) -> VocabularyUse:
    """The use of a vocabulary; `uses` is how often each id occurs in all corpora."""
    used, never, rare = _shares(vocabulary, uses, settings.rare)
    counts = vocabulary.counts
    # Unused single bytes are not worth an example.
    unused = np.flatnonzero(counts & (uses == 0) & (vocabulary.lengths > 1))
    rarely = np.flatnonzero(counts & (uses > 0) & (uses < settings.rare))
    # The order of ids among those of equal use.
    rarely = rarely[np.argsort(uses[rarely], kind="stable")]
    return VocabularyUse(
        tokenizer=vocabulary.name,
        fingerprint=vocabulary.tokenizer.fingerprint,
        kind=vocabulary.tokenizer.spec.semantics,
        vocab_size=vocabulary.size,
        tokens=int(counts.sum()),
        used=used,
        never_used=never,
        rarely_used=rare,
        lengths=histogram(vocabulary.lengths, counts.astype(np.int64)),
        most_used=_examples(vocabulary, uses, _most(uses), settings.examples),
        never_used_examples=_examples(vocabulary, uses, unused, settings.examples),
        rarely_used_examples=_examples(vocabulary, uses, rarely, settings.examples),
    )


def sum_of(uses: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The uses of each id in all corpora."""
    return np.add.reduce(list(uses))  # type: ignore[no-any-return]  # numpy's stub returns Any


def _shares(vocabulary: VocabularyArrays, uses: NDArray[np.int64], rare: int) -> tuple[int, int, int]:
    """The numbers of tokens that occur, do not occur, and occur rarely."""
    mine = uses[vocabulary.counts]
    used = int(np.count_nonzero(mine))
    return used, len(mine) - used, int(np.count_nonzero((mine > 0) & (mine < rare)))


def _most(uses: NDArray[np.int64]) -> NDArray[np.int64]:
    falling = np.argsort(-uses, kind="stable")
    return falling[uses[falling] > 0]


def _examples(
    vocabulary: VocabularyArrays, uses: NDArray[np.int64], ids: NDArray[np.int64], most: int
) -> tuple[TokenUse, ...]:
    return tuple(TokenUse(id, vocabulary.tokens[id], int(uses[id])) for id in ids[:most].tolist())
