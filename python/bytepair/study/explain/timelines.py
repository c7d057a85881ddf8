"""Timelines: the merges of a training in order, from a log, a tokenizer, or `train_with_statistics`."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair import files
from bytepair.errors import FormatError
from bytepair.model import byte_alphabet
from bytepair.model.models import BytePair
from bytepair.study.explain.merging import Merging
from bytepair.study.explain.trees import made_by, merging_of
from bytepair.tokenizer import Tokenizer
from bytepair.training.checkpoints import MERGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bytepair.training.learning import Merge


@dataclass(frozen=True, slots=True)
class TimelineMerge:
    """One merge.

    Attributes:
        rank: The number of the merge, from 0; for a tokenizer its priority, which under ``ranks`` is the id.
        left: The token on the left.
        right: The token on the right.
        result: The merged token.
        count: How often the pair was adjacent when it was chosen; None if the source has no counts.
        id: The id of the merged token; None if the source has no ids.
    """

    rank: int
    left: bytes
    right: bytes
    result: bytes
    count: int | None
    id: int | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """The first merges of a training.

    Attributes:
        source: A description of the source.
        total: The number of merges of the source; under ``ranks``, of tokens of several bytes.
        unmade: Under ``ranks``: the number of tokens before the last one here that no merge makes, which are left out.
        merges: The first of them in order.
        spelled: Whether tokens are spelled in characters, and not as the bytes of the text.
        by_rank: Whether the source has ranked tokens instead of a list of merges.
    """

    source: str
    total: int
    unmade: int
    merges: tuple[TimelineMerge, ...]
    spelled: bool
    by_rank: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The timeline as plain data for JSON; tokens are in hexadecimal."""
        plain = asdict(self)
        plain["merges"] = [
            {name: value.hex() if isinstance(value, bytes) else value for name, value in merge.items()}
            for merge in plain["merges"]
        ]
        return plain


def timeline(source: str | os.PathLike[str] | Tokenizer | Sequence[Merge], most: int = 1000) -> Timeline:
    """The first merges of a training, in the order in which they were made.

    Args:
        source: A merge log (``train(log=...)``) or the folder of a checkpoint, both with counts; a tokenizer, which has
            merges without counts; or the merges of `train_with_statistics` and `train_merges`.
        most: The most merges to return.

    Raises:
        FormatError: A line of the log was not written by training, or the tokenizer's model has no merges.
        ArtifactError: The log cannot be read.
        ValueError: `most` is not positive.

    Time is linear in the source; for a tokenizer, in the result.

    Example:
        >>> import bytepair as bp
        >>> found = timeline(bp.train_with_statistics({"low": 5, "lower": 2}, vocab_size=258).merges)
        >>> [(merge.left, merge.right, merge.count) for merge in found.merges]
        [(b'l', b'o', 7), (b'lo', b'w', 7)]
    """
    if most < 1:
        raise ValueError(f"most={most} is not positive")
    if isinstance(source, Tokenizer):
        return _of_tokenizer(source, most)
    if isinstance(source, (str, os.PathLike)):
        place = Path(source)
        return _of_log(place / MERGES if files.is_folder(place) else place, most)
    merges = tuple(
        TimelineMerge(rank, merge.left, merge.right, merge.left + merge.right, merge.count, None)
        for rank, merge in enumerate(source[:most])
    )
    return Timeline("a list", len(source), 0, merges, spelled=False)


def _of_log(place: Path, most: int) -> Timeline:
    # A last line without a line end was cut off when training stopped.
    lines = files.read(place).split(b"\n")[:-1]
    merges = tuple(_of_line(line, rank, place) for rank, line in enumerate(lines[:most]))
    return Timeline(f"the merge log {place.name}", len(lines), 0, merges, spelled=False)


def _of_line(line: bytes, rank: int, place: Path) -> TimelineMerge:
    try:
        record = json.loads(line)
        left, right = byte_alphabet.to_bytes(record["left"]), byte_alphabet.to_bytes(record["right"])
        count = record["count"]
        if left and right and record["rank"] == rank and type(count) is int and count > 0:
            return TimelineMerge(rank, left, right, left + right, count, None)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise FormatError(
        "this is not a line of a merge log, or its rank is out of order",
        file=str(place),
        line=rank + 1,
        remedy="pass a file written by train(log=...), or the folder of a checkpoint",
        cli_remedy="name a file written by `bytepair train --log`, or the folder of a checkpoint",
    )


def _of_tokenizer(tokenizer: Tokenizer, most: int) -> Timeline:
    model = tokenizer.spec.model
    if not isinstance(model, BytePair):
        raise FormatError(
            f"a {type(model).__name__} model has no merges, so it has no timeline",
            remedy="pass a tokenizer with a byte-pair model, or a merge log",
        )
    merges: list[TimelineMerge] = []
    unmade = 0
    for rank, left, right, id in _listed(tokenizer, model):
        if len(merges) == most:
            break
        if id is None:
            unmade += 1
            continue
        parts = (tokenizer.token_bytes(left), tokenizer.token_bytes(right))
        merges.append(TimelineMerge(rank, *parts, tokenizer.token_bytes(id), None, id))
    total = len(model.merges) if model.merges is not None else sum(len(token) > 1 for token in model.tokens)
    spelled = model.alphabet is not None
    return Timeline("a tokenizer", total, unmade, tuple(merges), spelled=spelled, by_rank=model.merges is None)


def _listed(tokenizer: Tokenizer, model: BytePair) -> Iterator[tuple[int, int, int, int | None]]:
    """Rank, left, right and id of each merge; no id for a token that no merge makes."""
    if model.merges is None:
        yield from _ranked(tokenizer, (id for id, token in zip(model.ids, model.tokens, strict=True) if len(token) > 1))
        return
    merging = merging_of(tokenizer) or Merging(model)
    for rank, (left, right) in enumerate(model.merges):
        yield rank, left, right, merging.joined(left, right)


def _ranked(tokenizer: Tokenizer, ids: Iterable[int]) -> Iterator[tuple[int, int, int, int | None]]:
    for id in ids:
        made = made_by(tokenizer, [id])[id]
        yield (id, 0, 0, None) if made is None else (id, made.left, made.right, id)
