"""Parity between groups: its settings, and the choice of each merge for the group that is worst off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bytepair._core import learn_bytes, learn_parity
from bytepair.errors import TrainingError
from bytepair.progress import Phase
from bytepair.training.counts import Counts
from bytepair.training.learning import check_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair.progress import Report
    from bytepair.sources.source import Source
    from bytepair.training.checkpoints import MergeLog
    from bytepair.training.learning import Learned, Ties


@dataclass(frozen=True, slots=True)
class Parity:
    """The objective of parity: each merge is for the group whose text takes the most tokens.

    Source: "Parity-Aware Byte-Pair Encoding" (Foroutan et al., 2025).

    Args:
        development: A text for each group of the training sources, all with the same content, such as translations of
            one another: the group with the most tokens is worst off. None compares tokens per character of the training
            text.
        after: The number of first merges that are learned by frequency, over all groups: the hybrid variant.
        window: The length of the moving window of choices, 0 for none: among `window` choices in a row a group is
            chosen at most ``alpha * window / groups`` times, once at least, unless no other group has a pair left.
        alpha: See `window`; the paper has 2, with windows of 100.

    Example:
        >>> from bytepair import train_with_statistics
        >>> groups = {"en": iter(["the way " * 9]), "de": iter(["der Weg "])}
        >>> trained = train_with_statistics(groups, 260, objective=Parity(), min_frequency=1)
        >>> trained.chosen_for
        ['en', 'de', 'en', 'de']
    """

    development: Mapping[str, Source] | Counts | None = None
    after: int = 0
    window: int = 0
    alpha: float = 2.0

    def __post_init__(self) -> None:
        """Checks the numbers.

        Raises:
            TrainingError: A number is negative, or `alpha` is not above 0.
        """
        if self.after < 0 or self.window < 0 or self.alpha <= 0:
            raise TrainingError(
                f"parity with after={self.after}, window={self.window} and alpha={self.alpha} is none",
                remedy="use 0 or more for after and window, and an alpha above 0",
            )


def check_parity(ties: str, **excluded: object) -> None:
    """Raises TrainingError for options that do not go with parity; `excluded` has their values."""
    for name, value in excluded.items():
        if value:
            raise TrainingError(f"{name} does not go with parity", remedy=f"leave {name} out")
    if ties == "first_seen":
        raise TrainingError(
            "with parity, ties cannot go by first occurrence",
            remedy='use another policy, such as ties="lowest_ids"',
            cli_remedy="use another policy, such as --ties lowest_ids",
        )


def development_counts(counts: Counts, parity: Parity, **options: Any) -> tuple[Counts, list[int]]:
    """The pieces that show which group is worst off, and the units of each group.

    Args:
        counts: The training pieces.
        parity: The objective.
        options: Those of `Counts.of`.

    Raises:
        TrainingError: There are no two groups, or the development texts are of other ones.
        EncodeError, ArtifactError, PatternError: As `Counts.of`.
    """
    if len(counts.groups) < 2:
        raise TrainingError(
            "parity needs two groups of sources or more",
            remedy='name them: bp.train({"en": "en/*.txt", "de": "de/*.txt"}, ...)',
            cli_remedy="name them: --group en=en/*.txt --group de=de/*.txt",
        )
    texts = parity.development
    if texts is None:
        return counts, _characters(counts)
    if isinstance(texts, Mapping):
        if set(texts) != set(counts.groups):
            raise TrainingError(
                f"the development texts are of {', '.join(sorted(texts))}, "
                f"and the training text of {', '.join(sorted(counts.groups))}",
                remedy="name one for each group",
            )
        texts = Counts.of({name: texts[name] for name in counts.groups}, **options)
    if texts.groups != counts.groups:
        raise TrainingError(
            f"the development counts have the groups {', '.join(texts.groups)}, not {', '.join(counts.groups)}",
            remedy="count them with the groups of the training text, in its order",
        )
    counts.stages.check_same(texts.stages)
    return texts, [1] * len(counts.groups)


def _characters(counts: Counts) -> list[int]:
    found = dict.fromkeys(counts.groups, 0)
    for row in counts:
        found[row.group] += row.count * sum(byte & 0xC0 != 0x80 for byte in row.piece)
    # A group without text is never worst off.
    return [max(size, 1) for size in found.values()]


def learn_with_parity(
    counts: Counts,
    development: tuple[Counts, list[int]],
    merges: int,
    parity: Parity,
    *,
    alphabet: bytes,
    ties: Ties,
    min_frequency: int,
    max_token_length: int | None,
    max_words: int | None,
    memory: int | None,
    learned: list[Learned],
    logs: Sequence[MergeLog],
    report: Report | None,
) -> tuple[int, list[str | None]]:
    """Learns merges as `bytepair.training.learning.learn_merges` does, and returns the group of each as well."""
    if memory is not None:
        # Every pair is kept, with a count in each group.
        needed = (len(counts.groups) + 1) * learn_bytes(counts.core, merges=merges, threads=1)
        check_memory(counts.core, needed, memory)
    share = max(int(parity.alpha * parity.window / len(counts.groups)), 1)
    with Phase(report, "merge", merges) as phase:

        def tell(done: int) -> None:
            for log in logs:
                log.take(learned)
            phase.tell(done)

        chosen, total, _ = learn_parity(
            counts.core,
            development=development[0].core,
            sizes=development[1],
            alphabet=alphabet,
            merges=merges,
            ties=ties,
            min_frequency=min_frequency,
            max_token_length=max_token_length,
            max_words=max_words,
            after=parity.after,
            window=(parity.window, share),
            learned=learned,
            tell=tell,
        )
    names = [*counts.groups, None]
    return total, [names[number] for number in chosen]
