"""Tokenizers and corpora -> the cost of the corpora in tokens: `report`.

Each corpus is read once. Its documents are encoded by each tokenizer in batches of bounded size. Only the counts of the
ids are kept; all results follow from these.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from bytepair.errors import CorpusError
from bytepair.progress import Phase, reporter
from bytepair.resolver import TokenizerLike, load
from bytepair.sources import inputs, readers
from bytepair.sources.source import Reading
from bytepair.study.report import words
from bytepair.study.report.costs import ReportOptions, cost, sum_of, use
from bytepair.study.report.counting import UseCounter, VocabularyArrays
from bytepair.study.report.reading import DecodedPart, read
from bytepair.study.report.results import CorpusReport, CorpusSize, Cost, TokenUse, VocabularyUse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bytepair.call.options import Added, Special
    from bytepair.progress import Report
    from bytepair.sources.inputs import AnyInput
    from bytepair.sources.source import Source
    from bytepair.study.report.reading import DecodedBatch

__all__ = ["CorpusReport", "CorpusSize", "Cost", "TokenUse", "VocabularyUse", "report"]


def report(
    tokenizers: Mapping[str, TokenizerLike],
    corpora: Mapping[str, Source],
    *,
    context: int = 128_000,
    rare: int = 10,
    parallel: bool = False,
    field: str | None = None,
    delimiter: str | None = None,
    special: Special = "text",
    added: Added = "match",
    errors: str = "strict",
    examples: int = 20,
    threads: int | None = None,
    progress: bool | str | Report = False,
) -> CorpusReport:
    """Report the cost of corpora with tokenizers: tokens per byte, character and word, parity, use of the vocabulary.

    Args:
        tokenizers: The tokenizers by label, each a tokenizer or a name that `bytepair.load` takes.
        corpora: The corpora, by their names, such as languages. Each is a source (see `bytepair.sources.source`), whose
            groups are one corpus here. The others are compared with the first one.
        context: The size of a context window, in tokens.
        rare: Tokens that occur fewer times than this are rarely used.
        parallel: Whether the corpora have the same content, document by document. Then parity is reported. They must
            have equal numbers of documents.
        field: See `bytepair.sources.source.Reading`.
        delimiter: See `bytepair.sources.source.Reading`; of `parallel` corpora None is a line end.
        special: As for `Tokenizer.encode`, but special tokens in the texts are text by default.
        added: As for `Tokenizer.encode`.
        errors: ``strict`` raises at bytes that are not UTF-8 and at lone surrogates; ``replace`` counts U+FFFD in their
            place.
        examples: The number of example tokens of each kind: most, rarely and never used.
        threads: The number of threads; None for all cores.
        progress: True for a bar on stderr if that is a terminal, ``"json"`` for JSON lines, or a call with each
            `Progress`.

    Raises:
        CorpusError: There are no tokenizers or no corpora, or parallel ones differ in their number of documents.
        SourceError: A source names no file, or one that cannot be read.
        EncodeError: A text is not UTF-8, or cannot be encoded.
        SpecialTokenError: A text holds a token that `special` or `added` does not allow.
        ValueError: A number is below 1, or an option does not have one of its values.

    Complexity:
        Linear in the corpora. Memory: a few hundred MB for batches of 16 MB, and 8 bytes per id of each tokenizer.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=259)
        >>> found = bp.report({"mine": tok}, {"en": iter(["low lower"]), "de": iter(["Löwe"])}, context=1000)
        >>> en, de = found.costs
        >>> en.tokens, en.bytes_per_token, en.tokens_per_word, de.premium_per_byte, de.context_characters
        (4, 2.25, 2.0, 2.25, 800)
    """
    _check(
        tokenizers,
        corpora,
        {"context": context, "rare": rare, "examples": examples, "threads": threads},
        {"errors": (errors, ("strict", "replace")), "added": (added, ("match", "text", "raise"))},
    )
    tell = reporter(progress)
    found = _found(corpora, Reading(field=field, delimiter=delimiter))
    reading = Reading(field=field, delimiter="\n" if parallel and delimiter is None else delimiter)
    vocabularies = [VocabularyArrays(name, load(tokenizer)) for name, tokenizer in tokenizers.items()]
    options: dict[str, Any] = {"special": special, "added": added}
    sizes: list[CorpusSize] = []
    uses: list[list[NDArray[np.int64]]] = []
    with (
        Phase(tell, "count", inputs.total_size([one for corpus in found.values() for one in corpus])) as phase,
        ThreadPoolExecutor(threads or os.cpu_count() or 1, "bytepair-report") as pool,
    ):
        for name, corpus in found.items():
            counters = [UseCounter(vocabulary, options, threads) for vocabulary in vocabularies]
            sizes.append(_Corpus(name, counters, pool).read(corpus, reading, errors, phase))
            uses.append([counter.ids for counter in counters])
    if parallel:
        _check_parallel(sizes)
    settings = ReportOptions(context=context, rare=rare, parallel=parallel, examples=examples)
    costs = [
        cost(vocabulary, size, mine[number], (sizes[0], uses[0][number]), settings)
        for number, vocabulary in enumerate(vocabularies)
        for size, mine in zip(sizes, uses, strict=True)
    ]
    used = [
        use(vocabulary, sum_of(one[number] for one in uses), settings) for number, vocabulary in enumerate(vocabularies)
    ]
    return CorpusReport(tuple(sizes), tuple(used), tuple(costs), context, rare, parallel)


def _found(corpora: Mapping[str, Source], reading: Reading) -> dict[str, tuple[AnyInput, ...]]:
    """The inputs of each corpus; options are checked against those of all."""
    found = {name: inputs.find(source, f"a report on {name!r}") for name, source in corpora.items()}
    readers.check([one for corpus in found.values() for one in corpus], reading)
    return found


class _Corpus:
    """A corpus that is being counted."""

    def __init__(self, name: str, counters: list[UseCounter], pool: ThreadPoolExecutor) -> None:
        self._name, self._counters, self._pool = name, counters, pool
        self._documents = self._characters = self._bytes = 0
        self._words = words.Words(0, 0)
        self._running = words.Running(lambda texts: pool.map(words.count, texts))

    def read(self, corpus: tuple[AnyInput, ...], reading: Reading, errors: str, phase: Phase) -> CorpusSize:
        """Count all inputs of the corpus."""
        for one in corpus:
            for found in read(one, reading, errors):
                if isinstance(found, DecodedPart):
                    self._part(found)
                else:
                    self._batch(found)
                phase.tell(found.passed)
            phase.next_part()
        return CorpusSize(self._name, self._documents, self._characters, self._bytes, *self._words)

    def _part(self, part: DecodedPart) -> None:
        # A stream uses one thread: tokenizers share the threads.
        for _ in self._pool.map(UseCounter.push, self._counters, [part] * len(self._counters)):
            pass
        self._running.push(part.text)
        if part.ended:
            self._words += self._running.finish()
            self._documents += 1
        self._size(part.text, 0)

    def _batch(self, batch: DecodedBatch) -> None:
        # No word crosses a line end. Words are counted while the tokenizers encode.
        whole = "\n".join(batch.texts)
        counted = [self._pool.submit(words.count, one) for one in words.slices(whole)]
        for counter in self._counters:
            counter.add(batch)
        for future in counted:
            self._words += future.result()
        self._documents += len(batch.texts)
        self._size(whole, max(len(batch.texts) - 1, 0))

    def _size(self, text: str, gaps: int) -> None:
        self._characters += len(text) - gaps
        self._bytes += (len(text) if text.isascii() else len(text.encode())) - gaps


def _check(
    tokenizers: Mapping[str, TokenizerLike],
    corpora: Mapping[str, Source],
    numbers: Mapping[str, int | None],
    choices: Mapping[str, tuple[str, tuple[str, ...]]],
) -> None:
    mappings: tuple[tuple[str, Any, str], ...] = (
        ("tokenizers", tokenizers, '{"mine": tokenizer}'),
        ("corpora", corpora, '{"en": "en/*.txt"}'),
    )
    for what, given, example in mappings:
        if not isinstance(given, Mapping):
            raise TypeError(f"{what} must be a mapping by name, such as {example}, not {type(given).__name__}")
        if not given:
            raise CorpusError(f"there are no {what} to report on", remedy=f"name one or more: {what}={example}")
        for name in given:
            if not isinstance(name, str) or not name:
                raise TypeError(f"{name!r} cannot name one of the {what}: names are non-empty str")
    for name, number in numbers.items():
        if number is not None and number < (name != "examples"):
            raise ValueError(f"{name}={number} is too low; use {int(name != 'examples')} or more")
    for name, (value, known) in choices.items():
        if value not in known:
            raise ValueError(f"{name}={value!r} is unknown; use one of {', '.join(map(repr, known))}")


def _check_parallel(sizes: list[CorpusSize]) -> None:
    first = sizes[0]
    for size in sizes:
        if size.documents != first.documents:
            raise CorpusError(
                f"{first.name!r} has {first.documents:,} documents and {size.name!r} has {size.documents:,}: they are "
                "not the same content, one by one",
                remedy="align them, or leave parallel out",
                cli_remedy="align them, or leave --parallel out",
            )
