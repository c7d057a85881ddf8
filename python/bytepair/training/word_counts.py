"""A source as a user gives it -> the counts that models of characters are trained from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Literal

from bytepair.errors import TrainingError
from bytepair.sources.source import Reading
from bytepair.training.byte_pairs import prepared
from bytepair.training.counting import check_unread
from bytepair.training.counts import Counts

if TYPE_CHECKING:
    from bytepair.progress import Report
    from bytepair.training.byte_pairs import TrainingSource
    from bytepair.training.weights import Weight


def count_words(
    source: TrainingSource,
    *,
    split: str,
    special_tokens: Sequence[str],
    normalizers: Sequence[str] = (),
    weights: Mapping[str, Weight] | None = None,
    min_count: int = 1,
    field: str | None = None,
    delimiter: str | None = None,
    errors: Literal["strict", "replace"] = "strict",
    threads: int | None = None,
    memory: str | int | None = None,
    progress: bool | str | Report = False,
) -> Counts:
    """The counts of a source, weighted and without rare pieces; a source that is counts already has to agree.

    Raises:
        TrainingError: Counts were made with other normalizers; an option has no effect on them; there is no text.
        EncodeError, ArtifactError, PatternError: As `Counts.of`.
    """
    if isinstance(source, Counts):
        counts = source
        if tuple(normalizers) != counts.stages.normalizers:
            made = list(counts.stages.normalizers)
            raise TrainingError(
                f"the counts were made with normalizers={made}, not {list(normalizers)}",
                remedy=f"count again with normalizers={list(normalizers)}",
            )
        check_unread(Reading(field=field, delimiter=delimiter))
    else:
        counts = Counts.of(
            source,
            split=split,
            normalizers=normalizers,
            special_tokens=special_tokens,
            field=field,
            delimiter=delimiter,
            errors=errors,
            threads=threads,
            memory=memory,
            digest=False,
            progress=progress,
        )
    return prepared(counts, weights, min_count)


def special_list(given: Iterable[str], unk_token: str | None = None) -> list[str]:
    """Special tokens in order.

    Raises:
        TypeError: They have no order.
        TrainingError: One is given twice or empty, or `unk_token` is none of them.
    """
    if isinstance(given, (str, bytes, Mapping, Set)):
        raise TypeError("special_tokens is a list of str, whose order is that of their ids")
    tokens = list(given)
    if duplicates := [token for token, times in Counter(tokens).items() if times > 1]:
        raise TrainingError(f"the special token {duplicates[0]!r} is given twice", remedy="name each once")
    if "" in tokens:
        raise TrainingError("a special token is empty", remedy="leave it out")
    if unk_token is not None and unk_token not in tokens:
        raise TrainingError(
            f"unk_token={unk_token!r} is not among the special tokens", remedy=f"add {unk_token!r} to special_tokens"
        )
    return tokens
