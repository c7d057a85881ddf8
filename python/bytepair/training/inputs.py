"""The input of every trainer: special tokens in order, and counts of a source that agree with the settings."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, TypeAlias

from bytepair.errors import TokenizerWarning, TrainingError
from bytepair.sources.source import Reading
from bytepair.training.counting import Countable, check_unread
from bytepair.training.counts import Counts

if TYPE_CHECKING:
    from bytepair.training.weights import Weight

TrainingSource: TypeAlias = "Countable | Counts"
"""A source (see `bytepair.sources.source`), pieces and their counts, or a counts table."""


def counted(
    source: TrainingSource,
    *,
    normalizers: Sequence[str] = (),
    field: str | None = None,
    delimiter: str | None = None,
    digest: bool = False,
    **options: Any,
) -> Counts:
    """The counts of a source, by the options of `Counts.of`; counts that were made before must agree with the settings.

    Raises:
        TrainingError: The counts were made with other normalizers, or an option has no effect on them.
        EncodeError, ArtifactError, PatternError: As `Counts.of`.
    """
    if not isinstance(source, Counts):
        return Counts.of(source, normalizers=normalizers, field=field, delimiter=delimiter, digest=digest, **options)
    made = list(source.stages.normalizers)
    if list(normalizers) != made:
        raise TrainingError(
            f"the counts were made with the normalizers {made}, not {list(normalizers)}",
            remedy=f"pass normalizers={made}, or count again",
        )
    check_unread(Reading(field=field, delimiter=delimiter))
    return source


def prepared(counts: Counts, weights: Mapping[str, Weight] | None = None, min_count: int = 1) -> Counts:
    """Counts weighted and without rare pieces; TrainingError if none is left."""
    if weights:
        counts = counts.weighted(weights)
    if min_count > 1:
        counts = counts.filter(min_count)
    if not len(counts):
        raise empty()
    return counts


def empty() -> TrainingError:
    """The error for a source without text."""
    return TrainingError("there is no text to train on", remedy="check the source: it is empty")


def special_list(given: Iterable[str], unk_token: str | None = None) -> list[str]:
    """Special tokens in order.

    Raises:
        TypeError: They have no order.
        TrainingError: One is listed twice or empty, or `unk_token` is missing.
    """
    if isinstance(given, (str, bytes, Mapping, Set)):
        raise TypeError("special_tokens is a list of str, in the order of their ids")
    tokens = list(given)
    if duplicates := [token for token, times in Counter(tokens).items() if times > 1]:
        raise TrainingError(f"the special token {duplicates[0]!r} is listed twice", remedy="list each once")
    if "" in tokens:
        raise TrainingError("a special token is empty", remedy="leave it out")
    if unk_token is not None and unk_token not in tokens:
        raise TrainingError(
            f"the unknown token {unk_token!r} is not among the special tokens",
            remedy=f"add {unk_token!r} to special_tokens",
        )
    return tokens


def special_roles(tokens: list[str], **named: str | None) -> tuple[list[str], tuple[tuple[str, str], ...]]:
    """The special tokens, with tokens of roles that are not among them at the end, and the pairs of role and token.

    Raises:
        TypeError: A token is not a str.
        TrainingError: A token is empty.

    Example:
        >>> special_roles(["<s>"], bos="<s>", eos="</s>", pad="</s>", unk=None)
        (['<s>', '</s>'], (('bos', '<s>'), ('eos', '</s>'), ('pad', '</s>')))
    """
    roles = tuple((role, token) for role, token in named.items() if token is not None)
    for role, token in roles:
        if not isinstance(token, str):
            raise TypeError(f"{role} is the text of a token, not {type(token).__name__}")
    return special_list(list(dict.fromkeys((*tokens, *(token for _, token in roles))))), roles


def warn_of_few(found: int, wanted: int, min_frequency: int, kind: str = "tokens") -> None:
    """Warns if the pairs ran out before there were as many tokens as wanted."""
    if found < wanted:
        warnings.warn(
            f"no pair is left that occurs {min_frequency} times: {found} {kind} instead of {wanted}; "
            "use more text, or a lower minimum frequency",
            TokenizerWarning,
            stacklevel=4,
        )
