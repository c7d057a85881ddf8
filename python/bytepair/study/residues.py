"""A tokenizer and text -> the tokens that encoding hardly ever emits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bytepair.drawing.characters import show_line
from bytepair.errors import FormatError
from bytepair.model.models import BytePair
from bytepair.model.semantics import to_merges
from bytepair.progress import Phase, reporter
from bytepair.resolver import TokenizerLike, load
from bytepair.sources import inputs, readers
from bytepair.sources.source import Reading
from bytepair.study.report.counting import UseCounter, VocabularyArrays
from bytepair.study.report.reading import DecodedPart, read

if TYPE_CHECKING:
    from bytepair.progress import Report
    from bytepair.sources.source import Source
    from bytepair.tokenizer import Tokenizer


class Residue(NamedTuple):
    """A token that a text hardly uses.

    Attributes:
        id: Its id.
        token: Its bytes, or the bytes of its spelling in a model of characters.
        uses: How often the text has it.
        needed_by: The number of merges that it is a part of: the reason why training made it. None for a model
            without merges, and for ranks that are not proved to be merges.
    """

    id: int
    token: bytes
    uses: int
    needed_by: int | None


@dataclass(frozen=True, slots=True)
class Residues:
    """The tokens that a text hardly uses, and their costs.

    Attributes:
        tokens: The tokens, by uses and id.
        vocabulary: The number of all tokens: the rows of an embedding.
        text_tokens: The number of tokens of the text.
    """

    tokens: tuple[Residue, ...]
    vocabulary: int
    text_tokens: int

    @property
    def ids(self) -> list[int]:
        """Their ids, as `bytepair.prune` takes them."""
        return [token.id for token in self.tokens]

    @property
    def uses(self) -> int:
        """How many tokens of the text they are: at least as many are added if each is written as two or more others."""
        return sum(token.uses for token in self.tokens)

    def __str__(self) -> str:
        """The costs in a line, then the first twenty tokens."""
        share = len(self.tokens) / max(self.vocabulary, 1)
        head = (
            f"{len(self.tokens):,} of {self.vocabulary:,} tokens ({share:.1%}), "
            f"{self.uses:,} of {self.text_tokens:,} tokens of the text"
        )
        rows = [
            f"{row.id:>8}  {row.uses:>6}  {'-' if row.needed_by is None else row.needed_by:>6}  {_shown(row.token)}"
            for row in self.tokens[:20]
        ]
        return "\n".join([head, f"{'id':>8}  {'uses':>6}  {'merges':>6}  token", *rows])


def residues(
    tokenizer: TokenizerLike,
    source: Source,
    *,
    most_uses: int = 0,
    field: str | None = None,
    delimiter: str | None = None,
    errors: str = "strict",
    threads: int | None = None,
    progress: bool | str | Report = False,
) -> Residues:
    """Finds the tokens that encoding emits at most `most_uses` times in a text.

    Most of them are intermediate merges: training made ``" th"`` on the way to ``" the"``, and hardly any text is left
    with it (LiteToken calls them merge residues). Each takes a row of the embedding and of the output layer, and a row
    that was hardly trained can be a glitch token. Added tokens, single bytes and the unknown token are left out.

    Args:
        tokenizer: A tokenizer with any model, or a name that `bytepair.load` takes.
        source: The text: see `bytepair.sources.source`. What it does not hold counts as unused, so it should be as
            broad as the training of the model.
        most_uses: The highest number of uses.
        field: See `bytepair.sources.source.Reading`.
        delimiter: See `bytepair.sources.source.Reading`.
        errors: As for `report`.
        threads: The number of threads; None for all cores.
        progress: As for `report`.

    Raises:
        SourceError, EncodeError: As `report`.
        ValueError: `most_uses` is negative.

    Complexity: encoding the text, and a step for each token.

    Example:
        >>> import bytepair as bp
        >>> tok = bp.train({"low": 5, "lower": 2}, vocab_size=260)
        >>> found = residues(tok, iter(["low lower"]))
        >>> [(row.token, row.uses, row.needed_by) for row in found.tokens]
        [(b'lo', 0, 1), (b'er', 0, 1)]
        >>> smaller, ids = bp.prune(tok, remove=found.ids)
        >>> smaller == tok, ids[256:].tolist()
        (True, [256, 257, 258, 259])
    """
    if most_uses < 0:
        raise ValueError(f"most_uses={most_uses} is negative; use 0 or more")
    tokenizer = load(tokenizer)
    vocabulary = VocabularyArrays("", tokenizer)
    counter = UseCounter(vocabulary, {"special": "text", "added": "match"}, threads)
    reading = Reading(field=field, delimiter=delimiter)
    found_inputs = inputs.find(source, "a search for residues")
    readers.check(found_inputs, reading)
    with Phase(reporter(progress), "count", inputs.total_size(found_inputs)) as phase:
        for one in found_inputs:
            for part in read(one, reading, errors):
                (counter.push if isinstance(part, DecodedPart) else counter.add)(part)  # type: ignore[arg-type]
                phase.tell(part.passed)
            phase.next_part()
    uses = counter.ids
    needed = _merges_by_part(tokenizer)
    able = vocabulary.counts & (vocabulary.lengths > 1)
    able[[token.id for token in tokenizer.spec.added_tokens]] = False
    found = np.flatnonzero(able & (uses <= most_uses))
    found = found[np.argsort(uses[found], kind="stable")]
    rows = tuple(
        Residue(id, vocabulary.tokens[id], int(uses[id]), None if needed is None else needed[id])
        for id in found.tolist()
    )
    return Residues(rows, len(tokenizer), int(uses.sum()))


def _merges_by_part(tokenizer: Tokenizer) -> Counter[int] | None:
    model = tokenizer.spec.model
    if not isinstance(model, BytePair):
        return None
    try:
        merges = to_merges(model).merges or ()
    except FormatError:
        return None
    return Counter(part for pair in merges for part in pair)


def _shown(token: bytes) -> str:
    return show_line(token.decode("utf-8", "backslashreplace"))
