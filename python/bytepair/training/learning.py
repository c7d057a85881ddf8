"""Counts of pieces -> merges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from bytepair._core import PieceCounts, learn, learn_bytes
from bytepair.errors import TrainingError
from bytepair.progress import Phase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytepair.progress import Report
    from bytepair.tokenizer import Tokenizer
    from bytepair.training.checkpoints import MergeLog

Ties: TypeAlias = Literal["lowest_ids", "greatest_bytes", "smallest_bytes", "first_seen"]
Learned: TypeAlias = "tuple[int, int, int]"

TIES = ("lowest_ids", "greatest_bytes", "smallest_bytes", "first_seen")


class Merge(NamedTuple):
    """One merge, and the number of adjacent pairs when it was chosen."""

    left: bytes
    right: bytes
    count: int  # type: ignore[assignment]  # it hides tuple.count, of no use for a merge


def with_bytes(symbols: Sequence[bytes], learned: Sequence[Learned]) -> list[Merge]:
    """The merges as bytes; `symbols` are the bytes of the first symbols."""
    tokens = list(symbols)
    merges = []
    for left, right, count in learned:
        merges.append(Merge(tokens[left], tokens[right], count))
        tokens.append(tokens[left] + tokens[right])
    return merges


def learn_merges(
    counts: PieceCounts,
    merges: int,
    *,
    alphabet: bytes | Tokenizer | None,
    ties: Ties,
    min_frequency: int,
    max_token_length: int | None,
    learned: list[Learned],
    max_words: int | None = None,
    logs: Sequence[MergeLog] = (),
    threads: int | None = None,
    memory: int | None = None,
    end_of_word_suffix: str | None = None,
    replay: Sequence[Learned] = (),
    report: Report | None = None,
    symbols: list[bytes] | None = None,
) -> int:
    """Learns merges and appends them to `learned` as they are made, those of `replay` first: (left, right, count).

    Symbols are numbered in the order of the alphabet, then of the merges. `symbols` gets the bytes of the alphabet,
    each of `logs` the merges. However learning ends, a log holds the first merges of `learned`; it holds all of them
    unless a second error prevents it.

    Returns:
        The number of tokens of all pieces.

    Raises:
        TrainingError: As `train`.
    """
    check_choice("ties", ties, TIES)
    check_not_negative(merges=merges, min_frequency=min_frequency, max_token_length=max_token_length)
    check_not_negative(max_words=max_words)
    if memory is not None:
        check_memory(counts, learn_bytes(counts, merges=merges, threads=threads), memory)
    with Phase(report, "merge", merges) as phase:

        def tell(done: int) -> None:
            for log in logs:
                log.take(learned)
            phase.tell(done)

        alphabet_symbols, total = learn(
            counts,
            alphabet=alphabet,
            end_of_word_suffix=end_of_word_suffix,
            merges=merges,
            ties=ties,
            min_frequency=min_frequency,
            max_token_length=max_token_length,
            max_words=max_words,
            threads=threads,
            replay=list(replay),
            learned=learned,
            tell=tell,
        )
    if symbols is not None:
        symbols.extend(alphabet_symbols)
    return total


def check_memory(counts: PieceCounts, needed: int, memory: int) -> None:
    """Raises TrainingError if merging needs more memory than is allowed, in bytes."""
    if needed > memory:
        raise TrainingError(
            f"merging {len(counts):,} distinct pieces needs up to {needed / 1e9:.2f} GB, and the memory limit is "
            f"{memory / 1e9:.2f} GB",
            remedy="allow more memory, or leave out rare pieces: min_count=2",
            cli_remedy="allow more --memory, or leave out rare pieces: --min-count 2",
        )


def check_choice(name: str, value: str, known: tuple[str, ...]) -> None:
    """Raises ValueError if an option has an unknown value."""
    if value not in known:
        raise ValueError(f"{name}={value!r} is unknown; use one of {', '.join(known)}")


def check_not_negative(**sizes: int | None) -> None:
    """Raises TrainingError if a number is negative."""
    for name, value in sizes.items():
        if value is not None and value < 0:
            raise TrainingError(f"{name}={value} is negative", remedy="use 0 or more")
